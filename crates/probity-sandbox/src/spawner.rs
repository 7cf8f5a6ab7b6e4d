//! The one thread that starts all processes, and the little that runs between fork and exec.
//!
//! The kernel's parent-death signal follows the *thread* that forked. If any thread could start a
//! process, the process would die with that thread; so one thread, which never ends, starts all.

use std::{
    io,
    os::fd::{AsRawFd, OwnedFd},
    process::{Child, Command},
    sync::{OnceLock, mpsc},
    thread,
};

/// What the new process does before it becomes the program.
#[derive(Debug, Default)]
pub(crate) struct Before {
    /// Files the program inherits under the numbers they have here.
    pub(crate) inherited: Vec<OwnedFd>,
    /// `cgroup.procs` files to enter.
    pub(crate) cgroups: Vec<OwnedFd>,
    #[cfg(target_os = "linux")]
    pub(crate) limits: Vec<(rustix::process::Resource, u64)>,
    /// Die when we die. A watchdog must not.
    pub(crate) die_with_us: bool,
}

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
        in_child(&mut command, before);
        if let Err(mpsc::SendError(Ok(mut orphan))) = answer.send(command.spawn()) {
            // Whoever asked is gone, and nobody else knows this process.
            if orphan.kill().is_ok() {
                orphan.wait().ok();
            }
        }
    }
}

#[expect(
    unsafe_code,
    reason = "the parent-death signal, the session, the cgroup and inherited files can only be \
              set between fork and exec"
)]
fn in_child(command: &mut Command, before: Before) {
    use std::os::unix::process::CommandExt;
    let us = rustix::process::getpid();
    // SAFETY: between fork and exec only async-signal-safe calls are allowed. The closure makes
    // plain system calls through rustix on values that were made before the fork; it neither
    // allocates nor locks, and the values are dropped in the parent only.
    unsafe {
        command.pre_exec(move || before.apply(us));
    }
}

impl Before {
    fn apply(&self, us: rustix::process::Pid) -> io::Result<()> {
        rustix::process::setsid()?;
        for cgroup in &self.cgroups {
            // "0" is whoever writes it.
            rustix::io::write(cgroup, b"0")?;
        }
        #[cfg(target_os = "linux")]
        for (resource, limit) in &self.limits {
            use rustix::process::{Rlimit, setrlimit};
            let limit = Rlimit { current: Some(*limit), maximum: Some(*limit) };
            setrlimit(*resource, limit)?;
        }
        for file in &self.inherited {
            rustix::io::fcntl_setfd(file, rustix::io::FdFlags::empty())?;
        }
        #[cfg(target_os = "linux")]
        if self.die_with_us {
            use rustix::process::{Signal, getppid, set_parent_process_death_signal};
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // We may have died before the signal was asked for.
            if getppid() != Some(us) {
                return Err(rustix::io::Errno::SRCH.into());
            }
        }
        #[cfg(not(target_os = "linux"))]
        if self.die_with_us && rustix::process::getppid() != Some(us) {
            return Err(rustix::io::Errno::SRCH.into());
        }
        Ok(())
    }

    /// Hands a file down, and says under which number the program will find it.
    pub(crate) fn inherit(&mut self, file: OwnedFd) -> String {
        let number = file.as_raw_fd().to_string();
        self.inherited.push(file);
        number
    }
}
