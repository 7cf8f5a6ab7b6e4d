//! Files that a command leaves where a person named a place: opened before anything of a repository
//! runs, written by the open directory, and never through a link of a repository.

use std::{
    env,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use probity_proof::{GitError, tracked_files};
use probity_report::ours::is_ours;
use probity_scope::{FoundPlace, HeldDirectory, HeldKind, Missing, PlaceError, WholeFile};

use crate::failure::Failure;

/// A file that is larger is not looked at, and so not replaced.
const LARGEST_REPORT: u64 = 256 << 20;

/// A directory as a person named it.
#[derive(Debug)]
pub(crate) struct OutputPlace {
    pub(crate) found: FoundPlace,
    /// As the user calls it.
    called: PathBuf,
    tracked: Tracked,
    way_out: String,
}

/// What git tracks at a place and below it.
#[derive(Debug)]
enum Tracked {
    Known(Vec<PathBuf>),
    /// git is not there to be asked, or it failed.
    Unknown(GitError),
}

impl OutputPlace {
    /// Opens a directory. `repository` counts as one even if git does not know it; `way_out` says how
    /// to name another place.
    pub(crate) fn open(
        path: &Path,
        repository: &Path,
        missing: Missing,
        way_out: impl Into<String>,
    ) -> anyhow::Result<Self> {
        let way_out = way_out.into();
        let found = HeldDirectory::place(path, &[repository], missing);
        let found = found.map_err(|error| unreachable_place(path, error, &way_out))?;
        let tracked = tracked_in(&found);
        Ok(Self { found, called: path.to_owned(), tracked, way_out })
    }

    pub(crate) fn held(&self) -> &HeldDirectory {
        &self.found.directory
    }

    pub(crate) fn called(&self) -> &Path {
        &self.called
    }

    /// The names of tracked files at this place and below it.
    pub(crate) fn tracked(&self) -> &[PathBuf] {
        match &self.tracked {
            Tracked::Known(names) => names,
            Tracked::Unknown(_) => &[],
        }
    }

    /// Refuses a name that git tracks: what somebody has committed is neither replaced nor removed.
    pub(crate) fn refuse_tracked(&self, name: impl AsRef<Path>) -> Result<(), Failure> {
        let name = name.as_ref();
        let is_there = self.held().kind(name).is_some();
        self.tracked.refuse(name, is_there, &self.called.join(name), &self.way_out)
    }

    /// Writes a file whole or not at all.
    pub(crate) fn write(&self, name: impl AsRef<Path>, text: &str) -> anyhow::Result<()> {
        let name = name.as_ref();
        self.held()
            .write_whole(name, text.as_bytes())
            .with_context(|| unwritten(&self.called.join(name)))
    }

    /// Removes a file, if it is there.
    pub(crate) fn remove(&self, name: impl AsRef<Path>) -> anyhow::Result<()> {
        let name = name.as_ref();
        match self.held().remove_file(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error)
                .with_context(|| format!("cannot remove {}", self.called.join(name).display())),
            _ => Ok(()),
        }
    }
}

/// One file that a person named.
#[derive(Debug)]
pub(crate) struct OutputFile {
    found: FoundPlace,
    name: OsString,
    called: PathBuf,
}

impl OutputFile {
    /// Opens the directory of a file, which has to exist unless it is to be made.
    pub(crate) fn open(
        path: &Path,
        repository: &Path,
        missing: Missing,
        way_out: &str,
    ) -> anyhow::Result<Self> {
        let file = Self::find(path, repository, missing);
        let file = file.map_err(|error| unreachable_place(path, error, way_out))?;
        if file.found.directory.is_directory(&file.name) {
            let what = format!("cannot write {}: it is a directory", path.display());
            return Err(Failure::new(what, way_out).into());
        }
        Ok(file)
    }

    /// Opens the directory of a file, for those who word the failure themselves.
    pub(crate) fn find(
        path: &Path,
        repository: &Path,
        missing: Missing,
    ) -> Result<Self, PlaceError> {
        let (found, name) = HeldDirectory::place_of_file(path, &[repository], missing)?;
        Ok(Self { found, name, called: path.to_owned() })
    }

    pub(crate) fn called(&self) -> &Path {
        &self.called
    }

    /// Where it is, without links.
    pub(crate) fn real(&self) -> PathBuf {
        self.found.real.join(&self.name)
    }

    /// Refuses to replace anything but a report: a repository's file named the place, and not the user.
    pub(crate) fn refuse_foreign(&self, way_out: &str) -> Result<(), Failure> {
        let held = &self.found.directory;
        let is_report = || {
            let bytes = held.read(&self.name, LARGEST_REPORT);
            bytes.is_ok_and(|bytes| is_ours(&bytes))
        };
        match held.kind(&self.name) {
            None => Ok(()),
            Some(HeldKind::File) if is_report() => Ok(()),
            Some(_) => Err(Failure::new(
                format!(
                    "{} is not a report, and the repository's configuration would replace it",
                    self.called.display()
                ),
                way_out,
            )),
        }
    }

