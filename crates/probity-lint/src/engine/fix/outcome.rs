//! What fixing one file came to, as values for reports.

use std::borrow::Cow;

use probity_finding::{Applicability, Finding};

use crate::Rejection;

/// What fixing one file came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    pub text: String,
    pub applied: Vec<AppliedFix>,
    /// Fixes of findings that remain.
    pub skipped: Vec<SkippedFix>,
    /// How many rounds changed the text.
    pub rounds: usize,
    /// What is wrong with the text as it is now, in report order.
    pub remaining: Vec<Finding>,
    /// Why no fix may touch the file, where that is so.
    pub rejection: Option<Rejection>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedFix {
    pub rule: Cow<'static, str>,
    pub title: Cow<'static, str>,
    pub applicability: Applicability,
    /// From one, in the text that the round began with.
    pub line: usize,
    /// From one.
    pub round: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedFix {
    pub rule: Cow<'static, str>,
    pub title: Cow<'static, str>,
    /// From one; none for a finding of the whole file.
    pub line: Option<usize>,
    pub reason: SkipReason,
    /// The reason in words.
    pub detail: String,
}

/// Why a fix is not in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkipReason {
    /// Other rules were asked for.
    RuleFilter,
    /// It is less trustworthy than what was asked for.
    Safety,
    /// The configuration holds it back.
    FixMode,
    /// Its edits are not known: an agent has to propose them.
    ResolveError,
    NoEdits,
    /// Its edits do not fit the text or each other.
    Malformed,
    Conflict,
    /// It broke the file or its promise, and was taken back.
    ValidationFailed,
    /// Rules undo each other's work; all that they did was taken back.
    Cycle,
    /// The rule still changed the text when the rounds were used up; all that it did was taken back.
    Unsettled,
}

impl SkipReason {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RuleFilter => "rule-filter",
            Self::Safety => "safety",
            Self::FixMode => "fix-mode",
            Self::ResolveError => "resolve-error",
            Self::NoEdits => "no-edits",
            Self::Malformed => "malformed",
            Self::Conflict => "conflict",
            Self::ValidationFailed => "validation-failed",
            Self::Cycle => "cycle",
            Self::Unsettled => "unsettled",
        }
    }
}
