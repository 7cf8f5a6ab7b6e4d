//! Why a process could not be started.

use std::{io, path::PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("no program given")]
    NoProgram,
    #[error("{}: program not found", .0.display())]
    NotFound(PathBuf),
    #[error("{}: not an executable file", .0.display())]
    NotExecutable(PathBuf),
    #[error("{}: no such working directory", .0.display())]
    WorkingDirectory(PathBuf),
    #[error("{}: cannot be mounted: {why}", path.display())]
    Mount { path: PathBuf, why: String },
    /// A wish of the caller's for which the backend has no means.
    #[error("{backend} cannot show {}: {why}", path.display())]
    NotShown { backend: &'static str, path: PathBuf, why: &'static str },
    #[error("an argument or variable contains a NUL byte")]
    Nul,
    /// The backend itself failed before the program could start.
    #[error("{backend} could not prepare the sandbox: {why}")]
    Setup { backend: &'static str, why: String },
    /// A container of the right name that is not ours to use.
    #[error("container {name} is not used: {why}; remove it or choose another directory")]
    Foreign { name: String, why: String },
    #[error("cannot start {what}: {source}")]
    Io { what: String, source: io::Error },
}

impl SpawnError {
    /// The exit code a shell would give for this.
    pub fn exit_code(&self) -> i32 {
        match self {
            Self::NotFound(_) => 127,
            Self::NotExecutable(_) => 126,
            Self::Foreign { .. } => 15,
            _ => 125,
        }
    }

    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
