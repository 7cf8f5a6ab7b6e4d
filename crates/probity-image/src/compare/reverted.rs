//! Files that the original's instructions change keep that change.
//!
//! A step may stamp a version into a file of the context. If the new image has the file as the
//! context has it, and the original does not, the step came too early or was left out.

use std::{collections::BTreeMap, ffi::OsString, fs, path::PathBuf};

use super::{Pair, paths};
use crate::Difference;

/// A context with more files is not searched.
const MOST_FILES: usize = 50_000;
const LARGEST: u64 = 1 << 20;

pub(super) fn check(pair: &Pair<'_>) -> Vec<Difference> {
    let Some(context) = pair.context else { return Vec::new() };
    let (before, after) = (&pair.original.root, &pair.proposal.root);
    let is_changed = |path: &str| {
        let (Some(old), Some(new)) = (before.get(path), after.get(path)) else { return false };
        let are_files = old.is_file() && new.is_file() && new.size <= LARGEST;
        are_files && !before.is_same_in(after, path) && !before.is_equal(old, after, new)
    };
    let candidates = before.iter().map(|(path, _)| path);
    let candidates: Vec<&str> = candidates
        .filter(|path| !paths::is_cache(path) && pair.is_own(path) && is_changed(path))
        .collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    let Some(files) = files(context.to_owned()) else { return Vec::new() };
    let has = |path: &str, bytes: &[u8]| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let same = files.get(&OsString::from(name)).into_iter().flatten();
        same.filter_map(|file| fs::read(file).ok()).any(|text| text == bytes)
    };
    let is_reverted = |path: &&str| {
        let (Some(old), Some(new)) = (before.get(path), after.get(path)) else { return false };
        has(path, &after.bytes(new, LARGEST)) && !has(path, &before.bytes(old, LARGEST))
    };
    let reverted = candidates.into_iter().filter(is_reverted);
    reverted.map(|path| Difference::ChangeLost { path: format!("/{path}") }).collect()
}

/// The files below a directory by their names; none if there are too many.
fn files(directory: PathBuf) -> Option<BTreeMap<OsString, Vec<PathBuf>>> {
    let mut found: BTreeMap<OsString, Vec<PathBuf>> = BTreeMap::new();
    let (mut pending, mut count) = (vec![directory], 0);
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok) {
            count += 1;
            if count > MOST_FILES {
                return None;
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && entry.file_name() != ".git" {
                pending.push(entry.path());
            } else if kind.is_file() && entry.metadata().is_ok_and(|data| data.len() <= LARGEST) {
                found.entry(entry.file_name()).or_default().push(entry.path());
            }
        }
    }
    Some(found)
}
