//! The state directory: what outlives a run, and where in it each thing is.

use std::{
    env, fs, io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
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
    #[error("there is no place to keep state in: neither HOME nor XDG_STATE_HOME is set")]
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
        Ok(home)
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
