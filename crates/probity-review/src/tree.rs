//! The files of a repository, and a copy of them for the agent.
//!
//! The copy has neither what git ignores nor git's own directory: CI keeps its tokens in there.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use ignore::WalkBuilder;

/// More files than this are not a repository that an agent could review.
const MAX_FILES: usize = 200_000;
const MAX_BYTES: u64 = 4 << 30;

#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    #[error("{} is not a directory", .0.display())]
    NotADirectory(PathBuf),
    #[error("there are more than {MAX_FILES} files in {}", .0.display())]
    TooManyFiles(PathBuf),
    #[error("{} is larger than {} GiB", .0.display(), MAX_BYTES >> 30)]
    TooLarge(PathBuf),
    #[error("cannot read {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write the copy of {}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// What is in the repository, without what git ignores.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// Relative, in the order of their names. Links are among them, and not followed.
    entries: Vec<PathBuf>,
}

impl Tree {
    /// Looks through the repository; nothing below `without` is part of it.
    pub fn of(repo: &Path, without: Option<&Path>) -> Result<Self, TreeError> {
        if !repo.is_dir() {
            return Err(TreeError::NotADirectory(repo.to_owned()));
        }
        let without = without.and_then(|path| path.canonicalize().ok());
        let root = repo.canonicalize().map_err(|source| read(repo, source))?;
        let without = without.filter(|path| *path != root);
        let walk = WalkBuilder::new(&root)
            .hidden(false)
            .parents(false)
            .git_global(false)
            .require_git(false)
            .follow_links(false)
            .filter_entry(move |entry| {
                entry.file_name() != ".git" && without.as_deref() != Some(entry.path())
            })
            .build();
        let mut entries = Vec::new();
        for entry in walk {
            // What vanishes or cannot be read meanwhile is no part of the review.
            let Ok(entry) = entry else { continue };
            let kind = entry.file_type();
            if !kind.is_some_and(|kind| kind.is_file() || kind.is_symlink()) {
                continue;
            }
            if entries.len() == MAX_FILES {
                return Err(TreeError::TooManyFiles(root));
            }
            if let Ok(relative) = entry.path().strip_prefix(&root) {
                entries.push(relative.to_owned());
            }
        }
        entries.sort_unstable();
        Ok(Self { entries })
    }

    /// The paths that are text, with forward slashes. Others cannot be named in JSON.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.entries.iter().filter_map(|path| path.to_str().map(str::to_owned)).collect()
    }

    /// Copies everything into an empty directory. Nothing is linked: whoever writes in the copy
    /// must not write in the repository.
    pub fn copy(&self, repo: &Path, to: &Path) -> Result<(), TreeError> {
        let mut bytes = 0;
        for relative in &self.entries {
            let (from, into) = (repo.join(relative), to.join(relative));
            let write = |source| TreeError::Write { path: relative.clone(), source };
            let Ok(metadata) = fs::symlink_metadata(&from) else { continue };
            if let Some(parent) = into.parent() {
                fs::create_dir_all(parent).map_err(write)?;
            }
            if metadata.is_symlink() {
                let target = fs::read_link(&from).map_err(|source| read(relative, source))?;
                if stays_inside(relative, &target) {
                    std::os::unix::fs::symlink(target, &into).map_err(write)?;
                }
                continue;
            }
            bytes += metadata.len();
            if bytes > MAX_BYTES {
                return Err(TreeError::TooLarge(repo.to_owned()));
            }
            fs::copy(&from, &into).map_err(write)?;
        }
        Ok(())
    }
}

fn read(path: &Path, source: io::Error) -> TreeError {
    TreeError::Read { path: path.to_owned(), source }
}

/// Whether a link leads to somewhere in the repository, by its words alone.
fn stays_inside(link: &Path, target: &Path) -> bool {
    let mut depth = link.components().count() as i64 - 1;
    for part in target.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::ParentDir => depth -= 1,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return false,
        }
        if depth < 0 {
            return false;
        }
    }
    true
}
