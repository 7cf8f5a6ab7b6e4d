//! A git directory of our own, with the history and the index of another and none of its settings.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use probity_sandbox::harmless_git_settings;
use probity_scope::{MOST_BYTES, read_file, read_text};
use tempfile::TempDir;

use super::{
    GitError,
    plain::{belongs_to, is_around, leading_elsewhere, pipe_in},
};

/// Parts of a repository that hold history, shared by all its working trees.
const SHARED: &[&str] = &["objects", "refs", "packed-refs", "reftable", "shallow"];

/// Largest file of one line that git writes.
pub(super) const LONGEST_LINE: u64 = 64 << 10;

#[derive(Debug)]
pub(super) struct Private {
    directory: TempDir,
    /// The git directory of the working tree itself.
    pub(super) own: PathBuf,
    /// The root of the working tree.
    pub(super) top: PathBuf,
    /// Whether the repository's own configuration has filters.
    pub(super) has_filters: bool,
}

impl Private {
    /// Of the repository that a directory belongs to. git is not asked where that is: it would read
    /// the configuration, and refuse what belongs to others.
    pub(super) fn of(directory: &Path) -> Result<Self, GitError> {
        let found = directory.ancestors().find_map(|top| Some((top, own_directory(top)?)));
        let none = || GitError::NoRepository(super::directory_name(directory));
        let (top, own) = found.ok_or_else(none)?;
        if !top.join(".git").is_dir() && !belongs_to(&own, top) {
            return Err(GitError::Elsewhere(top.join(".git")));
        }
        let failed = |error: io::Error| GitError::Failed {
            what: "init".to_owned(),
            why: format!("no directory of our own: {error}"),
        };
        let common = common_directory(&own);
        if !is_around(&common, &own) {
            return Err(GitError::Elsewhere(own.join("commondir")));
        }
        if let Some(part) = leading_elsewhere(&own, &common).or_else(|| pipe_in(top)) {
            return Err(GitError::Elsewhere(part));
        }
        let private = tempfile::Builder::new().prefix("probity-git-").tempdir().map_err(failed)?;
        fill(private.path(), &own, &common).map_err(failed)?;
        let settings = read_file(&common.join("config"), MOST_BYTES).unwrap_or_default();
        let settings = String::from_utf8_lossy(&settings).to_ascii_lowercase();
        let has_filters = settings.contains("[filter") || settings.contains("[include");
        Ok(Self { directory: private, own, top: top.to_owned(), has_filters })
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }
}

fn fill(private: &Path, own: &Path, common: &Path) -> io::Result<()> {
    for part in SHARED {
        if common.join(part).exists() {
            symlink(common.join(part), private.join(part))?;
        }
    }
    // Read, and not linked: git takes a link here for a branch.
    fs::write(private.join("HEAD"), read_file(&own.join("HEAD"), LONGEST_LINE)?)?;
    for entry in fs::read_dir(own)?.flatten() {
        let name = entry.file_name();
        let is_index = name == "index" || name.as_encoded_bytes().starts_with(b"sharedindex.");
        if is_index && entry.path().is_file() {
            symlink(entry.path(), private.join(name))?;
        }
    }
    fs::create_dir(private.join("info"))?;
    if common.join("info/exclude").is_file() {
        symlink(common.join("info/exclude"), private.join("info/exclude"))?;
    }
    let mut settings = harmless_git_settings(&common.join("config"));
    settings.push_str("[core]\n\tbare = false\n");
    fs::write(private.join("config"), settings)
}

/// The git directory of a working tree.
fn own_directory(top: &Path) -> Option<PathBuf> {
    let dot_git = top.join(".git");
    if dot_git.is_dir() {
        return dot_git.join("HEAD").symlink_metadata().is_ok().then_some(dot_git);
    }
    let named = line(&dot_git)?;
    let own = top.join(named.strip_prefix("gitdir:")?.trim());
    own.join("HEAD").symlink_metadata().is_ok().then_some(own)
}

fn common_directory(own: &Path) -> PathBuf {
    match line(&own.join("commondir")) {
        Some(common) => own.join(common.trim()),
        None => own.to_owned(),
    }
}

fn line(path: &Path) -> Option<String> {
    Some(read_text(path, LONGEST_LINE).ok()?.lines().next()?.to_owned())
}
