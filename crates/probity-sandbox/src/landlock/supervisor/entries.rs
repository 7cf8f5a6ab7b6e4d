//! A name in a directory: the directory is held by a descriptor, and the name is not followed.

use std::{
    ffi::{OsStr, OsString},
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, openat2, readlinkat, statat},
    io::Errno,
};

use super::{
    notice::Tracee,
    target::{number, real_path},
};

/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) directory: OwnedFd,
    pub(super) name: OsString,
    /// Where it is, without links on the way.
    pub(super) path: PathBuf,
    /// Whether the path said that it is a directory.
    pub(super) has_slash: bool,
}

impl Entry {
    /// What a call with a directory and a path names, if that is a name in a directory that is there.
    pub(super) fn find(
        tracee: &Tracee,
        directory: u64,
        path: &[u8],
    ) -> Result<Option<Self>, Errno> {
        if path.first() == Some(&b'/') {
            return Ok(Self::below(&CWD, path));
        }
        let number = number(directory);
        let from = if number == libc::AT_FDCWD {
            tracee.working_directory()?
        } else {
            tracee.file(number)?
        };
        Ok(Self::below(&from, path))
    }

    /// The same from a directory that we hold.
    fn below(from: &impl AsFd, path: &[u8]) -> Option<Self> {
        let end = path.iter().rposition(|byte| *byte != b'/')? + 1;
        let (named, slashes) = path.split_at(end);
        let start = named.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
        let (above, name) = named.split_at(start);
        if name == b"." || name == b".." {
            return None;
        }
        let above =
            if above.is_empty() { Path::new(".") } else { Path::new(OsStr::from_bytes(above)) };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // `/proc/self` would be we, and its links would lead to what is ours.
        let how = ResolveFlags::NO_MAGICLINKS;
        let directory = openat2(from, above, flags, Mode::empty(), how).ok()?;
        // What the kernel tells about a process would be about us; and nobody makes files there.
        let is_file = |path: &PathBuf| path.is_absolute() && !path.starts_with("/proc");
        let real = real_path(&directory).ok().filter(is_file)?;
        let name = OsStr::from_bytes(name);
        Some(Self {
            path: real.join(name),
            directory,
            name: name.to_owned(),
            has_slash: !slashes.is_empty(),
        })
    }

    /// What is there, if anything is.
    pub(super) fn kind(&self) -> Option<FileType> {
        let found = statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(FileType::from_raw_mode(found.st_mode))
    }

    /// Where links lead from here: to an entry that is no link, or is not there.
    pub(super) fn followed(mut self) -> Option<Self> {
        for _ in 0..MOST_LINKS {
            if self.kind() != Some(FileType::Symlink) {
                return Some(self);
            }
            let target = readlinkat(&self.directory, &self.name, Vec::new()).ok()?;
            self = Self::below(&self.directory, target.as_bytes())?;
        }
        None
    }
}
