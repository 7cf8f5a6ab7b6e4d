//! The thread beside each process that waits for its end and cleans up after it.
//!
//! It is the only one that reaps. Until it has, under the lock, the process's number is taken,
//! and a signal cannot reach a stranger.

use std::{
    fmt, io,
    os::unix::process::ExitStatusExt,
    process,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal};

use crate::{child::Exit, spawner::Started};

/// A running tree, as its backend knows it.
pub(crate) trait Tree: Send + Sync + fmt::Debug {
    fn signal(&self, signal: Signal);

    /// Kills everything at once, without waiting.
    fn kill(&self);

    /// Called when the process has ended and is not yet reaped: kills what is left of the tree
    /// and waits until it is gone.
    fn finish(&self);

    /// What the end of the process means.
    fn exit(&self, status: process::ExitStatus) -> Exit {
        match status.code() {
            Some(code) => Exit::Code(code),
            None => Exit::Signal(status.signal().unwrap_or(0)),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Shared {
    pid: Pid,
    tree: Box<dyn Tree>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    exit: Option<Exit>,
    /// Why we ended it, if we did.
    reason: Option<Exit>,
}

/// Watches over a process from now on.
pub(crate) fn keep(
    started: Started,
    tree: Box<dyn Tree>,
    wall: Option<Duration>,
) -> io::Result<Arc<Shared>> {
    let pid = started.pid()?;
    let child = started.hand_over()?;
    let shared = Arc::new(Shared { pid, tree, state: Mutex::default(), changed: Condvar::new() });
    let deadline = wall.and_then(|wall| Instant::now().checked_add(wall));
    let kept = Arc::clone(&shared);
    let child = Arc::new(Mutex::new(child));
    let guarded = Arc::clone(&child);
    let started =
        thread::Builder::new().name("keeper".to_owned()).stack_size(256 * 1024).spawn(move || {
            let ending = Ending(&kept);
            kept.watch(&mut lock(&guarded), deadline);
            drop(ending);
        });
    if let Err(error) = started {
        // Without its keeper the process would be nobody's.
        shared.tree.kill();
        shared.tree.finish();
        lock(&child).wait().ok();
        return Err(error);
    }
    Ok(shared)
}

/// Tells waiting threads that the process ended, even if the keeper itself fails.
struct Ending<'a>(&'a Shared);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).exit.get_or_insert(Exit::NotStarted);
        self.0.changed.notify_all();
    }
}

impl Shared {
    pub(crate) fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let state = lock(&self.state);
        if state.exit.is_none() {
            self.tree.signal(signal);
        }
    }

    pub(crate) fn kill(&self, reason: Option<Exit>) {
        let mut state = lock(&self.state);
        if state.exit.is_none() {
            state.reason = state.reason.or(reason);
            self.tree.kill();
        }
    }

    pub(crate) fn wait(&self) -> Exit {
        let mut state = lock(&self.state);
        loop {
            if let Some(exit) = state.exit {
                return exit;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(crate) fn wait_until(&self, deadline: Instant) -> Option<Exit> {
        let mut state = lock(&self.state);
        loop {
            if state.exit.is_some() {
                return state.exit;
            }
            let left = deadline.checked_duration_since(Instant::now())?;
            state =
                self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn watch(&self, child: &mut process::Child, deadline: Option<Instant>) {
        if !ended(self.pid, deadline) {
            self.kill(Some(Exit::Timeout));
            ended(self.pid, None);
        }
        self.tree.finish();
        let mut state = lock(&self.state);
        let exit = child.wait().map_or(Exit::NotStarted, |status| self.tree.exit(status));
        state.exit = Some(state.reason.unwrap_or(exit));
        drop(state);
        self.changed.notify_all();
    }
}

/// Waits until a child has ended, without reaping it. False when the time is up before.
fn ended(pid: Pid, deadline: Option<Instant>) -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let mut pause = Duration::from_millis(1);
    loop {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let options = if deadline.is_some() { options | WaitIdOptions::NOHANG } else { options };
        match waitid(WaitId::Pid(pid), options) {
            Err(rustix::io::Errno::INTR) => continue,
            Ok(Some(_)) | Err(_) => return true,
            Ok(None) => {}
        }
        let Some(left) = deadline.and_then(left_until) else {
            return false;
        };
        pause = pause.min(left);
        if !wait_by_descriptor(pid, left) {
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }
}

fn left_until(deadline: Instant) -> Option<Duration> {
    deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
}

/// Sleeps until the process ends or the time is up; false where the kernel cannot.
#[cfg(target_os = "linux")]
fn wait_by_descriptor(pid: Pid, left: Duration) -> bool {
    use rustix::{
        event::{PollFd, PollFlags, Timespec, poll},
        process::{PidfdFlags, pidfd_open},
    };
    let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    let Ok(left) = Timespec::try_from(left) else { return false };
    let mut waiting = [PollFd::new(&descriptor, PollFlags::IN)];
    !matches!(poll(&mut waiting, Some(&left)), Err(error) if error != rustix::io::Errno::INTR)
}

#[cfg(not(target_os = "linux"))]
fn wait_by_descriptor(_pid: Pid, _left: Duration) -> bool {
    false
}

/// A panic elsewhere must not keep us from ending a process.
pub(crate) fn lock<Value>(mutex: &Mutex<Value>) -> MutexGuard<'_, Value> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
