//! What git says about the repository under review.
//!
//! git runs without anything of the user's, the caller's or the repository's: no configuration of
//! theirs, no `GIT_*` variable, no hook, no pager, no helper. It reads; only [`Commits`] write.

mod address;
mod ancestor;
mod command;
mod commit;
mod diff;
mod plain;
mod private;
mod together;

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

pub use self::{
    ancestor::Ancestor,
    commit::{CommitError, Commits, check_clean},
    diff::{Change, ChangedFile},
};
pub(crate) use self::{command::Git, together::History};

/// Stands where git has no commit to name.
pub const NO_COMMIT: &str = "0000000000000000000000000000000000000000";

/// What a reader has to know of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    GitNotInstalled,
    NotARepository,
    /// Its git directory leads elsewhere, and is not read.
    LeadsElsewhere,
    NoCommits,
    /// The working tree has changes that no commit has.
    Dirty,
    /// Whether it has was not looked at.
    DirtyUnknown,
}

/// Which code was reviewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitFacts {
    /// The origin's URL without scheme, user and ending; without an origin the directory's name.
    pub repo: String,
    /// The same wherever the directory is: without an origin the first commit, if git has it.
    pub identity: String,
    pub commit: String,
    /// Empty where the head is not on a branch and no branch points at it.
    pub branch: String,
    /// What a reader has to know: no repository, no commits, changes that no commit has.
    pub notes: Vec<Note>,
}

/// Before the name of a branch that belongs to the remote.
const ORIGIN: &str = "origin/";

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    #[error("git is not installed, and probity needs it to find the changes")]
    NotInstalled,
    #[error("{0} is not in a git repository, so there is no change to review")]
    NoRepository(String),
    #[error("the repository has no commits, so there is no change to review")]
    NoCommits,
    #[error("`{0}` cannot be the name of a base")]
    BadName(String),
    #[error("this clone has no branch or commit {}", names(base))]
    NoBase { base: String, shallow: bool },
    #[error("`{base}` and the reviewed commit have no common ancestor in this clone")]
    NoMergeBase { base: String, shallow: bool },
    #[error("{} is a link, a pipe, or leads into another repository", .0.display())]
    Elsewhere(PathBuf),
    #[error("git {what} failed: {why}")]
    Failed { what: String, why: String },
}

impl GitError {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        let deepen = |fetch: &str| {
            format!(
                "this clone is shallow: fetch the history first (`{fetch}`, `fetch-depth: 0`, \
                 GIT_DEPTH: 0, or no `depth` on the Concourse get step)"
            )
        };
        match self {
            Self::NotInstalled => "install git".to_owned(),
            Self::NoRepository(_) | Self::NoCommits => {
                "run it in a git repository that has commits".to_owned()
            }
            Self::BadName(_) => "name a branch, a tag or a commit".to_owned(),
            Self::NoBase { base, shallow: true } => {
                deepen(&format!("git fetch --unshallow origin {}", refspec(base)))
            }
            Self::NoMergeBase { shallow: true, .. } => deepen("git fetch --unshallow"),
            Self::NoBase { base, .. } => {
                let refspec = refspec(base);
                format!(
                    "fetch it (`git fetch origin {refspec}`), or name another branch, tag or commit"
                )
            }
            Self::NoMergeBase { .. } => "name the branch that this one began from".to_owned(),
            Self::Elsewhere(_) => "clone the repository anew, and run it in the clone".to_owned(),
            Self::Failed { .. } => "run that git command by hand to see more".to_owned(),
        }
    }
}

/// The names by which a base was looked for.
fn names(base: &str) -> String {
    if base.starts_with(ORIGIN) {
        return format!("`{base}`");
    }
    format!("`{base}` or `{ORIGIN}{base}`")
}

/// What brings a base into a clone. A clone of a single branch keeps no name of another that is
/// fetched, unless the refspec says so.
fn refspec(base: &str) -> String {
    if is_commit(base) {
        return base.to_owned();
    }
    let branch = base.strip_prefix(ORIGIN).unwrap_or(base);
    format!("+{branch}:refs/remotes/{ORIGIN}{branch}")
}

