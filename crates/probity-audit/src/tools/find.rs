//! `find_files`: what `find -type f`, perhaps with `-name`, would print.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    fmt::Write as _,
    path::{Path, PathBuf},
};

use probity_scope::{EntryKind, Scope, ScopeError, WalkLimits};

use super::{
    Target,
    cut::{Output, failed},
    glob,
};
use crate::{sources::is_not_own, text::shown_name};

pub(super) const LIMITS: WalkLimits = WalkLimits { depth: 64, entries: 100_000 };

/// What is below a path, sources first.
pub(super) struct Below {
    pub(super) files: Vec<PathBuf>,
    /// Directories that were not looked into.
    pub(super) skipped: Vec<String>,
    /// Whether there were too many entries to look at all.
    pub(super) is_cut: bool,
}

pub(super) fn below(
    scope: &Scope,
    target: &Target,
    sources: &BTreeSet<PathBuf>,
) -> Result<Below, ScopeError> {
    if target.metadata.kind != EntryKind::Directory {
        let files = match target.metadata.kind {
            EntryKind::File => vec![target.path.clone()],
            EntryKind::Directory | EntryKind::Link | EntryKind::Special => Vec::new(),
        };
        return Ok(Below { files, skipped: Vec::new(), is_cut: false });
    }
    // Directories of other people's files are searched only if the path of a request leads into one:
    // their size would push out the project's own code.
    let leads_in = target.path.ancestors().any(is_not_own);
    let skipped = RefCell::new(Vec::new());
    let skip = |path: &Path| {
        // A file of such a name is a file, and a source is wanted wherever it is.
        let is_skipped = !leads_in
            && is_not_own(path)
            && !sources.iter().any(|source| source.starts_with(path))
            && scope.metadata(path).is_ok_and(|metadata| metadata.kind == EntryKind::Directory);
        if is_skipped {
            skipped.borrow_mut().push(shown_name(&path.to_string_lossy()));
        }
        is_skipped
    };
    let walk = scope.walk(&target.path, LIMITS, &skip)?;
    let mut files = walk.files;
    files.sort_by_key(|file| !sources.contains(file));
    Ok(Below { files, skipped: skipped.into_inner(), is_cut: walk.truncated })
}

impl Below {
    /// What was not looked at, in words for a model.
    pub(super) fn left_out(&self) -> String {
        let mut text = String::new();
        if !self.skipped.is_empty() {
            let names = self.skipped.join(", ");
            // Writing to a string cannot fail.
            _ = write!(text, "\n(not looked into: {names}; name one as the path to do so)");
        }
        if self.is_cut {
            text.push_str("\n(there are too many files to look at all; name a directory below)");
        }
        text
    }
}

pub(super) fn find_files(
    scope: &Scope,
    target: &Target,
    pattern: Option<&str>,
    sources: &BTreeSet<PathBuf>,
) -> String {
    if let Some(pattern) = pattern
        && glob::is_open(pattern)
    {
        return failed(&format!("find: the pattern {pattern} has a `[` without a `]`"), 1);
    }
    let mut output = Output::default();
    let below = match below(scope, target, sources) {
        Ok(below) => below,
        Err(error) => return failed(&format!("find: {error}"), 1),
    };
    for file in &below.files {
        let path = shown_name(&file.to_string_lossy());
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let is_wanted = pattern.is_none_or(|pattern| {
            // `-name` never matches a slash; a model that writes one means the path.
            if pattern.contains('/') {
                glob::matches(pattern, &path)
            } else {
                glob::matches(pattern, &name)
            }
        });
        if is_wanted && !output.push(&format!("{path}\n")) {
            break;
        }
    }
    output.end(0) + &below.left_out()
}
