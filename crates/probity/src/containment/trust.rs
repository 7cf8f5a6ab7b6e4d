//! Trust in a repository's configuration: in its very bytes, so that a change asks again.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use probity_sandbox::Root;
use probity_scope::{MOST_BYTES, read_text};
use probity_seat::{State, hex};

use super::{
    devcontainer::{self, Devcontainer},
    file::text,
    repositorys_file,
};
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
        Self::in_file(&repositorys_file(&root.path), &kept(root, state))
    }

    /// The same for the repository's `devcontainer.json`.
    pub(crate) fn of_devcontainer(root: &Root, state: &State) -> anyhow::Result<Self> {
        Self::in_file(&devcontainer::file(&root.path), &kept_devcontainer(root, state))
    }

    fn in_file(path: &Path, kept: &Path) -> anyhow::Result<Self> {
        let Some(text) = text(path)? else { return Ok(Self::NoFile) };
        let kept = read_text(kept, MOST_BYTES).unwrap_or_default();
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

/// Trusts the files as they are now, and returns each with its text, for the user to see what that
/// was.
pub(crate) fn trust(root: &Root, state: &State) -> anyhow::Result<Vec<(PathBuf, String)>> {
    let own = repositorys_file(&root.path);
    let mut trusted = Vec::new();
    if let Some(text) = text(&own)? {
        let (dialect, owner) = (Dialect::Containai, Owner::Repository);
        let source = configuration::Source { dialect, owner, path: &own, text: &text };
        configuration::read(&Catalogue::shipped(), source)?;
        keep(&kept(root, state), &text)?;
        trusted.push((own.clone(), text));
    }
    let container = devcontainer::file(&root.path);
    if let Some(text) = text(&container)? {
        Devcontainer::read(&text, &root.path)
            .with_context(|| format!("{} is not valid", container.display()))?;
        keep(&kept_devcontainer(root, state), &text)?;
        trusted.push((container, text));
    }
    if trusted.is_empty() {
        let what = format!("{} does not exist: there is nothing to trust", own.display());
        return Err(Failure::new(what, "go to the workspace whose configuration you mean").into());
    }
    Ok(trusted)
}

fn keep(kept: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(directory) = kept.parent() {
        fs::create_dir_all(directory)
            .with_context(|| format!("cannot make the directory {}", directory.display()))?;
    }
    fs::write(kept, hex(text.as_bytes()))
        .with_context(|| format!("cannot write {}", kept.display()))
}

fn kept_devcontainer(root: &Root, state: &State) -> PathBuf {
    state.directory.join("trust").join(format!("{}-devcontainer", State::key(root)))
}

/// Where it stands which file of this workspace is trusted.
fn kept(root: &Root, state: &State) -> PathBuf {
    state.directory.join("trust").join(State::key(root))
}
