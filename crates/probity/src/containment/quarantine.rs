//! What a session left for git on the host to obey: moved to the state directory, and given back
//! harmless by `cai accept`.

mod any_path;
mod relocate;

use std::{
    fs,
    io::{self, Write as _},
    os::unix::{ffi::OsStrExt as _, fs::symlink},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use probity_sandbox::{
    Stray, StrayKind, clean_git_directory, clean_worktree, runs_nothing, without_commands,
};
use probity_seat::State;
use serde::{Deserialize, Serialize};

use self::relocate::relocate;
use super::implicit::{Changed, Content};
use crate::failure::Failure;

/// What becomes of changed files that tools run by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Quarantine {
    /// They stay, and the user is told.
    GitOnly,
    /// They wait for `cai accept`.
    Implicit,
}

impl Quarantine {
    /// By the flag `--quarantine`.
    pub(crate) fn of(is_wanted: bool) -> Self {
        if is_wanted { Self::Implicit } else { Self::GitOnly }
    }
}

/// Something that was moved away.
#[derive(Debug)]
pub(crate) struct Kept {
    /// The directory that holds it and its record.
    pub(crate) directory: PathBuf,
    pub(crate) record: Record,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    #[serde(with = "any_path")]
    workspace: PathBuf,
    #[serde(with = "any_path")]
    pub(crate) path: PathBuf,
    pub(crate) kind: SuspectKind,
    /// The digest of what was put back in its place, if anything was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SuspectKind {
    Repository,
    Head,
    Rebase,
    Link,
    Configuration,
    /// A file that a command in git's configuration runs.
    Program,
    /// A file that tools run by themselves.
    Implicit,
}

const RECORD: &str = "record.json";
const ITEM: &str = "item";

/// Things that one workspace may have in quarantine.
const MOST: usize = 10_000;

/// Takes a stray away, and puts back what was in its place.
pub(crate) fn take(state: &State, workspace: &Path, stray: &Stray) -> anyhow::Result<Kept> {
    let kind = match stray.kind {
        StrayKind::Repository => SuspectKind::Repository,
        StrayKind::Head => SuspectKind::Head,
        StrayKind::Rebase => SuspectKind::Rebase,
        StrayKind::Link { .. } => SuspectKind::Link,
        StrayKind::Program => SuspectKind::Program,
        StrayKind::Configuration { .. } => SuspectKind::Configuration,
    };
    let (workspace, path) = (workspace.to_owned(), stray.path.clone());
    let record = Record { workspace, path, kind, before: None };
    let directory = new_place(state)?;
    fs::write(directory.join(RECORD), serde_json::to_vec_pretty(&record)?)?;
    match relocate(&stray.path, &directory.join(ITEM)) {
        // A link that is gone leaves nothing to move.
        Err(error) if kind == SuspectKind::Link && error.kind() == io::ErrorKind::NotFound => {}
        other => other?,
    }
    match &stray.kind {
        StrayKind::Link { target } => symlink(target, &stray.path)?,
        StrayKind::Configuration { before } => fs::write(&stray.path, before)?,
        StrayKind::Repository | StrayKind::Head | StrayKind::Rebase | StrayKind::Program => {}
    }
    Ok(Kept { directory, record })
}

/// Takes a changed file away that tools run by themselves, and puts back what was there before.
pub(crate) fn take_file(
    state: &State,
    workspace: &Path,
    changed: &Changed,
) -> anyhow::Result<Kept> {
    anyhow::ensure!(
        !matches!(changed.before, Some(Content::Large(_) | Content::Digest(_))),
        "the file that was there before is too large to be put back"
    );
    let record = Record {
        workspace: workspace.to_owned(),
        path: changed.path.clone(),
        kind: SuspectKind::Implicit,
        before: changed.before.as_ref().map(Content::digest),
    };
    let directory = new_place(state)?;
    fs::write(directory.join(RECORD), serde_json::to_vec_pretty(&record)?)?;
    relocate(&changed.path, &directory.join(ITEM))?;
    match &changed.before {
        Some(Content::Bytes(bytes)) => {
            let mut file = fs::OpenOptions::new();
            let mode = directory.join(ITEM).symlink_metadata()?.permissions();
            file.write(true).create_new(true).open(&changed.path)?.write_all(bytes)?;
            // The owner's rights were the file's own; those of a link say nothing.
            if directory.join(ITEM).symlink_metadata()?.is_file() {
                fs::set_permissions(&changed.path, mode)?;
            }
        }
        Some(Content::Link(target, _)) => symlink(target, &changed.path)?,
        Some(Content::Large(_) | Content::Digest(_)) | None => {}
    }
    Ok(Kept { directory, record })
}

