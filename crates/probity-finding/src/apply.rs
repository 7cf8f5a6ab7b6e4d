//! Applying fixes to a text.

use crate::{Edit, Fix};

/// What became of the fixes given to [`apply`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    pub text: String,
    /// Indices of the fixes that are in the text now, in the order in which they were given.
    pub applied: Vec<usize>,
    /// Indices of the others, in the order in which they were given, with the reason.
    pub skipped: Vec<(usize, Skipped)>,
}

/// Why a fix was not applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Skipped {
    /// It touches what another fix has changed; `with` is that fix's index.
    Conflict { with: usize },
    /// It has no edits, or none that changes the text.
    NoEdits,
    /// An edit lies outside the text, tears a character, or overlaps another of the same fix.
    Malformed,
}

impl Skipped {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Conflict { .. } => "conflict",
            Self::NoEdits => "no-edits",
            Self::Malformed => "malformed",
        }
    }
}

/// Applies the fixes that do not get in each other's way; the earlier in the text wins.
///
/// Each fix is applied whole or not at all. The result depends on the fixes alone, not on the order
/// in which they come: ties are broken by what the fixes say. Two fixes that want the very same edit
/// agree. Two insertions at one place do not, since nothing says which comes first, and neither does
/// one at the edge of what another fix replaces: what it was meant to stand beside may be gone.
#[must_use]
pub fn apply(source: &str, fixes: &[&Fix]) -> Applied {
    let mut skipped: Vec<(usize, Skipped)> = Vec::new();
    let mut candidates: Vec<(Vec<&Edit>, usize)> = Vec::new();
    for (index, fix) in fixes.iter().enumerate() {
        match usable_edits(source, fix) {
            Ok(edits) => candidates.push((edits, index)),
            Err(reason) => skipped.push((index, reason)),
        }
    }
    // The key is the content itself, so that equal keys are interchangeable.
    candidates.sort_by(|(a, i), (b, j)| {
        a.cmp(b).then_with(|| {
            (fixes[*i].applicability, &fixes[*i].title)
                .cmp(&(fixes[*j].applicability, &fixes[*j].title))
        })
    });

    let mut chosen = Chosen::default();
    let mut applied = Vec::new();
    for (edits, index) in candidates {
        match chosen.first_conflict(&edits) {
            Some(with) => skipped.push((index, Skipped::Conflict { with })),
            None => {
                chosen.insert(edits, index);
                applied.push(index);
            }
        }
    }
    applied.sort_unstable();
    skipped.sort_unstable();
    Applied { text: chosen.rewrite(source), applied, skipped }
}

/// The edits of a fix in text order, or the reason why they cannot be used.
fn usable_edits<'a>(source: &str, fix: &'a Fix) -> Result<Vec<&'a Edit>, Skipped> {
    let mut edits: Vec<&Edit> = fix.edits.iter().collect();
    if edits.iter().any(|edit| edit.span.start > edit.span.end || edit.span.slice(source).is_none())
    {
        return Err(Skipped::Malformed);
    }
    edits.retain(|edit| edit.span.slice(source) != Some(edit.text.as_str()));
    if edits.is_empty() {
        return Err(Skipped::NoEdits);
    }
    edits.sort();
    if edits.windows(2).any(|pair| clash(pair[0], pair[1])) {
        return Err(Skipped::Malformed);
    }
    Ok(edits)
}

/// Whether an edit inserts where the other, of another fix, begins or ends.
fn at_edge(a: &Edit, b: &Edit) -> bool {
    let is_at = |it: &Edit, other: &Edit| {
        it.span.is_empty() && (it.span.start == other.span.start || it.span.start == other.span.end)
    };
    is_at(a, b) || is_at(b, a)
}

/// Whether two edits cannot both be applied; touching is allowed, inserting twice at one place is not.
fn clash(a: &Edit, b: &Edit) -> bool {
    let both_insert = a.span.is_empty() && b.span.is_empty();
    if both_insert {
        return a.span == b.span;
    }
    a.span.start < b.span.end && b.span.start < a.span.end
}

/// The edits chosen so far, kept in text order and free of clashes.
#[derive(Default)]
struct Chosen<'a> {
    edits: Vec<(&'a Edit, usize)>,
}

impl<'a> Chosen<'a> {
    fn first_conflict(&self, edits: &[&Edit]) -> Option<usize> {
        edits.iter().find_map(|edit| {
            // Chosen edits do not overlap, so only those that end at or behind the new edit's start
            // and begin at or before its end can clash with it.
            let from = self.edits.partition_point(|(old, _)| old.span.end < edit.span.start);
            self.edits[from..]
                .iter()
                .take_while(|(old, _)| old.span.start <= edit.span.end)
                .find(|(old, _)| *old != *edit && (clash(old, edit) || at_edge(old, edit)))
                .map(|&(_, owner)| owner)
        })
    }

    fn insert(&mut self, edits: Vec<&'a Edit>, owner: usize) {
        for edit in edits {
            let at = self.edits.partition_point(|(old, _)| *old < edit);
            if self.edits.get(at).is_none_or(|(old, _)| *old != edit) {
                self.edits.insert(at, (edit, owner));
            }
        }
    }

    fn rewrite(&self, source: &str) -> String {
        let mut text = String::with_capacity(source.len());
        let mut at = 0;
        for (edit, _) in &self.edits {
            text.push_str(&source[at..edit.span.start]);
            text.push_str(&edit.text);
            at = edit.span.end;
        }
        text.push_str(&source[at..]);
        text
    }
}
