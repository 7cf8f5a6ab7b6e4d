//! Commits of files that probity changed itself: with the user's name, without hooks and filters.
//!
//! Objects, branches and the index are those of the repository. Everything by which git would run a
//! program is not there: see [`Private`](super::private::Private).

use std::{
    env,
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
};

use super::{GitError, command::Git};

/// Why no commit is made.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("HEAD is detached, so a commit would be on no branch")]
    Detached,
    #[error("the repository has no commit yet")]
    NoCommits,
    #[error("the working tree has changes that no commit has: {0}")]
    Dirty(String),
    #[error("`{0}` cannot be the name of a branch")]
    BadBranch(String),
    #[error("the branch `{0}` exists")]
    BranchExists(String),
    #[error("git does not know your name or email address")]
    NoIdentity,
    #[error("{0} has a filter in .gitattributes, and probity does not run filters")]
    Filtered(String),
    #[error("cannot switch to the branch: {0}")]
    Head(io::Error),
}

impl CommitError {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Git(error) => error.help(),
            Self::Detached => "name a new branch with --branch, or check out a branch".to_owned(),
            Self::NoCommits => "make a first commit".to_owned(),
            Self::Dirty(_) => "commit them or run `git stash`".to_owned(),
            Self::BadBranch(_) => "name a branch as git allows it, such as fix/average".to_owned(),
            Self::BranchExists(_) => "name a branch that does not exist".to_owned(),
            Self::NoIdentity => {
                "run `git config --global user.name NAME` and `git config --global \
                                 user.email ADDRESS`"
                    .to_owned()
            }
            Self::Filtered(_) => "run the command without --commit, and commit yourself".to_owned(),
            Self::Head(_) => {
                "remove HEAD.lock from the git directory if no git is running, or run \
                              the command without --branch"
                    .to_owned()
            }
        }
    }
}

/// The branch that commits go to.
#[derive(Debug)]
pub struct Commits {
    git: Git,
    /// With `refs/heads/`.
    branch: String,
    /// Whether the branch is not there yet.
    is_new: bool,
    identity: Vec<(&'static str, OsString)>,
}

impl Commits {
    /// Looks whether commits can be made: on this branch, which is made with the first of them, or
    /// on that of the head.
    ///
    /// # Errors
    ///
    /// When they cannot, before anything was changed.
    pub fn begin(directory: &Path, branch: Option<&str>) -> Result<Self, CommitError> {
        let git = Git::open(directory)?;
        git.commit("HEAD").ok_or(CommitError::NoCommits)?;
        clean(&git)?;
        let (branch, is_new) = match branch {
            None => {
                let head = git.ask(&["symbolic-ref", "-q", "HEAD"]);
                (head.map_err(|_| CommitError::Detached)?.trim().to_owned(), false)
            }
            Some(name) => {
                let shown = || name.chars().take(100).collect::<String>();
                let checked = git.ask(&["check-ref-format", "--branch", name]);
                if checked.is_err() || name.starts_with('-') {
                    return Err(CommitError::BadBranch(shown()));
                }
                let branch = format!("refs/heads/{name}");
                if git.ask(&["show-ref", "--verify", "--quiet", &branch]).is_ok() {
                    return Err(CommitError::BranchExists(shown()));
                }
                (branch, true)
            }
        };
        let identity = identity(&git)?;
        Ok(Self { git, branch, is_new, identity })
    }

    /// Looks whether these files can be committed without running a filter.
    ///
    /// # Errors
    ///
    /// When the attributes of one of them name a filter.
    pub fn check_filters<'a>(
        &self,
        files: impl IntoIterator<Item = &'a String>,
    ) -> Result<(), CommitError> {
        for file in files {
            let told = self.git.ask(&["check-attr", "-z", "filter", "--", file])?;
            let filter = told.split('\0').nth(2).unwrap_or_default();
            if !["unspecified", "unset", ""].contains(&filter) {
                return Err(CommitError::Filtered(file.clone()));
            }
        }
        Ok(())
    }

