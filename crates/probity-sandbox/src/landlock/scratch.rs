//! The home and the place for temporary files of one confined process. Nobody else's directory is shown
//! to it, so that these are all it can write beside what its spec shows.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt, chown},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::user::Ids;

/// Removed with the value; the watchdog does it if we cannot.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

const HOME: &str = "home";
const TMP: &str = "tmp";

impl Scratch {
    pub(super) fn new(ids: Ids) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let parent = fs::canonicalize(std::env::temp_dir())?;
        let mut private = fs::DirBuilder::new();
        private.mode(0o700);
        let scratch = loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("probity-sandbox-{}-{number}", process::id()));
            match private.create(&path) {
                // Left by a process with our number, or somebody else's: no business of ours.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => break made.map(|()| Self(path))?,
            }
        };
        for path in [scratch.home(), scratch.tmp()] {
            private.create(&path)?;
            chown(&path, Some(ids.user), Some(ids.group))?;
        }
        chown(&scratch.0, Some(ids.user), Some(ids.group))?;
        Ok(scratch)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn home(&self) -> PathBuf {
        self.0.join(HOME)
    }

    pub(super) fn tmp(&self) -> PathBuf {
        self.0.join(TMP)
    }
}

impl Drop for Scratch {
    /// Directories that the process made unreadable are its owner's, and opened again.
    fn drop(&mut self) {
        if fs::remove_dir_all(&self.0).is_err() {
            let path = self.0.as_os_str();
            let opened =
                process::Command::new("/bin/chmod").args(["-R", "u+rwX"]).arg(path).status();
            if opened.is_ok() {
                // What is still there is empty of meaning, and `/tmp` is cleaned by others.
                fs::remove_dir_all(&self.0).ok();
            }
        }
    }
}
