//! How many findings there are of each severity, and how a person says it.

use probity_finding::{Finding, Severity};

/// The findings seen so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub errors: usize,
    pub warnings: usize,
    pub info: usize,
    pub style: usize,
    /// Files with at least one finding.
    pub files: usize,
}

impl Counts {
    /// Adds one file's findings.
    pub fn add(&mut self, findings: &[Finding]) {
        for finding in findings {
            match finding.severity {
                Severity::Error => self.errors += 1,
                Severity::Warning => self.warnings += 1,
                Severity::Info => self.info += 1,
                Severity::Style => self.style += 1,
            }
        }
        self.files += usize::from(!findings.is_empty());
    }

    pub fn total(&self) -> usize {
        self.errors + self.warnings + self.info + self.style
    }

    /// `1 error, 2 warnings`: the most severe first, without what there is none of.
    pub fn in_words(&self) -> String {
        let words = [
            (self.errors, plural(self.errors, "error")),
            (self.warnings, plural(self.warnings, "warning")),
            (self.info, format!("{} info", self.info)),
            (self.style, format!("{} style", self.style)),
        ];
        let words: Vec<String> =
            words.into_iter().filter(|(count, _)| *count > 0).map(|(_, word)| word).collect();
        words.join(", ")
    }
}

/// `1 file`, `2 files`.
pub fn plural(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}
