//! Directories below the root: what lies in one, and what lies below one.

use std::{
    ffi::{OsStr, OsString},
    os::{fd::AsFd, unix::ffi::OsStrExt, unix::ffi::OsStringExt},
    path::{Path, PathBuf},
};

use rustix::fs::{AtFlags, Dir, FileType, Stat, readlinkat, statat};

use crate::{Named, Scope, ScopeError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Directory,
    Link,
    /// A FIFO, a socket or a device. It can be seen, not opened.
    Special,
}

/// What a listing in the manner of `ls -l` shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metadata {
    pub kind: EntryKind,
    pub size: u64,
    /// Permission bits, without the type.
    pub mode: u32,
    pub links: u64,
    pub owner: u32,
    pub group: u32,
    /// Seconds since 1970.
    pub modified: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: OsString,
    /// Of the entry itself: a link is a link.
    pub metadata: Metadata,
    /// Where a link points, as it is written, if that says nothing about the host: an absolute
    /// target is left out.
    pub target: Option<PathBuf>,
}

/// How far a walk goes.
#[derive(Debug, Clone, Copy)]
pub struct WalkLimits {
    pub depth: usize,
    /// Entries looked at, directories included.
    pub entries: usize,
}

/// The files below a directory, relative to the root, in the order of their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walk {
    pub files: Vec<PathBuf>,
    /// A limit was met, so that there may be more.
    pub truncated: bool,
}

impl Scope {
    /// What lies in a directory, sorted by name, at most `most` entries. A sensitive file is
    /// listed, since its name is no secret; a sensitive directory cannot be listed itself. What git
    /// ignores is not listed if the policy leaves it out.
    pub fn list(&self, directory: &Path, most: usize) -> Result<Vec<Entry>, ScopeError> {
        let name = self.root.relative(directory)?.to_owned();
        let failed = |errno| ScopeError::from_errno(&name, errno);
        let resolved = self.resolve(directory)?;
        if resolved.file_type() != FileType::Directory {
            return Err(ScopeError::NotADirectory(Named::new(&name)));
        }
        let mut entries = Vec::new();
        for entry in Dir::read_from(&resolved.descriptor).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let entry_name = OsStr::from_bytes(entry.file_name().to_bytes());
            if entry_name == "." || entry_name == ".." {
                continue;
            }
            let here = resolved.descriptor.as_fd();
            // An entry that vanished since is no longer part of the directory.
            let Ok(stat) = statat(here, entry_name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let metadata = Metadata::of(&stat);
            let is_directory = metadata.kind == EntryKind::Directory;
            if self.ignores(&resolved.real.join(entry_name), is_directory) {
                continue;
            }
            if entries.len() == most {
                break;
            }
            let target = (metadata.kind == EntryKind::Link)
                .then(|| readlinkat(here, entry_name, Vec::new()).ok())
                .flatten()
                .map(|target| PathBuf::from(OsString::from_vec(target.into_bytes())))
                .filter(|target| !target.is_absolute());
            entries.push(Entry { name: entry_name.to_owned(), metadata, target });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// The regular files below a directory. Links are not followed, so that there is no cycle and
    /// no file twice; sensitive files and what `skip` names (relative to the root) are left out.
    pub fn walk(
        &self,
        directory: &Path,
        limits: WalkLimits,
        skip: &dyn Fn(&Path) -> bool,
    ) -> Result<Walk, ScopeError> {
        let start = self.relative(directory)?;
        let mut walk = Walk::default();
        let mut seen = 0;
        let mut pending = vec![(start, 0)];
        while let Some((directory, depth)) = pending.pop() {
            let left = limits.entries.saturating_sub(seen);
            let entries = match self.list(&directory, left.saturating_add(1)) {
                Ok(entries) => entries,
                Err(error) if depth == 0 => return Err(error),
                // Unreadable or gone since its parent was listed: the others still count.
                Err(_) => continue,
            };
            if entries.len() > left {
                walk.truncated = true;
            }
            for entry in entries.into_iter().take(left) {
                seen += 1;
                let path = directory.join(&entry.name);
                let is_directory = entry.metadata.kind == EntryKind::Directory;
                if self.refuses(&path, is_directory) || skip(&path) {
                    continue;
                }
                match entry.metadata.kind {
                    EntryKind::File => walk.files.push(path),
                    EntryKind::Directory if depth < limits.depth => pending.push((path, depth + 1)),
                    EntryKind::Directory => walk.truncated = true,
                    EntryKind::Link | EntryKind::Special => {}
                }
            }
        }
        walk.files.sort();
        Ok(walk)
    }
}

impl Metadata {
    #[expect(clippy::unnecessary_cast, reason = "the fields differ in width between systems")]
    pub(crate) fn of(stat: &Stat) -> Self {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Directory,
            FileType::Symlink => EntryKind::Link,
            _ => EntryKind::Special,
        };
        Self {
            kind,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            mode: stat.st_mode as u32 & 0o7777,
            links: stat.st_nlink as u64,
            owner: stat.st_uid,
            group: stat.st_gid,
            modified: stat.st_mtime as i64,
        }
    }
}
