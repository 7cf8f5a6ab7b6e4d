//! Putting the hunks of a patch where they belong, and nowhere else.

use std::collections::{HashMap, VecDeque};

use crate::patch::{
    ApplyFailure, Hunk, LineKind, Patch, PatchError,
    lines::{self, LineEnd},
};

/// A text with a patch in it, and what had to be put right on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The new text, its line ends and the end of its last line as the old text has them.
    pub text: String,
    /// Whether the counts of a hunk's header were wrong.
    pub recounted: bool,
    /// The hunks that were not at the line their header names.
    pub relocated: Vec<Relocated>,
    pub added_lines: usize,
    pub removed_lines: usize,
}

/// A hunk that was found at another line than its header names. All are counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocated {
    pub hunk: usize,
    pub stated_line: usize,
    pub actual_line: usize,
}

pub(super) fn apply(patch: &Patch, base: &str) -> Result<Applied, PatchError> {
    let file = File::new(base);
    let mut output = Output::new(&file);
    let mut relocated = Vec::new();
    for (index, hunk) in patch.hunks().iter().enumerate() {
        let failed = |failure| PatchError::ApplyFailed {
            hunk: index + 1,
            patch_line: hunk.patch_line,
            failure,
        };
        let place = file.place_of(hunk).map_err(failed)?;
        if place.at < output.next {
            return Err(failed(ApplyFailure::OutOfOrder { line: place.at + 1 }));
        }
        if !place.as_stated {
            relocated.push(Relocated {
                hunk: index + 1,
                stated_line: hunk.old_start,
                actual_line: place.at + 1,
            });
        }
        output.copy_until(place.at);
        output.change(hunk);
    }
    let text = output.finish();
    if text == base {
        return Err(PatchError::Empty);
    }
    Ok(Applied {
        text,
        recounted: patch.recounted(),
        relocated,
        added_lines: patch.added().count(),
        removed_lines: patch.removed().count(),
    })
}

/// The text that is patched, its lines numbered so that they can be compared at once.
struct File<'a> {
    lines: Vec<(&'a str, LineEnd)>,
    ids: Vec<usize>,
    id_of: HashMap<&'a str, usize>,
}

/// Where a hunk goes: the index of the first line that it stands for.
struct HunkPlace {
    at: usize,
    as_stated: bool,
}

impl<'a> File<'a> {
    fn new(text: &'a str) -> Self {
        let lines = lines::split(text);
        let mut id_of = HashMap::new();
        let mut ids = Vec::with_capacity(lines.len());
        for (text, _) in &lines {
            let next = id_of.len();
            ids.push(*id_of.entry(*text).or_insert(next));
        }
        Self { lines, ids, id_of }
    }

    /// The stated place if the hunk's lines are there, else the only place where they are.
    fn place_of(&self, hunk: &Hunk) -> Result<HunkPlace, ApplyFailure> {
        // No line of the file has the number that stands for a line it does not hold.
        let wanted: Vec<usize> = hunk
            .old_lines()
            .map(|line| self.id_of.get(line.text.as_str()).copied().unwrap_or(usize::MAX))
            .collect();
        if wanted.is_empty() {
            // Without lines to compare, the header is all there is.
            return if hunk.old_start <= self.lines.len() {
                Ok(HunkPlace { at: hunk.old_start, as_stated: true })
            } else {
                Err(ApplyFailure::NotFound { line: self.lines.len().max(1) })
            };
        }
        // The patch may say that its last old line is the last of the file.
        let last_start = self.ids.len().checked_sub(wanted.len());
        let at_end = hunk.old_lines().any(|line| line.ends_file);
        let allowed = |at: usize| !at_end || Some(at) == last_start;

        let stated = hunk.old_start.saturating_sub(1);
        let there = self.ids.get(stated..).unwrap_or_default();
        if there.starts_with(&wanted) && allowed(stated) {
            return Ok(HunkPlace { at: stated, as_stated: true });
        }
        let mut places = occurrences(&wanted, &self.ids).filter(|&at| allowed(at));
        let differs = there.iter().zip(&wanted).take_while(|(a, b)| a == b).count();
        let line = (stated + differs + 1).min(self.lines.len()).max(1);
        match (places.next(), places.next()) {
            (Some(at), None) => Ok(HunkPlace { at, as_stated: false }),
            (Some(first), Some(second)) => {
                Err(ApplyFailure::Ambiguous { line, first: first + 1, second: second + 1 })
            }
            (None, _) => Err(ApplyFailure::NotFound { line }),
        }
    }
}

