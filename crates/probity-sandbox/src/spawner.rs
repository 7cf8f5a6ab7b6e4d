//! The one thread that starts all processes.
//!
//! The kernel's parent-death signal follows the *thread* that forked. If any thread could start a
//! process, the process would die with that thread; so one thread, which never ends, starts all.

mod before;

use std::{
    io,
    process::{Child, Command},
    sync::{OnceLock, mpsc},
    thread,
};

use rustix::process::Pid;

use crate::backend::Pipes;
pub(crate) use before::Before;
#[cfg(target_os = "linux")]
pub(crate) use before::{Cleaner, Confined, Enter, submit_to};

struct Job {
    command: Command,
    before: Before,
    answer: mpsc::Sender<io::Result<Started>>,
}

/// A process that nobody watches over yet: whoever gives up on it ends it.
#[derive(Debug)]
pub(crate) struct Started(Option<Child>);

impl Started {
    /// To somebody who will reap it.
    pub(crate) fn hand_over(mut self) -> io::Result<Child> {
        self.0.take().ok_or_else(|| io::Error::other("a process without a handle"))
    }

    pub(crate) fn pipes(&mut self) -> Pipes {
        self.0.as_mut().map(Pipes::take).unwrap_or_default()
    }

    pub(crate) fn pid(&self) -> io::Result<Pid> {
        self.0
            .as_ref()
            .and_then(|child| Pid::from_raw(i32::try_from(child.id()).ok()?))
            .ok_or_else(|| io::Error::other("a process without a number"))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

/// Starts a process in a session of its own.
pub(crate) fn start(command: Command, before: Before) -> io::Result<Started> {
    static SPAWNER: OnceLock<io::Result<mpsc::Sender<Job>>> = OnceLock::new();
    let gone = || io::Error::other("the spawning thread is gone");
    let spawner = SPAWNER.get_or_init(|| {
        let (sender, jobs) = mpsc::channel::<Job>();
        thread::Builder::new().name("spawner".to_owned()).spawn(move || serve(jobs))?;
        Ok(sender)
    });
    let spawner = spawner.as_ref().map_err(|error| io::Error::from(error.kind()))?;
    let (answer, answered) = mpsc::channel();
    spawner.send(Job { command, before, answer }).map_err(|_| gone())?;
    answered.recv().map_err(|_| gone())?
}

fn serve(jobs: mpsc::Receiver<Job>) {
    for Job { mut command, before, answer } in jobs {
        before.attach(&mut command);
        let started = command.spawn().map(|child| Started(Some(child)));
        // If whoever asked is gone, the process comes back with the error, and ends here.
        drop(answer.send(started));
    }
}
