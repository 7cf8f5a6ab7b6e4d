//! Reading one target: its text, or the finding that says why there is none.

mod decode;
mod problem;
#[cfg(test)]
mod tests;

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Component, Path, PathBuf},
};

use probity_finding::{Finding, TextSlice};
use probity_scope::{TreeError, TreeFile, WithoutGit};
use rustix::{
    fs::{FileType, Mode, OFlags},
    io::Errno,
};

pub use self::problem::FILE_RULES;

/// What became of reading a target.
#[derive(Debug)]
pub enum Read {
    Text(Source),
    Problem(Unread),
}

/// A target that was read.
#[derive(Debug)]
pub struct Source {
    pub path: PathBuf,
    /// The path as reports show it; see [`shown`].
    pub shown: String,
    /// The text as it is in the file, a byte order mark included.
    pub text: TextSlice,
    /// Whether the text is what the file has. Where bytes are not UTF-8 it is not, and writing it back
    /// would destroy them.
    pub is_exact: bool,
    /// What is to be said about the file rather than about its text.
    pub findings: Vec<Finding>,
}

/// A target that has no text to check.
#[derive(Debug)]
pub struct Unread {
    pub shown: String,
    /// One error that is true of the file as a whole.
    pub finding: Finding,
}

/// How much is read of one target.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    max_bytes: u64,
    /// Whether bytes that are no text are read as if they were.
    any_bytes: bool,
}

impl Limits {
    /// No Dockerfile comes near this; whatever is larger is something else.
    const HARD: u64 = 64 * 1024 * 1024;

    /// `max_file_size` is what the configuration says; 0 means no limit but the hard one.
    pub fn new(max_file_size: u64) -> Self {
        let max_bytes = if max_file_size == 0 { Self::HARD } else { max_file_size.min(Self::HARD) };
        Self { max_bytes, any_bytes: false }
    }

    /// The same, for whoever takes every file for text as hadolint does.
    pub fn with_any_bytes(self) -> Self {
        Self { any_bytes: true, ..self }
    }

    fn text(self, bytes: Vec<u8>) -> Outcome<(String, Option<Finding>)> {
        if self.any_bytes { Ok((decode::any(&bytes), None)) } else { decode::text(bytes) }
    }
}

/// Reads a file of a tree. It never waits for a writer and never reads more than one byte over the limit.
///
/// Reports and prompts show lines of it, and a link that a repository brings must not choose another
/// file of the user for that.
pub fn read(path: &Path, directory: &Path, limits: Limits) -> Read {
    match read_file(path, directory, limits) {
        Ok((text, stray, mut findings)) => {
            let (path, shown) = (path.to_owned(), shown(path, directory));
            let is_exact = stray.is_none();
            findings.extend(stray);
            Read::Text(Source { path, shown, text: text.into(), is_exact, findings })
        }
        Err(finding) => Read::Problem(Unread { shown: shown(path, directory), finding: *finding }),
    }
}

/// Reads standard input, which stands for `filename` where one was given.
pub fn read_stdin(
    input: impl io::Read,
    filename: Option<&Path>,
    directory: &Path,
    limits: Limits,
) -> Read {
    // The configuration is looked for upward from here.
    let path = directory.join(filename.unwrap_or(Path::new("<stdin>")));
    let shown = shown(&path, directory);
    match read_bounded(input, 0, limits).and_then(|bytes| limits.text(bytes)) {
        Ok((text, stray)) => {
            let is_exact = stray.is_none();
            let findings = stray.into_iter().collect();
            Read::Text(Source { path, shown, text: text.into(), is_exact, findings })
        }
        Err(finding) => Read::Problem(Unread { shown, finding: *finding }),
    }
}

/// Takes the text that an editor has for a file, which need not exist yet.
pub fn of_editor(path: &Path, directory: &Path, text: &str, limits: Limits) -> Read {
    let shown = shown(path, directory);
    match read_bounded(text.as_bytes(), text.len(), limits).and_then(|bytes| limits.text(bytes)) {
        Ok((text, stray)) => {
            let is_exact = stray.is_none();
            let is_executable = rustix::fs::stat(path).is_ok_and(|stat| is_executable(&stat));
            let findings = stray.into_iter().chain(is_executable.then(problem::executable));
            let findings = findings.collect();
            let path = path.to_owned();
            Read::Text(Source { path, shown, text: text.into(), is_exact, findings })
        }
        Err(finding) => Read::Problem(Unread { shown, finding: *finding }),
    }
}

