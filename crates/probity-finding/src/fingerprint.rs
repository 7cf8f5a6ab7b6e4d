//! The identity of a finding from one run to the next.

use std::{collections::HashMap, fmt::Write as _};

use sha2::{Digest, Sha256};

use crate::{Finding, LineIndex};

/// Gives each finding of one file an identity that survives unrelated changes.
///
/// It is made of the rule, the relative path, the trimmed text of the finding's line, and a count
/// that tells repetitions apart. Line numbers are not part of it: a line inserted above must not
/// turn every known finding into a new one. Ask for the findings in report order.
#[derive(Debug)]
pub struct Fingerprints<'a> {
    path: &'a str,
    lines: &'a LineIndex<'a>,
    seen: HashMap<(String, String), usize>,
}

impl<'a> Fingerprints<'a> {
    #[must_use]
    pub fn new(path: &'a str, lines: &'a LineIndex<'a>) -> Self {
        Self { path, lines, seen: HashMap::new() }
    }

    /// The fingerprint of the next finding, as 32 hexadecimal digits.
    pub fn next(&mut self, finding: &Finding) -> String {
        let line = finding
            .span
            .map(|span| self.lines.line_text(self.lines.position(span.start).line))
            .unwrap_or_default()
            .trim()
            .to_owned();
        let key = (finding.rule.to_string(), line);
        let nth = self.seen.get(&key).copied().unwrap_or(0);
        let mut hash = Sha256::new();
        for part in [key.0.as_str(), self.path, key.1.as_str(), &nth.to_string()] {
            // The length in front keeps ("ab", "c") and ("a", "bc") apart.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        self.seen.insert(key, nth + 1);
        hash.finalize().iter().take(16).fold(String::with_capacity(32), |mut hex, byte| {
            // Writing to a string cannot fail.
            _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Severity, Span};

    fn prints(text: &str, path: &str, spans: &[usize]) -> Vec<String> {
        let lines = LineIndex::new(text);
        let mut prints = Fingerprints::new(path, &lines);
        spans
            .iter()
            .map(|&at| prints.next(&Finding::new("a/b", Severity::Info, Span::at(at), "m")))
            .collect()
    }

    #[test]
    fn lines_above_do_not_matter_but_rule_path_text_and_repetition_do() {
        let one = prints("x\n  y\n", "f", &[4]);
        assert_eq!(one, prints("new\nnew\nx\ny  \n", "f", &[10]), "moved and indented");
        assert_ne!(one, prints("x\n  y\n", "g", &[4]), "another path");
        assert_ne!(one, prints("x\n  z\n", "f", &[4]), "another text");
        let twice = prints("y\ny\n", "f", &[0, 2]);
        assert_eq!(twice[0], one[0]);
        assert_ne!(twice[0], twice[1]);
        assert_eq!(one[0].len(), 32);
    }
}
