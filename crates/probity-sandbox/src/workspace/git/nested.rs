//! Every git directory in a workspace, found by a bounded walk that follows no link.

use std::{
    collections::VecDeque,
    fs, io,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use rustix::fs::{Access, access};

use super::name::is_dot_git;

/// Files and directories that are looked at.
const MOST_ENTRIES: usize = 2_000_000;

/// Directories below `modules` that are looked at.
const MOST_MODULES: usize = 20_000;

/// The device and the number of a file: it keeps them when it or a directory above it is renamed.
pub(super) type Identity = (u64, u64);

#[derive(Debug)]
pub(super) struct NestedRepository {
    pub(super) path: PathBuf,
    pub(super) kind: FoundKind,
    pub(super) identity: Identity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FoundKind {
    /// A `.git` that is a directory.
    Directory,
    /// A `.git` that is a file, and so names a directory elsewhere.
    File,
    /// A `.git` that is a link, or anything else.
    Other,
    /// A directory that git takes for a repository by what is in it.
    Bare,
}

#[derive(Debug)]
pub(super) struct Search {
    /// In the order of their depth.
    pub(super) found: Vec<NestedRepository>,
    /// Whether everything was looked at.
    pub(super) is_complete: bool,
    /// Whether a directory could not be read, not even by its owner.
    pub(super) unread: bool,
}

/// What to do with a directory that its owner has closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closed {
    /// At the start it is the user's own affair.
    PassOver,
    /// At the end a session may have hidden something in it.
    Open,
}

pub(super) fn search(root: &Path, closed: Closed) -> Search {
    let mut search = Search { found: Vec::new(), is_complete: true, unread: false };
    let mut pending = VecDeque::from([root.to_owned()]);
    let mut seen = 0;
    while let Some(directory) = pending.pop_front() {
        let mut parts = Parts::default();
        if closed == Closed::Open {
            search.unread |= open_to_owner(&directory).is_err();
        }
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            seen += 1;
            let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
            if is_dot_git(&name) {
                search.found.extend(dot_git(entry.path(), kind));
                continue;
            }
            parts.note(&name);
            if kind.is_dir() {
                pending.push_back(entry.path());
            }
        }
        if parts.are_a_repository()
            && let Ok(identity) = identity(&directory)
        {
            search.found.push(NestedRepository {
                path: directory,
                kind: FoundKind::Bare,
                identity,
            });
        }
        if seen > MOST_ENTRIES {
            search.is_complete = false;
            break;
        }
    }
    search
}

/// Gives us all rights to a directory of ours that we cannot list and enter, and leaves the rights of
/// others as they are. A directory of somebody else is closed to the session as well.
fn open_to_owner(directory: &Path) -> io::Result<()> {
    if access(directory, Access::READ_OK | Access::EXEC_OK).is_ok() {
        return Ok(());
    }
    let metadata = directory.symlink_metadata()?;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    let mode = metadata.permissions().mode();
    fs::set_permissions(directory, fs::Permissions::from_mode(mode | 0o700))
}

fn dot_git(path: PathBuf, kind: fs::FileType) -> Option<NestedRepository> {
    let identity = identity(&path).ok()?;
    let kind = if kind.is_dir() {
        FoundKind::Directory
    } else if kind.is_file() {
        FoundKind::File
    } else {
        FoundKind::Other
    };
    Some(NestedRepository { path, kind, identity })
}

/// Of the file or link itself.
pub(super) fn identity(path: &Path) -> io::Result<Identity> {
    let metadata = path.symlink_metadata()?;
    Ok((metadata.dev(), metadata.ino()))
}

/// Names by which git takes a directory for a repository, in any case.
#[derive(Default)]
struct Parts {
    head: bool,
    objects: bool,
    refs: bool,
    commondir: bool,
}

impl Parts {
    fn note(&mut self, name: &std::ffi::OsStr) {
        let is = |wanted: &str| name.eq_ignore_ascii_case(wanted);
        self.head |= is("HEAD");
        self.objects |= is("objects");
        self.refs |= is("refs");
        self.commondir |= is("commondir");
    }

    fn are_a_repository(&self) -> bool {
        self.head && (self.commondir || self.objects && self.refs)
    }
}

/// The repositories of submodules in a git directory, and those of theirs. A module may be called
/// `a/b`, and then lies a level deeper.
pub(super) fn modules(common: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![common.join("modules")];
    let mut seen = 0;
    while let Some(directory) = pending.pop() {
        let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
        for path in entries.filter(is_directory).map(|entry| entry.path()) {
            seen += 1;
            if seen > MOST_MODULES {
                return found;
            }
            if path.join("HEAD").symlink_metadata().is_ok() {
                pending.push(path.join("modules"));
                found.push(path);
            } else {
                pending.push(path);
            }
        }
    }
    found.sort();
    found
}

fn is_directory(entry: &fs::DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_dir())
}
