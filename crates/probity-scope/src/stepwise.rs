//! The walk for when the kernel cannot resolve a path beneath a root by itself.
//!
//! One component at a time, each opened without following links from the descriptor of the one
//! before; links are read and their words walked in the same way. `..` goes back to a descriptor
//! that was opened on the way down, never to whatever the parent is by now, so that renames and
//! swapped links cannot lead out.

use std::{
    collections::VecDeque,
    ffi::{OsStr, OsString},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStringExt,
    },
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, readlinkat, statat},
    io::{Errno, fcntl_dupfd_cloexec},
};

use crate::{
    Named, ScopeError,
    resolve::{Resolved, Root, reading},
};

/// As many links as the kernel itself follows.
const MAX_LINKS: usize = 40;

pub(crate) fn resolve(root: &Root, path: &Path) -> Result<Resolved, ScopeError> {
    let failed = |errno| ScopeError::from_errno(path, errno);
    let mut walk = Walk { root, path, opened: Vec::new(), links: 0 };
    let mut pending = words(path);
    while let Some(word) = pending.pop_front() {
        match word {
            Word::Up => {
                if walk.opened.pop().is_none() {
                    return Err(ScopeError::Outside(Named::new(path)));
                }
            }
            Word::Down(name) => {
                if let Some(target) = walk.step(&name, pending.is_empty())? {
                    walk.follow(&target, &mut pending)?;
                }
            }
        }
    }
    let real = walk.opened.iter().map(|(name, _)| name).collect::<PathBuf>();
    let descriptor = match walk.opened.pop() {
        Some((_, descriptor)) => descriptor,
        None => fcntl_dupfd_cloexec(&root.descriptor, 0).map_err(failed)?,
    };
    let stat = fstat(&descriptor).map_err(failed)?;
    Ok(Resolved { descriptor, stat, real })
}

struct Walk<'a> {
    root: &'a Root,
    path: &'a Path,
    /// The way from the root to here.
    opened: Vec<(OsString, OwnedFd)>,
    links: usize,
}

impl Walk<'_> {
    /// Opens one component, or gives the target of the link that it is.
    fn step(&mut self, name: &OsStr, last: bool) -> Result<Option<PathBuf>, ScopeError> {
        let failed = |errno| ScopeError::from_errno(self.path, errno);
        let here = self.here();
        let stat = statat(here, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
        let flags = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => {
                let target = readlinkat(here, name, Vec::new()).map_err(failed)?;
                return Ok(Some(PathBuf::from(OsString::from_vec(target.into_bytes()))));
            }
            FileType::Directory => OFlags::DIRECTORY,
            FileType::RegularFile if last => OFlags::empty(),
            FileType::RegularFile => return Err(failed(Errno::NOTDIR)),
            _ => return Err(ScopeError::NotAFile(Named::new(self.path))),
        };
        let flags = reading() | OFlags::NOFOLLOW | flags;
        let opened = openat(here, name, flags, Mode::empty()).map_err(failed)?;
        self.opened.push((name.to_owned(), opened));
        Ok(None)
    }

    fn follow(&mut self, target: &Path, pending: &mut VecDeque<Word>) -> Result<(), ScopeError> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(ScopeError::Loop(Named::new(self.path)));
        }
        let target = if target.is_absolute() {
            self.opened.clear();
            target
                .strip_prefix(&self.root.real)
                .map_err(|_| ScopeError::Outside(Named::new(self.path)))?
        } else {
            target
        };
        for word in words(target).into_iter().rev() {
            pending.push_front(word);
        }
        Ok(())
    }

    fn here(&self) -> BorrowedFd<'_> {
        self.opened.last().map_or(self.root.descriptor.as_fd(), |(_, opened)| opened.as_fd())
    }
}

enum Word {
    Up,
    Down(OsString),
}

fn words(path: &Path) -> VecDeque<Word> {
    path.components()
        .filter_map(|component| match component {
            Component::ParentDir => Some(Word::Up),
            Component::Normal(name) => Some(Word::Down(name.to_owned())),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        io::Read,
        os::unix::fs::symlink,
        path::Path,
        sync::atomic::{AtomicBool, Ordering},
        thread,
    };

    use rustix::fs::{CWD, RenameFlags, renameat_with};

    use super::{Root, resolve};

    fn root(at: &Path) -> Root {
        let real = at.canonicalize().unwrap();
        let descriptor = fs::File::open(&real).unwrap().into();
        Root { descriptor, given: real.clone(), real }
    }

    fn read(root: &Root, path: &str) -> Result<(String, String), String> {
        let resolved = resolve(root, Path::new(path)).map_err(|error| error.to_string())?;
        let mut text = String::new();
        fs::File::from(resolved.descriptor)
            .read_to_string(&mut text)
            .map_err(|error| error.to_string())?;
        Ok((resolved.real.to_str().unwrap().to_owned(), text))
    }

    /// Which way resolved a path cannot be seen from outside, so that this way is shown here.
    #[test]
    fn the_walk_refuses_and_accepts_what_the_kernel_does() {
        let place = tempfile::tempdir().unwrap();
        let at = place.path().canonicalize().unwrap().join("root");
        fs::create_dir_all(at.join("a/b")).unwrap();
        fs::write(place.path().join("secret"), "outside").unwrap();
        fs::write(at.join("a/file"), "inside").unwrap();
        for (target, link) in [
            ("a/file", "good"),
            ("../secret", "out"),
            ("/proc/self/root", "magic"),
            ("again", "again"),
            ("../a", "a/b/up"),
        ] {
            symlink(target, at.join(link)).unwrap();
        }
        symlink(at.join("a"), at.join("absolute")).unwrap();
        let root = root(&at);
        for path in ["a/file", "a/b/../file", "good", "absolute/file", "a/b/up/../a/file"] {
            let found = read(&root, path);
            let expected = match path {
                // `up` leads to `a/a`, which is not there.
                "a/b/up/../a/file" => Err(format!("{path}: no such file or directory")),
                _ => Ok(("a/file".to_owned(), "inside".to_owned())),
            };
            assert_eq!(found, expected, "{path}");
        }
        for path in ["../secret", "a/../../secret", "out", "magic/etc/passwd"] {
            assert_eq!(read(&root, path), Err(format!("{path}: outside the allowed directory")));
        }
        assert_eq!(read(&root, "again"), Err("again: too many symbolic links".to_owned()));
    }

    #[test]
    fn the_walk_never_leads_out_while_a_directory_is_swapped_for_a_link() {
        let place = tempfile::tempdir().unwrap();
        let at = place.path().join("root");
        fs::create_dir_all(at.join("door")).unwrap();
        fs::write(at.join("door/file"), "inside").unwrap();
        fs::create_dir(place.path().join("outside")).unwrap();
        fs::write(place.path().join("outside/file"), "outside").unwrap();
        symlink("../outside", at.join("window")).unwrap();
        let root = root(&at);
        let done = AtomicBool::new(false);
        thread::scope(|threads| {
            threads.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let (door, window) = (at.join("door"), at.join("window"));
                    renameat_with(CWD, door, CWD, window, RenameFlags::EXCHANGE).unwrap();
                }
            });
            let reads: Vec<_> = (0..10_000).map(|_| read(&root, "door/file")).collect();
            done.store(true, Ordering::Relaxed);
            assert!(reads.iter().flatten().all(|(_, text)| text == "inside"));
            assert!(reads.iter().any(Result::is_ok), "never read: the race shows nothing");
        });
    }
}
