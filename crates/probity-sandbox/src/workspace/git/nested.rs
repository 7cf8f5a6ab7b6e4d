//! Every git directory in a workspace, found by a bounded walk that follows no link.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
};

use rustix::fs::FileType;

use super::{
    super::held::{HeldName, HeldTree, Identity},
    name::is_dot_git,
};

/// Files and directories that are looked at.
const MOST_ENTRIES: usize = 2_000_000;

/// Directories below `modules` that are looked at.
const MOST_MODULES: usize = 20_000;

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

pub(super) fn search(held: &HeldTree, root: &Path, closed: Closed) -> Search {
    let mut search = Search { found: Vec::new(), is_complete: true, unread: false };
    let mut pending = VecDeque::from([root.to_owned()]);
    let mut seen = 0;
    while let Some(directory) = pending.pop_front() {
        let mut parts = Parts::default();
        if closed == Closed::Open {
            search.unread |= held.open_to_owner(&directory).is_err();
        }
        for HeldName { name, kind } in held.entries(&directory).unwrap_or_default() {
            seen += 1;
            let path = directory.join(&name);
            if is_dot_git(&name) {
                search.found.extend(dot_git(held, path, kind));
                continue;
            }
            parts.note(&name);
            if kind == FileType::Directory {
                pending.push_back(path);
            }
        }
        if parts.are_a_repository()
            && let Ok(identity) = held.identity(&directory)
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

fn dot_git(held: &HeldTree, path: PathBuf, kind: FileType) -> Option<NestedRepository> {
    let identity = held.identity(&path).ok()?;
    let kind = match kind {
        FileType::Directory => FoundKind::Directory,
        FileType::RegularFile => FoundKind::File,
        _ => FoundKind::Other,
    };
    Some(NestedRepository { path, kind, identity })
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
pub(super) fn modules(held: &HeldTree, common: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![common.join("modules")];
    let mut seen = 0;
    while let Some(directory) = pending.pop() {
        let entries = held.entries(&directory).unwrap_or_default().into_iter();
        let directories = entries.filter(|entry| entry.kind == FileType::Directory);
        for path in directories.map(|entry| directory.join(entry.name)) {
            seen += 1;
            if seen > MOST_MODULES {
                return found;
            }
            if held.kind(&path.join("HEAD")).is_some() {
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
