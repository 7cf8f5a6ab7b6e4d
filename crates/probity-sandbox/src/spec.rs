//! What is to run, in words that every backend understands.

use std::{
    ffi::OsString,
    fmt,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use crate::Allowlist;

/// One process to start.
#[derive(Clone)]
pub struct Spec {
    /// The program and its arguments. A program without a slash is looked up in the `PATH` of
    /// `env`.
    pub argv: Vec<OsString>,
    /// The whole environment: nothing of ours is inherited. `PWD` is added, and `HOME` where a
    /// contained process has a home.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory as the process sees it. Uncontained processes have no mounts, so
    /// that for them it is led back to the host through `mounts`.
    pub cwd: PathBuf,
    pub streams: Streams,
    /// The process's side of a terminal of its own, in the place of all streams.
    pub terminal: Option<Arc<OwnedFd>>,
    pub limits: Limits,
    /// What a contained process sees beside the system's read-only files; later ones cover
    /// earlier ones.
    pub mounts: Vec<Mount>,
    pub network: Network,
    /// With `Network::None`: hosts that can be reached all the same, by programs that obey the
    /// variables for a proxy, which are added. Refused where it cannot be enforced.
    pub reach: Option<Allowlist>,
    pub user: User,
}

#[derive(Debug, Clone, Copy)]
pub struct Streams {
    pub stdin: Stream,
    pub stdout: Stream,
    pub stderr: Stream,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Pipe,
    Null,
    /// Our own.
    Inherit,
}

/// No limit where there is no number.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limits {
    /// From start to forced end.
    pub wall: Option<Duration>,
    /// Bytes of memory, of the whole tree where cgroups are writable, else of each process.
    pub memory: Option<u64>,
    /// Processes and threads of the whole tree.
    pub pids: Option<u64>,
    /// Processors' worth of time, of the whole tree. Held by cgroups and engines alone.
    pub cpus: Option<f64>,
    /// Bytes of each file that is written. Not held by engines: podman replaces its other limits as
    /// soon as it is given one.
    pub file: Option<u64>,
    /// Bytes of standard output that `run` takes before it ends the process.
    pub output: Option<u64>,
    /// Bytes of `/tmp` in a sandbox.
    pub tmp: Option<u64>,
    /// Bytes of `/dev/shm` in a sandbox.
    pub shm: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mount {
    ReadOnly {
        host: PathBuf,
        inside: PathBuf,
    },
    ReadWrite {
        host: PathBuf,
        inside: PathBuf,
    },
    /// Empty, writable, and gone afterwards.
    Tmpfs {
        inside: PathBuf,
        bytes: Option<u64>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// The host's network, loopback included.
    Open,
    /// A loopback of its own and nothing else. Not enforced uncontained.
    None,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum User {
    /// Whoever we are.
    Caller,
    /// If we are root, the owner of this path, so that files stay theirs and root stays out.
    OwnerOf(PathBuf),
}

impl Spec {
    /// Pipes for all streams, no environment, no limits, no mounts, no network.
    pub fn new<Word: Into<OsString>>(
        argv: impl IntoIterator<Item = Word>,
        cwd: impl Into<PathBuf>,
    ) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            env: Vec::new(),
            cwd: cwd.into(),
            streams: Streams { stdin: Stream::Pipe, stdout: Stream::Pipe, stderr: Stream::Pipe },
            terminal: None,
            limits: Limits::default(),
            mounts: Vec::new(),
            network: Network::None,
            reach: None,
            user: User::Caller,
        }
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&OsString> {
        self.env.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Where a path of the process lies on the host, if a mount leads there.
    pub fn host_path(&self, inside: &Path) -> Option<PathBuf> {
        self.mounts.iter().rev().find_map(|mount| {
            let rest = inside.strip_prefix(mount.inside()).ok()?;
            let host = mount.host()?;
            // Joining nothing would add a slash, which a file does not bear.
            Some(if rest.as_os_str().is_empty() { host.to_owned() } else { host.join(rest) })
        })
    }
}

impl Limits {
    /// Whether nothing is asked for that a tree of processes would have to be held to.
    pub(crate) fn are_of_no_tree(&self) -> bool {
        self.memory.is_none() && self.pids.is_none() && self.cpus.is_none()
    }
}

impl Mount {
    pub fn read_only(host: impl Into<PathBuf>, inside: impl Into<PathBuf>) -> Self {
        Self::ReadOnly { host: host.into(), inside: inside.into() }
    }

    pub fn read_write(host: impl Into<PathBuf>, inside: impl Into<PathBuf>) -> Self {
        Self::ReadWrite { host: host.into(), inside: inside.into() }
    }

    /// The same, shown where it is on the host.
    #[must_use]
    pub fn in_place(self) -> Self {
        match self {
            Self::ReadOnly { host, .. } => Self::ReadOnly { inside: host.clone(), host },
            Self::ReadWrite { host, .. } => Self::ReadWrite { inside: host.clone(), host },
            Self::Tmpfs { .. } => self,
        }
    }

    pub fn inside(&self) -> &Path {
        match self {
            Self::ReadOnly { inside, .. }
            | Self::ReadWrite { inside, .. }
            | Self::Tmpfs { inside, .. } => inside,
        }
    }

    pub fn host(&self) -> Option<&Path> {
        match self {
            Self::ReadOnly { host, .. } | Self::ReadWrite { host, .. } => Some(host),
            Self::Tmpfs { .. } => None,
        }
    }
}

impl fmt::Debug for Spec {
    /// Names of variables only: their values are what must not get into a log.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("Spec")
            .field("argv", &self.argv)
            .field("env", &names)
            .field("cwd", &self.cwd)
            .field("streams", &self.streams)
            .field("terminal", &self.terminal)
            .field("limits", &self.limits)
            .field("mounts", &self.mounts)
            .field("network", &self.network)
            .field("reach", &self.reach)
            .field("user", &self.user)
            .finish()
    }
}
