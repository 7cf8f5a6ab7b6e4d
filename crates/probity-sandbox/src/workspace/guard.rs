//! Watches git directories for the one file that no mount can forbid, and looks at the end for
//! whatever else was left.

use std::{
    ffi::OsStr,
    fs, io,
    mem::MaybeUninit,
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use super::{Snapshot, Stray, git::Protection};
use rustix::{
    event::{PollFd, PollFlags, poll},
    fs::inotify,
    pipe::{PipeFlags, pipe_with},
};

const NAME: &str = "commondir";

/// Held while a process can write to the workspace.
#[derive(Debug)]
pub struct Guard {
    root: PathBuf,
    protection: Arc<Protection>,
    directories: Vec<PathBuf>,
    removed: Arc<AtomicUsize>,
    /// Its end is the end of the watching thread.
    _end: OwnedFd,
}

/// What came of a session.
#[derive(Debug)]
pub struct GuardedEnd {
    /// How often a `commondir` was taken away.
    pub removed: usize,
    /// What has to be taken away.
    pub strays: Vec<Stray>,
    /// What the user has to know.
    pub notes: Vec<String>,
}

impl Guard {
    pub(super) fn new(root: PathBuf, protection: Arc<Protection>) -> io::Result<Self> {
        let directories = protection.undirected();
        let watch = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?;
        for directory in &directories {
            let events = inotify::WatchFlags::CREATE | inotify::WatchFlags::MOVED_TO;
            inotify::add_watch(&watch, directory, events | inotify::WatchFlags::ONLYDIR)?;
        }
        let (ended, end) = pipe_with(PipeFlags::CLOEXEC)?;
        let guard = Self { root, protection, directories, removed: Arc::default(), _end: end };
        let (directories, removed) = (guard.directories.clone(), Arc::clone(&guard.removed));
        thread::Builder::new()
            .name("guard".to_owned())
            .spawn(move || follow(&watch, &ended, &directories, &removed))?;
        Ok(guard)
    }

    /// How often such a file was taken away so far.
    pub fn removed(&self) -> usize {
        self.removed.load(Ordering::Acquire)
    }

    /// What the end will be compared with, for whoever has to do that if we are killed.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(&self.root, &self.protection, &self.directories)
    }

    /// Looks at the workspace after the process has ended.
    pub fn finish(self) -> GuardedEnd {
        remove(&self.directories, &self.removed);
        let (strays, notes) = self.protection.strays_and_notes(&self.root);
        GuardedEnd { removed: self.removed(), strays, notes }
    }
}

impl Drop for Guard {
    /// What was made at the very end may not have been seen.
    fn drop(&mut self) {
        remove(&self.directories, &self.removed);
    }
}

fn follow(watch: &OwnedFd, ended: &OwnedFd, directories: &[PathBuf], removed: &AtomicUsize) {
    let mut buffer = [MaybeUninit::uninit(); 4096];
    loop {
        let mut sources = [PollFd::new(watch, PollFlags::IN), PollFd::new(ended, PollFlags::IN)];
        match poll(&mut sources, None) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
            Ok(_) if !sources[1].revents().is_empty() => return,
            Ok(_) => {}
        }
        let mut events = inotify::Reader::new(watch, &mut buffer);
        let mut seen = false;
        // What was lost for want of room counts as seen.
        while let Ok(event) = events.next() {
            let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
            seen |= name.is_none_or(|name| name == NAME);
        }
        if seen {
            remove(directories, removed);
        }
    }
}

fn remove(directories: &[PathBuf], removed: &AtomicUsize) {
    for path in directories.iter().map(|directory| directory.join(NAME)) {
        // A directory of that name makes git fail, and nothing else.
        if fs::remove_file(path).is_ok() {
            removed.fetch_add(1, Ordering::AcqRel);
        }
    }
}