/// What is kept of a workspace.
pub(crate) fn kept(state: &State, workspace: &Path) -> Vec<Kept> {
    let places = fs::read_dir(state.directory.join("quarantine")).into_iter().flatten().flatten();
    let kept = places.filter_map(|place| {
        let directory = place.path();
        let record: Record =
            serde_json::from_slice(&fs::read(directory.join(RECORD)).ok()?).ok()?;
        (record.workspace == workspace).then_some(Kept { directory, record })
    });
    let mut kept: Vec<Kept> = kept.collect();
    kept.sort_by(|one, other| one.record.path.cmp(&other.record.path));
    kept
}

fn new_place(state: &State) -> anyhow::Result<PathBuf> {
    let all = state.directory.join("quarantine");
    fs::create_dir_all(&all)?;
    for number in 1..=MOST {
        let place = all.join(number.to_string());
        match fs::create_dir(&place) {
            Ok(()) => return Ok(place),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
    }
    let what = format!("{} is full", all.display());
    Err(Failure::new(what, "restore its files with `cai accept`, or delete it").into())
}

impl Kept {
    /// What it is, for a person.
    pub(crate) fn what(&self) -> &'static str {
        match self.record.kind {
            SuspectKind::Repository => "a new git repository",
            SuspectKind::Head => "a HEAD file that makes its directory a git repository",
            SuspectKind::Rebase => "an unfinished rebase that runs commands",
            SuspectKind::Link => "a file in the place of a link that git follows",
            SuspectKind::Configuration => "a git configuration with new settings that run programs",
            SuspectKind::Program => "a new file that a git setting runs",
            SuspectKind::Implicit => "a changed file",
        }
    }

    /// What the user can do about it.
    pub(crate) fn next_step(&self) -> &'static str {
        match self.record.kind {
            SuspectKind::Repository | SuspectKind::Head => {
                "`cai accept` restores it without hooks and settings that run programs"
            }
            SuspectKind::Rebase => "`cai accept` restores it without its commands",
            SuspectKind::Link => {
                "the link is back in its place; `cai accept --drop` deletes the file"
            }
            SuspectKind::Configuration => {
                "the old one is back in its place; `cai accept --drop` deletes the new one"
            }
            SuspectKind::Program | SuspectKind::Implicit => "`cai accept` puts it in place",
        }
    }

    /// Deletes it for good.
    pub(crate) fn discard(&self) -> io::Result<()> {
        fs::remove_dir_all(&self.directory)
    }

    /// Whether a word of the command line means it: its number in quarantine, or its path.
    pub(crate) fn is_named(&self, word: &str, current: &Path) -> bool {
        let number = self.directory.file_name();
        number.is_some_and(|number| number == word) || self.record.path == current.join(word)
    }

    /// What became of it, for a person.
    pub(crate) fn restored(&self) -> &'static str {
        match self.record.kind {
            SuspectKind::Implicit | SuspectKind::Program => "put in place as the session left it",
            SuspectKind::Rebase => "restored without its commands",
            _ => "restored without hooks and settings that run programs",
        }
    }

    pub(crate) fn item(&self) -> PathBuf {
        self.directory.join(ITEM)
    }

    /// Puts it back without anything that git would run.
    pub(crate) fn restore(&self) -> anyhow::Result<()> {
        let (item, Record { path, workspace, kind, before }) = (self.item(), &self.record);
        let refused = |what: &str| {
            let what = format!("{}: {what}", path.display());
            Failure::new(what, format!("look at {} and copy what you need", item.display()))
        };
        match kind {
            SuspectKind::Link => return Err(refused("the link that was there before stays").into()),
            SuspectKind::Configuration => {
                return Err(refused("the configuration that was there before stays").into());
            }
            _ => {}
        }
        let now = Content::read(path).ok().map(|content| content.digest());
        let is_as_left = *kind == SuspectKind::Implicit && now == *before;
        if path.symlink_metadata().is_ok() && !is_as_left {
            return Err(refused("another file is there now").into());
        }
        let parent = path.parent().unwrap_or(workspace);
        let is_inside = parent.canonicalize().is_ok_and(|parent| parent.starts_with(workspace));
        if !is_inside && !self.is_of_the_git_directory(parent) {
            return Err(refused("its directory is gone").into());
        }
        let metadata = item.symlink_metadata().with_context(|| item.display().to_string())?;
        match kind {
            SuspectKind::Head if !runs_nothing(parent) => {
                return Err(refused("its directory has settings or hooks that run programs").into());
            }
            SuspectKind::Rebase => without_commands(&item)?,
            SuspectKind::Repository if metadata.is_dir() => clean_git_directory(&item)?,
            SuspectKind::Repository if metadata.is_file() => {
                pointed(&item, parent, workspace).map_err(|why| refused(&why.to_string()))?
            }
            SuspectKind::Repository => return Err(refused("is not a directory").into()),
            SuspectKind::Head
            | SuspectKind::Link
            | SuspectKind::Configuration
            | SuspectKind::Program
            | SuspectKind::Implicit => {}
        }
        relocate(&item, path)?;
        fs::remove_dir_all(&self.directory)?;
        Ok(())
    }

    /// A submodule's repository lies in the git directory, which may be a worktree's outside.
    fn is_of_the_git_directory(&self, parent: &Path) -> bool {
        let root = probity_sandbox::workspace_root(&self.record.workspace).ok();
        let common = root.as_ref().and_then(|root| root.common_git_directory());
        common.is_some_and(|common| parent.starts_with(common))
    }
}

