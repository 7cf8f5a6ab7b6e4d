//! What tells a file from itself before a change.
//!
//! The time of the last change of status is part of it, which no program can set back, so that a
//! file that was changed and put back is noticed as well.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path};

/// Endings of what is code. Data may be written by the code under review itself.
const SOURCES: &str =
    "bats c cc cjs cpp cts go h hpp java js jsx kt mjs mts php pl py rb rs scala sh ts tsx";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    number: u64,
    mode: u32,
    size: u64,
    changed: (i64, i64),
}

impl Stamp {
    /// Whether it is the same file or directory with the same rights, whatever is in it.
    pub(crate) fn is_same_entry(&self, other: &Self) -> bool {
        let of = |stamp: &Self| (stamp.device, stamp.number, stamp.mode);
        of(self) == of(other)
    }
}

/// Of the file itself, and not of what a link leads to.
pub(crate) fn stamp(file: &Path) -> Option<Stamp> {
    let data = fs::symlink_metadata(file).ok()?;
    Some(Stamp {
        device: data.dev(),
        number: data.ino(),
        mode: data.mode(),
        size: data.size(),
        changed: (data.ctime(), data.ctime_nsec()),
    })
}

pub(crate) fn is_source(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| SOURCES.split(' ').any(|known| known == ending))
}
