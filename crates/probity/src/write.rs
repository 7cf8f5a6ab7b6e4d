//! Replacing a file that was read before, whole or not at all.
//!
//! The new text is written beside the file and takes its name only when it is complete. Mode and
//! owner are kept, and a link stays a link: what it leads to is replaced, if that lies in the same
//! tree. A file with several names (hard links) is refused, because a replacement would part the names
//! and writing in place would not be atomic. So is one that somebody else has changed since it was read.

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeSet,
    env, io,
    path::{Path, PathBuf},
};

use probity_scope::{ReplaceError, TreeError, TreeFile, WithoutGit, tree_of};

/// Why a file was not replaced. Whatever it is, the file is as it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    #[error("it was changed by somebody else after it was read; run the command again")]
    Changed,
    #[error("it has {names} names (hard links), and replacing it would part them; see `--diff`")]
    HardLinked { names: u64 },
    #[error("it is not a regular file any more")]
    NotAFile,
    #[error(
        "it leads to {}, which is outside of {}; name that file itself to change it",
        target.display(),
        top.display()
    )]
    Outside { target: PathBuf, top: PathBuf },
    #[error("it leads into a git directory, where probity changes nothing; name another file")]
    GitDirectory,
    #[error("a link took its place; run the command again")]
    Linked,
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Replaces what the file holds, if that is `before`, by `after`.
pub(crate) fn replace(path: &Path, before: &str, after: &str) -> Result<(), WriteError> {
    Ok(find(path)?.replace(before.as_bytes(), after.as_bytes())?)
}

/// The same for a file that only these Compose and Bake files name: a repository must not have one of
/// another tree replaced.
pub(crate) fn replace_named_by(
    path: &Path,
    descriptions: &BTreeSet<PathBuf>,
    before: &str,
    after: &str,
) -> Result<(), WriteError> {
    let working = env::current_dir()?;
    let target = path.canonicalize()?;
    let mut outside = None;
    for description in descriptions {
        let directory = description.parent().unwrap_or(description);
        let top = tree_of(directory, WithoutGit::Within(&working))?;
        if target.starts_with(&top) {
            return replace(path, before, after);
        }
        outside = Some(top);
    }
    match outside {
        Some(top) => Err(WriteError::Outside { target, top }),
        None => replace(path, before, after),
    }
}

/// Writes a file that need not exist, whole or not at all.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    Ok(find(path)?.write_whole(bytes)?)
}

/// A link that a repository brings must not choose which file of the user is replaced.
fn find(path: &Path) -> Result<TreeFile, TreeError> {
    TreeFile::find(path, WithoutGit::Within(&env::current_dir()?))
}

impl From<TreeError> for WriteError {
    fn from(error: TreeError) -> Self {
        match error {
            TreeError::Outside { target, top, .. } => Self::Outside { target, top },
            TreeError::GitDirectory(_) => Self::GitDirectory,
            TreeError::Io(error) => Self::Io(error),
        }
    }
}

impl From<ReplaceError> for WriteError {
    fn from(error: ReplaceError) -> Self {
        match error {
            ReplaceError::Changed => Self::Changed,
            ReplaceError::HardLinked(names) => Self::HardLinked { names },
            ReplaceError::NotAFile => Self::NotAFile,
            ReplaceError::Linked => Self::Linked,
            ReplaceError::Io(error) => Self::Io(error),
        }
    }
}
