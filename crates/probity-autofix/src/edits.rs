//! The difference of two texts: as the smallest edits, and as a patch.

use std::{collections::HashMap, ops::Range};

use probity_finding::{Edit, Span};
use similar::{Algorithm, DiffTag, capture_diff_slices};

use probity_finding::patch::{Hunk, HunkLine, LineKind, Patch, PatchError, lines};

/// Comparing costs the product of the lines and the differences; beyond this, all that lies between
/// the first and the last difference counts as changed.
const MAX_COMPARED_LINES: usize = 5000;

/// The edits that make `new` of `old`, in text order and apart from each other.
///
/// Lines are replaced by as many lines one by one, each only where it differs; else whole lines are
/// replaced, since parts of unlike lines that happen to be alike help nobody who reads the edit.
#[must_use]
pub fn minimal_edits(old: &str, new: &str) -> Vec<Edit> {
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let mut edits = Vec::new();
    let (mut at, mut line) = (0, 0);
    for Changed { old, new } in changes(&old_lines, &new_lines) {
        let removed = old_lines.get(old.clone()).unwrap_or_default();
        let added = new_lines.get(new).unwrap_or_default();
        at += length(old_lines.get(line..old.start).unwrap_or_default());
        if removed.len() == added.len() {
            let mut start = at;
            for (before, after) in removed.iter().zip(added) {
                edits.extend(within_line(start, before, after));
                start += before.len();
            }
        } else {
            let span = Span::new(at, at + length(removed));
            edits.push(Edit::replace(span, added.concat()));
        }
        at += length(removed);
        line = old.end;
    }
    edits
}

/// The patch that makes `new` of `old`, so that a whole file is judged as a patch would be.
///
/// Line ends and the end of the last line are not compared; applying the patch keeps those of `old`.
///
/// # Errors
///
/// When nothing would change.
pub fn diff_of(old: &str, new: &str) -> Result<Patch, PatchError> {
    let texts = |text| lines::split(text).into_iter().map(|(line, _)| line).collect::<Vec<&str>>();
    let (old_lines, new_lines) = (texts(old), texts(new));
    let of_kind = |kind, lines: Option<&[&str]>| {
        let line = move |text: &&str| HunkLine { kind, text: (*text).to_owned(), ends_file: false };
        lines.unwrap_or_default().iter().map(line).collect::<Vec<_>>()
    };
    let hunks = changes(&old_lines, &new_lines).into_iter().map(|changed| {
        let mut lines = of_kind(LineKind::Removed, old_lines.get(changed.old.clone()));
        lines.extend(of_kind(LineKind::Added, new_lines.get(changed.new)));
        // Without old lines, the place is named by the line before it.
        let old_start = changed.old.start + usize::from(!changed.old.is_empty());
        Hunk { old_start, lines, recounted: false, patch_line: 0 }
    });
    let hunks: Vec<Hunk> = hunks.collect();
    if hunks.is_empty() {
        return Err(PatchError::Empty);
    }
    Ok(Patch::new(hunks))
}

/// Lines that became other lines; at least one of the ranges is not empty.
struct Changed {
    old: Range<usize>,
    new: Range<usize>,
}

/// What changed, in order, with at least one equal line between each two.
fn changes(old: &[&str], new: &[&str]) -> Vec<Changed> {
    let alike = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(new).take_while(alike).count();
    let (old_rest, new_rest) =
        (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(alike).count();
    let old_range = head..old.len() - tail;
    let new_range = head..new.len() - tail;
    if old_range.is_empty() && new_range.is_empty() {
        return Vec::new();
    }
    if old_range.len() + new_range.len() > MAX_COMPARED_LINES {
        return vec![Changed { old: old_range, new: new_range }];
    }
    // Numbers instead of lines, so that long lines are compared once.
    let mut numbers = HashMap::new();
    let mut number = |lines: Option<&[&'_ str]>| -> Vec<usize> {
        let lines = lines.unwrap_or_default().iter();
        lines
            .map(|line| {
                let next = numbers.len();
                *numbers.entry((*line).to_owned()).or_insert(next)
            })
            .collect()
    };
    let (old_numbers, new_numbers) = (number(old.get(old_range)), number(new.get(new_range)));
    let mut changes: Vec<Changed> = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &old_numbers, &new_numbers) {
        if op.tag() == DiffTag::Equal {
            continue;
        }
        let shifted = |range: Range<usize>| range.start + head..range.end + head;
        let (old, new) = (shifted(op.old_range()), shifted(op.new_range()));
        match changes.last_mut() {
            Some(last) if last.old.end == old.start && last.new.end == new.start => {
                last.old.end = old.end;
                last.new.end = new.end;
            }
            _ => changes.push(Changed { old, new }),
        }
    }
    changes
}

/// The edit of one line that begins at `start`, or none where it stays as it is.
fn within_line(start: usize, before: &str, after: &str) -> Option<Edit> {
    let alike = |(a, b): &(char, char)| a == b;
    let bytes = |pairs: &mut dyn Iterator<Item = (char, char)>| -> usize {
        pairs.map(|(char, _)| char.len_utf8()).sum()
    };
    let head = bytes(&mut before.chars().zip(after.chars()).take_while(alike));
    let (old, new) = (before.get(head..)?, after.get(head..)?);
    let tail = bytes(&mut old.chars().rev().zip(new.chars().rev()).take_while(alike));
    let (old, new) = (old.get(..old.len() - tail)?, new.get(..new.len() - tail)?);
    let start = start + head;
    (!old.is_empty() || !new.is_empty())
        .then(|| Edit::replace(Span::new(start, start + old.len()), new))
}

fn length(lines: &[&str]) -> usize {
    lines.iter().map(|line| line.len()).sum()
}