    /// Commits these files as they are now, and nothing else.
    ///
    /// # Errors
    ///
    /// When git refuses, or a filter would have to run.
    pub fn commit(&mut self, files: &[String], message: &str) -> Result<String, CommitError> {
        self.check_filters(files)?;
        let parent = self.git.commit("HEAD").ok_or(CommitError::NoCommits)?;
        if self.is_new {
            self.git.ask(&["update-ref", &self.branch, &parent, ""])?;
            self.git.switch(&self.branch)?;
            self.is_new = false;
        }
        let mut add = vec!["update-index", "--add", "--"];
        add.extend(files.iter().map(String::as_str));
        self.git.ask(&add)?;
        let tree = self.git.ask(&["write-tree"])?;
        let arguments = ["commit-tree", tree.trim(), "-p", &parent, "-m", message];
        let identity: Vec<(&str, &OsStr)> =
            self.identity.iter().map(|(name, value)| (*name, value.as_os_str())).collect();
        let commit = self.git.ask_with(&arguments.map(OsStr::new), &identity)?;
        let commit = String::from_utf8_lossy(&commit).trim().to_owned();
        self.git.ask(&["update-ref", &self.branch, &commit, &parent])?;
        Ok(commit)
    }

    /// The branch without `refs/heads/`.
    #[must_use]
    pub fn branch(&self) -> &str {
        self.branch.strip_prefix("refs/heads/").unwrap_or(&self.branch)
    }
}

/// Whether tracked files are as the head has them.
///
/// # Errors
///
/// When they are not, or git cannot tell without running filters.
pub fn check_clean(directory: &Path) -> Result<(), CommitError> {
    match Git::open(directory) {
        Ok(git) => clean(&git),
        // Without a repository nothing is tracked.
        Err(GitError::NoRepository(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn clean(git: &Git) -> Result<(), CommitError> {
    let arguments = ["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all"];
    let changed = git.ask(&arguments)?;
    let changed: Vec<&str> = changed.lines().filter_map(|line| line.get(3..)).take(5).collect();
    if changed.is_empty() { Ok(()) } else { Err(CommitError::Dirty(changed.join(", "))) }
}

/// From the environment, the repository's settings, or the user's.
fn identity(git: &Git) -> Result<Vec<(&'static str, OsString)>, CommitError> {
    let setting = |key: &str| -> Option<OsString> {
        let told = |output: Vec<u8>| {
            let text = String::from_utf8_lossy(&output).trim().to_owned();
            (!text.is_empty()).then(|| OsString::from(text))
        };
        let asked = git.ask_with(&["config", "--get", key].map(OsStr::new), &[]).ok();
        asked.and_then(told).or_else(|| {
            let files = user_settings().into_iter().filter(|file| file.is_file());
            files.rev().find_map(|file| {
                let arguments = [OsStr::new("config"), "--file".as_ref(), file.as_os_str()];
                let arguments = [&arguments[..], &["--get", key].map(OsStr::new)].concat();
                told(git.ask_with(&arguments, &[]).ok()?)
            })
        })
    };
    let mut identity = Vec::new();
    for (variables, key) in [
        (["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"], "user.name"),
        (["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"], "user.email"),
    ] {
        for variable in variables {
            let given = env::var_os(variable).filter(|value| !value.is_empty());
            let value = given.or_else(|| setting(key)).ok_or(CommitError::NoIdentity)?;
            identity.push((variable, value));
        }
    }
    Ok(identity)
}

/// The files in which git keeps a user's settings; the later ones win.
fn user_settings() -> Vec<PathBuf> {
    if let Some(file) = env::var_os("GIT_CONFIG_GLOBAL") {
        return vec![file.into()];
    }
    let home = env::var_os("HOME").map(PathBuf::from);
    let base = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let base = base.or_else(|| Some(home.as_ref()?.join(".config")));
    let usual = base.map(|base| base.join("git/config"));
    usual.into_iter().chain(home.map(|home| home.join(".gitconfig"))).collect()
}

impl Git {
    /// Makes this branch the head, as git does: by a lock that becomes the file.
    fn switch(&self, branch: &str) -> Result<(), CommitError> {
        if self.private.path().join("reftable").exists() {
            // The head is where the branches are, which are the repository's own.
            self.ask(&["symbolic-ref", "HEAD", branch])?;
            return Ok(());
        }
        let text = format!("ref: {branch}\n");
        let lock = self.private.own.join("HEAD.lock");
        let write = || -> io::Result<()> {
            let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&lock)?;
            io::Write::write_all(&mut file, text.as_bytes())?;
            fs::rename(&lock, self.private.own.join("HEAD"))?;
            fs::write(self.private.path().join("HEAD"), &text)
        };
        write().map_err(CommitError::Head)
    }
}
