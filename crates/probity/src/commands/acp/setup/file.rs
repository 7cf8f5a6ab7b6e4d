//! The settings file of an editor: read, kept as a backup, and replaced whole or not at all.

use std::{
    ffi::OsString,
    fs, io,
    io::Write as _,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use atomic_write_file::AtomicWriteFile;
use probity_scope::read_file;

use crate::write::{WriteError, replace};

/// Settings are far smaller; whatever is larger is something else.
const LARGEST: u64 = 16 << 20;

#[derive(Debug, thiserror::Error)]
pub(super) enum FileError {
    #[error("it is not a regular file")]
    NotAFile,
    #[error("it is a link to {}, which does not exist", .0.display())]
    Dangling(PathBuf),
    #[error("it is a link to {}, which belongs to another user", .0.display())]
    Foreign(PathBuf),
    #[error("it belongs to another user")]
    NotYours,
    #[error("it is larger than 16 MiB")]
    TooLarge,
    #[error("it is not UTF-8")]
    NotText,
    #[error("it has {0} names (hard links), and replacing it would part them")]
    HardLinked(u64),
    #[error("{0}")]
    Write(WriteError),
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// A file that is there.
pub(super) struct File {
    /// Without links.
    target: PathBuf,
    pub(super) text: String,
}

impl File {
    /// What the file holds, or nothing if it is not there yet.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, FileError> {
        let is_link = match fs::symlink_metadata(path) {
            Ok(found) => found.is_symlink(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let target = match fs::canonicalize(path) {
            Ok(target) => target,
            Err(error) if is_link && error.kind() == io::ErrorKind::NotFound => {
                return Err(FileError::Dangling(fs::read_link(path)?));
            }
            Err(error) => return Err(error.into()),
        };
        let found = fs::metadata(&target)?;
        if !found.is_file() {
            return Err(FileError::NotAFile);
        }
        // Whoever owns the file decides what an editor of theirs runs.
        if found.uid() != rustix::process::geteuid().as_raw() {
            return Err(if is_link { FileError::Foreign(target) } else { FileError::NotYours });
        }
        if found.len() > LARGEST {
            return Err(FileError::TooLarge);
        }
        let text =
            String::from_utf8(read_file(&target, LARGEST)?).map_err(|_| FileError::NotText)?;
        Ok(Some(Self { target, text }))
    }

    /// Puts the new text in the place of the old one, and says where the old one is kept.
    pub(super) fn replace(self, after: &str) -> Result<PathBuf, FileError> {
        let mut name = self.target.file_name().map(OsString::from).unwrap_or_default();
        name.push(".probity-backup");
        let backup = self.target.with_file_name(name);
        let mut file = AtomicWriteFile::open(&backup)?;
        // Settings may hold keys: before a byte of them is in the copy, only their readers can read it.
        file.as_file().set_permissions(fs::metadata(&self.target)?.permissions())?;
        file.write_all(self.text.as_bytes())?;
        file.commit()?;
        replace(&self.target, &self.text, after).map_err(|error| match error {
            WriteError::HardLinked { names } => FileError::HardLinked(names),
            other => FileError::Write(other),
        })?;
        Ok(backup)
    }
}

/// Writes a file that was not there.
pub(super) fn create(path: &Path, text: &str) -> Result<(), FileError> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let mut file = AtomicWriteFile::open(path)?;
    file.write_all(text.as_bytes())?;
    Ok(file.commit()?)
}
