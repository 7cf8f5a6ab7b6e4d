//! One walk below one directory.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use ignore::{DirEntry, WalkBuilder};
use probity_scope::unreadable_patterns;

use super::{DiscoverError, FoundFiles};

/// Where to walk, and where not.
///
/// `.gitignore`, `.ignore`, git's own and the user's global excludes hold, in a repository or not.
/// The directory itself was named, so none of them keeps the walk out of it. Links to directories
/// are not followed, and so they cannot form loops.
#[derive(Debug)]
pub(super) struct Walk<'a, P> {
    pub(super) root: &'a Path,
    pub(super) directory: &'a Path,
    pub(super) visibility: Visibility,
    /// Says what to leave out besides.
    pub(super) prune: P,
}

/// Which entries a walk sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visibility {
    /// No hidden ones, except `.devcontainer`, which is where editors keep a Dockerfile.
    Plain,
    /// Hidden ones too, except `.git`.
    Hidden,
}

impl<P> Walk<'_, P>
where
    P: Fn(&Path) -> bool + Send + Sync + 'static,
{
    /// Adds to `found` what is not a directory and what `takes` says yes to.
    ///
    /// Special files and links to nothing are taken too: a report should say that a `Dockerfile`
    /// cannot be read rather than pass over it.
    pub(super) fn run(self, found: &mut FoundFiles, takes: impl Fn(&Path) -> bool) {
        let Self { root, directory, visibility, prune } = self;
        let start = directory.join(root);
        if let Some(path) = start.ancestors().find_map(unreadable_patterns) {
            return found.errors.push(not_patterns(path));
        }
        let refused = Arc::new(Mutex::new(Vec::new()));
        let refuse = {
            let refused = Arc::clone(&refused);
            move |path| refused.lock().unwrap_or_else(PoisonError::into_inner).push(path)
        };
        let is_searched = move |entry: &DirEntry| {
            let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
            let found = if is_directory { unreadable_patterns(entry.path()) } else { None };
            let is_searched = found.is_none();
            found.into_iter().for_each(&refuse);
            is_searched
        };
        let walk = WalkBuilder::new(root)
            .current_dir(directory)
            .require_git(false)
            // The filter knows the exceptions.
            .hidden(false)
            .sort_by_file_name(Ord::cmp)
            .filter_entry(move |entry| {
                visibility.shows(entry) && !prune(entry.path()) && is_searched(entry)
            })
            .build();
        for entry in walk {
            match entry {
                Ok(entry) => {
                    if takes(entry.path()) {
                        add(entry, found);
                    }
                }
                Err(error) => found.errors.extend(unsearchable(error, root)),
            }
        }
        let mut refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
        found.errors.extend(refused.drain(..).map(not_patterns));
    }
}

impl Visibility {
    fn shows(self, entry: &DirEntry) -> bool {
        let name = entry.file_name();
        match self {
            Self::Plain => !name.as_encoded_bytes().starts_with(b".") || name == ".devcontainer",
            Self::Hidden => name != ".git",
        }
    }
}

fn add(entry: DirEntry, found: &mut FoundFiles) {
    let Some(kind) = entry.file_type() else { return };
    if kind.is_symlink() {
        let leads_to_directory = fs::metadata(entry.path()).is_ok_and(|to| to.is_dir());
        // The root is a link when a link was named; it is what is walked, not a find.
        if !leads_to_directory {
            found.links.push(entry.into_path());
        }
    } else if !kind.is_dir() {
        found.files.push(entry.into_path());
    }
}

/// What a directory ignores cannot be told, so it is not searched.
fn not_patterns(path: PathBuf) -> DiscoverError {
    let source = io::Error::other(format!("`{}` is not a regular file", path.display()));
    DiscoverError::Unsearchable { path: path.parent().unwrap_or(&path).to_owned(), source }
}

/// A malformed line in an ignore file is passed over, as git does; so is what vanished meanwhile.
fn unsearchable(error: ignore::Error, root: &Path) -> Option<DiscoverError> {
    let path = place(&error).unwrap_or(root).to_owned();
    let source = plain(error.into_io_error()?);
    (source.kind() != io::ErrorKind::NotFound)
        .then_some(DiscoverError::Unsearchable { path, source })
}

/// The system's own error. The walker wraps it into one that names the path a second time.
fn plain(error: io::Error) -> io::Error {
    let inner = std::error::Error::source(&error).and_then(|inner| inner.downcast_ref());
    match inner.and_then(io::Error::raw_os_error) {
        Some(code) => io::Error::from_raw_os_error(code),
        None => error,
    }
}

fn place(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path.as_path()),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            place(err)
        }
        _ => None,
    }
}