/// The path relative to the working directory where it is below that, with forward slashes.
pub fn shown(path: &Path, directory: &Path) -> String {
    let relative = path.strip_prefix(directory).unwrap_or(path);
    let mut text = String::new();
    for component in relative.components() {
        if !text.is_empty() && !text.ends_with('/') {
            text.push('/');
        }
        match component {
            Component::RootDir => text.push('/'),
            other => text.push_str(&other.as_os_str().to_string_lossy()),
        }
    }
    text
}

/// The finding is boxed because it is large and rare.
type Outcome<T> = Result<T, Box<Finding>>;

/// The text, the finding about bytes in it that are none, and what is to be said about the file.
fn read_file(
    path: &Path,
    directory: &Path,
    limits: Limits,
) -> Outcome<(String, Option<Finding>, Vec<Finding>)> {
    let file = open(path, directory)?;
    // Asked of the open file, since the path may lead elsewhere by now.
    let stat = rustix::fs::fstat(&file).map_err(|error| problem::unreadable(&error.into()))?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if kind != FileType::RegularFile {
        return Err(problem::not_a_file(kind));
    }
    let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
    if size > limits.max_bytes {
        return Err(problem::too_large(Some(size), limits.max_bytes));
    }
    let (text, stray) = read_bounded(file, usize::try_from(size).unwrap_or(0), limits)
        .and_then(|bytes| limits.text(bytes))?;
    let findings = is_executable(&stat).then(problem::executable).into_iter().collect();
    Ok((text, stray, findings))
}

fn is_executable(stat: &rustix::fs::Stat) -> bool {
    let executable = Mode::XUSR | Mode::XGRP | Mode::XOTH;
    Mode::from_raw_mode(stat.st_mode).intersects(executable)
}

fn open(path: &Path, directory: &Path) -> Outcome<File> {
    // What is open already, such as `/dev/stdin`, is reached by a link of the system's own.
    if path.starts_with("/dev") || path.starts_with("/proc") {
        // Without NONBLOCK, opening a FIFO waits for somebody to write to it.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(path, flags, Mode::empty());
        return opened.map(File::from).map_err(|error| cannot_open(path, &error.into()));
    }
    match TreeFile::find(path, WithoutGit::Within(directory)) {
        Ok(file) => file.open().map_err(|error| cannot_open(path, &error)),
        Err(TreeError::Outside { target, top, .. }) => Err(problem::outside(&target, &top)),
        Err(TreeError::GitDirectory(_)) => Err(problem::in_git_directory()),
        Err(TreeError::Io(error)) => Err(cannot_open(path, &error)),
    }
}

fn cannot_open(path: &Path, error: &io::Error) -> Box<Finding> {
    let kind = || rustix::fs::stat(path).map(|stat| FileType::from_raw_mode(stat.st_mode));
    match Errno::from_io_error(error) {
        Some(Errno::NOENT) if fs::symlink_metadata(path).is_ok() => problem::dangling_link(),
        Some(Errno::NOENT) => problem::absent(),
        // This is how a socket answers to being opened.
        Some(Errno::NXIO) => problem::not_a_file(FileType::Socket),
        // The system would have opened it.
        None => kind().map_or_else(|_| problem::unreadable(error), problem::not_a_file),
        Some(_) => problem::unreadable(error),
    }
}

/// Reads up to the limit and one byte more, which tells whether the limit was passed. Room for what
/// is expected keeps the text from being twice as large as it is.
fn read_bounded(input: impl io::Read, expected: usize, limits: Limits) -> Outcome<Vec<u8>> {
    let mut bytes = Vec::with_capacity(expected + 1);
    input
        .take(limits.max_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| problem::unreadable(&error))?;
    if bytes.len() as u64 > limits.max_bytes {
        return Err(problem::too_large(None, limits.max_bytes));
    }
    Ok(bytes)
}