    /// Refuses to believe a file that git tracks: it came with the repository.
    pub(crate) fn refuse_committed(&self, way_out: &str) -> Result<(), Failure> {
        let shown = self.called.display();
        match tracked_in(&self.found) {
            Tracked::Known(names) if !names.iter().any(|name| name.as_os_str() == self.name) => {
                Ok(())
            }
            Tracked::Known(_) => Err(Failure::new(
                format!("git tracks {shown}, so its author could have invented what it says"),
                format!("{way_out}, or run `git rm --cached {shown}` if you wrote it"),
            )),
            Tracked::Unknown(error) => Err(Failure::new(
                format!("cannot tell whether git tracks {shown}: {error}"),
                format!("{way_out}; {}", error.help()),
            )),
        }
    }

    /// What the file holds, at most so many bytes of it.
    pub(crate) fn read_text(&self, most: u64) -> io::Result<String> {
        self.found.directory.read_text(&self.name, most)
    }

    /// A new file that takes the name when it is complete.
    pub(crate) fn begin(&self) -> io::Result<WholeFile> {
        self.found.directory.begin_whole(&self.name)
    }

    /// Writes the file whole or not at all.
    pub(crate) fn write(&self, text: &str) -> anyhow::Result<()> {
        self.write_bytes(text.as_bytes()).with_context(|| unwritten(&self.called))
    }

    pub(crate) fn write_bytes(&self, bytes: &[u8]) -> io::Result<()> {
        self.found.directory.write_whole(&self.name, bytes)
    }

    /// Whether something could be written there.
    pub(crate) fn try_to_write(&self) -> io::Result<()> {
        self.found.directory.try_to_write(&self.name)
    }

    /// Removes the file if it is there. One that git tracks stays, and is refused.
    pub(crate) fn remove(&self, way_out: &str) -> anyhow::Result<()> {
        let name = Path::new(&self.name);
        let held = &self.found.directory;
        let is_there = held.kind(name).is_some();
        tracked_in(&self.found).refuse(name, is_there, &self.called, way_out)?;
        if is_there {
            let failed = || format!("cannot remove {}", self.called.display());
            held.remove_file(name).with_context(failed)?;
        }
        Ok(())
    }
}

impl Tracked {
    fn refuse(
        &self,
        name: &Path,
        is_there: bool,
        shown: &Path,
        way_out: &str,
    ) -> Result<(), Failure> {
        let shown = shown.display();
        match self {
            Self::Known(names) if names.iter().any(|tracked| tracked == name) => Err(Failure::new(
                format!("git tracks {shown}, and probity would replace or remove it"),
                format!("{way_out}, or run `git rm --cached {shown}` if it need not be tracked"),
            )),
            // Nothing can be lost where there is nothing.
            Self::Unknown(error) if is_there => Err(Failure::new(
                format!("cannot tell whether git tracks {shown}: {error}"),
                format!("{way_out}; {}", error.help()),
            )),
            Self::Known(_) | Self::Unknown(_) => Ok(()),
        }
    }
}

/// git is asked once, before anything of the repository has run.
fn tracked_in(found: &FoundPlace) -> Tracked {
    let Some(top) = &found.repository else { return Tracked::Known(Vec::new()) };
    let Ok(below) = found.real.strip_prefix(top) else { return Tracked::Known(Vec::new()) };
    match tracked_files(top, below) {
        Ok(names) => Tracked::Known(names),
        Err(error) => Tracked::Unknown(error),
    }
}

fn unwritten(path: &Path) -> Failure {
    Failure::new(format!("cannot write {}", path.display()), "check the space and the rights")
}

/// Why a place cannot be used. A link is named as seen from the working directory.
pub(crate) fn unreachable_place(path: &Path, error: PlaceError, way_out: &str) -> anyhow::Error {
    let here = env::current_dir().unwrap_or_default();
    let near = |path: PathBuf| path.strip_prefix(&here).map(Path::to_owned).unwrap_or(path);
    match error {
        PlaceError::Io { error, .. } => {
            let what = format!("cannot write to {}", path.display());
            anyhow::Error::new(error).context(Failure::new(what, way_out))
        }
        PlaceError::Link(link) => {
            Failure::new(PlaceError::Link(near(link)).to_string(), way_out).into()
        }
        PlaceError::GitDirectory(directory) => {
            Failure::new(PlaceError::GitDirectory(near(directory)).to_string(), way_out).into()
        }
    }
}
