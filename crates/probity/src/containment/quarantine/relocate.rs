//! Moving what a session left, whatever rights it has put in the way.

use std::{
    fs, io,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
};

/// Moves a file or a directory, to another file system too. Follows no link.
pub(super) fn relocate(from: &Path, to: &Path) -> io::Result<()> {
    let mut renamed = fs::rename(from, to);
    if renamed.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
        && let Some(parent) = from.parent()
    {
        // The session may have closed the directory around it, or itself.
        open_to_owner(parent)?;
        open_to_owner(from)?;
        renamed = fs::rename(from, to);
    }
    match renamed {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            copy(from, to)?;
            from.parent().map_or(Ok(()), open_to_owner)?;
            if from.symlink_metadata()?.is_dir() {
                fs::remove_dir_all(from)
            } else {
                fs::remove_file(from)
            }
        }
        other => other,
    }
}

/// Gives the owner all rights to what is not a link.
fn open_to_owner(path: &Path) -> io::Result<()> {
    let metadata = path.symlink_metadata()?;
    let mode = metadata.permissions().mode();
    if metadata.is_symlink() || mode & 0o700 == 0o700 {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode | 0o700))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let metadata = from.symlink_metadata()?;
    if metadata.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if metadata.is_dir() {
        open_to_owner(from)?;
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    // Pipes and sockets have nothing to keep.
    if metadata.is_file() {
        let mode = metadata.permissions().mode();
        if mode & 0o400 == 0 {
            fs::set_permissions(from, fs::Permissions::from_mode(mode | 0o400))?;
        }
        fs::copy(from, to)?;
    }
    Ok(())
}
