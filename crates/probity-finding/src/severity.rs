//! How much a finding matters.

use std::{fmt, str::FromStr};

/// How much a finding matters; ordered from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// A matter of taste that a project agreed on.
    Style,
    /// Worth knowing.
    Info,
    /// Probably wrong.
    Warning,
    /// Wrong, or not a valid file at all.
    Error,
}

impl Severity {
    /// From the most to the least severe, the order in which people read them.
    pub const ALL: [Self; 4] = [Self::Error, Self::Warning, Self::Info, Self::Style];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Style => "style",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Severity {
    type Err = UnknownSeverity;

    fn from_str(text: &str) -> Result<Self, UnknownSeverity> {
        Self::ALL
            .into_iter()
            .find(|severity| severity.as_str() == text)
            .ok_or_else(|| UnknownSeverity(text.to_owned()))
    }
}

/// A word that names no severity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSeverity(pub String);

impl fmt::Display for UnknownSeverity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown severity `{}`, expected error, warning, info or style", self.0)
    }
}

impl std::error::Error for UnknownSeverity {}
