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

pub(crate) use before::Before;

struct Job {
    command: Command,
    before: Before,
    answer: mpsc::Sender<io::Result<Child>>,
}

/// Starts a process in a session of its own.
pub(crate) fn start(command: Command, before: Before) -> io::Result<Child> {
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
        if let Err(mpsc::SendError(Ok(mut orphan))) = answer.send(command.spawn()) {
            // Whoever asked is gone, and nobody else knows this process.
            if orphan.kill().is_ok() {
                orphan.wait().ok();
            }
        }
    }
}
