//! Which lines of the sources a model was shown.
//!
//! A line counts when the whole of it was in an output or in the first prompt. A search that found
//! nothing shows nothing, and neither does the part of a file after a cut.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use probity_scope::Scope;
use serde::{Deserialize, Serialize};

use crate::sources::MOST_BYTES;

/// One source in the state and in reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileCoverage {
    pub file: String,
    /// How many lines the file has.
    pub lines: u64,
    /// The first and the last line of each part that was shown.
    pub shown: Vec<(u64, u64)>,
}

/// Lines of a file that an output holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShownLines {
    /// Relative to the root, links resolved.
    pub(crate) path: std::path::PathBuf,
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// The sources of one skill, and what was shown of them so far.
#[derive(Clone, Debug)]
pub(crate) struct Coverage {
    files: Vec<FileCoverage>,
    /// Where each of them is, links resolved.
    places: BTreeMap<std::path::PathBuf, usize>,
    /// The only sources that have to be read, if not all of them.
    changed: Option<BTreeSet<String>>,
}

impl Coverage {
    pub(crate) fn new(scope: &Scope, sources: &[String], changed: Option<&[String]>) -> Self {
        let changed = changed.map(|changed| changed.iter().cloned().collect());
        let mut coverage = Self { files: Vec::new(), places: BTreeMap::new(), changed };
        for source in sources {
            let path = Path::new(source);
            let bytes = scope.read(path, MOST_BYTES).unwrap_or_default();
            let lines = String::from_utf8_lossy(&bytes).lines().count() as u64;
            let place = scope.relative(path).unwrap_or_else(|_| path.to_owned());
            coverage.places.insert(place, coverage.files.len());
            coverage.files.push(FileCoverage { file: source.clone(), lines, shown: Vec::new() });
        }
        coverage
    }

    /// Counts lines of sources; lines of other files do not count.
    pub(crate) fn count(&mut self, shown: &[ShownLines]) {
        for part in shown {
            if let Some(file) = self.places.get(&part.path).and_then(|at| self.files.get_mut(*at)) {
                file.add(part.first, part.last);
            }
        }
    }

    /// Counts every line of every source that can be read.
    pub(crate) fn count_all(&mut self) {
        for file in &mut self.files {
            file.add(1, file.lines);
        }
    }

    pub(crate) fn shown_lines(&self) -> u64 {
        self.files.iter().map(FileCoverage::shown_lines).sum()
    }

    /// The sources that have to be read and of which a line is missing.
    pub(crate) fn unread(&self) -> Vec<&FileCoverage> {
        self.required_files().filter(|file| !file.is_whole()).collect()
    }

    /// How many sources have to be read.
    pub(crate) fn required(&self) -> usize {
        self.required_files().count()
    }

    fn required_files(&self) -> impl Iterator<Item = &FileCoverage> {
        let changed = self.changed.as_ref();
        let is_required =
            move |file: &&FileCoverage| changed.is_none_or(|changed| changed.contains(&file.file));
        self.files.iter().filter(is_required)
    }

    pub(crate) fn into_files(self) -> Vec<FileCoverage> {
        self.files
    }
}

impl FileCoverage {
    #[must_use]
    pub fn shown_lines(&self) -> u64 {
        self.shown.iter().map(|(first, last)| last - first + 1).sum()
    }

    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.shown_lines() >= self.lines
    }

    /// The first line that was not shown.
    pub(crate) fn next_line(&self) -> u64 {
        match self.shown.first() {
            Some((1, last)) => last + 1,
            _ => 1,
        }
    }

    /// The parts stay apart and in their order.
    fn add(&mut self, first: u64, last: u64) {
        let last = last.min(self.lines);
        if first == 0 || first > last {
            return;
        }
        self.shown.push((first, last));
        self.shown.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (first, last) in self.shown.drain(..) {
            match merged.last_mut() {
                Some(before) if first <= before.1 + 1 => before.1 = before.1.max(last),
                _ => merged.push((first, last)),
            }
        }
        self.shown = merged;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_merged_and_a_file_is_whole_when_no_line_is_missing() {
        let mut file = FileCoverage { file: "a.ak".into(), lines: 10, shown: Vec::new() };
        for ((first, last), shown, next) in [
            ((8, 99), &[(8, 10)][..], 1),
            ((1, 3), &[(1, 3), (8, 10)], 4),
            ((0, 5), &[(1, 3), (8, 10)], 4),
            ((3, 6), &[(1, 6), (8, 10)], 7),
            ((7, 7), &[(1, 10)], 11),
        ] {
            assert!(!file.is_whole());
            file.add(first, last);
            assert_eq!((file.shown.as_slice(), file.next_line()), (shown, next));
        }
        assert!(file.is_whole());
    }
}
