//! The state directory: what outlives a run, and where in it each thing is.

use std::{
    env,
    ffi::OsString,
    fs, io,
    os::unix::{
        ffi::OsStringExt as _,
        fs::{DirBuilderExt as _, MetadataExt as _},
    },
    path::{Path, PathBuf},
};

use probity_sandbox::Root;
use sha2::{Digest as _, Sha256};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub directory: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum StateError {
    #[error("no directory for state: set HOME or XDG_STATE_HOME")]
    NoPlace,
    #[error("cannot make the directory {}: {source}", path.display())]
    Make { path: PathBuf, source: io::Error },
    #[error("cannot give {} to the owner of the workspace: {source}", path.display())]
    Owner { path: PathBuf, source: io::Error },
    #[error("the state directory {} is inside the workspace", .0.display())]
    InWorkspace(PathBuf),
}

impl StateError {
    #[must_use]
    pub fn way_out(&self) -> &'static str {
        match self {
            Self::NoPlace => "set HOME, or set XDG_STATE_HOME to a directory you own",
            Self::Make { .. } | Self::Owner { .. } => {
                "make it writable, or set XDG_STATE_HOME to another directory you own"
            }
            Self::InWorkspace(_) => "set XDG_STATE_HOME to a directory outside the workspace",
        }
    }
}

impl State {
    /// `$XDG_STATE_HOME/probity`, or the same below `~/.local/state`.
    pub fn find() -> Result<Self, StateError> {
        let base = absolute("XDG_STATE_HOME")
            .or_else(|| Some(absolute("HOME")?.join(".local/state")))
            .ok_or(StateError::NoPlace)?;
        let directory = base.join("probity");
        make(&directory)?;
        let real = directory.canonicalize();
        let directory = real.map_err(|source| StateError::Make { path: directory, source })?;
        Ok(Self { directory })
    }

    /// A sandboxed process could trust itself if it could write here.
    pub fn refuse_inside(&self, root: &Root) -> Result<(), StateError> {
        if self.directory.starts_with(&root.path) {
            return Err(StateError::InWorkspace(self.directory.clone()));
        }
        Ok(())
    }

    /// The home of what runs in a workspace: it stays from run to run, and is the owner's.
    pub(crate) fn workspace_home(&self, root: &Root) -> Result<PathBuf, StateError> {
        let home = self.directory.join("homes").join(Self::key(root));
        make(&home)?;
        self.remember(root)?;
        // The workspace is mounted below it, and an engine would make this as root.
        let workspace = home.join("workspace");
        make(&workspace)?;
        for path in [&home, &workspace] {
            give_to_owner(path, &root.path)
                .map_err(|source| StateError::Owner { path: path.clone(), source })?;
        }
        Ok(home)
    }

    /// The home of an agent in a workspace, or of one that is asked outside any: its settings and
    /// what it remembers stay from run to run, and in this workspace.
    pub(crate) fn agent_home(
        &self,
        root: Option<&Root>,
        agent: &str,
    ) -> Result<PathBuf, StateError> {
        let place = root.map_or_else(|| "nowhere".to_owned(), Self::key);
        let name = format!("{place}-{}", file_name(agent));
        let home = self.directory.join("homes").join(name);
        make(&home)?;
        if let Some(root) = root {
            self.remember(root)?;
        }
        Ok(home)
    }

    /// Notes which workspace a key stands for, so that `cai gc` knows whose homes are of no use.
    fn remember(&self, root: &Root) -> Result<(), StateError> {
        let directory = self.directory.join("workspaces");
        make(&directory)?;
        let path = directory.join(Self::key(root));
        if path.exists() {
            return Ok(());
        }
        let written = fs::write(&path, root.path.as_os_str().as_encoded_bytes());
        written.map_err(|source| StateError::Make { path, source })
    }

