//! A proven fix as a replacement of consecutive lines, which a forge can apply.

use std::path::Path;

use probity_review::{ProvenIssue, changes, missing_fix};
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Lines that a fix replaces, and what it replaces them with.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Suggestion {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) before: Vec<String>,
    pub(super) after: Vec<String>,
}

/// Nothing if the fix is not of this checkout, or more than one piece of the flagged file.
pub(super) fn of(repo: &Path, issue: &ProvenIssue) -> Option<Suggestion> {
    if missing_fix(issue).is_some() {
        return None;
    }
    let changed = changes(repo, issue).ok()?;
    let [file] = changed.as_slice() else { return None };
    if file.path != issue.file {
        return None;
    }
    replaced(&file.before, &file.after)
}

fn replaced(before: &str, after: &str) -> Option<Suggestion> {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    let ops = capture_diff_slices(Algorithm::Myers, &before, &after);
    let is_change = |op: &&DiffOp| !matches!(op, DiffOp::Equal { .. });
    let mut changes = ops.iter().filter(is_change);
    let (op, None) = (changes.next()?, changes.next()) else { return None };
    let (mut old, mut new) = (op.old_range(), op.new_range());
    if old.is_empty() {
        // A comment needs a line: what is inserted goes after the one before it.
        old.start = old.start.checked_sub(1)?;
        new.start = new.start.checked_sub(1)?;
    }
    let lines = |text: &[&str], range: std::ops::Range<usize>| -> Vec<String> {
        text.get(range).unwrap_or_default().iter().map(|&line| line.to_owned()).collect()
    };
    Some(Suggestion {
        start: old.start as u64 + 1,
        end: old.end as u64,
        before: lines(&before, old),
        after: lines(&after, new),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_of_one_piece_replaces_lines_and_another_is_not_suggested() {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let made = |start, end, before: &str, after: &str| {
            Some(Suggestion { start, end, before: lines(before), after: lines(after) })
        };
        for (before, after, expected) in [
            ("a\nb\nc\n", "a\nB\nc\n", made(2, 2, "b", "B")),
            ("a\nb\nc\n", "a\nB\nB2\nc\n", made(2, 2, "b", "B\nB2")),
            ("a\nb\nc\n", "a\nc\n", made(2, 2, "b", "")),
            ("a\nb\n", "a\nnew\nb\n", made(1, 1, "a", "a\nnew")),
            ("a\n", "new\na\n", None),
            ("a\nb\nc\n", "A\nb\nC\n", None),
            ("a\n", "a\n", None),
        ] {
            assert_eq!(replaced(before, after), expected, "{before:?} {after:?}");
        }
    }
}