/// Where sandboxed processes see the workspace.
const INSIDE: &str = "/home/agent/workspace";

/// The git directory that all working trees of a workspace share.
fn common_git_directory(workspace: &Path) -> PathBuf {
    let root = probity_sandbox::workspace_root(workspace).ok();
    let outside = root.as_ref().and_then(|root| root.common_git_directory());
    let own = outside.map_or_else(|| workspace.join(".git"), Path::to_owned);
    own.canonicalize().unwrap_or(own)
}

/// Why what a `.git` file leads to cannot be made harmless.
#[derive(Debug, thiserror::Error)]
enum BadGitFile {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("names no git directory")]
    NoDirectory,
    #[error(
        "its git directory is gone; `git worktree prune` and `git worktree add` make a new one"
    )]
    Gone,
    #[error("leads to a git directory that is not its own")]
    NotItsOwn,
}

/// Makes harmless what a `.git` file leads to.
fn pointed(item: &Path, parent: &Path, workspace: &Path) -> Result<(), BadGitFile> {
    let text = fs::read_to_string(item)?;
    let named = text.lines().next().and_then(|line| line.strip_prefix("gitdir:")).map(str::trim);
    let named = named.ok_or(BadGitFile::NoDirectory)?;
    // What was made inside has the paths of the inside.
    let named = match Path::new(named).strip_prefix(INSIDE) {
        Ok(below) => workspace.join(below),
        Err(_) => parent.join(named),
    };
    let target = named.canonicalize().map_err(|_| BadGitFile::Gone)?;
    let own = common_git_directory(workspace);
    if target.parent() == Some(&own.join("worktrees")) {
        let dot_git = parent.join(".git");
        clean_worktree(&target, &dot_git)?;
        let text = [b"gitdir: ", target.as_os_str().as_bytes(), b"\n"].concat();
        return Ok(fs::write(item, text)?);
    }
    // Those of submodules were protected, or have been restored themselves.
    if target.starts_with(own.join("modules")) {
        return Ok(());
    }
    if !target.starts_with(workspace) || own.starts_with(&target) || target.starts_with(&own) {
        return Err(BadGitFile::NotItsOwn);
    }
    Ok(clean_git_directory(&target)?)
}