    /// Directories and notes of workspaces that are certainly gone, and of runs that have ended
    /// without removing theirs. What is in quarantine is never among them.
    #[must_use]
    pub fn garbage(&self) -> Vec<PathBuf> {
        let gone: Vec<String> = entries(&self.directory.join("workspaces"))
            .filter(|note| names_nothing(note))
            .filter_map(|note| Some(note.file_name()?.to_str()?.to_owned()))
            .collect();
        let is_of = |path: &Path, key: &str| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| {
                name.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            })
        };
        let kept = ["homes", "trust", "workspaces"];
        let kept = kept.into_iter().flat_map(|kind| entries(&self.directory.join(kind)));
        let unused = kept.filter(|path| gone.iter().any(|key| is_of(path, key)));
        let runs = entries(&self.directory.join("fixes")).filter(|run| is_of_ended_run(run));
        unused.chain(runs).collect()
    }

    /// Where the logins of an agent are kept for all workspaces.
    pub(crate) fn logins(&self, agent: &str) -> Result<PathBuf, StateError> {
        let directory = self.directory.join("logins").join(file_name(agent));
        make(&directory)?;
        Ok(directory)
    }

    /// A name for a workspace that is fit for a file.
    #[must_use]
    pub fn key(root: &Root) -> String {
        hex(root.path.as_os_str().as_encoded_bytes())
    }
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter()
}

/// Whether the workspace that a note names is gone; one that cannot be looked at may be there.
fn names_nothing(note: &Path) -> bool {
    let Ok(bytes) = fs::read(note) else { return false };
    let path = PathBuf::from(OsString::from_vec(bytes));
    path.is_absolute() && matches!(path.try_exists(), Ok(false))
}

/// `fix-PID-N` of a process that is no more.
fn is_of_ended_run(directory: &Path) -> bool {
    let name = directory.file_name().and_then(|name| name.to_str());
    let pid = name.and_then(|name| name.strip_prefix("fix-")?.split('-').next()?.parse().ok());
    let pid = pid.filter(|raw| *raw > 0).and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}

fn give_to_owner(path: &Path, root: &Path) -> io::Result<()> {
    let owner = fs::metadata(root)?;
    if fs::metadata(path)?.uid() != owner.uid() && rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(path, Some(owner.uid()), Some(owner.gid()))?;
    }
    Ok(())
}

/// For us alone: logins of agents end up in here.
pub(crate) fn make(directory: &Path) -> Result<(), StateError> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
    made.map_err(|source| StateError::Make { path: directory.to_owned(), source })
}

/// A name that the user has given may hold anything.
fn file_name(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if name.bytes().all(is_plain) { name.to_owned() } else { hex(name.as_bytes()) }
}

/// The SHA-256 digest of these bytes, in hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The XDG specification ignores relative paths.
pub(crate) fn absolute(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_certainly_of_no_use_is_garbage() {
        let dir = tempfile::tempdir().unwrap();
        let state = State { directory: dir.path().join("state") };
        let workspace = |name: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(&path).unwrap();
            probity_sandbox::workspace_root(&path).unwrap()
        };
        let (here, gone) = (workspace("here"), workspace("gone"));
        for root in [&here, &gone] {
            state.workspace_home(root).unwrap();
            state.agent_home(Some(root), "claude").unwrap();
        }
        let kept = [
            state.agent_home(None, "claude").unwrap(),
            state.logins("claude").unwrap(),
            state.directory.join("quarantine/1"),
            // Of a version that noted nothing: nobody knows whose it was.
            state.directory.join("homes").join("f".repeat(64)),
            state.directory.join(format!("fixes/fix-{}-0", std::process::id())),
        ];
        let ended = state.directory.join("fixes/fix-4194300-0");
        for path in kept.iter().chain([&ended]) {
            fs::create_dir_all(path).unwrap();
        }
        assert_eq!(state.garbage(), std::slice::from_ref(&ended));
        fs::remove_dir_all(&gone.path).unwrap();
        let key = State::key(&gone);
        let expected = [
            state.directory.join("homes").join(&key),
            state.directory.join("homes").join(format!("{key}-claude")),
            state.directory.join("workspaces").join(&key),
            ended,
        ];
        assert_eq!(state.garbage(), expected);
    }
}
