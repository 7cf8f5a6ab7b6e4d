//! A directory that is held open, and everything below it by the descriptor alone.
//!
//! Sandboxed processes write into some of our directories. What they leave may be links, pipes, or a
//! directory in the place of a file, and a path that was right before a run leads elsewhere after it.
//! So this value owns a descriptor and gives no path: no link is followed on the way to anything below
//! it, nothing is opened that could hang, and what is created is new.

mod copy;
mod place;
mod remove;
mod whole;

pub use self::{
    copy::CopiedLinks,
    place::{FoundPlace, Missing, PlaceError},
    whole::{ReplaceError, WholeFile},
};

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read as _, Write as _},
    os::{
        fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd},
        unix::ffi::OsStringExt as _,
    },
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{
        AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, chmodat, fstat, mkdirat, openat,
        readlinkat, statat, symlinkat, unlinkat,
    },
    io::Errno,
};

/// A directory by its descriptor. There is no way from it to a path.
#[derive(Debug)]
pub struct HeldDirectory {
    descriptor: OwnedFd,
}

/// A directory that was opened elsewhere.
impl From<OwnedFd> for HeldDirectory {
    fn from(descriptor: OwnedFd) -> Self {
        Self { descriptor }
    }
}

impl From<HeldDirectory> for OwnedFd {
    fn from(held: HeldDirectory) -> Self {
        held.descriptor
    }
}

/// What an entry of a directory is; links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldKind {
    File,
    Directory,
    Link,
    /// A pipe, a socket or a device.
    Special,
}

impl HeldKind {
    pub(crate) fn of(stat: &Stat) -> Self {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Link,
            _ => Self::Special,
        }
    }
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldEntry {
    pub name: OsString,
    pub kind: HeldKind,
}

/// What is known about a file, directory or link itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldStat {
    pub kind: HeldKind,
    pub device: u64,
    pub number: u64,
    pub mode: u32,
    pub size: u64,
    /// The last change of the content, which programs can set.
    pub modified: (i64, i64),
    /// The last change of the content or of the status, which no program can set.
    pub changed: (i64, i64),
}

impl HeldStat {
    #[expect(
        clippy::unnecessary_cast,
        clippy::cast_sign_loss,
        reason = "the types differ between machines, and sizes are never negative"
    )]
    fn of(stat: &Stat) -> Self {
        Self {
            kind: HeldKind::of(stat),
            device: stat.st_dev as u64,
            number: stat.st_ino as u64,
            mode: stat.st_mode as u32,
            size: stat.st_size as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }
}

impl HeldDirectory {
    /// Opens a directory by a path of the caller's own, in which links are followed: one that no
    /// sandboxed process has written to.
    pub fn open(path: &Path) -> io::Result<Self> {
        let descriptor = openat(CWD, path, directory_flags(), Mode::empty())?;
        Ok(Self { descriptor })
    }