/// Where `wanted`, which is not empty, occurs; in time linear in both, whatever they hold.
fn occurrences(wanted: &[usize], ids: &[usize]) -> impl Iterator<Item = usize> {
    // How much of the beginning is also the end, for each length (Knuth, Morris, Pratt).
    let mut borders = vec![0; wanted.len()];
    let mut matched = 0;
    for at in 1..wanted.len() {
        matched = extend(wanted, &borders, matched, wanted.get(at).copied());
        if let Some(border) = borders.get_mut(at) {
            *border = matched;
        }
    }
    let mut matched = 0;
    ids.iter().enumerate().filter_map(move |(at, &id)| {
        if matched == wanted.len() {
            matched = borders.last().copied().unwrap_or_default();
        }
        matched = extend(wanted, &borders, matched, Some(id));
        (matched == wanted.len()).then(|| at + 1 - matched)
    })
}

/// How many lines of `wanted` are matched when `id` follows `matched` of them.
fn extend(wanted: &[usize], borders: &[usize], mut matched: usize, id: Option<usize>) -> usize {
    loop {
        if wanted.get(matched).copied() == id {
            return matched + 1;
        }
        match matched.checked_sub(1).and_then(|last| borders.get(last)) {
            Some(&border) => matched = border,
            None => return 0,
        }
    }
}

/// The new text as far as it is written.
struct Output<'a> {
    file: &'a File<'a>,
    lines: Vec<(&'a str, LineEnd)>,
    /// The first line of the file that is neither copied nor changed yet.
    next: usize,
}

impl<'a> Output<'a> {
    fn new(file: &'a File<'a>) -> Self {
        Self { file, lines: Vec::with_capacity(file.lines.len()), next: 0 }
    }

    fn copy_until(&mut self, end: usize) {
        self.lines.extend(self.file.lines.get(self.next..end).unwrap_or_default());
        self.next = end;
    }

    /// Writes a hunk. A new line ends as the line that it replaces, else as the line before it.
    fn change(&mut self, hunk: &'a Hunk) {
        let mut replaced = VecDeque::new();
        for line in &hunk.lines {
            match line.kind {
                LineKind::Context => {
                    replaced.clear();
                    self.copy_until(self.next + 1);
                }
                LineKind::Removed => {
                    replaced.extend(self.file.lines.get(self.next).map(|(_, end)| *end));
                    self.next += 1;
                }
                LineKind::Added => {
                    let before = self.lines.last().or(self.file.lines.first());
                    let end = replaced.pop_front().or(before.map(|(_, end)| *end));
                    self.lines.push((&line.text, end.unwrap_or(LineEnd::Lf)));
                }
            }
        }
    }

    fn finish(mut self) -> String {
        self.copy_until(self.file.lines.len());
        let first_end = self.file.lines.first().map(|(_, end)| *end);
        let had_newline = self.file.lines.last().is_none_or(|(_, end)| *end != LineEnd::None);
        if !had_newline {
            // An empty last line would be seen as the newline that the file does not have.
            while self.lines.last().is_some_and(|(text, _)| text.is_empty()) {
                self.lines.pop();
            }
        }
        let mut text = String::new();
        let mut before = first_end.filter(|&end| end != LineEnd::None).unwrap_or(LineEnd::Lf);
        let last = self.lines.len().saturating_sub(1);
        for (index, (line, end)) in self.lines.into_iter().enumerate() {
            text.push_str(line);
            if index == last && !had_newline {
                break;
            }
            // What was the last line, without an end of its own, may have lines behind it now.
            if end != LineEnd::None {
                before = end;
            }
            text.push_str(before.as_str());
        }
        text
    }
}
