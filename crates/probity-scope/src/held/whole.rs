//! Files that are there whole or not at all: the new text takes the name only when it is complete.

use std::{
    ffi::OsString,
    fmt,
    fs::File,
    hash::{BuildHasher as _, Hasher as _, RandomState},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Gid, Mode, OFlags, Stat, Uid, fchmod, fchown, fstat},
    io::Errno,
};

use super::{HeldDirectory, HeldKind, last};

/// As many names are tried for the file that is being written.
const ATTEMPTS: usize = 16;

/// Why a file was not replaced. Whatever it is, the file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ReplaceError {
    #[error("it was changed by somebody else after it was read; run the command again")]
    Changed,
    #[error("it has {0} names (hard links), and replacing it would part them")]
    HardLinked(u64),
    #[error("it is a link or is reached through one, which may lead anywhere")]
    Linked,
    #[error("it is not a regular file any more")]
    NotAFile,
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl HeldDirectory {
    /// Writes a file whole, in the place of whatever file or link has its name. A file that was there
    /// gives the new one its rights.
    pub fn write_whole(&self, path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.begin_whole(path)?;
        file.write_all(bytes)?;
        file.commit()
    }

    /// The same for one that is written piece by piece.
    pub fn begin_whole(&self, path: impl AsRef<Path>) -> io::Result<WholeFile> {
        let path = path.as_ref();
        let name = last(path)?.to_owned();
        let old = self.open_file(path).and_then(|file| Ok(fstat(&file)?)).ok();
        let directory = self.open_below(path.parent().unwrap_or(Path::new("")))?;
        Ok(WholeFile { unnamed: directory.new_file()?, name, old })
    }

    /// Whether a file could be written there now. It leaves no trace.
    pub fn try_to_write(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let parent = path.as_ref().parent().unwrap_or(Path::new(""));
        self.open_below(parent)?.new_file().map(drop)
    }

    /// Replaces what a file holds, if that is `before`, by `after`. Its rights and its owner stay, and
    /// a file that nobody may write is left alone.
    pub fn replace(
        &self,
        path: impl AsRef<Path>,
        before: &[u8],
        after: &[u8],
    ) -> Result<(), ReplaceError> {
        let path = path.as_ref();
        if self.is_linked(path) {
            return Err(ReplaceError::Linked);
        }
        if self.as_it_was_read(path, before, after)?.is_none() {
            return Ok(());
        }
        let written = self.beside(path, after)?;
        // Somebody may have saved the file while the new one was written.
        let Some(old) = self.as_it_was_read(path, before, after)? else { return Ok(()) };
        as_owned_by(&written.file, &old)?;
        fchmod(&written.file, Mode::from_raw_mode(old.st_mode & 0o7777))
            .map_err(io::Error::from)?;
        Ok(written.take_the_name_of(path)?)
    }

    /// Whether a link is on the way to a path, or is what it names.
    pub fn is_linked(&self, path: impl AsRef<Path>) -> bool {
        let mut reached = PathBuf::new();
        path.as_ref().components().any(|part| {
            reached.push(part);
            self.kind(&reached) == Some(HeldKind::Link)
        })
    }

    /// What is known of a file that holds `before`; none if it holds `after` already.
    fn as_it_was_read(
        &self,
        path: &Path,
        before: &[u8],
        after: &[u8],
    ) -> Result<Option<Stat>, ReplaceError> {
        // Replacing needs rights on the directory only; a user who made the file read-only means it.
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(self.reach(path, flags)?);
        let stat = fstat(&file).map_err(io::Error::from)?;
        if HeldKind::of(&stat) != HeldKind::File {
            return Err(ReplaceError::NotAFile);
        }
        let most = before.len().max(after.len()) as u64;
        let mut now = Vec::new();
        file.take(most + 1).read_to_end(&mut now)?;
        if now == after {
            return Ok(None);
        }
        if now != before {
            return Err(ReplaceError::Changed);
        }
        match names_of(&stat) {
            0 | 1 => Ok(Some(stat)),
            names => Err(ReplaceError::HardLinked(names)),
        }
    }

    /// A new file with these bytes in the directory of a path, under a name of its own.
    fn beside(&self, path: &Path, bytes: &[u8]) -> io::Result<Unnamed> {
        last(path)?;
        let directory = self.open_below(path.parent().unwrap_or(Path::new("")))?;
        let mut unnamed = directory.new_file()?;
        unnamed.file.write_all(bytes)?;
        // Some systems tell only now that the disk is full.
        unnamed.file.sync_all()?;
        Ok(unnamed)
    }

    fn new_file(self) -> io::Result<Unnamed> {
        for _ in 0..ATTEMPTS {
            let number = RandomState::new().build_hasher().finish();
            let name = PathBuf::from(format!(".probity-{number:016x}.part"));
            match self.create_file(&name, 0o666) {
                Ok(file) => {
                    return Ok(Unnamed { directory: self, name, file, is_placed: false });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(Errno::EXIST.into())
    }
}

/// A file that takes its name when it is complete, and is gone if it never is.
pub struct WholeFile {
    unnamed: Unnamed,
    name: OsString,
    /// What had the name.
    old: Option<Stat>,
}

impl io::Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unnamed.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unnamed.file.flush()
    }
}

impl WholeFile {
    /// Gives the file its name, in the place of whatever has it.
    pub fn commit(self) -> io::Result<()> {
        let Self { unnamed, name, old } = self;
        // Some systems tell only now that the disk is full.
        unnamed.file.sync_all()?;
        if let Some(old) = &old {
            // Only root can give a file to somebody else, and nobody asked for that.
            drop(as_owned_by(&unnamed.file, old));
            fchmod(&unnamed.file, Mode::from_raw_mode(old.st_mode & 0o7777))?;
        }
        unnamed.take_the_name_of(Path::new(&name))
    }
}

impl fmt::Debug for WholeFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WholeFile").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A file that has not got its name yet, and goes if it never gets it.
struct Unnamed {
    directory: HeldDirectory,
    name: PathBuf,
    file: File,
    is_placed: bool,
}

impl Unnamed {
    fn take_the_name_of(mut self, path: &Path) -> io::Result<()> {
        self.directory.rename(&self.name, Path::new(last(path)?))?;
        self.is_placed = true;
        Ok(())
    }
}

impl Drop for Unnamed {
    fn drop(&mut self) {
        if !self.is_placed {
            // What is left behind is hidden and small; the failure before it is the one to tell.
            drop(self.directory.remove_file(&self.name));
        }
    }
}

fn as_owned_by(file: &File, old: &Stat) -> io::Result<()> {
    let new = fstat(file)?;
    if (new.st_uid, new.st_gid) == (old.st_uid, old.st_gid) {
        return Ok(());
    }
    Ok(fchown(file, Some(Uid::from_raw(old.st_uid)), Some(Gid::from_raw(old.st_gid)))?)
}

#[expect(clippy::unnecessary_cast, reason = "the types differ between machines")]
fn names_of(stat: &Stat) -> u64 {
    stat.st_nlink as u64
}
