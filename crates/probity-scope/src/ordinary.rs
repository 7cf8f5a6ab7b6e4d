//! Files by their names, where a stranger may have put something else: a FIFO that nobody writes to
//! would make us wait for ever, and a device has no end.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
};

use rustix::fs::{CWD, Mode, OFlags, fstat, openat};

use crate::HeldKind;

/// More than any file has that people write, or that probity writes for itself.
pub const MOST_BYTES: u64 = 64 << 20;

/// Opens a regular file for reading. A pipe counts only by a name that stands for an open descriptor:
/// `/dev/stdin`, or what a shell makes of `<(…)`.
///
/// # Errors
///
/// Fails if there is no such file, or something else.
pub fn open_file(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = openat(CWD, path, flags, Mode::empty())?;
    match HeldKind::of(&fstat(&file)?) {
        HeldKind::File => Ok(File::from(file)),
        HeldKind::Directory => Err(io::ErrorKind::IsADirectory.into()),
        _ if path.starts_with("/dev") || path.starts_with("/proc") => File::open(path),
        _ => Err(io::Error::other("it is not a regular file")),
    }
}

/// Reads a file that [`open_file`] opens.
///
/// # Errors
///
/// Fails if it holds more than `most` bytes, too.
pub fn read_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it is larger than {most} bytes")));
    }
    Ok(bytes)
}

/// Reads a file of text that [`open_file`] opens.
///
/// # Errors
///
/// Fails if it holds more than `most` bytes, or no text.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not valid UTF-8");
    String::from_utf8(read_file(path, most)?).map_err(not_text)
}
