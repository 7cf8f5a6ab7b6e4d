//! A tree of confined processes, as we see it: its watchdog, and the pipe to that.

use std::{fs::File, io::Write, os::fd::OwnedFd, sync::Mutex};

use rustix::process::{Pid, Signal};

use super::{as_word, scratch::Scratch};
use crate::{
    cgroup::Cgroup,
    keeper::{Tree, lock},
    spawner::Started,
    tree::{self, Tag},
};

#[derive(Debug)]
pub(super) struct Watched {
    /// Our child. Its number is not taken again before we have reaped it.
    watchdog: Pid,
    /// Its end means that we are gone.
    words: File,
    tag: Option<Tag>,
    held: Mutex<Option<Held>>,
}

/// Let go of in this order.
#[derive(Debug)]
struct Held {
    cgroup: Option<Cgroup>,
    scratch: Scratch,
}

impl Watched {
    pub(super) fn new(
        watchdog: Pid,
        words: OwnedFd,
        tag: Option<Tag>,
        cgroup: Option<Cgroup>,
        scratch: Scratch,
    ) -> Self {
        let held = Mutex::new(Some(Held { cgroup, scratch }));
        Self { watchdog, words: words.into(), tag, held }
    }

    /// Before anybody else watches over it.
    pub(super) fn end(&self, child: Started) {
        self.kill();
        if let Ok(mut child) = child.hand_over() {
            child.wait().ok();
        }
        self.finish();
    }

    fn tell(&self, signal: Signal) {
        // A watchdog that has ended has ended all.
        (&self.words).write_all(&as_word(signal)).ok();
    }
}

impl Tree for Watched {
    fn signal(&self, signal: Signal) {
        self.tell(signal);
    }

    fn kill(&self) {
        self.tell(Signal::KILL);
    }

    fn finish(&self) {
        let held = lock(&self.held).take();
        if let Some(cgroup) = held.as_ref().and_then(|held| held.cgroup.as_ref()) {
            cgroup.kill();
        }
        // Whoever killed the watchdog left the tree to us.
        tree::kill_all(self.watchdog, self.tag);
        if let Some(Held { cgroup, scratch }) = held {
            drop(cgroup);
            drop(scratch);
        }
    }
}
