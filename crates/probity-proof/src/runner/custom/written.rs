//! Reports that a command writes into its copy: those that match, and are newer than the run.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use globset::GlobMatcher;
use probity_scope::{HeldDirectory, HeldKind, HeldStat};

use crate::{
    places::read_text,
    runner::report::{Report, ReportFault},
};

/// Bytes of all reports of one run.
const MOST_BYTES: u64 = 64 << 20;

/// Files and directories that are looked at.
const MOST_ENTRIES: usize = 200_000;

#[derive(Debug)]
pub(super) struct Written {
    files: BTreeMap<PathBuf, HeldStat>,
}

impl Written {
    /// The files below a directory that match now. Links are not followed.
    pub(super) fn find(root: &HeldDirectory, glob: &GlobMatcher) -> Self {
        let mut files = BTreeMap::new();
        let mut pending = vec![PathBuf::new()];
        let mut seen = 0;
        while let Some(directory) = pending.pop() {
            for entry in root.entries(&directory).into_iter().flatten() {
                seen += 1;
                let path = directory.join(&entry.name);
                let is_directory = entry.kind == HeldKind::Directory;
                if is_directory && entry.name != ".git" && seen < MOST_ENTRIES {
                    pending.push(path);
                } else if !is_directory && glob.is_match(&path) {
                    files.extend(root.stat(&path).map(|stat| (path, stat)));
                }
            }
        }
        Self { files }
    }

    /// What the reports say that are not as they were before.
    pub(super) fn read_since(
        &self,
        before: &Self,
        root: &HeldDirectory,
        glob: &GlobMatcher,
    ) -> Result<Report, ReportFault> {
        let shown = |path: &Path| path.display().to_string();
        let is_new = |entry: &(&PathBuf, &HeldStat)| before.files.get(entry.0) != Some(entry.1);
        let new: Vec<(&PathBuf, &HeldStat)> = self.files.iter().filter(is_new).collect();
        if new.is_empty() {
            return Err(match self.files.keys().next() {
                Some(stale) => ReportFault::Stale(shown(stale)),
                None => ReportFault::Missing(glob.glob().to_string()),
            });
        }
        let mut all = Report::default();
        let mut bytes = 0;
        for (path, stat) in new {
            bytes += stat.size;
            if bytes > MOST_BYTES {
                return Err(ReportFault::TooLarge { path: shown(path), limit: MOST_BYTES });
            }
            let unreadable = |error: std::io::Error| ReportFault::Unreadable {
                path: shown(path),
                why: error.to_string(),
            };
            let text = read_text(root, path).map_err(unreadable)?;
            let malformed = |why| ReportFault::Malformed { path: shown(path), why };
            all.tests.extend(Report::of_text(&text).map_err(malformed)?.tests);
        }
        Ok(all)
    }
}
