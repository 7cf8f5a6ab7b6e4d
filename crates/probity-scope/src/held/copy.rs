//! Copying between held directories: files, directories and, where they are wanted, links.

use std::{
    fs::{File, FileTimes},
    io,
    path::{Path, PathBuf},
};

use rustix::fs::{Mode, fchmod};

use super::{HeldDirectory, HeldEntry, HeldKind};

/// What becomes of links in a copied tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopiedLinks {
    /// They are left out.
    Dropped,
    /// They are the same links in the copy, and never followed.
    Kept,
}

impl HeldDirectory {
    /// Copies a file with its rights and the time of its content, to a name that nothing has.
    /// Where the file system can, both share their blocks until one of them is written.
    pub fn copy_file(&self, from: &Self, source: &Path, target: &Path) -> io::Result<()> {
        let mut old = from.open_file(source)?;
        let metadata = old.metadata()?;
        let mut new = self.create_file(target, 0o600)?;
        if !shares_blocks(&old, &new) {
            io::copy(&mut old, &mut new)?;
        }
        use std::os::unix::fs::PermissionsExt as _;
        fchmod(&new, Mode::from_raw_mode(metadata.permissions().mode() & 0o7777))?;
        new.set_times(FileTimes::new().set_modified(metadata.modified()?))
    }

    /// Copies what is in a directory into this one. What is neither file, directory nor link is left
    /// out, and so is what `is_wanted` refuses, by its path in the tree.
    pub fn copy_tree(
        &self,
        from: &Self,
        links: CopiedLinks,
        is_wanted: &dyn Fn(&Path, HeldKind) -> bool,
    ) -> io::Result<()> {
        let mut pending = vec![PathBuf::new()];
        while let Some(directory) = pending.pop() {
            let (source, target) = (from.open_below(&directory)?, self.ensure(&directory)?);
            for HeldEntry { name, kind } in source.entries("")? {
                let (path, name) = (directory.join(&name), PathBuf::from(name));
                if !is_wanted(&path, kind) {
                    continue;
                }
                match kind {
                    HeldKind::Directory => pending.push(path),
                    HeldKind::File => match target.copy_file(&source, &name, &name) {
                        // It has gone since it was listed.
                        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                        copied => copied?,
                    },
                    HeldKind::Link if links == CopiedLinks::Kept => {
                        target.link(&name, &source.read_link(&name)?)?;
                    }
                    HeldKind::Link | HeldKind::Special => {}
                }
            }
        }
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn shares_blocks(old: &File, new: &File) -> bool {
    rustix::fs::ioctl_ficlone(new, old).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn shares_blocks(_: &File, _: &File) -> bool {
    false
}
