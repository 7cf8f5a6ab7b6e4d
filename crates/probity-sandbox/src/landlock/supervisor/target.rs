//! The file that a call means, held by a descriptor: by number, or by a path from where the process is.

use std::{
    ffi::OsStr,
    fs,
    os::{
        fd::{OwnedFd, RawFd},
        unix::ffi::OsStrExt,
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags, openat2},
    io::Errno,
};

use super::{held, notice::Tracee};

/// How a call names a file.
#[derive(Debug)]
pub(super) enum Named {
    Descriptor(RawFd),
    /// Relative to a directory of the process's, or to its working directory.
    Path {
        directory: Option<RawFd>,
        path: Vec<u8>,
        follows: bool,
    },
}

impl Named {
    /// As calls with a directory and a path do.
    pub(super) fn at(directory: u64, path: Vec<u8>, follows: bool) -> Self {
        let directory = number(directory);
        Self::Path { directory: (directory != libc::AT_FDCWD).then_some(directory), path, follows }
    }

    /// The same if an empty path means the directory itself.
    pub(super) fn at_or_itself(directory: u64, path: Vec<u8>, follows: bool) -> Self {
        if path.is_empty() && number(directory) != libc::AT_FDCWD {
            Self::Descriptor(number(directory))
        } else {
            Self::at(directory, path, follows)
        }
    }

    pub(super) fn find(self, tracee: &Tracee) -> Result<OwnedFd, Errno> {
        let (directory, path, follows) = match self {
            Self::Descriptor(number) => return tracee.file(number),
            Self::Path { directory, path, follows } => (directory, path, follows),
        };
        if path.is_empty() {
            return Err(Errno::NOENT);
        }
        if let Some(number) = own_descriptor(&path) {
            return tracee.file(number);
        }
        let path = Path::new(OsStr::from_bytes(&path));
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let flags = if follows { flags } else { flags | OFlags::NOFOLLOW };
        // `/proc/self` would be we, and its links would lead to what is ours.
        let how = ResolveFlags::NO_MAGICLINKS;
        let find = |from: &OwnedFd| openat2(from, path, flags, Mode::empty(), how);
        if path.is_absolute() {
            return openat2(CWD, path, flags, Mode::empty(), how);
        }
        match directory {
            Some(number) => find(&tracee.file(number)?),
            None => find(&tracee.working_directory()?),
        }
    }
}

/// Programs name a file that they hold this way, where a call takes no descriptor.
pub(super) fn own_descriptor(path: &[u8]) -> Option<RawFd> {
    let text = std::str::from_utf8(path).ok()?;
    let streams = ["/dev/stdin", "/dev/stdout", "/dev/stderr"];
    if let Some(number) = streams.iter().position(|stream| *stream == text) {
        return RawFd::try_from(number).ok();
    }
    let prefixes = ["/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/"];
    prefixes.iter().find_map(|prefix| text.strip_prefix(prefix))?.parse().ok()
}

/// Where the kernel says that a file is.
pub(super) fn real_path(file: &OwnedFd) -> Result<PathBuf, Errno> {
    fs::read_link(held(file)).map_err(|_| Errno::PERM)
}

/// A number in the lower half of an argument.
pub(super) fn number(argument: u64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "the kernel does the same")]
    let low = argument as u32;
    low.cast_signed()
}
