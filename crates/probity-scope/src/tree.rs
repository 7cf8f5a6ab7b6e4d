//! A file by the tree that it belongs to.
//!
//! A repository can bring links, and a tool that reads or replaces what a name leads to would then
//! read or replace any file of the user. So a file counts only if what its name leads to lies in the
//! same tree as the name. The tree is opened, and the file is reached by its real path below it
//! without following a link: what is swapped after the check leads nowhere.

use std::{
    fs::{self, File},
    io,
    path::{Component, Path, PathBuf, absolute},
};

use crate::{HeldDirectory, Named, ReplaceError};

/// What a file's tree is if no git work tree contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutGit<'a> {
    /// The directory that it is named in.
    OwnDirectory,
    /// This directory if the file is named below it, otherwise the file's own.
    Within(&'a Path),
}

/// A file below the open top of its tree. It need not exist.
#[derive(Debug)]
pub struct TreeFile {
    top: HeldDirectory,
    below: PathBuf,
}

/// Why a file cannot be had by its name.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    #[error("{} is outside of {}", place(path, target), Named::new(top))]
    Outside { path: PathBuf, target: PathBuf, top: PathBuf },
    #[error("{} leads into a git directory", Named::new(.0))]
    GitDirectory(PathBuf),
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn place(path: &Path, target: &Path) -> String {
    let named = Named::new(path);
    if path == target {
        named.to_string()
    } else {
        format!("{named} leads to {}, which", Named::new(target))
    }
}

impl TreeFile {
    /// Finds what a name leads to, if that lies in the tree of the name.
    pub fn find(path: &Path, without_git: WithoutGit<'_>) -> Result<Self, TreeError> {
        let named = spelled(path)?;
        Self::find_in(path, &tree_of(named.parent().unwrap_or(&named), without_git)?)
    }

    /// The same for a tree of which [`tree_of`] gave the top: that of the file which has the name in it.
    pub fn find_in(path: &Path, top: &Path) -> Result<Self, TreeError> {
        let named = spelled(path)?;
        let directory = named.parent().unwrap_or(&named);
        let target = match named.canonicalize() {
            Err(error) if is_missing(&error) && named.symlink_metadata().is_err() => {
                let name = named.file_name().unwrap_or_default();
                directory.canonicalize()?.join(name)
            }
            found => found?,
        };
        let Ok(below) = target.strip_prefix(top) else {
            let (path, top) = (path.to_owned(), top.to_owned());
            return Err(TreeError::Outside { path, target, top });
        };
        if below.components().any(is_git) {
            return Err(TreeError::GitDirectory(path.to_owned()));
        }
        let below = below.to_owned();
        Ok(Self { top: HeldDirectory::open(top)?, below })
    }

    /// Opens the file for reading: nothing but a regular one, and without waiting for a pipe.
    pub fn open(&self) -> io::Result<File> {
        self.top.open_file(&self.below)
    }

    /// Replaces what the file holds, if that is `before`, by `after`; see [`HeldDirectory::replace`].
    pub fn replace(&self, before: &[u8], after: &[u8]) -> Result<(), ReplaceError> {
        self.top.replace(&self.below, before, after)
    }

    /// Writes the file whole or not at all.
    pub fn write_whole(&self, bytes: &[u8]) -> io::Result<()> {
        self.top.write_whole(&self.below, bytes)
    }
}

/// The top of the tree that a directory belongs to by its name, without links.
pub fn tree_of(directory: &Path, without_git: WithoutGit<'_>) -> io::Result<PathBuf> {
    let directory = spelled(directory)?;
    if let Some(top) = work_tree(&directory)? {
        return Ok(top);
    }
    if let WithoutGit::Within(working) = without_git
        && directory.starts_with(spelled(working)?)
    {
        return working.canonicalize();
    }
    directory.canonicalize()
}

/// The innermost git work tree around a directory. A link in a work tree belongs to that tree, even if
/// it leads into another one; a link outside of any is the user's own.
fn work_tree(directory: &Path) -> io::Result<Option<PathBuf>> {
    let mut reached = PathBuf::new();
    let mut top = None;
    for part in directory.components() {
        reached.push(part);
        let is_link = || reached.symlink_metadata().is_ok_and(|found| found.is_symlink());
        if top.is_some() && is_link() {
            break;
        }
        if reached.join(".git").symlink_metadata().is_ok() {
            top = Some(reached.canonicalize()?);
        }
    }
    Ok(top)
}

/// The path from the root on, without `..`, which has another meaning behind a link and is therefore
/// asked of the file system.
fn spelled(path: &Path) -> io::Result<PathBuf> {
    let mut spelled = PathBuf::new();
    for part in absolute(path)?.components() {
        if part == Component::ParentDir {
            spelled = fs::canonicalize(&spelled)?;
            spelled.pop();
        } else {
            spelled.push(part);
        }
    }
    Ok(spelled)
}

fn is_git(part: Component<'_>) -> bool {
    part.as_os_str().eq_ignore_ascii_case(".git")
}

fn is_missing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}
