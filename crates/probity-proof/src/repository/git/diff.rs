//! What a change touches.

use std::collections::HashMap;

use super::{GitError, command::Git};
use crate::text::capped;

/// Hunks are for the prompt, and a prompt has an end.
const HUNK_BYTES: usize = 256 << 10;

/// Names of files in one command line.
const MOST_FILES: usize = 500;

/// A change: everything since the common ancestor with its base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// As it was named.
    pub base: String,
    pub merge_base: String,
    /// Files that the change leaves behind, in the order of their names.
    pub files: Vec<ChangedFile>,
    /// The change as a unified diff, cut where it is too long.
    pub hunks: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    pub path: String,
    /// Lines of the new file that the change touches: first and last, from 1.
    pub lines: Vec<(u64, u64)>,
    /// Lines of the new file that the change added: first and last, from 1.
    pub added: Vec<(u32, u32)>,
    /// Whether it came with the change, and not from another name.
    pub is_new: bool,
}

impl Change {
    #[must_use]
    pub fn touches(&self, path: &str) -> bool {
        self.files.iter().any(|file| file.path == path)
    }

    /// Whether the change has brought this file.
    #[must_use]
    pub fn brings(&self, path: &str) -> bool {
        self.files.iter().any(|file| file.path == path && file.is_new)
    }
}

/// Files that are not the same as at the common ancestor with `base`, in the order in which they are
/// given. The working tree counts. Its files are hashed without the filters of the repository, which
/// are commands, so that a file which a filter changes counts as changed.
pub(super) fn changed_files(
    git: &Git,
    base: &str,
    files: &[String],
) -> Result<Vec<String>, GitError> {
    let (merge_base, _) = merge_base(git, base)?;
    let listed = git.ask(&["ls-tree", "-r", "-z", &merge_base])?;
    let known: HashMap<&str, &str> = listed
        .split('\0')
        .filter_map(|entry| {
            let (about, path) = entry.split_once('\t')?;
            Some((path, about.split(' ').nth(2)?))
        })
        .collect();
    let mut changed = Vec::new();
    for part in files.chunks(MOST_FILES) {
        let mut arguments = vec!["hash-object", "--no-filters", "--"];
        arguments.extend(part.iter().map(String::as_str));
        let hashes = git.ask(&arguments)?;
        let is_changed = |(file, hash): &(&String, &str)| known.get(file.as_str()) != Some(hash);
        let differing = part.iter().zip(hashes.lines()).filter(is_changed);
        changed.extend(differing.map(|(file, _)| file.clone()));
    }
    Ok(changed)
}

pub(super) fn common_ancestor(git: &Git, base: &str) -> Result<String, GitError> {
    merge_base(git, base).map(|(ancestor, _)| ancestor)
}

/// The common ancestor of a base and the current commit, and the current commit.
fn merge_base(git: &Git, base: &str) -> Result<(String, String), GitError> {
    let odd = |char: char| char.is_control() || char.is_whitespace();
    if base.is_empty() || base.starts_with('-') || base.contains(odd) || base.contains("..") {
        return Err(GitError::BadName(base.chars().take(100).filter(|char| !odd(*char)).collect()));
    }
    let head = git.commit("HEAD").ok_or(GitError::NoCommits)?;
    let found = candidates(base).iter().find_map(|name| git.commit(name));
    let Some(found) = found else {
        return Err(GitError::NoBase { base: base.to_owned(), shallow: git.is_shallow() });
    };
    let Some(merge_base) = git
        .ask(&["merge-base", &found, &head])
        .ok()
        .map(|answer| answer.trim().to_owned())
        .filter(|answer| !answer.is_empty())
    else {
        return Err(GitError::NoMergeBase { base: base.to_owned(), shallow: git.is_shallow() });
    };
    Ok((merge_base, head))
}