    /// Opens a directory below this one.
    pub fn open_below(&self, path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self { descriptor: self.reach(path.as_ref(), directory_flags())? })
    }

    /// Creates a directory. Fails if anything has that name.
    pub fn create(&self, path: impl AsRef<Path>, mode: u32) -> io::Result<Self> {
        let path = path.as_ref();
        let (parent, name) = self.parent(path)?;
        mkdirat(&parent, name, Mode::from_raw_mode(mode))?;
        let descriptor =
            openat(&parent, name, directory_flags() | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(Self { descriptor })
    }

    /// Opens a directory, and makes those on the way to it that are missing.
    pub fn ensure(&self, path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let mut here = self.again()?;
        for name in names(path)? {
            match mkdirat(&here.descriptor, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            let flags = directory_flags() | OFlags::NOFOLLOW;
            here = Self { descriptor: openat(&here.descriptor, name, flags, Mode::empty())? };
        }
        Ok(here)
    }

    /// The same directory once more.
    pub fn again(&self) -> io::Result<Self> {
        Ok(Self { descriptor: rustix::io::fcntl_dupfd_cloexec(&self.descriptor, 0)? })
    }

    /// Whether this is the directory that a path leads to now.
    pub fn is_at(&self, path: &Path) -> bool {
        let there = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW);
        let (Ok(there), Ok(own)) = (there, fstat(&self.descriptor)) else { return false };
        (there.st_dev, there.st_ino) == (own.st_dev, own.st_ino)
    }

    /// What is known about an entry; none if there is nothing, or if a link or file is in its way.
    pub fn stat(&self, path: impl AsRef<Path>) -> Option<HeldStat> {
        let path = path.as_ref();
        if path.as_os_str().is_empty() {
            return fstat(&self.descriptor).ok().map(|stat| HeldStat::of(&stat));
        }
        let (parent, name) = self.parent(path).ok()?;
        let stat = statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(HeldStat::of(&stat))
    }

    pub fn kind(&self, path: impl AsRef<Path>) -> Option<HeldKind> {
        self.stat(path).map(|stat| stat.kind)
    }

    pub fn is_file(&self, path: impl AsRef<Path>) -> bool {
        self.kind(path) == Some(HeldKind::File)
    }

    pub fn is_directory(&self, path: impl AsRef<Path>) -> bool {
        self.kind(path) == Some(HeldKind::Directory)
    }

    /// Whether something else than directories is on the way to a path, of which the last parts need
    /// not exist.
    pub fn is_blocked(&self, path: impl AsRef<Path>) -> bool {
        let path = path.as_ref();
        let mut reached = PathBuf::new();
        path.components().any(|part| {
            reached.push(part);
            self.kind(&reached).is_some_and(|kind| kind != HeldKind::Directory)
        })
    }

    /// The entries of a directory, in the order of their names.
    pub fn entries(&self, path: impl AsRef<Path>) -> io::Result<Vec<HeldEntry>> {
        let path = path.as_ref();
        let directory = self.open_below(path)?;
        let mut entries = Vec::new();
        for entry in Dir::read_from(&directory.descriptor)? {
            let entry = entry?;
            let name = OsString::from_vec(entry.file_name().to_bytes().to_vec());
            if name == "." || name == ".." {
                continue;
            }
            // File systems need not tell the kind with the name.
            if let Some(kind) = directory.kind(Path::new(&name)) {
                entries.push(HeldEntry { name, kind });
            }
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Opens a file for reading: nothing but a regular one, and without waiting for a pipe.
    pub fn open_file(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let path = path.as_ref();
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = self.reach(path, flags)?;
        if HeldKind::of(&fstat(&file)?) != HeldKind::File {
            return Err(io::Error::other("it is not a file"));
        }
        Ok(File::from(file))
    }

    /// Reads a file, at most so many bytes of it.
    pub fn read(&self, path: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open_file(path)?.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads a file of text, at most so many bytes of it.
    pub fn read_text(&self, path: impl AsRef<Path>, most: u64) -> io::Result<String> {
        String::from_utf8(self.read(path, most)?).map_err(io::Error::other)
    }

    /// Creates a file, and the directories on the way to it. Fails if anything has that name.
    pub fn create_file(&self, path: impl AsRef<Path>, mode: u32) -> io::Result<File> {
        let path = path.as_ref();
        let name = last(path)?;
        let parent = self.ensure(path.parent().unwrap_or(Path::new("")))?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&parent.descriptor, name, flags, Mode::from_raw_mode(mode))?;
        Ok(File::from(file))
    }

    /// Opens a file for writing, which is made if nothing has its name; what it holds stays.
    pub fn open_or_create_file(&self, path: impl AsRef<Path>, mode: u32) -> io::Result<File> {
        let path = path.as_ref();
        let (parent, name) = self.parent(path)?;
        let flags = OFlags::WRONLY
            | OFlags::CREATE
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::NOCTTY
            | OFlags::CLOEXEC;
        let file = openat(&parent, name, flags, Mode::from_raw_mode(mode))?;
        if HeldKind::of(&fstat(&file)?) != HeldKind::File {
            return Err(io::Error::other("it is not a file"));
        }
        Ok(File::from(file))
    }

    /// Writes a file anew, with the rights of the one that was there. What had the name and is no
    /// directory is removed, never written through.
    pub fn write(&self, path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
        let path = path.as_ref();
        let old = self.stat(path);
        if old.is_some() {
            self.remove_file(path)?;
        }
        let mut file = self.create_file(path, 0o666)?;
        file.write_all(bytes)?;
        match old.filter(|old| old.kind == HeldKind::File) {
            Some(old) => Ok(rustix::fs::fchmod(&file, Mode::from_raw_mode(old.mode & 0o7777))?),
            None => Ok(()),
        }
    }

    /// Makes a link.
    pub fn link(&self, path: impl AsRef<Path>, target: &Path) -> io::Result<()> {
        let path = path.as_ref();
        let name = last(path)?;
        let parent = self.ensure(path.parent().unwrap_or(Path::new("")))?;
        Ok(symlinkat(target, &parent.descriptor, name)?)
    }

    /// Where a link leads.
    pub fn read_link(&self, path: impl AsRef<Path>) -> io::Result<PathBuf> {
        let path = path.as_ref();
        let (parent, name) = self.parent(path)?;
        let target = readlinkat(&parent, name, Vec::new())?;
        Ok(OsString::from_vec(target.into_bytes()).into())
    }

    /// Removes anything but a directory.
    pub fn remove_file(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        let (parent, name) = self.parent(path)?;
        Ok(unlinkat(&parent, name, AtFlags::empty())?)
    }

    /// Removes an empty directory.
    pub fn remove_directory(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        let (parent, name) = self.parent(path)?;
        Ok(unlinkat(&parent, name, AtFlags::REMOVEDIR)?)
    }

    /// Gives another name to something, in the place of whatever file has it.
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let ((old, old_name), (new, new_name)) = (self.parent(from)?, self.parent(to)?);
        Ok(rustix::fs::renameat(&old, old_name, &new, new_name)?)
    }

    /// Moves something into another directory of the same file system, in the place of whatever file
    /// has its new name.
    pub fn rename_to(&self, from: &Path, other: &Self, to: &Path) -> io::Result<()> {
        let ((old, old_name), (new, new_name)) = (self.parent(from)?, other.parent(to)?);
        Ok(rustix::fs::renameat(&old, old_name, &new, new_name)?)
    }

    /// Gives the owner all rights to a file or directory, and leaves those of others as they are.
    pub fn open_to_owner(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let handle = self.reach(path.as_ref(), OFlags::PATH | OFlags::CLOEXEC)?;
        let stat = fstat(&handle)?;
        if stat.st_mode & 0o700 == 0o700 {
            return Ok(());
        }
        // By the number of the descriptor, so that the name cannot be a link by now.
        let by_number = format!("/proc/self/fd/{}", handle.as_raw_fd());
        let mode = Mode::from_raw_mode(stat.st_mode & 0o7777 | 0o700);
        Ok(chmodat(CWD, by_number, mode, AtFlags::empty())?)
    }

    /// The directory that a path is in, and its name there.
    fn parent<'a>(&self, path: &'a Path) -> io::Result<(OwnedFd, &'a OsStr)> {
        let name = last(path)?;
        let parent = path.parent().unwrap_or(Path::new(""));
        Ok((self.reach(parent, OFlags::PATH | directory_flags())?, name))
    }

    /// Opens what a path below this directory names, without following a link anywhere.
    fn reach(&self, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        // Also what the kernel would allow, such as dots, is not a name of ours.
        let mut steps = names(path)?;
        #[cfg(target_os = "linux")]
        match beneath(self.descriptor.as_fd(), path, flags) {
            Err(Errno::NOSYS | Errno::PERM) => {}
            answer => return Ok(answer?),
        }
        // An old kernel, or a filter that forbids the call: the same, one step at a time.
        let final_name = steps.pop();
        let mut here = rustix::io::fcntl_dupfd_cloexec(&self.descriptor, 0)?;
        for name in steps {
            here = openat(&here, name, directory_flags() | OFlags::NOFOLLOW, Mode::empty())?;
        }
        let name = final_name.unwrap_or(OsStr::new("."));
        Ok(openat(&here, name, flags | OFlags::NOFOLLOW, Mode::empty())?)
    }
}

#[cfg(target_os = "linux")]
fn beneath(root: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    loop {
        match openat2(root, path, flags | OFlags::CLOEXEC, Mode::empty(), how) {
            Err(Errno::INTR | Errno::AGAIN) => {}
            answer => return answer,
        }
    }
}

fn directory_flags() -> OFlags {
    OFlags::DIRECTORY | OFlags::CLOEXEC
}

/// The names that a path consists of. Roots and `..` are refused.
fn names(path: &Path) -> io::Result<Vec<&OsStr>> {
    let mut names = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => names.push(name),
            Component::CurDir => {}
            _ => return Err(io::Error::other("the path leads out of its directory")),
        }
    }
    Ok(names)
}

fn last(path: &Path) -> io::Result<&OsStr> {
    let nothing = || io::Error::other("the path has no name");
    names(path)?.pop().ok_or_else(nothing)
}
