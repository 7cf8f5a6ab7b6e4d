//! Presets: how much a run checks unless rules are chosen by name.

use probity_finding::Severity;

/// Sets of rules, each of which contains the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Preset {
    /// Defects in nearly every file.
    Recommended,
    /// Everything about correctness, size and security.
    Strict,
    /// Layout and taste as well.
    All,
}

impl Preset {
    /// The least severity that a finding of ShellCheck's has to have.
    pub(crate) fn least_shell_severity(self) -> Severity {
        match self {
            Self::Recommended => Severity::Warning,
            Self::Strict => Severity::Info,
            Self::All => Severity::Style,
        }
    }
}
