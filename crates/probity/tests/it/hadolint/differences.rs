//! Differences from hadolint that are meant. The table of them is also in the guide.

mod general;
mod instructions;
mod labels;
mod packages;

use std::fmt::Write as _;

use probity_dockerfile::{Dockerfile, Instruction, Keyword};

/// All differences; the first that explains a finding counts.
pub(super) fn differences() -> impl Iterator<Item = &'static Difference> {
    [general::ROWS, packages::ROWS, instructions::ROWS, labels::ROWS].into_iter().flatten()
}

/// A difference that is meant.
pub(crate) struct Difference {
    /// The rules that it is about; none stands for all of them.
    pub(crate) codes: &'static [&'static str],
    pub(crate) side: Side,
    pub(crate) reason: &'static str,
    pub(crate) holds: fn(&Seen<'_>) -> bool,
}

impl Difference {
    pub(crate) fn explains(&self, code: &str, side: Side, seen: &Seen<'_>) -> bool {
        let is_about = self.codes.is_empty() || self.codes.contains(&code);
        is_about && self.side == side && (self.holds)(seen)
    }
}

/// Which program alone reports something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Ours,
    Theirs,
}

pub(crate) const fn theirs(
    codes: &'static [&'static str],
    reason: &'static str,
    holds: fn(&Seen<'_>) -> bool,
) -> Difference {
    Difference { codes, side: Side::Theirs, reason, holds }
}

pub(crate) const fn ours(
    codes: &'static [&'static str],
    reason: &'static str,
    holds: fn(&Seen<'_>) -> bool,
) -> Difference {
    Difference { codes, side: Side::Ours, reason, holds }
}

/// The table as a guide shows it: a row for each reason.
pub(crate) fn guide_table(
    differences: impl Iterator<Item = &'static Difference>,
    other: &str,
) -> String {
    let mut rows: Vec<(&str, Vec<&str>, Vec<Side>)> = Vec::new();
    for row in differences {
        match rows.iter_mut().find(|(reason, ..)| *reason == row.reason) {
            Some((_, codes, sides)) => {
                codes.extend(row.codes);
                sides.push(row.side);
            }
            None => rows.push((row.reason, row.codes.to_vec(), vec![row.side])),
        }
    }
    let mut text = String::from("| rules | reported by | reason |\n|---|---|---|\n");
    for (reason, mut codes, sides) in rows {
        codes.sort_unstable();
        codes.dedup();
        let codes = if codes.is_empty() { "all".to_owned() } else { codes.join(", ") };
        let by = match (sides.contains(&Side::Ours), sides.contains(&Side::Theirs)) {
            (true, true) => "both, on different lines",
            (true, false) => "probity",
            _ => other,
        };
        writeln!(text, "| {codes} | {by} | {} |", reason.replace('|', "\\|")).unwrap();
    }
    text
}

/// What a difference is seen in.
pub(crate) struct Seen<'a> {
    pub(crate) file: &'a Dockerfile<'a>,
    pub(crate) line: usize,
}

impl Seen<'_> {
    fn instruction(&self) -> Option<&Instruction> {
        self.file.instructions.iter().find(|instruction| instruction.lines().0 == self.line)
    }

    /// The instruction's text, or the line where there is none.
    pub(super) fn source(&self) -> &str {
        let line = self.file.text.lines().nth(self.line.saturating_sub(1)).unwrap_or_default();
        self.instruction()
            .and_then(|instruction| instruction.span.slice(self.file.text))
            .unwrap_or(line)
    }

    fn has(&self, parts: &[&str]) -> bool {
        parts.iter().any(|part| self.source().contains(part))
    }

    pub(crate) fn file_has(&self, parts: &[&str]) -> bool {
        parts.iter().any(|part| self.file.text.contains(part))
    }

    /// Whether the instruction has this keyword, also behind `ONBUILD`.
    fn is(&self, keyword: Keyword) -> bool {
        let words = self.source().split_ascii_whitespace().take(2);
        words.map(Keyword::of).any(|own| own == keyword)
    }

    /// Whether a word of the instruction, behind its name and flags, begins so.
    fn has_word(&self, beginning: &str) -> bool {
        let words = self.source().split_ascii_whitespace().skip(1);
        let mut words = words.filter(|word| !word.starts_with("--"));
        words.any(|word| word.trim_start_matches(['"', '\'']).starts_with(beginning))
    }

    /// How many instructions with this keyword come before.
    fn count_before(&self, keyword: Keyword) -> usize {
        let before =
            self.file.instructions.iter().filter(|instruction| instruction.lines().0 < self.line);
        before.filter(|instruction| instruction.keyword == keyword).count()
    }

    /// Whether the stage that this is in begins with an empty image.
    fn is_from_scratch(&self) -> bool {
        let mut before =
            self.file.instructions.iter().filter(|instruction| instruction.lines().0 <= self.line);
        let from = before.rfind(|instruction| instruction.keyword == Keyword::From);
        let source = from.and_then(|instruction| instruction.span.slice(self.file.text));
        source.is_some_and(|source| source.split_ascii_whitespace().nth(1) == Some("scratch"))
    }

    fn is_last_stage(&self) -> bool {
        let mut froms = self
            .file
            .instructions
            .iter()
            .filter(|instruction| instruction.keyword == Keyword::From);
        froms.next_back().is_some_and(|from| from.lines().0 == self.line)
    }

    fn is_in_last_stage(&self) -> bool {
        let mut froms = self
            .file
            .instructions
            .iter()
            .filter(|instruction| instruction.keyword == Keyword::From);
        froms.next_back().is_none_or(|from| from.lines().0 <= self.line)
    }

    /// Whether the file has several instructions with the keyword of this one.
    fn repeated(&self) -> bool {
        let own = self.instruction().map(|instruction| instruction.keyword);
        self.file.instructions.iter().filter(|instruction| Some(instruction.keyword) == own).count()
            > 1
    }
}
