//! Which directory a session belongs to, found by looking and without running anything.
//!
//! `git` itself is not asked: it would obey `GIT_*` variables, refuse directories of other owners,
//! and run with a configuration that the repository may have written.

mod git;
#[cfg(target_os = "linux")]
mod guard;
mod held;
#[cfg(target_os = "linux")]
mod set_id;
#[cfg(target_os = "linux")]
mod snapshot;

use std::{
    env,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use crate::Mount;
use git::{GitDirectories, Protection};
pub use git::{
    Stray, StrayKind, clean_git_directory, clean_worktree, harmless_git_settings, is_dot_git,
    runs_nothing, without_commands,
};
#[cfg(target_os = "linux")]
pub use guard::{Guard, GuardedEnd};
pub use held::{HeldTree, Identity};
#[cfg(target_os = "linux")]
pub use snapshot::{ByteText, Snapshot};

/// The directory that a contained process may work in.
#[derive(Debug, Clone)]
pub struct Root {
    /// Real, without links.
    pub path: PathBuf,
    pub kind: RootKind,
    git: Option<GitDirectories>,
    /// Looked for once, when a session begins: that is what its end is compared with.
    protection: OnceLock<Arc<Protection>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootKind {
    Git,
    /// Has a `.containai/config.toml`.
    Configured,
    /// The working directory itself, for want of anything better.
    Directory,
}

#[derive(Debug, thiserror::Error)]
pub enum RootError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{}: not a directory", .0.display())]
    NotADirectory(PathBuf),
    #[error(
        "{}: {why} cannot be a workspace, since an agent could change all that is in it; \
         start in a project below it", path.display()
    )]
    Refused { path: PathBuf, why: &'static str },
}

const CONFIGURATION: &str = ".containai/config.toml";

/// Directories that are the system's, with all that is below them.
const SYSTEM_TREES: &[&str] = &[
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/proc",
    "/sbin",
    "/sys",
    "/usr/bin",
    "/usr/include",
    "/usr/lib",
    "/usr/libexec",
    "/usr/sbin",
    "/usr/share",
    "/System",
    "/Library",
];

/// Directories that hold what belongs to many; what is below them is another matter.
const SHARED: &[&str] = &[
    "/",
    "/home",
    "/root",
    "/Users",
    "/media",
    "/mnt",
    "/opt",
    "/run",
    "/srv",
    "/tmp",
    "/usr",
    "/usr/local",
    "/usr/src",
    "/var",
    "/var/lib",
    "/var/log",
    "/var/tmp",
    "/private",
    "/Volumes",
];

/// The root that a working directory belongs to: the nearest with a `.git`, else the nearest with
/// a configuration, else the directory itself. The same root for every directory of a project.
pub fn workspace_root(cwd: &Path) -> Result<Root, RootError> {
    root_with_home(cwd, users_home().as_deref())
}

/// This very directory as a root, after the same checks: what else is in its project stays out.
pub fn directory_root(directory: &Path) -> Result<Root, RootError> {
    let path = accepted(directory, users_home().as_deref())?;
    let git = GitDirectories::find(&path, &path);
    let kind = if git.is_some() { RootKind::Git } else { RootKind::Directory };
    Ok(Root { path, kind, git, protection: OnceLock::new() })
}

fn users_home() -> Option<PathBuf> {
    env::var_os("HOME").map(PathBuf::from).and_then(|home| home.canonicalize().ok())
}

/// The real path of a directory that can be a workspace.
fn accepted(directory: &Path, home: Option<&Path>) -> Result<PathBuf, RootError> {
    let path = || directory.to_owned();
    let real = directory.canonicalize().map_err(|source| RootError::Io { path: path(), source })?;
    if !real.is_dir() {
        return Err(RootError::NotADirectory(path()));
    }
    if let Some(why) = refused(&real, home) {
        return Err(RootError::Refused { path: real, why });
    }
    Ok(real)
}

fn root_with_home(cwd: &Path, home: Option<&Path>) -> Result<Root, RootError> {
    let real = accepted(cwd, home)?;
    // A repository in the home directory, for dot files, is no root for what is below it.
    let above = || real.ancestors().take_while(|path| refused(path, home).is_none());
    let with_git = above().find(|path| path.join(".git").symlink_metadata().is_ok());
    let configured = || above().find(|path| path.join(CONFIGURATION).is_file());
    let (path, kind) = match with_git {
        Some(path) => (path, RootKind::Git),
        None => match configured() {
            Some(path) => (path, RootKind::Configured),
            None => (real.as_path(), RootKind::Directory),
        },
    };
    let git = GitDirectories::find(path, path);
    Ok(Root { path: path.to_owned(), kind, git, protection: OnceLock::new() })
}

fn refused(path: &Path, home: Option<&Path>) -> Option<&'static str> {
    if SYSTEM_TREES.iter().any(|tree| path.starts_with(tree)) {
        return Some("a directory of the system");
    }
    if SHARED.iter().any(|shared| path == Path::new(shared)) {
        return Some("a directory that contains more than one project");
    }
    // Neither the home itself nor a directory it lies in.
    home.is_some_and(|home| home.starts_with(path)).then_some("a home directory")
}

