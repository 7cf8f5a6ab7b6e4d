//! What a scope may serve: how much of it, and whether sensitive files are among it.

use std::{
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::{Ignored, Named, ScopeError};

/// The limits of one scope. There is no default: a caller that serves an agent decides.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Files that hold secrets are refused unless this is set.
    pub allow_sensitive: bool,
    pub ignored: Ignored,
    /// The longest file that is served whole, whatever a single call asks for.
    pub max_file_bytes: u64,
    /// What all calls on this scope together may read.
    pub quota: Quota,
}

/// What all calls on one scope together may take.
#[derive(Debug, Clone, Copy)]
pub struct Quota {
    pub bytes: u64,
    pub files: u64,
}

impl Quota {
    pub const UNLIMITED: Self = Self { bytes: u64::MAX, files: u64::MAX };
}

/// What was taken so far. Counted before the bytes are read, so that threads cannot pass the
/// limit together.
#[derive(Debug, Default)]
pub(crate) struct Used {
    bytes: AtomicU64,
    files: AtomicU64,
}

impl Used {
    pub(crate) fn take(&self, path: &Path, bytes: u64, quota: Quota) -> Result<(), ScopeError> {
        let exceeded = |what, limit| ScopeError::Quota { path: Named::new(path), what, limit };
        if !add(&self.files, 1, quota.files) {
            return Err(exceeded("files", quota.files));
        }
        if !add(&self.bytes, bytes, quota.bytes) {
            return Err(exceeded("bytes", quota.bytes));
        }
        Ok(())
    }
}

fn add(counter: &AtomicU64, amount: u64, limit: u64) -> bool {
    counter
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(amount).filter(|sum| *sum <= limit)
        })
        .is_ok()
}
