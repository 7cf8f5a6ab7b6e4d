//! What a person says about an issue.

use serde::{Deserialize, Serialize};

/// A person's word, which outweighs a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PersonVerdict {
    /// The issue is one.
    Accurate,
    /// The behavior is the one that is wanted.
    FalsePositive,
    /// It is one, and stays.
    WontFix,
}

impl PersonVerdict {
    pub const ALL: [Self; 3] = [Self::Accurate, Self::FalsePositive, Self::WontFix];

    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Accurate => "accurate",
            Self::FalsePositive => "false-positive",
            Self::WontFix => "wont-fix",
        }
    }

    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.word() == word)
    }

    /// Whether an issue with this verdict costs nothing.
    #[must_use]
    pub fn dismisses(self) -> bool {
        match self {
            Self::Accurate => false,
            Self::FalsePositive | Self::WontFix => true,
        }
    }
}
