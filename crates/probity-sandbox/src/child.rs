//! The handle on a running process: its pipes, its end, and the ways to bring that about.

use std::{
    fmt,
    fs::File,
    sync::Arc,
    time::{Duration, Instant},
};

pub use rustix::process::Signal;

use crate::keeper::Shared;

/// A process and all it started. Dropping the handle ends them.
#[derive(Debug)]
pub struct Child {
    /// The ends of the pipes that were asked for. Dropping `stdin` is the end of input.
    pub stdin: Option<File>,
    pub stdout: Option<File>,
    pub stderr: Option<File>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) notes: Vec<String>,
    pub(crate) limited_by: LimitedBy,
}

/// What holds a tree of processes to its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitedBy {
    /// The whole tree.
    Cgroup,
    /// Each process by itself.
    Rlimits,
    /// Each process by itself, and the whole tree by a look at it now and then.
    Watch,
    /// The engine's own cgroup, with all that runs in the container.
    Engine,
}

impl std::fmt::Display for LimitedBy {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Cgroup => "cgroup",
            Self::Rlimits => "rlimits of each process",
            Self::Watch => "rlimits of each process, and approximately by a watch over all of them",
            Self::Engine => "the engine",
        })
    }
}

/// What processes have taken of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    pub cpu: Duration,
    /// Bytes of memory, each process at its largest.
    pub memory: u64,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Its own code. A contained process that was killed by a signal has 128 and the signal's
    /// number here, as in a shell.
    Code(i32),
    Signal(i32),
    /// Ended by us when its time was up.
    Timeout,
    /// Ended by us when it had written too much.
    OutputLimit,
    /// The sandbox could not be set up; standard error says why.
    NotStarted,
}

/// The rest of a sentence about the process.
impl fmt::Display for Exit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(formatter, "ended with exit code {code}"),
            Self::Signal(signal) => write!(formatter, "was ended by signal {signal}"),
            Self::Timeout => formatter.write_str("did not end in time"),
            Self::OutputLimit => formatter.write_str("wrote too much"),
            Self::NotStarted => formatter.write_str("could not be started"),
        }
    }
}

impl Exit {
    /// What a shell would show.
    pub fn code(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
            Self::Timeout => 124,
            Self::OutputLimit => 137,
            Self::NotStarted => 125,
        }
    }
}

/// How long the death of a killed process may take before we stop waiting for it.
const DEATH: Duration = Duration::from_secs(5);

impl Child {
    /// The process that stands for the tree on the host: for bubblewrap the helper outside.
    pub fn pid(&self) -> u32 {
        self.shared.pid()
    }

    /// What the process and all it started have taken so far, as `/proc` shows it: for a process in
    /// a container that is its client's share alone.
    pub fn usage(&self) -> Option<Usage> {
        crate::tree::usage(self.pid())
    }

    /// What of the limits is held less than asked for, in words for a report.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What holds the limits.
    pub fn limited_by(&self) -> LimitedBy {
        self.limited_by
    }

    /// Waits for the end of the process. When it is there, nothing of its tree is left.
    pub fn wait(&self) -> Exit {
        self.shared.wait()
    }

    /// Waits for at most this long.
    pub fn wait_timeout(&self, timeout: Duration) -> Option<Exit> {
        self.shared.wait_until(Instant::now() + timeout)
    }

    /// Sends a signal to the process and its group; nothing happens if it has ended.
    pub fn signal(&self, signal: Signal) {
        self.shared.signal(signal);
    }

    /// Ends the whole tree at once, and waits for that.
    pub fn kill(&self) -> Option<Exit> {
        self.shared.kill(None);
        self.wait_timeout(DEATH)
    }

    /// Ends the process politely: end of input, a grace, SIGTERM, a grace, SIGKILL.
    pub fn shutdown(&mut self, grace: Duration) -> Option<Exit> {
        drop(self.stdin.take());
        self.wait_timeout(grace)
            .or_else(|| {
                self.signal(Signal::TERM);
                self.wait_timeout(grace)
            })
            .or_else(|| self.kill())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}
