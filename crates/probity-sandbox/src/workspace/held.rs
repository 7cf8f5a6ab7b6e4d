//! The workspace, open from before a session begins until what it left was looked at.
//!
//! Whoever writes to a workspace can put a link in the place of a directory between two looks at it.
//! So what is below is named by its path and reached from the open directory, without following a
//! link: a name that leads out leads nowhere.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read as _, Write as _},
    os::{
        fd::{AsFd as _, AsRawFd as _, OwnedFd},
        unix::ffi::OsStringExt as _,
    },
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{
        AtFlags, CWD, Dir, FileType, Gid, Mode, OFlags, Stat, Uid, chmodat, fchown, fstat, mkdirat,
        openat, readlinkat, statat, unlinkat,
    },
    io::Errno,
};

/// The device and the number of a file: it keeps them when it or a directory above it is renamed.
pub type Identity = (u64, u64);

/// Directories that are held open, and all that is below them by the paths that it had.
#[derive(Debug, Default)]
pub struct HeldTree {
    tops: Vec<(PathBuf, OwnedFd)>,
}

/// A name in a directory, and what has it.
#[derive(Debug)]
pub(super) struct HeldName {
    pub(super) name: OsString,
    pub(super) kind: FileType,
}

impl HeldTree {
    /// Holds one directory by a path of the caller's own. It must not be a link.
    pub fn open(top: &Path) -> io::Result<Self> {
        let mut held = Self::default();
        held.hold(top)?;
        Ok(held)
    }

    /// Holds a directory that was opened, and looks for it at this path.
    #[must_use]
    pub fn of(top: &Path, directory: OwnedFd) -> Self {
        Self { tops: vec![(top.to_owned(), directory)] }
    }

    /// Holds a directory by its real path. What is below another one needs no descriptor of its own.
    pub fn hold(&mut self, top: &Path) -> io::Result<()> {
        if self.top(top).is_none() {
            let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let descriptor = openat(CWD, top, flags | OFlags::PATH, Mode::empty())?;
            self.tops.push((top.to_owned(), descriptor));
        }
        Ok(())
    }

    /// Holds a directory that a session was in, if it is still the same one.
    pub(super) fn hold_again(&mut self, top: &Path, before: Option<Identity>) -> io::Result<()> {
        self.hold(top)?;
        if before.is_none_or(|before| self.identity(top).is_ok_and(|now| now == before)) {
            return Ok(());
        }
        self.tops.retain(|(path, _)| path != top);
        Err(io::Error::other("it is another directory now"))
    }

    pub(super) fn tops(&self) -> impl Iterator<Item = (&Path, Identity)> {
        self.tops.iter().filter_map(|(path, held)| Some((&**path, identity_of(&fstat(held).ok()?))))
    }

    /// Opens a directory, for reading its entries and for what is in it.
    pub fn directory(&self, path: &Path) -> io::Result<OwnedFd> {
        self.reach(path, OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// The same if its rights forbid reading it.
    pub(super) fn handle(&self, path: &Path) -> io::Result<OwnedFd> {
        self.reach(path, OFlags::PATH | OFlags::DIRECTORY)
    }

    pub(super) fn is_directory(&self, path: &Path) -> bool {
        self.handle(path).is_ok()
    }

    /// What has a name. The way to it has no links, and it may be one itself.
    pub(super) fn kind(&self, path: &Path) -> Option<FileType> {
        Some(FileType::from_raw_mode(self.stat(path).ok()?.st_mode))
    }

    pub(super) fn identity(&self, path: &Path) -> io::Result<Identity> {
        Ok(identity_of(&self.stat(path)?))
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let Some((parent, name)) = self.parent(path)? else {
            return Ok(fstat(&self.handle(path)?)?);
        };
        Ok(statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// The names in a directory that can be read.
    pub(super) fn entries(&self, path: &Path) -> io::Result<Vec<HeldName>> {
        let directory = self.directory(path)?;
        let mut entries = Vec::new();
        for entry in Dir::read_from(&directory)? {
            let entry = entry?;
            let name = OsString::from_vec(entry.file_name().to_bytes().to_vec());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                // File systems need not tell it with the name.
                FileType::Unknown => match statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                    Err(_) => continue,
                },
                kind => kind,
            };
            entries.push(HeldName { name, kind });
        }
        Ok(entries)
    }

    /// Reads a plain file, at most so many bytes of it.
    pub(super) fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let file = self.reach(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("it is not a file"));
        }
        let mut bytes = Vec::new();
        File::from(file).take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Where a link leads.
    pub(super) fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        let (parent, name) = self.parent(path)?.ok_or(Errno::INVAL)?;
        let target = readlinkat(&parent, name, Vec::new())?;
        Ok(OsString::from_vec(target.into_bytes()).into())
    }

    /// Removes a file from a directory, if that is still the one that was looked at.
    pub(super) fn remove_from(
        &self,
        directory: &Path,
        name: &str,
        is_the_one: impl FnOnce(Identity) -> bool,
    ) -> io::Result<()> {
        let held = self.handle(directory)?;
        if !is_the_one(identity_of(&fstat(&held)?)) {
            return Err(io::Error::other("it is another directory now"));
        }
        Ok(unlinkat(&held, name, AtFlags::empty())?)
    }