/// What a base can stand for, the likeliest first. git takes a tag before a branch of the same name, and
/// a tag comes with every clone: whoever wrote the change could choose the base.
fn candidates(base: &str) -> Vec<String> {
    let is_whole = base.len() >= 40 && base.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_whole || base == "HEAD" || base.starts_with("refs/") {
        return vec![base.to_owned()];
    }
    let kinds = ["refs/heads/", "refs/remotes/", "refs/remotes/origin/", ""];
    kinds.map(|kind| format!("{kind}{base}")).to_vec()
}

pub(super) fn between(git: &Git, base: &str) -> Result<Change, GitError> {
    let (merge_base, head) = merge_base(git, base)?;
    // No renames: a file that moved is reviewed as the new file it is.
    let common = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames"];
    let with = |more: &[&str]| {
        let mut arguments: Vec<&str> = common.to_vec();
        arguments.extend_from_slice(more);
        arguments.extend([merge_base.as_str(), head.as_str(), "--"]);
        git.ask(&arguments)
    };
    let names = with(&["--name-only", "-z", "--diff-filter=d", "--ignore-submodules=all"])?;
    let mut files: Vec<ChangedFile> = names
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(|path| ChangedFile {
            path: path.to_owned(),
            lines: Vec::new(),
            added: Vec::new(),
            is_new: false,
        })
        .collect();
    files.sort_by(|one, other| one.path.cmp(&other.path));
    let added = with(&["--find-renames", "--name-only", "-z", "--diff-filter=A"])?;
    for file in &mut files {
        file.is_new = added.split('\0').any(|path| path == file.path);
    }
    let text = with(&["--unified=3", "--ignore-submodules=all"])?;
    touched_lines(&text, &mut files);
    Ok(Change { base: base.to_owned(), merge_base, files, hunks: capped(&text, HUNK_BYTES) })
}

/// The old and the new name of each file that moved between a commit and what is to be committed.
/// The working tree is not read: git would run the filters of the repository to compare it.
pub(super) fn renames(git: &Git, since: &str) -> Vec<(String, String)> {
    let told = git.ask(&[
        "diff",
        "--cached",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--find-renames",
        "--diff-filter=R",
        "--name-status",
        "--relative",
        "-z",
        since,
        "--",
    ]);
    let told = told.unwrap_or_default();
    let mut fields = told.split('\0');
    let mut renames = Vec::new();
    while let (Some(_), Some(old), Some(new)) = (fields.next(), fields.next(), fields.next()) {
        renames.push((old.to_owned(), new.to_owned()));
    }
    renames
}

/// Reads the hunks; a file whose name git has to quote keeps no lines.
fn touched_lines(diff: &str, files: &mut [ChangedFile]) {
    let mut current: Option<usize> = None;
    // The number of the next line of the new file, inside a hunk.
    let mut next: Option<u32> = None;
    for line in diff.lines() {
        if line.starts_with("diff --git ") {
            (current, next) = (None, None);
            continue;
        }
        if next.is_none()
            && let Some(path) = line.strip_prefix("+++ b/")
        {
            let path = path.trim_end_matches('\t');
            current = files.iter().position(|file| file.path == path);
            continue;
        }
        let Some(file) = current.and_then(|index| files.get_mut(index)) else { continue };
        if let Some(range) = line.strip_prefix("@@ ") {
            let Some(lines) = new_lines(range) else { continue };
            file.lines.push(lines);
            next = u32::try_from(lines.0).ok();
        } else if let Some(number) = &mut next {
            match line.bytes().next() {
                Some(b'+') => {
                    match file.added.last_mut() {
                        Some((_, last)) if *last + 1 == *number => *last = *number,
                        _ => file.added.push((*number, *number)),
                    }
                    *number += 1;
                }
                Some(b' ') | None => *number += 1,
                _ => {}
            }
        }
    }
}

/// From `-a,b +c,d @@` to `c` and `c+d-1`.
fn new_lines(range: &str) -> Option<(u64, u64)> {
    let new = range.split(' ').find_map(|word| word.strip_prefix('+'))?;
    let (start, count) = new.split_once(',').unwrap_or((new, "1"));
    let (start, count): (u64, u64) = (start.parse().ok()?, count.parse().ok()?);
    let start = start.max(1);
    Some((start, start.saturating_add(count.max(1)) - 1))
}
