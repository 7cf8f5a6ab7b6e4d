//! `--ai-trace`: what was said in both directions, one JSON object a line, without secrets.

use std::{
    fs::{File, OpenOptions},
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    sync::{Mutex, PoisonError},
};

use anyhow::Context as _;
use serde_json::Value;

use crate::failure::Failure;

/// An open trace. Lines are written whole, whichever thread they come from.
#[derive(Debug)]
pub(in crate::commands::check) struct Trace {
    file: Mutex<File>,
}

impl Trace {
    /// Makes the file, for its owner's eyes alone.
    pub(in crate::commands::check) fn open(path: &Path) -> anyhow::Result<Self> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(path)
            .with_context(|| {
                let what = format!("cannot write the trace to {}", path.display());
                Failure::new(what, "name another file with --ai-trace")
            })?;
        Ok(Self { file: Mutex::new(file) })
    }

    /// Adds a line; what it says must be masked already.
    pub(super) fn write(&self, line: &Value) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = writeln!(file, "{line}") {
            tracing::warn!("cannot write the trace: {error}");
        }
    }
}
