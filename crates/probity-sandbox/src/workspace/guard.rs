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
    fs::{AtFlags, Mode, OFlags, inotify, open, unlinkat},
    pipe::{PipeFlags, pipe_with},
};

const NAME: &str = "commondir";

/// Directories that are held open, so that they are found wherever a session moves them.
const MOST_OPEN: usize = 128;

/// Held while a process can write to the workspace.
#[derive(Debug)]
pub struct Guard {
    root: PathBuf,
    protection: Arc<Protection>,
    undirected: Arc<Undirected>,
    /// Its end is the end of the watching thread. Without one, the end alone is looked at.
    watch: io::Result<OwnedFd>,
}

/// Git directories without a `commondir`.
#[derive(Debug)]
struct Undirected {
    paths: Vec<PathBuf>,
    opened: Vec<OwnedFd>,
    removed: AtomicUsize,
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
    pub(super) fn new(root: PathBuf, protection: Arc<Protection>) -> Self {
        let undirected = Arc::new(Undirected::new(protection.undirected()));
        let watch = watch(&undirected);
        Self { root, protection, undirected, watch }
    }

    /// Why nothing is watched before the end.
    pub fn unwatched(&self) -> Option<&io::Error> {
        self.watch.as_ref().err()
    }

    /// How often such a file was taken away so far.
    pub fn removed(&self) -> usize {
        self.undirected.removed.load(Ordering::Acquire)
    }

    /// What the end will be compared with, for whoever has to do that if we are killed.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(&self.root, &self.protection, &self.undirected.paths)
    }

    /// Looks at the workspace after the process has ended.
    pub fn finish(self) -> GuardedEnd {
        self.undirected.remove();
        let mut ended = self.protection.compare(&self.root);
        ended.removed += self.removed();
        ended
    }
}

impl Drop for Guard {
    /// What was made at the very end may not have been seen.
    fn drop(&mut self) {
        self.undirected.remove();
    }
}

impl Undirected {
    fn new(paths: Vec<PathBuf>) -> Self {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = paths.iter().take(MOST_OPEN);
        let opened = opened.filter_map(|path| open(path, flags, Mode::empty()).ok()).collect();
        Self { paths, opened, removed: AtomicUsize::new(0) }
    }

    /// A directory of that name makes git fail, and nothing else.
    fn remove(&self) {
        let held = self.opened.iter().filter(|held| unlinkat(held, NAME, AtFlags::empty()).is_ok());
        let paths = self.paths.iter().filter(|path| fs::remove_file(path.join(NAME)).is_ok());
        self.removed.fetch_add(held.count() + paths.count(), Ordering::AcqRel);
    }
}

/// Removes each `commondir` when it appears, until the answer is closed.
fn watch(undirected: &Arc<Undirected>) -> io::Result<OwnedFd> {
    let watch = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?;
    for directory in &undirected.paths {
        let events = inotify::WatchFlags::CREATE | inotify::WatchFlags::MOVED_TO;
        inotify::add_watch(&watch, directory, events | inotify::WatchFlags::ONLYDIR)?;
    }
    let (ended, end) = pipe_with(PipeFlags::CLOEXEC)?;
    let undirected = Arc::clone(undirected);
    let thread = thread::Builder::new().name("guard".to_owned());
    thread.spawn(move || follow(&watch, &ended, &undirected))?;
    Ok(end)
}

fn follow(watch: &OwnedFd, ended: &OwnedFd, undirected: &Undirected) {
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
            undirected.remove();
        }
    }
}
