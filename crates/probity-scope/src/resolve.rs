//! From a path to a descriptor below the root, in one step where the kernel can do it.
//!
//! `openat2` with `RESOLVE_BENEATH` answers for the whole path at once, so that nothing can be
//! swapped between a check and a use. Where it is missing, and for absolute links that lead back
//! below the root (which it refuses), the walk of `stepwise` takes its place.

use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{FileType, OFlags, Stat, fstat},
    io::Errno,
};

use crate::{Named, ScopeError, stepwise};

/// The directory everything is below.
#[derive(Debug)]
pub(crate) struct Root {
    pub(crate) descriptor: OwnedFd,
    /// The root's real path. It only serves to make absolute paths relative, and never decides
    /// what may be opened.
    pub(crate) real: PathBuf,
    /// The root as it was given, since callers write absolute paths in these words too.
    pub(crate) given: PathBuf,
}

/// A file or directory below the root, and where it really lies.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) descriptor: OwnedFd,
    pub(crate) stat: Stat,
    /// Relative to the root, with links resolved: what the sensitive-file policy judges.
    pub(crate) real: PathBuf,
}

impl Resolved {
    pub(crate) fn file_type(&self) -> FileType {
        FileType::from_raw_mode(self.stat.st_mode)
    }
}

/// How often the kernel may ask to try again because of a rename elsewhere before the slower
/// walk is taken.
#[cfg(target_os = "linux")]
const ATTEMPTS: usize = 32;

impl Root {
    /// Makes a path relative to the root, by its words alone. What the words lead to is the
    /// kernel's question.
    pub(crate) fn relative<'a>(&self, path: &'a Path) -> Result<&'a Path, ScopeError> {
        if !path.is_absolute() {
            return Ok(path);
        }
        path.strip_prefix(&self.real)
            .or_else(|_| path.strip_prefix(&self.given))
            .map_err(|_| ScopeError::Outside(Named::new(path)))
    }

    /// Opens what a relative path names, for reading. Never blocks: a FIFO answers at once and is
    /// for the caller to refuse.
    pub(crate) fn resolve(&self, path: &Path) -> Result<Resolved, ScopeError> {
        let failed = |errno| ScopeError::from_errno(path, errno);
        match self.open_beneath(path) {
            Ok(descriptor) => {
                // Only a walk of our own can tell where the links led if the kernel does not.
                let Some(real) = self.real_path_of(descriptor.as_fd()) else {
                    return stepwise::resolve(self, path);
                };
                let stat = fstat(&descriptor).map_err(failed)?;
                // The name of an unlinked file is not its name any more, and so cannot be judged.
                if stat.st_nlink == 0 {
                    return Err(failed(Errno::NOENT));
                }
                Ok(Resolved { descriptor, stat, real })
            }
            // Missing kernel support, a filter that forbids the call, or an absolute link.
            Err(Errno::NOSYS | Errno::PERM | Errno::XDEV | Errno::AGAIN | Errno::INVAL) => {
                stepwise::resolve(self, path)
            }
            Err(errno) => Err(failed(errno)),
        }
    }

    #[cfg(target_os = "linux")]
    fn open_beneath(&self, path: &Path) -> Result<OwnedFd, Errno> {
        use rustix::fs::{Mode, ResolveFlags, openat2};
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        for _ in 0..ATTEMPTS {
            let opened = openat2(
                &self.descriptor,
                path,
                reading(),
                Mode::empty(),
                ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS,
            );
            if !matches!(opened, Err(Errno::AGAIN | Errno::INTR)) {
                return opened;
            }
        }
        Err(Errno::AGAIN)
    }

    #[cfg(not(target_os = "linux"))]
    fn open_beneath(&self, _path: &Path) -> Result<OwnedFd, Errno> {
        Err(Errno::NOSYS)
    }

    /// Asks the kernel what an open descriptor is called, relative to the root.
    fn real_path_of(&self, descriptor: BorrowedFd<'_>) -> Option<PathBuf> {
        use std::os::fd::AsRawFd;
        let link = |raw: i32| std::fs::read_link(format!("/proc/self/fd/{raw}")).ok();
        let root = link(self.descriptor.as_raw_fd())?;
        let real = link(descriptor.as_raw_fd())?;
        let real = real.strip_prefix(root).ok()?;
        real.components()
            .all(|component| matches!(component, Component::Normal(_)))
            .then(|| real.to_owned())
    }
}

/// `NONBLOCK` keeps a FIFO from hanging us, `NOCTTY` a terminal from adopting us.
pub(crate) fn reading() -> OFlags {
    OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC
}