/// Whether a text has the form of a commit's name.
fn is_commit(text: &str) -> bool {
    text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl GitFacts {
    /// Never fails: what git does not know has a stand-in and a note.
    #[must_use]
    pub fn of(directory: &Path) -> Self {
        let name = directory_name(directory);
        let nothing = |note: Note| Self {
            repo: name.clone(),
            identity: name.clone(),
            commit: NO_COMMIT.to_owned(),
            branch: String::new(),
            notes: vec![note],
        };
        let git = match Git::open(directory) {
            Ok(git) => git,
            Err(GitError::NotInstalled) => {
                return nothing(Note::GitNotInstalled);
            }
            Err(GitError::Elsewhere(_)) => {
                return nothing(Note::LeadsElsewhere);
            }
            Err(_) => {
                return nothing(Note::NotARepository);
            }
        };
        let mut notes = Vec::new();
        let origin = git.ask(&["config", "--local", "--get", "remote.origin.url"]).ok();
        let origin = origin.and_then(|url| address::normal(url.trim()));
        let first = || git.first_commit().unwrap_or_else(|| name.clone());
        let identity = origin.clone().unwrap_or_else(first);
        let repo = origin.unwrap_or(name);
        let commit = match git.commit("HEAD") {
            Some(commit) => commit,
            None => {
                notes.push(Note::NoCommits);
                NO_COMMIT.to_owned()
            }
        };
        match git.is_dirty() {
            Some(true) => notes.push(Note::Dirty),
            Some(false) => {}
            None => notes.push(Note::DirtyUnknown),
        }
        Self { repo, identity, commit, branch: git.branch(), notes }
    }
}

/// The change since the common ancestor with `base`.
pub fn change(directory: &Path, base: &str) -> Result<Change, GitError> {
    diff::between(&Git::open(directory)?, base)
}

/// Names of the branch that others begin from, if the remote does not say it.
const DEFAULT_BRANCHES: [&str; 4] = ["origin/main", "origin/master", "main", "master"];

/// The branch that others begin from, as far as git knows it.
#[must_use]
pub fn default_branch(directory: &Path) -> Option<String> {
    let git = Git::open(directory).ok()?;
    let of_remote = git.ask(&["symbolic-ref", "--short", "-q", "refs/remotes/origin/HEAD"]);
    let of_remote = of_remote.ok().map(|name| name.trim().to_owned());
    let usual = DEFAULT_BRANCHES.into_iter().map(str::to_owned);
    of_remote.into_iter().chain(usual).find(|name| git.commit(name).is_some())
}

/// The default branch, if what is checked out is another one and has commits of its own.
#[must_use]
pub fn begun_from(directory: &Path) -> Option<String> {
    let default = default_branch(directory)?;
    let git = Git::open(directory).ok()?;
    if default.strip_prefix(ORIGIN).unwrap_or(&default) == git.branch() {
        return None;
    }
    let own = git.ask(&["rev-list", "--count", &format!("{default}..HEAD"), "--"]).ok()?;
    (own.trim() != "0").then_some(default)
}

/// Which of these files, named from the directory, are not the same as at the common ancestor with
/// `base`. Files that git does not know, and changes that are not committed, count as changed.
pub fn changed_files(
    directory: &Path,
    base: &str,
    files: &[String],
) -> Result<Vec<String>, GitError> {
    diff::changed_files(&Git::open(directory)?, base, files)
}

/// The text of a file, named from the directory, at the common ancestor with `base`; none where it has
/// no such file.
pub fn file_at_merge_base(
    directory: &Path,
    base: &str,
    file: &str,
) -> Result<Option<String>, GitError> {
    Ancestor::with(directory, base)?.text(&directory.join(file))
}

/// What git tracks at and below a place of a work tree, as its index says: named from that place. A
/// directory that is not a repository has nothing that is tracked.
pub fn tracked_files(top: &Path, place: &Path) -> Result<Vec<PathBuf>, GitError> {
    let git = match Git::open(top) {
        Ok(git) => git,
        Err(GitError::NoRepository(_)) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut below = OsString::from(":(top,literal)");
    below.push(place);
    let arguments = ["ls-files", "-z", "--cached", "--full-name", "--"].map(OsStr::new);
    let listed = git.ask_with(&[&arguments[..], &[&below]].concat(), &[])?;
    let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let names = names.map(|name| Path::new(OsStr::from_bytes(name)));
    Ok(names.filter_map(|name| name.strip_prefix(place).ok()).map(Path::to_owned).collect())
}

/// Which files have another name now than at an earlier commit: the old one and the new one. Nothing
/// where git does not know that commit.
#[must_use]
pub fn renames(directory: &Path, since: &str) -> Vec<(String, String)> {
    let (true, Ok(git)) = (is_commit(since), Git::open(directory)) else { return Vec::new() };
    match git.commit(since) {
        Some(commit) => diff::renames(&git, &commit),
        None => Vec::new(),
    }
}

/// Whether a repository has this commit.
#[must_use]
pub fn has_commit(directory: &Path, commit: &str) -> bool {
    is_commit(commit) && Git::open(directory).is_ok_and(|git| git.commit(commit).is_some())
}

/// The name of a directory, by which a repository without a remote was known once.
#[must_use]
pub fn directory_name(directory: &Path) -> String {
    let real = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    real.file_name()
        .map_or_else(|| "repository".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Whether a repository has a part of its history alone.
#[must_use]
pub fn is_shallow(directory: &Path) -> bool {
    Git::open(directory).is_ok_and(|git| git.is_shallow())
}
