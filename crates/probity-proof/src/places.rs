//! Directories of ours: those that are mounted into sandboxes, and those around them that never are.
//!
//! **Invariant:** nothing below a directory that a sandboxed process could write is reached by a path.
//! A [`Leaf`] is what may be mounted. It is held open, and gives its path to mounts alone. A [`Vault`]
//! has leaves and other vaults in it; only its owner may enter it, it is never mounted, and so no
//! process can put anything else in the place of a leaf.

use std::{
    io,
    path::{Path, PathBuf},
};

use probity_sandbox::Mount;
use probity_scope::HeldDirectory;

use crate::mounts::Shown;

/// More than any report that a runner has asked for.
const MOST_TEXT: u64 = 64 << 20;

/// A directory that is never mounted, so that its own path stays true.
#[derive(Debug)]
pub(crate) struct Vault {
    held: HeldDirectory,
    path: PathBuf,
}

/// A directory that sandboxed processes see, and may have written.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) held: HeldDirectory,
    /// The source of mounts, and never the beginning of a path.
    source: PathBuf,
}

impl Vault {
    /// A directory of ours that exists.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { held: HeldDirectory::open(path)?, path: path.to_owned() })
    }

    /// The directory of this name, which is made if it is not there.
    pub(crate) fn vault(&self, name: &str) -> io::Result<Self> {
        let held = self.opened(name, 0o700)?;
        Ok(Self { held, path: self.path.join(name) })
    }

    /// An empty vault: what had its name is removed.
    pub(crate) fn fresh_vault(&self, name: &str) -> io::Result<Self> {
        self.remove(name)?;
        self.vault(name)
    }

    /// The leaf of this name, which is made if it is not there.
    pub(crate) fn leaf(&self, name: &str) -> io::Result<Leaf> {
        // Its mode is that of any directory: some programs look at it.
        let held = self.opened(name, 0o777)?;
        Ok(Leaf { held, source: self.path.join(name) })
    }

    /// An empty leaf: what had its name is removed.
    pub(crate) fn fresh_leaf(&self, name: &str) -> io::Result<Leaf> {
        self.remove(name)?;
        self.leaf(name)
    }

    /// The leaf of this name, if it is there.
    pub(crate) fn find_leaf(&self, name: &str) -> Option<Leaf> {
        let held = self.held.open_below(name).ok()?;
        Some(Leaf { held, source: self.path.join(name) })
    }

    /// Removes a leaf or vault with all that is in it.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        self.held.remove_all(Path::new(name))
    }

    /// Gives a leaf another name, which nothing has.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.held.rename(Path::new(from), Path::new(to))
    }

    pub(crate) fn held(&self) -> &HeldDirectory {
        &self.held
    }

    pub(crate) fn into_held(self) -> HeldDirectory {
        self.held
    }

    /// Its own path, for programs of the host that work in it before anything is mounted.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The same vault once more.
    pub(crate) fn again(&self) -> io::Result<Self> {
        Ok(Self { held: self.held.again()?, path: self.path.clone() })
    }

    fn opened(&self, name: &str, mode: u32) -> io::Result<HeldDirectory> {
        match self.held.create(name, mode) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.held.open_below(name)
            }
            made => made,
        }
    }
}

impl Leaf {
    /// Shows the directory, and nobody writes there.
    pub(crate) fn read_only(
        &self,
        shown: &'static Shown,
        inside: impl Into<PathBuf>,
    ) -> io::Result<Mount> {
        Ok(shown.read_only(self.checked_source()?, inside))
    }

    /// Shows the directory to whoever may write there.
    pub(crate) fn read_write(
        &self,
        shown: &'static Shown,
        inside: impl Into<PathBuf>,
    ) -> io::Result<Mount> {
        Ok(shown.read_write(self.checked_source()?, inside))
    }

    /// Shows one file of the directory, which is a file of ours if the directory was not mounted before.
    pub(crate) fn file_read_only(
        &self,
        shown: &'static Shown,
        name: &str,
        inside: impl Into<PathBuf>,
    ) -> io::Result<Mount> {
        Ok(shown.read_only(self.checked_file(name)?, inside))
    }

    /// Shows one file of the directory to whoever may write it. Its directory stays out of reach, so
    /// that nothing takes the place of the file.
    pub(crate) fn file_read_write(
        &self,
        shown: &'static Shown,
        name: &str,
        inside: impl Into<PathBuf>,
    ) -> io::Result<Mount> {
        Ok(shown.read_write(self.checked_file(name)?, inside))
    }

    fn checked_file(&self, name: &str) -> io::Result<PathBuf> {
        if !self.held.is_file(name) {
            return Err(io::Error::other(format!("{name} is not a file")));
        }
        Ok(self.checked_source()?.join(name))
    }

    /// Where a process sees it for which nothing is moved.
    pub(crate) fn own_path(&self) -> &Path {
        &self.source
    }

    /// No process that has run can have put another directory there, so a difference is a defect of
    /// ours, or somebody else works in our directories.
    fn checked_source(&self) -> io::Result<&Path> {
        if self.held.is_at(&self.source) {
            return Ok(&self.source);
        }
        Err(io::Error::other(format!("{} is another directory now", self.source.display())))
    }
}

/// The text of a file in a held directory.
pub(crate) fn read_text(held: &HeldDirectory, path: impl AsRef<Path>) -> io::Result<String> {
    held.read_text(path, MOST_TEXT)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::Vault;
    use crate::mounts::SCRATCH;

    #[test]
    fn a_leaf_is_mounted_only_from_where_it_was_made() {
        let place = tempfile::tempdir().unwrap();
        let vault = Vault::open(place.path()).unwrap().vault("a").unwrap();
        let mode = vault.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let leaf = vault.leaf("out").unwrap();
        assert!(leaf.read_write(&SCRATCH, "/proof/out").is_ok());
        std::fs::rename(vault.path().join("out"), vault.path().join("other")).unwrap();
        assert!(leaf.read_write(&SCRATCH, "/proof/out").is_err());
        symlink("/", vault.path().join("out")).unwrap();
        assert!(leaf.read_write(&SCRATCH, "/proof/out").is_err());
        assert!(vault.leaf("out").is_err());
        assert!(vault.find_leaf("out").is_none());
        assert!(vault.fresh_leaf("out").unwrap().read_only(&SCRATCH, "/proof/out").is_ok());
    }
}
