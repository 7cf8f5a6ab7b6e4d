//! Files as they were where a branch began.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use super::{GitError, command::Git, diff};

/// The common ancestor of the current commit and a base.
#[derive(Debug)]
pub struct Ancestor {
    /// At the top of the repository.
    git: Git,
    commit: String,
    /// The name then, by the name now, both from the top.
    moved: HashMap<String, String>,
}

impl Ancestor {
    pub fn with(directory: &Path, base: &str) -> Result<Self, GitError> {
        let inside = Git::open(directory)?;
        let git = Git::open(&inside.private.top)?;
        let commit = diff::common_ancestor(&git, base)?;
        let moved = diff::renames(&git, &commit).into_iter().map(|(old, new)| (new, old)).collect();
        Ok(Self { git, commit, moved })
    }

    /// What a file was called then; the same name if git knows of no other.
    #[must_use]
    pub fn old_name(&self, file: &Path) -> PathBuf {
        let now = self.name_below_top(file);
        let then = now.as_deref().and_then(Path::to_str).and_then(|name| self.moved.get(name));
        then.map_or_else(|| file.to_owned(), |name| self.git.private.top.join(name))
    }

    /// The text of a file then; none where it was not there, or is not in the repository.
    pub fn text(&self, file: &Path) -> Result<Option<String>, GitError> {
        let Some(name) = self.name_below_top(file) else { return Ok(None) };
        let spec = format!("{}:{}", self.commit, name.display());
        if self.git.ask(&["cat-file", "-e", &spec]).is_err() {
            return Ok(None);
        }
        self.git.ask(&["cat-file", "blob", &spec]).map(Some)
    }

    fn name_below_top(&self, file: &Path) -> Option<PathBuf> {
        // The file itself may be gone or a link; its directory says where it stands.
        let directory = file.parent()?.canonicalize().ok()?;
        let name = directory.join(file.file_name()?);
        name.strip_prefix(&self.git.private.top).ok().map(Path::to_owned)
    }
}
