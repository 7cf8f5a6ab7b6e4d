//! The way to a place for output that a person named.
//!
//! A link of the user's own leads where the user wants. A link in a repository leads where a stranger
//! wants, so from the top of a repository on none is followed.

use std::{
    ffi::OsString,
    fmt, io,
    os::{
        fd::OwnedFd,
        unix::ffi::{OsStrExt as _, OsStringExt as _},
    },
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, readlinkat, stat, statat},
    io::Errno,
};

use super::{HeldDirectory, HeldKind, directory_flags};
use crate::Named;

/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;

/// What becomes of directories on the way that are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    Make,
    Refuse,
}

/// A directory for output, and what is known of the way to it.
#[derive(Debug)]
pub struct FoundPlace {
    pub directory: HeldDirectory,
    /// Where it is, without links.
    pub real: PathBuf,
    /// The top of the innermost repository that it is in, without links.
    pub repository: Option<PathBuf>,
    /// Whether it was made now.
    pub is_new: bool,
}

/// Why a place cannot be reached.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    #[error("{} is a link of the repository, which may lead anywhere", Shown(.0))]
    Link(PathBuf),
    #[error("{} is a git directory, in which nothing is written", Shown(.0))]
    GitDirectory(PathBuf),
    #[error("{}: {error}", Shown(path))]
    Io { path: PathBuf, error: io::Error },
}

struct Shown<'a>(&'a Path);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Named::new(self.0).fmt(formatter)
    }
}

impl HeldDirectory {
    /// Opens the directory that a person named. `repositories` are directories that count as such
    /// even if git does not know them.
    pub fn place(
        path: &Path,
        repositories: &[&Path],
        missing: Missing,
    ) -> Result<FoundPlace, PlaceError> {
        let mut way = PlaceWalk::begin(path, repositories, missing)?;
        while let Some(part) = way.ahead.pop() {
            way.go(&part)?;
        }
        let is_new = way.is_last_new;
        let here = way.steps.pop().ok_or_else(|| way.failed(path, Errno::NOENT))?;
        let directory = Self { descriptor: here.descriptor };
        Ok(FoundPlace { directory, real: here.real, repository: here.repository, is_new })
    }

    /// The directory of a file that a person named, and the file's name in it. A link of the user's
    /// own stays one: the file that it leads to is the one.
    pub fn place_of_file(
        path: &Path,
        repositories: &[&Path],
        missing: Missing,
    ) -> Result<(FoundPlace, OsString), PlaceError> {
        let mut wanted = path.to_owned();
        for _ in 0..MOST_LINKS {
            let Some(name) = wanted.file_name().map(ToOwned::to_owned) else { break };
            let parent = wanted.parent().filter(|parent| !parent.as_os_str().is_empty());
            let found = Self::place(parent.unwrap_or(Path::new(".")), repositories, missing)?;
            if found.directory.kind(&name) != Some(HeldKind::Link) {
                return Ok((found, name));
            }
            let link = found.real.join(&name);
            if found.repository.is_some() {
                return Err(PlaceError::Link(link));
            }
            let target = found.directory.read_link(&name);
            let target = target.map_err(|error| PlaceError::Io { path: link, error })?;
            wanted = found.real.join(target);
        }
        Err(PlaceError::Io { path: path.to_owned(), error: Errno::LOOP.into() })
    }
}

/// One directory on the way.
struct Step {
    descriptor: OwnedFd,
    real: PathBuf,
    repository: Option<PathBuf>,
}

/// A path that is followed directory by directory.
struct PlaceWalk {
    steps: Vec<Step>,
    /// What is still to go, the next last.
    ahead: Vec<OsString>,
    /// Directories that are tops of repositories, by device and number.
    tops: Vec<(u64, u64)>,
    missing: Missing,
    links: usize,
    is_last_new: bool,
}

impl PlaceWalk {
    fn begin(path: &Path, repositories: &[&Path], missing: Missing) -> Result<Self, PlaceError> {
        let tops = repositories.iter().filter_map(|path| stat(*path).ok());
        let tops = tops.map(|top| identity(&top)).collect();
        let ahead = Vec::new();
        let (links, is_last_new) = (0, false);
        let mut way = Self { steps: Vec::new(), ahead, tops, missing, links, is_last_new };
        let here = if path.is_absolute() { PathBuf::new() } else { way.working_directory()? };
        way.back_to_root()?;
        way.add(path);
        way.add(&here);
        Ok(way)
    }

