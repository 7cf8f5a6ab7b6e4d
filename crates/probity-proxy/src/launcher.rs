//! Where agents come from: the caller knows, the proxy only asks.

use std::{
    fs::File,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{Usage, Workspace};

/// Finds workspaces and starts agents in them.
pub trait Launcher: Send + Sync {
    /// The workspace that this working directory belongs to, with further directories that its
    /// agent may work in.
    fn workspace(&self, cwd: &Path, more: &[PathBuf]) -> Result<Workspace, LaunchError>;

    /// Starts an agent. May take long: it is called on a thread of its own.
    fn start(&self, workspace: &Workspace) -> Result<Started, LaunchError>;

    /// The empty workspace in which [`Self::start`] starts an agent that is only asked what it can
    /// do. `None` where no agent is to be started for that.
    fn scratch(&self) -> Option<Workspace> {
        None
    }
}

/// An agent that runs.
pub struct Started {
    /// Must be a pipe: it is written to without waiting.
    pub stdin: File,
    pub stdout: File,
    pub stderr: Option<File>,
    pub process: Box<dyn Process>,
}

/// The handle on an agent's process. Dropping it ends the process and all it started.
pub trait Process: Send + Sync {
    /// Its exit code, as a shell would show it, if it ends within this time.
    fn wait(&self, timeout: Duration) -> Option<i32>;

    /// Ends it and all it started, at once.
    fn kill(&self);

    /// What it has taken so far, if it lives and can be looked at.
    fn usage(&self) -> Option<Usage> {
        None
    }
}

impl Process for probity_sandbox::Child {
    fn wait(&self, timeout: Duration) -> Option<i32> {
        self.wait_timeout(timeout).map(probity_sandbox::Exit::code)
    }

    fn kill(&self) {
        // How it ended is asked for by `wait`.
        self.kill();
    }

    fn usage(&self) -> Option<Usage> {
        let probity_sandbox::Usage { cpu, memory } = self.usage()?;
        Some(Usage { cpu, memory })
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error("{0}")]
    Workspace(String),
    #[error("{0}")]
    Start(String),
}

impl std::fmt::Debug for Started {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Started").finish_non_exhaustive()
    }
}
