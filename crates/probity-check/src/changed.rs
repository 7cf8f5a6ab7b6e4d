//! `--changed`: which lines a branch has changed.

use std::{error::Error, fmt, path::Path};

use probity_finding::{Finding, LineIndex, Span};
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// A file where the branch began.
#[derive(Debug)]
pub(crate) enum Earlier {
    /// It did not exist, so every line of it is changed.
    Absent,
    Text(String),
}

/// Tells what files were before a change.
pub trait EarlierTexts: fmt::Debug + Sync {
    /// The text of a file where the branch began; none if it did not exist.
    ///
    /// # Errors
    ///
    /// Fails if that cannot be told.
    fn text(&self, file: &Path) -> Result<Option<String>, EarlierUnknown>;
}

/// Why nobody can tell what a file was.
pub type EarlierUnknown = Box<dyn Error + Send + Sync>;

impl Earlier {
    pub(crate) fn of(texts: &dyn EarlierTexts, file: &Path) -> Result<Self, EarlierUnknown> {
        Ok(texts.text(file)?.map_or(Self::Absent, Self::Text))
    }

    /// For each finding, whether it stands on unchanged lines only. What is true of a file as a whole
    /// stands on none of its lines, and is new with the file alone.
    pub(crate) fn are_untouched(&self, text: &str, findings: &[Finding]) -> Vec<bool> {
        let Self::Text(earlier) = self else { return vec![false; findings.len()] };
        let changed = changed_lines(earlier, text);
        let lines = LineIndex::new(text);
        let is_changed = |span: Span| {
            let first = lines.position(span.start).line;
            // The end of a span stands behind its last byte.
            let last = lines.position(span.end.saturating_sub(1).max(span.start)).line;
            changed.get(first..=last).is_some_and(|lines| lines.contains(&true))
        };
        findings.iter().map(|finding| !finding.spans().any(is_changed)).collect()
    }
}

/// For each line of the later text, whether the earlier one lacks it.
fn changed_lines(earlier: &str, later: &str) -> Vec<bool> {
    let old: Vec<&str> = earlier.lines().collect();
    let new: Vec<&str> = later.lines().collect();
    // A place behind the last line end is on a line of its own.
    let mut changed = vec![false; new.len() + 1];
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        if !matches!(op, DiffOp::Equal { .. })
            && let Some(lines) = changed.get_mut(op.new_range())
        {
            lines.fill(true);
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use probity_finding::Severity;

    use super::*;

    #[test]
    fn a_finding_is_new_where_one_of_its_lines_is() {
        let earlier = Earlier::Text("FROM a\nRUN b\nRUN c\n".to_owned());
        let text = "# new\nFROM a\nRUN b && \\\n  d\nRUN c\n";
        let at = |from: &str, to: &str| {
            let start = text.find(from).unwrap();
            let end = text.find(to).unwrap() + to.len();
            Finding::new("a/b", Severity::Info, Span::new(start, end), "m")
        };
        let findings = [
            (at("# new", "# new"), false),
            (at("FROM", "a"), true),
            (at("RUN b", "d"), false),
            (at("FROM", "d"), false),
            (at("RUN c", "c"), true),
            (at("RUN c", "RUN c").with_more_places([Span::new(0, 1)]), false),
            (Finding::of_file("a/b", Severity::Info, "m"), true),
        ];
        let (findings, expected): (Vec<Finding>, Vec<bool>) = findings.into_iter().unzip();
        assert_eq!(earlier.are_untouched(text, &findings), expected);
        assert_eq!(Earlier::Absent.are_untouched(text, &findings), [false; 7]);
    }
}
