//! What can go wrong below a root, told without giving away where the root is.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

/// Every variant names the path as the caller gave it (below the root: relative to it), because
/// these texts go to agents and model providers, who have no business knowing the host's layout.
#[derive(Debug, thiserror::Error)]
pub enum ScopeError {
    #[error("{0}: outside the allowed directory")]
    Outside(Named),
    #[error("{0}: no such file or directory")]
    NotFound(Named),
    #[error("{0}: permission denied")]
    Denied(Named),
    #[error("{0}: a sensitive file, which is not served")]
    Sensitive(Named),
    #[error("{0}: git ignores this file, so it is not served")]
    Ignored(Named),
    #[error("{0}: not a regular file")]
    NotAFile(Named),
    #[error("{0}: not a directory")]
    NotADirectory(Named),
    #[error("{0}: too many symbolic links")]
    Loop(Named),
    #[error("{path}: {size} bytes, more than the limit of {limit}")]
    TooLarge { path: Named, size: u64, limit: u64 },
    #[error("{0}: already exists")]
    Exists(Named),
    #[error("{path}: the quota of {limit} {what} is used up")]
    Quota { path: Named, what: &'static str, limit: u64 },
    #[error("{path}: {source}")]
    Io { path: Named, source: io::Error },
}

/// A path as the caller knows it.
///
/// Control characters are escaped when it is shown, since a file name may hold a terminal's
/// escape sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named(PathBuf);

impl Named {
    pub(crate) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl fmt::Display for Named {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.as_os_str().is_empty() {
            return formatter.write_str(".");
        }
        for character in self.0.to_string_lossy().chars() {
            if character.is_control() {
                write!(formatter, "{}", character.escape_default())?;
            } else {
                write!(formatter, "{character}")?;
            }
        }
        Ok(())
    }
}

impl ScopeError {
    /// Gives an error of the system the name of the path it is about.
    pub(crate) fn from_errno(path: &Path, errno: rustix::io::Errno) -> Self {
        use rustix::io::Errno;
        let named = Named::new(path);
        match errno {
            Errno::XDEV => Self::Outside(named),
            Errno::NOENT => Self::NotFound(named),
            Errno::ACCESS | Errno::PERM => Self::Denied(named),
            // The kernel answers these for a socket, and for a device that has no driver.
            Errno::NXIO | Errno::NODEV | Errno::OPNOTSUPP => Self::NotAFile(named),
            Errno::NOTDIR => Self::NotADirectory(named),
            Errno::LOOP => Self::Loop(named),
            Errno::EXIST => Self::Exists(named),
            other => Self::Io { path: named, source: other.into() },
        }
    }

    pub(crate) fn from_io(path: &Path, error: io::Error) -> Self {
        match error.raw_os_error() {
            Some(code) => Self::from_errno(path, rustix::io::Errno::from_raw_os_error(code)),
            None => Self::Io { path: Named::new(path), source: error },
        }
    }
}
