//! How bad a vulnerability is: the scale of audits, which is not the scale of lint findings.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Ordered from harmless to disastrous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    Low,
    Medium,
    High,
    Critical,
}

impl Risk {
    pub const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Critical];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// The risk of that name, without regard to case and surrounding spaces.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        Self::ALL.into_iter().find(|risk| risk.as_str() == text)
    }

    /// What a model means by a word for severity; models know more words than we do.
    pub(crate) fn meant_by(text: &str) -> Option<Self> {
        let word = text.trim().to_lowercase();
        Self::parse(&word).or(match word.as_str() {
            "info" | "informational" | "information" | "note" | "none" | "minor" | "trivial" => {
                Some(Self::Low)
            }
            "moderate" | "med" | "warning" => Some(Self::Medium),
            "severe" | "major" | "important" | "error" => Some(Self::High),
            "blocker" | "fatal" => Some(Self::Critical),
            _ => None,
        })
    }

    /// The severity of a lint finding that corresponds to it, for reports that have only that scale.
    #[must_use]
    pub const fn severity(self) -> probity_finding::Severity {
        match self {
            Self::Low => probity_finding::Severity::Info,
            Self::Medium => probity_finding::Severity::Warning,
            Self::High | Self::Critical => probity_finding::Severity::Error,
        }
    }
}

impl fmt::Display for Risk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_severity_are_normalized() {
        for (word, risk) in [
            ("high", Some(Risk::High)),
            (" CRITICAL\n", Some(Risk::Critical)),
            ("Moderate", Some(Risk::Medium)),
            ("informational", Some(Risk::Low)),
            ("apocalyptic", None),
            ("", None),
        ] {
            assert_eq!(Risk::meant_by(word), risk, "{word:?}");
        }
        assert_eq!(Risk::parse("moderate"), None, "a skill has to use the four words");
        assert!(Risk::Critical > Risk::High && Risk::High > Risk::Medium);
    }
}
