//! Moving what a session left, whatever rights it has put in the way.

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
};

use probity_scope::{HeldDirectory, HeldKind};

/// A name in an open directory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'a> {
    pub(super) directory: &'a HeldDirectory,
    pub(super) name: &'a OsStr,
}

/// Moves a file or a directory, to another file system too. Follows no link.
pub(super) fn relocate(from: Placed<'_>, to: Placed<'_>) -> io::Result<()> {
    let (name, new_name) = (Path::new(from.name), Path::new(to.name));
    let mut renamed = from.directory.rename_to(name, to.directory, new_name);
    if renamed.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied) {
        // The session may have closed the directory around it, or itself.
        from.directory.open_to_owner("")?;
        if from.directory.kind(name) != Some(HeldKind::Link) {
            from.directory.open_to_owner(name)?;
        }
        renamed = from.directory.rename_to(name, to.directory, new_name);
    }
    match renamed {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            copy(from, to)?;
            from.directory.open_to_owner("")?;
            from.directory.remove_all(name)
        }
        other => other,
    }
}

fn copy(from: Placed<'_>, to: Placed<'_>) -> io::Result<()> {
    let mut pending = vec![PathBuf::new()];
    while let Some(path) = pending.pop() {
        let (old, new) = (below(from.name, &path), below(to.name, &path));
        match from.directory.kind(&old) {
            Some(HeldKind::Directory) => {
                from.directory.open_to_owner(&old)?;
                to.directory.create(&new, 0o777)?;
                let entries = from.directory.entries(&old)?.into_iter();
                pending.extend(entries.map(|entry| path.join(entry.name)));
            }
            Some(HeldKind::File) => {
                if from.directory.stat(&old).is_some_and(|stat| stat.mode & 0o400 == 0) {
                    from.directory.open_to_owner(&old)?;
                }
                to.directory.copy_file(from.directory, &old, &new)?;
            }
            Some(HeldKind::Link) => to.directory.link(&new, &from.directory.read_link(&old)?)?,
            // Pipes and sockets have nothing to keep.
            Some(HeldKind::Special) => {}
            None => return Err(io::ErrorKind::NotFound.into()),
        }
    }
    Ok(())
}

/// Joining nothing would add a slash.
fn below(top: &OsStr, path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() { PathBuf::from(top) } else { Path::new(top).join(path) }
}