impl Root {
    /// What a contained process needs of it: the workspace at `inside` and at its own path, and a
    /// worktree's repository. Read-only is whatever git obeys on the host: configuration and hooks of
    /// every repository in it, files that configuration includes, hooks and programs that it names.
    /// Such files that are missing are made, empty.
    ///
    /// Three things no mount closes, and `guard` sees to: a new repository; a new `commondir` in a
    /// git directory, where something that is mounted would have to exist outside as well, and git
    /// would obey it there; and a link that is replaced.
    pub fn mounts(&self, inside: &Path) -> Vec<Mount> {
        let mut mounts: Vec<Mount> = Vec::new();
        for at in [inside, &self.path] {
            if !mounts.iter().any(|mount| mount.inside() == at) {
                mounts.push(Mount::read_write(&self.path, at));
            }
        }
        mounts.extend(self.protection().mounts(&self.path, inside));
        mounts
    }

    /// Paths that nobody may write for a contained process, whether or not they are there.
    pub fn read_only(&self) -> Vec<PathBuf> {
        self.protection().read_only()
    }

    /// Variables that give git inside the name and the address that it has here on the host.
    pub fn identity(&self) -> Vec<(&'static str, String)> {
        git::identity(self.git.as_ref())
    }

    /// What the user has to know before a process starts.
    pub fn warnings(&self) -> Vec<String> {
        self.protection().warnings()
    }

    /// Watches over the git directories for as long as it is held, from before the process starts
    /// until it has ended.
    #[cfg(target_os = "linux")]
    pub fn guard(&self) -> Guard {
        Guard::new(self.path.clone(), Arc::clone(self.protection()))
    }

    fn protection(&self) -> &Arc<Protection> {
        self.protection.get_or_init(|| Arc::new(Protection::of(&self.path, self.git.as_ref())))
    }

    /// The git directory outside the root that a worktree or submodule shares, if there is one.
    pub fn common_git_directory(&self) -> Option<&Path> {
        self.git.as_ref()?.outside(&self.path)
    }
}

/// A directory that a variable names; a relative one counts as unset, as XDG wants it.
fn absolute_variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::{RootKind, refused, root_with_home};

    #[test]
    fn the_nearest_repository_comes_before_a_configuration_and_that_before_the_directory() {
        let place = tempfile::tempdir().unwrap();
        let at = place.path().canonicalize().unwrap();
        for directory in ["repo/.git", "repo/sub/.containai", "conf/.containai", "conf/a/b", "bare"]
        {
            fs::create_dir_all(at.join(directory)).unwrap();
        }
        fs::write(at.join("repo/sub/.containai/config.toml"), "").unwrap();
        fs::write(at.join("conf/.containai/config.toml"), "").unwrap();
        fs::create_dir_all(at.join("linked/deep")).unwrap();
        fs::write(at.join("linked/.git"), "gitdir: elsewhere\n").unwrap();
        std::os::unix::fs::symlink(at.join("repo/sub"), at.join("shortcut")).unwrap();
        for (cwd, root, kind) in [
            ("repo", "repo", RootKind::Git),
            ("repo/sub", "repo", RootKind::Git),
            ("shortcut", "repo", RootKind::Git),
            ("linked/deep", "linked", RootKind::Git),
            ("conf/a/b", "conf", RootKind::Configured),
            ("bare", "bare", RootKind::Directory),
        ] {
            let found = root_with_home(&at.join(cwd), None).unwrap();
            assert_eq!((found.path, found.kind), (at.join(root), kind), "{cwd}");
        }
    }

    #[test]
    fn a_repository_in_the_home_directory_does_not_claim_what_is_below() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        fs::create_dir_all(home.join(".git")).unwrap();
        fs::create_dir_all(home.join("project")).unwrap();
        let found = root_with_home(&home.join("project"), Some(&home)).unwrap();
        assert_eq!((found.path, found.kind), (home.join("project"), RootKind::Directory));
        let error = root_with_home(&home, Some(&home)).unwrap_err().to_string();
        let why = "a home directory cannot be a workspace, since an agent could change all that is in it; \
                   start in a project below it";
        assert_eq!(error, format!("{}: {why}", home.display()));
    }

    #[test]
    fn directories_of_the_system_are_refused() {
        for (path, expected) in [
            ("/", true),
            ("/etc", true),
            ("/etc/nginx", true),
            ("/usr", true),
            ("/usr/src", true),
            ("/usr/src/app", false),
            ("/usr/lib/x", true),
            ("/home", true),
            ("/home/me", true),
            ("/home/me/code", false),
            ("/home/other", false),
            ("/tmp", true),
            ("/tmp/x", false),
            ("/etcetera", false),
            ("/var/lib", true),
            ("/workspaces/x", false),
        ] {
            let is = refused(Path::new(path), Some(Path::new("/home/me"))).is_some();
            assert_eq!(is, expected, "{path}");
        }
    }
}
