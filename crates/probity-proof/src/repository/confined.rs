//! Reading and writing where a test could write: never through a link, and nothing but files.
//!
//! A test is contained, and we are not. A link that it leaves in place of a file of ours would lead
//! us out of its copy, and a pipe would hold us for ever. No process of the test is left when we
//! come, so that what was looked at stays what it is.

use std::{
    fs::{self, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

/// More than any report that a runner has asked for.
const MOST: u64 = 64 << 20;

/// The text of a file below a directory of ours, if it is one.
pub(crate) fn read(root: &Path, path: impl AsRef<Path>) -> io::Result<String> {
    let mut text = Vec::new();
    let path = path.as_ref();
    if through_link(root, path.parent().unwrap_or(Path::new(""))) {
        return Err(io::Error::other("a link or a file is in its way"));
    }
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(root.join(path))?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    file.take(MOST).read_to_end(&mut text)?;
    String::from_utf8(text).map_err(io::Error::other)
}

/// Writes a file anew, with the rights of the one that was there.
pub(crate) fn write(root: &Path, path: impl AsRef<Path>, text: &str) -> io::Result<()> {
    let path = path.as_ref();
    let parent = path.parent().unwrap_or(Path::new(""));
    if through_link(root, parent) {
        return Err(io::Error::other("a link or a file is in its way"));
    }
    fs::create_dir_all(root.join(parent))?;
    let file = root.join(path);
    let old = fs::symlink_metadata(&file).ok().filter(fs::Metadata::is_file);
    match fs::remove_file(&file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // A new file is never one that somebody has put there.
    let mut new = OpenOptions::new().write(true).create_new(true).open(&file)?;
    new.write_all(text.as_bytes())?;
    old.map_or(Ok(()), |old| new.set_permissions(old.permissions()))
}

/// Whether something else than directories is on the way to one, of which the last parts need not
/// exist.
pub(crate) fn through_link(root: &Path, directory: &Path) -> bool {
    let mut reached = root.to_owned();
    directory.components().any(|part| {
        reached.push(part);
        fs::symlink_metadata(&reached).is_ok_and(|found| !found.is_dir())
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink, process::Command};

    use super::{read, write};

    #[test]
    fn no_link_is_followed_and_no_pipe_is_waited_for() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("kept"), "theirs").unwrap();
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        symlink(outside.path().join("kept"), root.join("link")).unwrap();
        symlink(outside.path(), root.join("away")).unwrap();
        Command::new("mkfifo").arg(root.join("pipe")).status().unwrap();
        for path in ["link", "away/kept", "pipe", "missing", "."] {
            assert!(read(root, path).is_err(), "{path}");
        }
        write(root, "link", "ours").unwrap();
        write(root, "pipe", "ours").unwrap();
        write(root, "new/er/file", "ours").unwrap();
        assert!(write(root, "away/kept", "ours").is_err());
        assert!(write(root, "link/below", "ours").is_err());
        assert_eq!(fs::read_to_string(outside.path().join("kept")).unwrap(), "theirs");
        for path in ["link", "pipe", "new/er/file"] {
            assert_eq!(read(root, path).unwrap(), "ours", "{path}");
        }
    }
}
