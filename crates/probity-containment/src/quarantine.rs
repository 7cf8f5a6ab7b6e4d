//! What a session left for git on the host to obey: moved to the state directory, and given back
//! harmless by `cai accept`.

mod any_path;
mod relocate;
#[cfg(test)]
mod tests;

use std::{
    ffi::OsStr,
    fs,
    io::{self, Write as _},
    os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _},
    path::{Path, PathBuf},
};

use probity_sandbox::{
    HeldTree, Identity, Stray, StrayKind, clean_git_directory, clean_worktree, runs_nothing,
    without_commands,
};
use probity_scope::{HeldDirectory, HeldKind, MOST_BYTES, read_file, read_text};
use probity_seat::State;
use serde::{Deserialize, Serialize};

use self::relocate::{Placed, relocate};
use crate::implicit::{Changed, Content, Implicit};

/// What becomes of changed files that tools run by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Quarantine {
    /// They stay, and the user is told.
    GitOnly,
    /// They wait for `cai accept`.
    Implicit,
}

impl Quarantine {
    /// By the flag `--quarantine`.
    #[must_use]
    pub fn of(is_wanted: bool) -> Self {
        if is_wanted { Self::Implicit } else { Self::GitOnly }
    }
}

/// Something that was moved away.
#[derive(Debug)]
pub struct Quarantined {
    /// The directory that holds it and its record.
    directory: PathBuf,
    record: Record,
}

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    #[serde(with = "any_path")]
    workspace: PathBuf,
    #[serde(with = "any_path")]
    path: PathBuf,
    kind: SuspectKind,
    /// The digest of what was put back in its place, if anything was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SuspectKind {
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

