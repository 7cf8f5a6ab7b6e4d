//! Watches git directories for the one file that no mount can forbid, and looks at the end for
//! whatever else was left.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    io,
    mem::MaybeUninit,
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use super::{
    Snapshot, Stray,
    git::Protection,
    held::{HeldTree, Identity},
    set_id,
};
use rustix::{
    event::{PollFd, PollFlags, poll},
    fs::{AtFlags, inotify, unlinkat},
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
    /// Files that had the bits of `set_id` before.
    set_id: BTreeSet<Identity>,
    /// Its end is the end of the watching thread. Without one, the end alone is looked at.
    watch: io::Result<OwnedFd>,
}

/// Git directories without a `commondir`.
#[derive(Debug)]
struct Undirected {
    protection: Arc<Protection>,
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
    /// Where the strays are. There is no other way to them that a session cannot turn elsewhere.
    pub held: Arc<HeldTree>,
}

impl Guard {
    pub(super) fn new(root: PathBuf, protection: Arc<Protection>) -> Self {
        let undirected = Arc::new(Undirected::new(&protection));
        let watch = watch(&undirected);
        let set_id = set_id::known(&protection.held);
        Self { root, protection, undirected, set_id, watch }
    }

    /// Why nothing is watched before the end.
    pub fn unwatched(&self) -> Option<&io::Error> {
        self.watch.as_ref().err()
    }

    /// How often such a file was taken away so far.
    pub fn removed(&self) -> usize {
        self.undirected.removed.load(Ordering::Acquire)
    }

    /// The workspace, which is the same one until the end wherever its path leads.
    pub fn directory(&self) -> io::Result<OwnedFd> {
        self.protection.held.directory(&self.root)
    }

    /// What the end will be compared with, for whoever has to do that if we are killed.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(&self.root, &self.protection, &self.undirected.paths, &self.set_id)
    }

    /// Looks at the workspace after the process has ended.
    pub fn finish(self) -> GuardedEnd {
        self.undirected.remove();
        let mut ended = self.protection.compare(&self.root);
        ended.removed += self.removed();
        ended.notes.append(&mut set_id::strip(&ended.held, &self.set_id));
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
    fn new(protection: &Arc<Protection>) -> Self {
        let paths = protection.undirected();
        let opened = paths.iter().take(MOST_OPEN);
        let opened = opened.filter_map(|path| protection.held.handle(path).ok()).collect();
        Self { protection: Arc::clone(protection), paths, opened, removed: AtomicUsize::new(0) }
    }

    /// A directory of that name makes git fail, and nothing else.
    fn remove(&self) {
        let held = self.opened.iter().filter(|held| unlinkat(held, NAME, AtFlags::empty()).is_ok());
        let removed = held.count() + self.protection.remove_commondirs(&self.paths);
        self.removed.fetch_add(removed, Ordering::AcqRel);
    }
}

/// Removes each `commondir` when it appears, until the answer is closed.
fn watch(undirected: &Arc<Undirected>) -> io::Result<OwnedFd> {
    let watch = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?;
    for directory in &undirected.paths {
        let events = inotify::WatchFlags::CREATE | inotify::WatchFlags::MOVED_TO;
        let handle = undirected.protection.held.handle(directory)?;
        // By the number of the descriptor, so that the directory cannot be another one by now.
        let by_number = format!("/proc/self/fd/{}", handle.as_raw_fd());
        inotify::add_watch(&watch, by_number, events | inotify::WatchFlags::ONLYDIR)?;
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
