//! Which configuration file belongs to a target: the nearest one, upward from its directory.

use std::{
    collections::HashMap,
    fs,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use super::{
    file,
    read_text::{FileReach, read_text},
};

/// The names of our own configuration files; in one directory the first beats the second.
pub(crate) const OWN_NAMES: [&str; 2] = ["probity.toml", file::PYPROJECT];

/// The names of tally's configuration files; in one directory the first beats the second.
pub(crate) const TALLY_NAMES: [&str; 2] = [".tally.toml", "tally.toml"];

/// Looks for configuration files and remembers every directory it has looked at, so that a tree of
/// many files costs two look-ups for each of its directories.
#[derive(Debug)]
pub(crate) struct Discovery {
    current: PathBuf,
    /// In one directory the first beats the second.
    names: [&'static str; 2],
    nearest: HashMap<PathBuf, Option<Arc<Path>>>,
}

impl Discovery {
    /// Relative targets are relative to the current directory that is given here.
    pub(crate) fn new(current: PathBuf, names: [&'static str; 2]) -> Self {
        Self { current, names, nearest: HashMap::new() }
    }

    /// The file that holds for a target, which need not exist.
    ///
    /// Links are not followed: a target has the directory that it was named in.
    pub(crate) fn nearest(&mut self, target: &Path) -> Option<Arc<Path>> {
        let target = self.absolute(target);
        self.nearest_to_directory(target.parent().unwrap_or(&target))
    }

    fn nearest_to_directory(&mut self, directory: &Path) -> Option<Arc<Path>> {
        let mut passed = Vec::new();
        let mut found = None;
        for directory in directory.ancestors() {
            if let Some(known) = self.nearest.get(directory) {
                found.clone_from(known);
                break;
            }
            passed.push(directory.to_path_buf());
            let mut files = self.names.iter().map(|name| directory.join(name));
            found = files.find(|file| counts(file)).map(Arc::from);
            if found.is_some() {
                break;
            }
        }
        self.nearest.extend(passed.into_iter().map(|directory| (directory, found.clone())));
        found
    }

    /// The target below the root, without `..`, which has another meaning behind a link and is
    /// therefore asked of the file system.
    fn absolute(&self, target: &Path) -> PathBuf {
        let mut absolute = PathBuf::new();
        for component in self.current.join(target).components() {
            match component {
                Component::CurDir => {}
                Component::ParentDir => {
                    absolute = fs::canonicalize(&absolute).unwrap_or(absolute);
                    absolute.pop();
                }
                _ => absolute.push(component),
            }
        }
        absolute
    }
}

/// Whatever has the name counts, even a directory or a dangling link: reading it then says what is
/// wrong, where passing over it would silently take another file. A `pyproject.toml` counts only if
/// it has a table for us, since most have none.
fn counts(path: &Path) -> bool {
    if path.file_name().is_some_and(|name| name == file::PYPROJECT) {
        return read_text(path, path, FileReach::Found)
            .is_ok_and(|text| file::has_own_table(&text));
    }
    fs::symlink_metadata(path).is_ok()
}

/// Whether a file that was asked for is one of our own: by its name, or, if it has the name of no
/// other tool's file, by a section that only ours have.
pub(super) fn is_own(path: &Path, place: &Path) -> bool {
    let is_named = |names: &[&str]| {
        path.file_name().is_some_and(|name| names.iter().any(|other| name == *other))
    };
    let may_be = || path.extension().is_some_and(|kind| kind == "toml") && !is_named(&TALLY_NAMES);
    is_named(&OWN_NAMES)
        || (may_be()
            && read_text(place, path, FileReach::Named)
                .is_ok_and(|text| file::has_own_section(&text)))
}
