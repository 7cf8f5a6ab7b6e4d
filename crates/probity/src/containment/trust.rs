//! Trust in a repository's configuration: in its very bytes, so that a change asks again.

use std::{fs, path::PathBuf};

use anyhow::Context as _;
use probity_sandbox::Root;
use probity_seat::{State, hex};

use super::{file::text, repositorys_file};
use crate::{
    config::{Catalogue, Dialect, Owner, file as configuration},
    failure::Failure,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// There is no file to trust.
    NoFile,
    /// Never given, or given to another text.
    NotGiven,
    Given,
}

impl Trust {
    pub(crate) fn of(root: &Root, state: &State) -> anyhow::Result<Self> {
        let Some(text) = text(&repositorys_file(&root.path))? else { return Ok(Self::NoFile) };
        let kept = fs::read_to_string(kept(root, state)).unwrap_or_default();
        Ok(if kept.trim() == hex(text.as_bytes()) { Self::Given } else { Self::NotGiven })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::NoFile => "no file",
            Self::NotGiven => "not trusted",
            Self::Given => "trusted",
        }
    }
}

/// Trusts the file as it is now, and returns its text, for the user to see what that was.
pub(crate) fn trust(root: &Root, state: &State) -> anyhow::Result<String> {
    let path = repositorys_file(&root.path);
    let text = text(&path)?.ok_or_else(|| {
        let what = format!("{} does not exist: there is nothing to trust", path.display());
        Failure::new(what, "go to the workspace whose configuration you mean")
    })?;
    let (dialect, owner) = (Dialect::Containai, Owner::Repository);
    let source = configuration::Source { dialect, owner, path: &path, text: &text };
    configuration::read(&Catalogue::shipped(), source)?;
    let kept = kept(root, state);
    if let Some(directory) = kept.parent() {
        fs::create_dir_all(directory)
            .with_context(|| format!("cannot make the directory {}", directory.display()))?;
    }
    fs::write(&kept, hex(text.as_bytes()))
        .with_context(|| format!("cannot write {}", kept.display()))?;
    Ok(text)
}

/// Where it stands which file of this workspace is trusted.
fn kept(root: &Root, state: &State) -> PathBuf {
    state.directory.join("trust").join(State::key(root))
}
