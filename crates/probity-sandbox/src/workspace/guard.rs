//! Watches git directories for the one file that no mount can forbid.

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

use rustix::{
    event::{PollFd, PollFlags, poll},
    fs::inotify,
    pipe::{PipeFlags, pipe_with},
};

const NAME: &str = "commondir";

/// Held while a process can write to a git directory.
#[derive(Debug)]
pub struct Guard {
    directories: Vec<PathBuf>,
    removed: Arc<AtomicUsize>,
    /// Its end is the end of the watching thread.
    _end: OwnedFd,
}

impl Guard {
    pub(super) fn new(directories: Vec<PathBuf>) -> io::Result<Self> {
        let watch = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?;
        for directory in &directories {
            let events = inotify::WatchFlags::CREATE | inotify::WatchFlags::MOVED_TO;
            inotify::add_watch(&watch, directory, events | inotify::WatchFlags::ONLYDIR)?;
        }
        let (ended, end) = pipe_with(PipeFlags::CLOEXEC)?;
        let guard = Self { directories, removed: Arc::default(), _end: end };
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

    /// Looks a last time, and says how often it was in all.
    pub fn finish(self) -> usize {
        remove(&self.directories, &self.removed);
        self.removed()
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
