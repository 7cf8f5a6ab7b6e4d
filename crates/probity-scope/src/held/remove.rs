//! Removing trees in which somebody took away our rights, however deep they are.

use std::{
    io,
    os::fd::{AsRawFd as _, OwnedFd},
    path::Path,
};

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, chmodat, fstat, openat, renameat_with, unlinkat,
};

use super::{HeldDirectory, HeldKind, directory_flags};

impl HeldDirectory {
    /// Removes whatever has a name, with all that is in it. Nothing there is nothing to do.
    pub fn remove_all(&self, path: &Path) -> io::Result<()> {
        match self.kind(path) {
            None => Ok(()),
            Some(HeldKind::Directory) => {
                let (parent, name) = self.parent(path)?;
                own(openat(&parent, name, handle(), Mode::empty())?)?.clear()?;
                Ok(unlinkat(&parent, name, AtFlags::REMOVEDIR)?)
            }
            Some(_) => self.remove_file(path),
        }
    }

    /// Removes all that is in this directory.
    ///
    /// What is in a directory below is first moved up here, so that a tree which is deeper than there
    /// are descriptors costs no more than a flat one.
    pub fn clear(&self) -> io::Result<()> {
        let mut moved: u64 = 0;
        loop {
            let entries = self.entries("")?;
            if entries.is_empty() {
                return Ok(());
            }
            for entry in entries {
                if entry.kind != HeldKind::Directory {
                    unlinkat(&self.descriptor, &entry.name, AtFlags::empty())?;
                    continue;
                }
                let below = own(openat(&self.descriptor, &entry.name, handle(), Mode::empty())?)?;
                for inner in below.entries("")? {
                    if inner.kind != HeldKind::Directory {
                        unlinkat(&below.descriptor, &inner.name, AtFlags::empty())?;
                        continue;
                    }
                    // A directory moves only if it may be written itself.
                    own(openat(&below.descriptor, &inner.name, handle(), Mode::empty())?)?;
                    loop {
                        moved += 1;
                        let (from, to) = (&below.descriptor, &self.descriptor);
                        let name = format!("moved-{moved}");
                        match renameat_with(from, &inner.name, to, name, RenameFlags::NOREPLACE) {
                            Err(rustix::io::Errno::EXIST) => {}
                            done => break done?,
                        }
                    }
                }
                unlinkat(&self.descriptor, &entry.name, AtFlags::REMOVEDIR)?;
            }
        }
    }
}

/// A handle that needs no right to read.
fn handle() -> OFlags {
    OFlags::PATH | OFlags::NOFOLLOW | directory_flags()
}

/// Takes all rights to a directory, and opens it.
fn own(handle: OwnedFd) -> io::Result<HeldDirectory> {
    if fstat(&handle)?.st_mode & 0o700 != 0o700 {
        // By the number of the descriptor, so that the directory cannot be another one by now.
        let own = format!("/proc/self/fd/{}", handle.as_raw_fd());
        chmodat(CWD, &own, Mode::from_raw_mode(0o700), AtFlags::empty())?;
    }
    let flags = OFlags::RDONLY | directory_flags();
    Ok(HeldDirectory { descriptor: openat(&handle, ".", flags, Mode::empty())? })
}
