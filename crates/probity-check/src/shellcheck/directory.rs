//! A directory that only we can look into, and that is gone afterwards.

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

/// Names that are tried before it is given up; somebody else may have left some behind.
const TRIES: u64 = 1000;

pub(super) struct PrivateDirectory(PathBuf);

impl PrivateDirectory {
    pub(super) fn create() -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let parent = std::env::temp_dir();
        for _ in 0..TRIES {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("probity-shellcheck-{}-{number}", process::id()));
            // What exists already, a link as well, is not taken.
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn write(&self, name: &str, text: &str) -> io::Result<()> {
        fs::write(self.0.join(name), text)
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::debug!("{}: {error}", self.0.display());
        }
    }
}
