//! Replacing a file that was read before, whole or not at all.
//!
//! The new text is written beside the file and takes its name only when it is complete. Mode and
//! owner are kept, and a link stays a link: what it leads to is replaced. A file with several names
//! (hard links) is refused, because a replacement would part the names and writing in place would not
//! be atomic. So is one that somebody else has changed since it was read.

#[cfg(test)]
mod tests;

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::Path,
};

use atomic_write_file::{AtomicWriteFile, unix::OpenOptionsExt as _};
use rustix::fs::{Access, OFlags};

/// Why a file was not replaced. Whatever it is, the file is as it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    #[error("it was changed by somebody else after it was read; run the command again")]
    Changed,
    #[error("it has {names} names (hard links), and replacing it would part them; see `--diff`")]
    HardLinked { names: u64 },
    #[error("it is not a regular file any more")]
    NotAFile,
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Replaces what the file holds, if that is `before`, by `after`.
pub(crate) fn replace(path: &Path, before: &str, after: &str) -> Result<(), WriteError> {
    // Taking the place of a link would leave its target as it was.
    let target = fs::canonicalize(path)?;
    if look(&target, before, after)? == Content::After {
        return Ok(());
    }
    // Only the directory decides who may replace a file; whoever made it read-only means it.
    rustix::fs::access(&target, Access::WRITE_OK).map_err(io::Error::from)?;
    let mut options = AtomicWriteFile::options();
    options.preserve_mode(true).preserve_owner(true);
    let mut file = options.open(&target)?;
    file.write_all(after.as_bytes())?;
    // Some systems tell only now that the disk is full.
    file.as_file().sync_all()?;
    match look(&target, before, after)? {
        Content::After => Ok(file.discard()?),
        Content::Before => Ok(file.commit()?),
    }
}

/// What a file holds now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Before,
    /// The same file was fixed under another name.
    After,
}

fn look(target: &Path, before: &str, after: &str) -> Result<Content, WriteError> {
    // A FIFO that took the file's place must not make us wait.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file: File = OpenOptions::new().read(true).custom_flags(flags).open(target)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(WriteError::NotAFile);
    }
    let most = before.len().max(after.len()) as u64;
    let mut now = Vec::new();
    file.take(most + 1).read_to_end(&mut now)?;
    if now == after.as_bytes() {
        return Ok(Content::After);
    }
    if now != before.as_bytes() {
        return Err(WriteError::Changed);
    }
    match metadata.nlink() {
        0 | 1 => Ok(Content::Before),
        names => Err(WriteError::HardLinked { names }),
    }
}
