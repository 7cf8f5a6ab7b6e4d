//! Why files cannot be checked, and the way out.

use probity_secrets::DetectorError;

use crate::{baseline::BaselineError, shellcheck::ShellcheckError};

/// Why a run cannot begin or go on. What is wrong with a file is a finding.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error("`--shellcheck binary` needs `shellcheck`, which is not in PATH")]
    NoShellcheck,
    #[error(transparent)]
    Shellcheck(#[from] ShellcheckError),
    #[error("rules.tally.secrets-in-code")]
    Secrets(#[source] DetectorError),
    #[error("`{pattern}` is not a valid pattern")]
    Pattern { pattern: String, source: globset::Error },
    #[error(transparent)]
    Globs(#[from] globset::Error),
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    /// An editor's open file is no text.
    #[error("{0}")]
    NoText(String),
    #[error("git cannot show the file of --changed")]
    Earlier(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl CheckError {
    /// What to do about it, where that is known.
    #[must_use]
    pub fn way_out(&self) -> Option<String> {
        match self {
            Self::NoShellcheck => {
                Some("install it, or use `--shellcheck native`, which needs none".to_owned())
            }
            Self::Shellcheck(_) => Some("`--shellcheck native` needs no other program".to_owned()),
            Self::Baseline(error) => Some(error.way_out()),
            Self::Secrets(_)
            | Self::Pattern { .. }
            | Self::Globs(_)
            | Self::Earlier(_)
            | Self::NoText(_) => None,
        }
    }
}
