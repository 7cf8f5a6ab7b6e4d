//! Reports that a command writes into its copy: those that match, and are newer than the run.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use globset::GlobMatcher;

use crate::{
    repository::confined,
    runner::report::{Report, ReportFault},
};

/// Bytes of all reports of one run.
const MOST_BYTES: u64 = 64 << 20;

/// Files and directories that are looked at.
const MOST_ENTRIES: usize = 200_000;

/// By which a file is the same as before: its number, its size, and when it was changed.
type Stamp = (u64, u64, i64, i64, i64, i64);

#[derive(Debug)]
pub(super) struct Written {
    root: PathBuf,
    files: BTreeMap<PathBuf, Stamp>,
}

impl Written {
    /// The files below a directory that match now. Links are not followed.
    pub(super) fn find(root: &Path, glob: &GlobMatcher) -> Self {
        let mut files = BTreeMap::new();
        let mut pending = vec![PathBuf::new()];
        let mut seen = 0;
        while let Some(directory) = pending.pop() {
            for entry in fs::read_dir(root.join(&directory)).into_iter().flatten().flatten() {
                seen += 1;
                let path = directory.join(entry.file_name());
                let Ok(found) = entry.metadata() else { continue };
                if found.is_dir() && entry.file_name() != ".git" && seen < MOST_ENTRIES {
                    pending.push(path);
                } else if !found.is_dir() && glob.is_match(&path) {
                    let changed = (found.mtime(), found.mtime_nsec());
                    let (mtime, ctime) = (changed, (found.ctime(), found.ctime_nsec()));
                    let stamp = (found.ino(), found.len(), mtime.0, mtime.1, ctime.0, ctime.1);
                    files.insert(path, stamp);
                }
            }
        }
        Self { root: root.to_owned(), files }
    }

    /// What the reports say that are not as they were before.
    pub(super) fn read_since(
        &self,
        before: &Self,
        glob: &GlobMatcher,
    ) -> Result<Report, ReportFault> {
        let shown = |path: &Path| path.display().to_string();
        let is_new = |entry: &(&PathBuf, &Stamp)| before.files.get(entry.0) != Some(entry.1);
        let new: Vec<(&PathBuf, &Stamp)> = self.files.iter().filter(is_new).collect();
        if new.is_empty() {
            return Err(match self.files.keys().next() {
                Some(stale) => ReportFault::Stale(shown(stale)),
                None => ReportFault::Missing(glob.glob().to_string()),
            });
        }
        let mut all = Report::default();
        let mut bytes = 0;
        for (path, stamp) in new {
            bytes += stamp.1;
            if bytes > MOST_BYTES {
                return Err(ReportFault::TooLarge { path: shown(path), limit: MOST_BYTES });
            }
            let unreadable = |error: std::io::Error| ReportFault::Unreadable {
                path: shown(path),
                why: error.to_string(),
            };
            let text = confined::read(&self.root, path).map_err(unreadable)?;
            let malformed = |why| ReportFault::Malformed { path: shown(path), why };
            all.tests.extend(Report::of_text(&text).map_err(malformed)?.tests);
        }
        Ok(all)
    }
}