    /// Removes whatever has a name, with all that is in it. Nothing there is nothing to do.
    pub(super) fn remove_all(&self, path: &Path) -> io::Result<()> {
        let Some(kind) = self.kind(path) else { return Ok(()) };
        let (parent, name) = self.parent(path)?.ok_or(Errno::BUSY)?;
        if kind != FileType::Directory {
            return Ok(unlinkat(&parent, name, AtFlags::empty())?);
        }
        // It follows no link in what it removes, and the way there is the number of a descriptor.
        let by_number = Path::new("/proc/self/fd").join(parent.as_raw_fd().to_string());
        std::fs::remove_dir_all(by_number.join(name))
    }

    /// Writes a file to a name that nothing has.
    pub(super) fn write_new(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let (parent, name) = self.parent(path)?.ok_or(Errno::EXIST)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let made = openat(&parent, name, flags, Mode::from_raw_mode(0o666))?;
        File::from(made).write_all(bytes)
    }

    /// Makes an empty file, for the owner of the directory around it.
    pub(super) fn make_file(&self, path: &Path) -> io::Result<()> {
        let (parent, name) = self.parent(path)?.ok_or(Errno::EXIST)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let made = openat(&parent, name, flags, Mode::from_raw_mode(0o666))?;
        like_its_parent(&made, &parent)
    }

    /// Makes an empty directory, for the owner of the directory around it.
    pub(super) fn make_directory(&self, path: &Path) -> io::Result<()> {
        let (parent, name) = self.parent(path)?.ok_or(Errno::EXIST)?;
        mkdirat(&parent, name, Mode::from_raw_mode(0o777))?;
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        like_its_parent(&openat(&parent, name, flags, Mode::empty())?, &parent)
    }

    /// Gives us all rights to a directory of ours that we cannot list and enter, and leaves the
    /// rights of others as they are. A directory of somebody else is closed to the session as well.
    pub(super) fn open_to_owner(&self, path: &Path) -> io::Result<()> {
        let handle = self.handle(path)?;
        let (stat, own) = (fstat(&handle)?, rustix::process::geteuid());
        if own.is_root() || stat.st_uid != own.as_raw() || stat.st_mode & 0o500 == 0o500 {
            return Ok(());
        }
        // By the number of the descriptor, so that the directory cannot be another one by now.
        let by_number = format!("/proc/self/fd/{}", handle.as_raw_fd());
        let mode = Mode::from_raw_mode(stat.st_mode & 0o7777 | 0o700);
        Ok(chmodat(CWD, by_number, mode, AtFlags::empty())?)
    }

    /// The directory of a path, and the name in it; none of a top itself.
    fn parent<'a>(&self, path: &'a Path) -> io::Result<Option<(OwnedFd, &'a OsStr)>> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
        if self.tops.iter().any(|(top, _)| top == path) {
            return Ok(None);
        }
        Ok(Some((self.handle(parent)?, name)))
    }

    /// The innermost top that a path is below, and the rest of the path.
    fn top<'a>(&self, path: &'a Path) -> Option<(&OwnedFd, &'a Path)> {
        let below = self.tops.iter().filter_map(|(top, held)| {
            Some((top.components().count(), held, path.strip_prefix(top).ok()?))
        });
        below.max_by_key(|(depth, ..)| *depth).map(|(_, held, rest)| (held, rest))
    }

    fn reach(&self, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let (top, below) = self.top(path).ok_or(Errno::XDEV)?;
        let is_plain = |part| matches!(part, Component::Normal(_));
        if !below.components().all(is_plain) {
            return Err(Errno::XDEV.into());
        }
        let flags = flags | OFlags::CLOEXEC;
        #[cfg(target_os = "linux")]
        match beneath(top, below, flags) {
            Err(Errno::NOSYS | Errno::PERM) => {}
            answer => return Ok(answer?),
        }
        // An old kernel, or a filter that forbids the call: the same, one step at a time.
        let mut steps: Vec<&OsStr> = below.iter().collect();
        let last = steps.pop().unwrap_or(OsStr::new("."));
        let mut here = rustix::io::fcntl_dupfd_cloexec(top.as_fd(), 0)?;
        let on_the_way = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for step in steps {
            here = openat(&here, step, on_the_way, Mode::empty())?;
        }
        Ok(openat(&here, last, flags | OFlags::NOFOLLOW, Mode::empty())?)
    }
}

#[cfg(target_os = "linux")]
fn beneath(top: &OwnedFd, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    loop {
        match openat2(top, path, flags, Mode::empty(), how) {
            Err(Errno::INTR | Errno::AGAIN) => {}
            answer => return answer,
        }
    }
}

/// Only root can give something away, and only root makes something that is not the owner's.
fn like_its_parent(made: &OwnedFd, parent: &OwnedFd) -> io::Result<()> {
    if rustix::process::geteuid().is_root() {
        let around = fstat(parent)?;
        fchown(made, Some(Uid::from_raw(around.st_uid)), Some(Gid::from_raw(around.st_gid)))?;
    }
    Ok(())
}

#[expect(clippy::unnecessary_cast, reason = "the types differ between machines")]
pub(super) fn identity_of(stat: &Stat) -> Identity {
    (stat.st_dev as u64, stat.st_ino as u64)
}