    fn working_directory(&self) -> Result<PathBuf, PlaceError> {
        let here = Path::new(".");
        std::env::current_dir().map_err(|error| PlaceError::Io { path: here.to_owned(), error })
    }

    fn back_to_root(&mut self) -> Result<(), PlaceError> {
        let root = Path::new("/");
        let descriptor = openat(CWD, root, handle(), Mode::empty());
        let descriptor = descriptor.map_err(|errno| self.failed(root, errno))?;
        self.steps.clear();
        self.arrive(descriptor, root.to_owned());
        Ok(())
    }

    /// Puts a path before what is still to go.
    fn add(&mut self, path: &Path) {
        let parts = path.components().rev().filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some(OsString::from("..")),
            _ => None,
        });
        self.ahead.extend(parts);
    }

    fn go(&mut self, name: &OsString) -> Result<(), PlaceError> {
        self.is_last_new = false;
        if name == ".." {
            if self.steps.len() > 1 {
                self.steps.pop();
            }
            return Ok(());
        }
        let Some(here) = self.steps.last() else { return Err(self.failed("/", Errno::NOENT)) };
        let real = here.real.join(name);
        let is_inside = here.repository.is_some();
        if is_inside && name.eq_ignore_ascii_case(".git") {
            return Err(PlaceError::GitDirectory(real));
        }
        if let Ok(found) = statat(&here.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)
            && HeldKind::of(&found) == HeldKind::Link
        {
            return if is_inside { Err(PlaceError::Link(real)) } else { self.follow(name, &real) };
        }
        let flags = handle() | OFlags::NOFOLLOW;
        let mut opened = openat(&here.descriptor, name, flags, Mode::empty());
        if matches!(opened, Err(Errno::NOENT)) && self.missing == Missing::Make {
            match mkdirat(&here.descriptor, name, Mode::from_raw_mode(0o777)) {
                Ok(()) => self.is_last_new = true,
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(self.failed(&real, errno)),
            }
            opened = openat(&here.descriptor, name, flags, Mode::empty());
        }
        let descriptor = opened.map_err(|errno| self.failed(&real, errno))?;
        self.arrive(descriptor, real);
        Ok(())
    }

    fn follow(&mut self, name: &OsString, real: &Path) -> Result<(), PlaceError> {
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(self.failed(real, Errno::LOOP));
        }
        let Some(here) = self.steps.last() else { return Err(self.failed("/", Errno::NOENT)) };
        let target = readlinkat(&here.descriptor, name, Vec::new());
        let target = target.map_err(|errno| self.failed(real, errno))?;
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        if target.as_os_str().as_bytes().starts_with(b"/") {
            self.back_to_root()?;
        }
        self.add(&target);
        Ok(())
    }

    fn arrive(&mut self, descriptor: OwnedFd, real: PathBuf) {
        let is_named = || {
            let found = rustix::fs::fstat(&descriptor);
            found.is_ok_and(|found| self.tops.contains(&identity(&found)))
        };
        let is_of_git = statat(&descriptor, ".git", AtFlags::SYMLINK_NOFOLLOW).is_ok();
        let around = self.steps.last().and_then(|step| step.repository.clone());
        let repository = if is_of_git || is_named() { Some(real.clone()) } else { around };
        self.steps.push(Step { descriptor, real, repository });
    }

    fn failed(&self, path: impl AsRef<Path>, errno: Errno) -> PlaceError {
        PlaceError::Io { path: path.as_ref().to_owned(), error: errno.into() }
    }
}

#[expect(clippy::unnecessary_cast, reason = "the types differ between machines")]
fn identity(stat: &rustix::fs::Stat) -> (u64, u64) {
    (stat.st_dev as u64, stat.st_ino as u64)
}

/// A handle that needs no right to read.
fn handle() -> OFlags {
    OFlags::PATH | directory_flags()
}