/// Why something that a session left stays where it is.
#[derive(Debug, thiserror::Error)]
pub enum Unmoved {
    #[error("a link is on the way to it, or its directory is gone ({0})")]
    Unreachable(io::Error),
    #[error("the session put another directory around it")]
    OtherDirectory,
    #[error("something else has its name now")]
    Other,
    #[error("the file that was there before is too large to be put back")]
    TooLarge,
    #[error(
        "{} is full; restore its files with `cai accept`, or delete it", directory.display()
    )]
    Full { directory: PathBuf },
    #[error(transparent)]
    Record(#[from] serde_json::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Why something stays in quarantine.
#[derive(Debug, thiserror::Error)]
pub enum Unrestored {
    #[error("{}: {why}", path.display())]
    Refused { path: PathBuf, why: String },
    #[error("{}", item.display())]
    Item { item: PathBuf, source: io::Error },
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Takes a stray away, and puts back what was in its place.
pub(crate) fn take(
    state: &State,
    workspace: &Path,
    held: &HeldTree,
    stray: &Stray,
) -> Result<Quarantined, Unmoved> {
    let kind = match stray.kind {
        StrayKind::Repository => SuspectKind::Repository,
        StrayKind::Head => SuspectKind::Head,
        StrayKind::Rebase => SuspectKind::Rebase,
        StrayKind::Link { .. } => SuspectKind::Link,
        StrayKind::Program => SuspectKind::Program,
        StrayKind::Configuration { .. } => SuspectKind::Configuration,
    };
    let around = stray.path.parent().unwrap_or(workspace);
    let name = stray.path.file_name().unwrap_or_default();
    let parent = HeldDirectory::from(held.directory(around).map_err(Unmoved::Unreachable)?);
    match &stray.kind {
        StrayKind::Link { parent: before, .. }
        | StrayKind::Configuration { parent: before, .. } => {
            ensure_same(&parent, *before)?;
        }
        StrayKind::Repository | StrayKind::Head | StrayKind::Rebase | StrayKind::Program => {}
    }
    let now = parent.stat(name).map(|stat| (stat.device, stat.number));
    if now != stray.identity {
        return Err(Unmoved::Other);
    }
    let (workspace, path) = (workspace.to_owned(), stray.path.clone());
    let record = Record { workspace, path, kind, before: None };
    let (directory, place) = begin(state, &record)?;
    match relocate(Placed { directory: &parent, name }, item_in(&place)) {
        // A link that is gone leaves nothing to move.
        Err(error) if kind == SuspectKind::Link && error.kind() == io::ErrorKind::NotFound => {}
        other => other?,
    }
    match &stray.kind {
        StrayKind::Link { target, .. } => parent.link(name, target)?,
        StrayKind::Configuration { before, .. } => {
            parent.create_file(name, 0o666)?.write_all(before)?;
        }
        StrayKind::Repository | StrayKind::Head | StrayKind::Rebase | StrayKind::Program => {}
    }
    Ok(Quarantined { directory, record })
}

/// Text of a session goes back only into the directory that it is from: any other could be one that
/// git or another tool obeys.
fn ensure_same(parent: &HeldDirectory, before: Option<Identity>) -> Result<(), Unmoved> {
    let now = parent.stat("").map(|stat| (stat.device, stat.number));
    if now.is_some() && now == before { Ok(()) } else { Err(Unmoved::OtherDirectory) }
}

/// A place in quarantine with this record.
fn begin(state: &State, record: &Record) -> Result<(PathBuf, HeldDirectory), Unmoved> {
    let directory = new_place(state)?;
    fs::write(directory.join(RECORD), serde_json::to_vec_pretty(record)?)?;
    let place = HeldDirectory::open(&directory)?;
    Ok((directory, place))
}

fn item_in(place: &HeldDirectory) -> Placed<'_> {
    Placed { directory: place, name: OsStr::new(ITEM) }
}

/// Takes a changed file away that tools run by themselves, and puts back what was there before.
pub(crate) fn take_file(
    state: &State,
    workspace: &Path,
    implicit: &Implicit,
    changed: &Changed,
) -> Result<Quarantined, Unmoved> {
    if matches!(changed.before, Some(Content::Large(_) | Content::Digest(_))) {
        return Err(Unmoved::TooLarge);
    }
    let around = changed.place.parent().unwrap_or(Path::new(""));
    let name = changed.place.file_name().unwrap_or_default();
    let parent = implicit.top.open_below(around).map_err(Unmoved::Unreachable)?;
    // What was new in a directory is taken out of any, and nothing is put back.
    let before = changed
        .before
        .as_ref()
        .filter(|_| ensure_same(&parent, implicit.directories.get(around).copied()).is_ok());
    let record = Record {
        workspace: workspace.to_owned(),
        path: implicit.root.join(&changed.place),
        kind: SuspectKind::Implicit,
        before: before.map(Content::digest),
    };
    let (directory, place) = begin(state, &record)?;
    relocate(Placed { directory: &parent, name }, item_in(&place))?;
    match before {
        Some(Content::Bytes(bytes)) => {
            let mut file = parent.create_file(name, 0o666)?;
            file.write_all(bytes)?;
            // The owner's rights were the file's own; those of a link say nothing.
            if let Some(item) = place.stat(ITEM).filter(|item| item.kind == HeldKind::File) {
                file.set_permissions(fs::Permissions::from_mode(item.mode & 0o777))?;
            }
        }
        Some(Content::Link(target, _)) => parent.link(name, target)?,
        Some(Content::Large(_) | Content::Digest(_)) | None => {}
    }
    if changed.before.is_some() && before.is_none() {
        tracing::warn!(
            "{} is gone: the session put another directory around it",
            changed.path.display()
        );
    }
    Ok(Quarantined { directory, record })
}

/// What is kept of a workspace.
#[must_use]
pub fn kept(state: &State, workspace: &Path) -> Vec<Quarantined> {
    let places = fs::read_dir(state.directory.join("quarantine")).into_iter().flatten().flatten();
    let kept = places.filter_map(|place| {
        let directory = place.path();
        let record: Record =
            serde_json::from_slice(&read_file(&directory.join(RECORD), MOST_BYTES).ok()?).ok()?;
        (record.workspace == workspace).then_some(Quarantined { directory, record })
    });
    let mut kept: Vec<Quarantined> = kept.collect();
    kept.sort_by(|one, other| one.record.path.cmp(&other.record.path));
    kept
}

fn new_place(state: &State) -> Result<PathBuf, Unmoved> {
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
    Err(Unmoved::Full { directory: all })
}

impl Quarantined {
    /// Where it was.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.record.path
    }

    /// What it is, for a person.
    #[must_use]
    pub fn what(&self) -> &'static str {
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
    #[must_use]
    pub fn next_step(&self) -> &'static str {
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
    ///
    /// # Errors
    ///
    /// Fails if it cannot be removed whole.
    pub fn discard(&self) -> io::Result<()> {
        fs::remove_dir_all(&self.directory)
    }

    /// Whether a word of the command line means it: its number in quarantine, or its path.
    #[must_use]
    pub fn is_named(&self, word: &str, current: &Path) -> bool {
        let number = self.directory.file_name();
        number.is_some_and(|number| number == word) || self.record.path == current.join(word)
    }

    /// What became of it, for a person.
    #[must_use]
    pub fn restored(&self) -> &'static str {
        match self.record.kind {
            SuspectKind::Implicit | SuspectKind::Program => "put in place as the session left it",
            SuspectKind::Rebase => "restored without its commands",
            _ => "restored without hooks and settings that run programs",
        }
    }

    #[must_use]
    pub fn item(&self) -> PathBuf {
        self.directory.join(ITEM)
    }

    /// Puts it back without anything that git would run.
    ///
    /// # Errors
    ///
    /// Fails if something else is in its place, or it cannot be made harmless.
    pub fn restore(&self) -> Result<(), Unrestored> {
        let (item, Record { path, workspace, kind, before }) = (self.item(), &self.record);
        let refused = |why: &str| Unrestored::Refused { path: path.clone(), why: why.to_owned() };
        match kind {
            SuspectKind::Link => return Err(refused("the link that was there before stays")),
            SuspectKind::Configuration => {
                return Err(refused("the configuration that was there before stays"));
            }
            _ => {}
        }
        let parent = path.parent().unwrap_or(workspace);
        let Some(held) = self.held_parent(parent) else {
            return Err(refused("its directory is gone"));
        };
        let name = path.file_name().unwrap_or_default();
        let now = Content::read(&held, Path::new(name), None).ok().map(|content| content.digest());
        let is_as_left = *kind == SuspectKind::Implicit && now == *before;
        if held.kind(name).is_some() && !is_as_left {
            return Err(refused("another file is there now"));
        }
        let gone = |source| Unrestored::Item { item: item.clone(), source };
        let metadata = item.symlink_metadata().map_err(gone)?;
        match kind {
            SuspectKind::Head if !runs_nothing(&tree_of(&held, parent)?, parent) => {
                return Err(refused("its directory has settings or hooks that run programs"));
            }
            SuspectKind::Rebase => without_commands(&HeldTree::open(&item)?, &item)?,
            SuspectKind::Repository if metadata.is_dir() => {
                clean_git_directory(&HeldTree::open(&item)?, &item)?;
            }
            SuspectKind::Repository if metadata.is_file() => {
                pointed(&item, parent, workspace).map_err(|why| refused(&why.to_string()))?
            }
            SuspectKind::Repository => return Err(refused("is not a directory")),
            SuspectKind::Head
            | SuspectKind::Link
            | SuspectKind::Configuration
            | SuspectKind::Program
            | SuspectKind::Implicit => {}
        }
        let place = HeldDirectory::open(&self.directory)?;
        relocate(item_in(&place), Placed { directory: &held, name })?;
        fs::remove_dir_all(&self.directory)?;
        Ok(())
    }

    /// The directory that it was in, reached from the workspace without a link on the way. A
    /// submodule's repository lies in the git directory, which may be a worktree's outside.
    fn held_parent(&self, parent: &Path) -> Option<HeldDirectory> {
        let workspace = &self.record.workspace;
        let root = probity_sandbox::workspace_root(workspace).ok();
        let common = root.as_ref().and_then(|root| root.common_git_directory());
        let mut tops = [Some(workspace.as_path()), common].into_iter().flatten();
        let (top, below) = tops.find_map(|top| Some((top, parent.strip_prefix(top).ok()?)))?;
        HeldDirectory::open(top).ok()?.open_below(below).ok()
    }
}

/// An open directory as the tree that is to be made harmless.
fn tree_of(directory: &HeldDirectory, path: &Path) -> io::Result<HeldTree> {
    Ok(HeldTree::of(path, directory.again()?.into()))
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
    let text = read_text(item, MOST_BYTES)?;
    let named = text.lines().next().and_then(|line| line.strip_prefix("gitdir:")).map(str::trim);
    let named = named.ok_or(BadGitFile::NoDirectory)?;
    // What was made inside has the paths of the inside.
    let named = match Path::new(named).strip_prefix(INSIDE) {
        Ok(below) => workspace.join(below),
        Err(_) => parent.join(named),
    };
    // Whatever has this name by now, it is reached without a link.
    let target = named.canonicalize().map_err(|_| BadGitFile::Gone)?;
    let own = common_git_directory(workspace);
    let mut held = HeldTree::open(workspace)?;
    held.hold(&own)?;
    if target.parent() == Some(&own.join("worktrees")) {
        let dot_git = parent.join(".git");
        clean_worktree(&held, &target, &dot_git)?;
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
    Ok(clean_git_directory(&held, &target)?)
}
