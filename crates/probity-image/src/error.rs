//! Why an image could not be built, read or started.

use std::{io, time::Duration};

use probity_sandbox::SpawnError;

#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The engine refused; the words are its own.
    #[error("{engine} {action} failed: {why}")]
    Refused { engine: &'static str, action: String, why: String },
    #[error("{engine} {action} took longer than {} seconds", limit.as_secs())]
    Timeout { engine: &'static str, action: String, limit: Duration },
    #[error("the files of the images need {needed} bytes of {limit} that a proof may use")]
    DiskLimit { needed: u64, limit: u64 },
    #[error("the build used more than {limit} bytes of memory")]
    MemoryLimit { limit: u64 },
    #[error("cancelled")]
    Cancelled,
    #[error("the answer of {what} cannot be read: {why}")]
    Answer { what: &'static str, why: String },
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
}

impl ImageError {
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
