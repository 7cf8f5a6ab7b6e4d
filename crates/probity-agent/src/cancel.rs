//! The flag that ends a wait before its time.

use std::{
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::Notify;

/// Shared by whoever may call it off and whoever waits. Once set it stays set.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    shared: Arc<Shared>,
}

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    Cancelled,
    TimedOut,
    Done,
}

#[derive(Debug, Default)]
struct Shared {
    set: AtomicBool,
    /// Held while the flag is set, so that a waiter cannot miss it between its look and its sleep.
    gate: Mutex<()>,
    threads: Condvar,
    tasks: Notify,
}

impl Cancel {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub fn cancel(&self) {
        let gate = self.shared.gate.lock().unwrap_or_else(PoisonError::into_inner);
        self.shared.set.store(true, Ordering::SeqCst);
        drop(gate);
        self.shared.threads.notify_all();
        self.shared.tasks.notify_waiters();
    }

    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.shared.set.load(Ordering::SeqCst)
    }

    /// Blocks the thread until the time is over or the flag is set; says whether it is.
    #[must_use]
    pub fn wait(&self, time: Duration) -> bool {
        self.watch(&AtomicBool::new(false), Some(Instant::now() + time)) == Woken::Cancelled
    }

    /// Blocks the thread until the flag is set, the time has come, or the work that it was about
    /// is [released], whichever is first.
    ///
    /// [released]: Self::release
    pub(crate) fn watch(&self, done: &AtomicBool, until: Option<Instant>) -> Woken {
        let mut gate = self.shared.gate.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if done.load(Ordering::SeqCst) {
                return Woken::Done;
            }
            if self.is_cancelled() {
                return Woken::Cancelled;
            }
            let threads = &self.shared.threads;
            gate = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                Some(Duration::ZERO) => return Woken::TimedOut,
                Some(rest) => {
                    threads.wait_timeout(gate, rest).unwrap_or_else(PoisonError::into_inner).0
                }
                None => threads.wait(gate).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Blocks the thread until the work is released or the time is over, whatever the flag says.
    pub(crate) fn await_release(&self, done: &AtomicBool, time: Duration) {
        let gate = self.shared.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let threads = &self.shared.threads;
        let waited = threads.wait_timeout_while(gate, time, |()| !done.load(Ordering::SeqCst));
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Ends a wait whose work is done.
    pub(crate) fn release(&self, done: &AtomicBool) {
        let gate = self.shared.gate.lock().unwrap_or_else(PoisonError::into_inner);
        done.store(true, Ordering::SeqCst);
        drop(gate);
        self.shared.threads.notify_all();
    }

    pub(crate) async fn cancelled(&self) {
        let mut notified = std::pin::pin!(self.shared.tasks.notified());
        loop {
            // Enlisted before the look, so that a call between the two still wakes us.
            notified.as_mut().enable();
            if self.is_cancelled() {
                return;
            }
            notified.as_mut().await;
            notified.set(self.shared.tasks.notified());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{thread, time::Duration};

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_wait_ends_by_itself_when_nobody_cancels() {
        assert!(!Cancel::new().wait(Duration::from_millis(5)));
    }

    #[test]
    fn a_clone_ends_the_wait_of_a_thread_and_of_a_task() {
        let cancel = Cancel::new();
        let start = Instant::now();
        thread::scope(|scope| {
            scope.spawn(|| assert!(cancel.wait(LONG)));
            scope.spawn(|| {
                let runtime =
                    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
                runtime.block_on(async {
                    tokio::time::timeout(LONG, cancel.cancelled()).await.unwrap();
                });
            });
            thread::sleep(Duration::from_millis(20));
            cancel.clone().cancel();
        });
        assert!(start.elapsed() < LONG / 2);
        assert!(cancel.wait(LONG), "it stays cancelled");
    }
}
