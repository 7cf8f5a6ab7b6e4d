//! Whether a test has left the code alone that it is about.
//!
//! A test that writes over the code under review and then fails shows what it wrote itself. The
//! time of the last change of status is compared, which no program can set back, so that a file
//! that was put back afterwards is noticed as well.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use super::tree::Tree;

/// Endings of what is code. Data may be written by the code under review itself.
const SOURCES: [&str; 16] = [
    "c", "cjs", "cpp", "cts", "go", "h", "hpp", "java", "js", "jsx", "mjs", "mts", "py", "rs",
    "ts", "tsx",
];

/// The sources of a copy as they were before the test ran.
#[derive(Debug)]
pub(super) struct Intact {
    repo: PathBuf,
    files: Vec<(PathBuf, Option<Stamp>)>,
}

/// What tells a file from any other, and from itself before a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    number: u64,
    mode: u32,
    size: u64,
    changed: (i64, i64),
}

impl Stamp {
    /// Whether it is the same file or directory with the same rights, whatever is in it.
    pub(super) fn is_same_entry(&self, other: &Self) -> bool {
        let of = |stamp: &Self| (stamp.device, stamp.number, stamp.mode);
        of(self) == of(other)
    }
}

impl Intact {
    pub(super) fn of(repo: &Path, tree: &Tree, flagged: &str) -> Self {
        let flagged = Path::new(flagged);
        let files = tree.files().iter().filter(|path| is_source(path) || *path == flagged);
        let files = files.map(|path| (path.clone(), stamp(&repo.join(path)))).collect();
        Self { repo: repo.to_owned(), files }
    }

    /// A clause that says which file the test has changed, if it has.
    pub(super) fn broken(&self) -> Option<String> {
        let changed =
            |(path, before): &&(PathBuf, Option<Stamp>)| stamp(&self.repo.join(path)) != *before;
        let (path, _) = self.files.iter().find(changed)?;
        Some(format!("the test writes over {}, so it shows nothing about it", path.display()))
    }
}

fn is_source(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| SOURCES.contains(&ending))
}

/// Of the file itself, and not of what a link leads to.
pub(super) fn stamp(file: &Path) -> Option<Stamp> {
    let data = fs::symlink_metadata(file).ok()?;
    Some(Stamp {
        device: data.dev(),
        number: data.ino(),
        mode: data.mode(),
        size: data.size(),
        changed: (data.ctime(), data.ctime_nsec()),
    })
}
