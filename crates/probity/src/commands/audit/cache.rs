//! Answers of earlier runs, as files of the state directory.
//!
//! An entry is a line with the digest of the rest, and the answer as JSON. An entry that was cut or
//! changed is ignored with a warning, and asked for again.

use std::{
    fs, io,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use atomic_write_file::AtomicWriteFile;
use probity_audit::{AnswerCache, Iteration};
use probity_scope::{MOST_BYTES, read_text};
use sha2::{Digest as _, Sha256};

use crate::seats;

/// Entries that no run has written for so long are removed.
const LONGEST_KEPT: Duration = Duration::from_secs(60 * 60 * 24 * 90);

#[derive(Debug)]
pub(super) struct Files {
    directory: PathBuf,
}

impl Files {
    /// Nothing if there is no state directory: an audit does not fail for lack of a cache.
    pub(super) fn open() -> Option<Self> {
        let directory = seats::state().ok()?.directory.join("audit-cache");
        let files = Self { directory };
        files.remove_old();
        Some(files)
    }

    fn path(&self, key: &str) -> PathBuf {
        self.directory.join(format!("{key}.json"))
    }

    fn remove_old(&self) {
        let Ok(entries) = fs::read_dir(&self.directory) else { return };
        let now = SystemTime::now();
        for entry in entries.flatten() {
            let written = entry.metadata().and_then(|metadata| metadata.modified());
            let age = written.ok().and_then(|written| now.duration_since(written).ok());
            if age.is_some_and(|age| age > LONGEST_KEPT) {
                // An entry that cannot be removed now may be removed by a later run.
                drop(fs::remove_file(entry.path()));
            }
        }
    }

    fn write(&self, key: &str, iteration: &Iteration) -> io::Result<()> {
        use io::Write as _;

        fs::create_dir_all(&self.directory)?;
        let json = serde_json::to_string(iteration).map_err(io::Error::other)?;
        let mut file = AtomicWriteFile::open(self.path(key))?;
        writeln!(file, "{}", digest(&json))?;
        file.write_all(json.as_bytes())?;
        file.commit()
    }
}

impl AnswerCache for Files {
    fn get(&self, key: &str) -> Option<Iteration> {
        let path = self.path(key);
        let text = match read_text(&path, MOST_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                tracing::warn!("ignoring the cached answer {}: {error}", path.display());
                return None;
            }
        };
        let iteration = text.split_once('\n').and_then(|(written, json)| {
            if written == digest(json) { serde_json::from_str(json).ok() } else { None }
        });
        if iteration.is_none() {
            tracing::warn!("ignoring the cached answer {}: it is damaged", path.display());
        }
        iteration
    }

    fn put(&self, key: &str, iteration: &Iteration) {
        if let Err(error) = self.write(key, iteration) {
            // A machine without a place for it works as before, at the full price.
            tracing::info!("cannot keep an answer in {}: {error}", self.directory.display());
        }
    }
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
