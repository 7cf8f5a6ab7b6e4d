//! Where we keep what outlives a run: locks, the homes of contained processes, what is trusted.

use std::{
    fs,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use probity_sandbox::Root;
use sha2::{Digest as _, Sha256};

use super::absolute;
use crate::failure::Failure;

#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) directory: PathBuf,
}

impl State {
    /// `$XDG_STATE_HOME/probity`, or the same below `~/.local/state`.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let base = absolute("XDG_STATE_HOME")
            .or_else(|| Some(absolute("HOME")?.join(".local/state")))
            .ok_or_else(|| {
                let what =
                    "there is no place to keep state in: neither HOME nor XDG_STATE_HOME is set";
                Failure::new(what, "set HOME, or XDG_STATE_HOME to a directory of yours")
            })?;
        let directory = base.join("probity");
        make(&directory)?;
        let directory = directory.canonicalize()?;
        Ok(Self { directory })
    }

    /// A contained process could trust itself if it could write here.
    pub(crate) fn refuse_inside(&self, root: &Root) -> anyhow::Result<()> {
        if self.directory.starts_with(&root.path) {
            return Err(Failure::new(
                format!("the state directory {} lies in the workspace", self.directory.display()),
                "set XDG_STATE_HOME to a directory outside",
            )
            .into());
        }
        Ok(())
    }

    /// The home of what runs in a workspace: it stays from run to run, and is the owner's.
    pub(crate) fn home(&self, root: &Root) -> anyhow::Result<PathBuf> {
        let home = self.directory.join("homes").join(key(&root.path));
        make(&home)?;
        // The workspace is mounted below it, and an engine would make this as root.
        let workspace = home.join("workspace");
        make(&workspace)?;
        let owner = fs::metadata(&root.path)?;
        for path in [&home, &workspace] {
            if fs::metadata(path)?.uid() != owner.uid() && rustix::process::geteuid().is_root() {
                std::os::unix::fs::chown(path, Some(owner.uid()), Some(owner.gid()))
                    .with_context(|| format!("cannot give {} away", path.display()))?;
            }
        }
        Ok(home)
    }

    /// The home of an agent in a workspace, or of one that is asked outside any: its login, its
    /// settings and what it remembers stay from run to run, and in this workspace.
    pub(crate) fn agent_home(&self, root: Option<&Root>, agent: &str) -> anyhow::Result<PathBuf> {
        let place = root.map_or_else(|| "nowhere".to_owned(), |root| key(&root.path));
        let home = self.directory.join("homes").join(format!("{place}-{agent}"));
        make(&home)?;
        Ok(home)
    }

    /// Where it stands which file of this workspace is trusted.
    pub(super) fn trust(&self, root: &Root) -> PathBuf {
        self.directory.join("trust").join(key(&root.path))
    }
}

/// For us alone: logins of agents end up in here.
pub(super) fn make(directory: &Path) -> anyhow::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).with_context(|| {
        Failure::new(
            format!("cannot make the directory {}", directory.display()),
            "make room and let it be written, or set XDG_STATE_HOME to another directory of yours",
        )
    })
}

fn key(path: &Path) -> String {
    hex(path.as_os_str().as_encoded_bytes())
}

pub(super) fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
