//! How much a defect would hurt, and what it is about: the two scales that reviews speak in.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// What the failing test demonstrates; ordered from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    /// An edge case, or something that works worse than it should.
    Low,
    /// A wrong result for valid input.
    Medium,
    /// A crash, or an error that nobody handles.
    High,
    /// A security hole, or data that is lost or corrupted.
    Critical,
}

impl Risk {
    /// From the most to the least, the order in which people read them.
    pub const ALL: [Self; 4] = [Self::Critical, Self::High, Self::Medium, Self::Low];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// What has to be demonstrated, in the words that the agent gets.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Critical => "a security hole can be used, or data is lost or corrupted",
            Self::High => "the program crashes, or an error is lost",
            Self::Medium => "valid input gives a wrong result",
            Self::Low => "an edge case is wrong, or something works worse than it should",
        }
    }
}

/// What a defect is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    Security,
    Correctness,
    Performance,
    Maintainability,
    Testing,
}

impl Category {
    pub const ALL: [Self; 5] = [
        Self::Security,
        Self::Correctness,
        Self::Performance,
        Self::Maintainability,
        Self::Testing,
    ];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Security => "security",
            Self::Correctness => "correctness",
            Self::Performance => "performance",
            Self::Maintainability => "maintainability",
            Self::Testing => "testing",
        }
    }
}

/// A word that is on neither scale.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{word}`, expected one of {expected}")]
pub struct UnknownWord {
    what: &'static str,
    word: String,
    expected: String,
}

impl FromStr for Risk {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        look_up("severity", text, &Self::ALL, Self::as_str)
    }
}

impl FromStr for Category {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        look_up("category", text, &Self::ALL, Self::as_str)
    }
}

impl fmt::Display for Risk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl fmt::Display for Category {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

fn look_up<T: Copy>(
    what: &'static str,
    text: &str,
    all: &[T],
    word: fn(T) -> &'static str,
) -> Result<T, UnknownWord> {
    let found = all.iter().copied().find(|item| word(*item).eq_ignore_ascii_case(text.trim()));
    found.ok_or_else(|| UnknownWord {
        what,
        word: text.chars().take(40).collect(),
        expected: all.iter().map(|item| word(*item)).collect::<Vec<_>>().join(", "),
    })
}
