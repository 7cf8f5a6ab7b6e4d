//! `review.json`, schema 1.0.0: every field it always had, and what we add to it.
//!
//! Lists are `[]` and never null. What is read may be older than we are, or written by others, so
//! that everything we added has a default; what we write is checked before it is written.

mod issue;
mod read;
mod redacted;
mod validate;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::{
    issue::{
        Discarded, Dismissed, FixGuard, GuardState, Observation, Proof, ProofFix, ProofRun,
        ProvenIssue, Standing,
    },
    read::{ReadError, read},
    validate::Invalid,
};
use crate::{Bar, Risk};
use read::or_default;

pub const SCHEMA_VERSION: &str = "1.0.0";
/// The JSON Schema of the file.
pub const SCHEMA: &str = include_str!("../schema/review.schema.json");
/// The score of a review in which nothing was proven.
pub const MAX_SCORE: f64 = 10.0;

/// One review, whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReviewOutput {
    pub schema_version: String,
    /// Whether there was a review at all. Without it the score means nothing.
    #[serde(default)]
    pub status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ReviewFailure>,
    /// Languages and packages of which no test could start. The score says nothing about them.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub unstarted: Vec<Unstarted>,
    pub metadata: Metadata,
    pub score: Score,
    #[serde(default, deserialize_with = "or_default")]
    pub proven_issues: Vec<ProvenIssue>,
    #[serde(default, deserialize_with = "or_default")]
    pub observations: Vec<Observation>,
    /// Proven, and out of the count because a person says so.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub dismissed: Vec<Dismissed>,
    /// What the agent said and what does not even count as an observation, with the reason.
    #[serde(default, deserialize_with = "or_default")]
    pub discarded: Vec<Discarded>,
    pub test_summary: TestSummary,
    pub summary: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    /// How this review differs from the last one that was kept, where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// Earlier reviews of this branch and this one, the oldest first.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub trend: Vec<TrendPoint>,
    /// What a reader should know before believing any of it.
    #[serde(default, deserialize_with = "or_default")]
    pub notes: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    #[default]
    Ok,
    Error,
}

/// Why there was no review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewFailure {
    pub kind: FailureKind,
    pub message: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub help: String,
    /// The end of what the agent wrote to stderr.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

/// A language, or one package of it, of which no test could start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unstarted {
    /// Or the ending of files that probity has no runner for.
    pub language: String,
    /// The directory of the package; empty for all of the language.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub package: String,
    pub tests: u64,
    pub reason: String,
}

impl fmt::Display for Unstarted {
    /// As a clause, for the front of every report.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { language, package, tests, reason } = self;
        let gap = if package.is_empty() { "" } else { " in " };
        match tests {
            1 => write!(
                formatter,
                "the one test for {language}{gap}{package} could not start: {reason}"
            ),
            count => write!(
                formatter,
                "none of the {count} tests for {language}{gap}{package} could start: {reason}"
            ),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// It could not be started, ended badly, refused, or said nothing that can be read.
    Agent,
    Timeout,
    /// The repository is not in a state that can be reviewed as asked.
    Repository,
    /// The machine could not do its part: no space, no copy.
    Machine,
    Cancelled,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// Where it comes from; without a remote the name of its directory.
    pub repo: String,
    /// By what the history knows a repository without a remote: its first commit.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub first_commit: String,
    pub commit: String,
    pub branch: String,
    /// When the review began.
    pub timestamp: String,
    pub duration_seconds: u64,
    pub agent_cli: String,
    pub agent_model: String,
    pub files_reviewed: u64,
    pub tests_generated: u64,
    pub tests_failing: u64,
    /// In diff mode: what the change is compared with, as it was named and as it was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_ref: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merge_base: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub profile: String,
}

impl Metadata {
    /// By what the history knows the repository: many directories have one name.
    #[must_use]
    pub fn identity(&self) -> &str {
        if self.first_commit.is_empty() { &self.repo } else { &self.first_commit }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    pub value: f64,
    pub max: f64,
    pub pass: bool,
    pub threshold: f64,
    #[serde(default)]
    pub fail_on_critical: bool,
    /// The least severity of which one proven issue fails the review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_on: Option<Risk>,
    #[serde(default, deserialize_with = "or_default")]
    pub deductions: Vec<Deduction>,
}

impl Score {
    /// Of a review that did not happen.
    #[must_use]
    pub fn failed(bar: &Bar) -> Self {
        Self {
            value: 0.0,
            max: MAX_SCORE,
            pass: false,
            threshold: bar.threshold,
            fail_on_critical: bar.fail_on_critical,
            fail_on: bar.fail_on,
            deductions: Vec::new(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Deduction {
    pub issue_id: String,
    pub severity: Risk,
    /// Never negative.
    pub points: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestSummary {
    pub total_generated: u64,
    pub passing: u64,
    /// Failed on every run.
    pub failing: u64,
    /// All else: did not compile, did not run, timed out, was flaky.
    pub error: u64,
}

impl TestSummary {
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        let sum =
            self.passing.checked_add(self.failing).and_then(|sum| sum.checked_add(self.error));
        sum == Some(self.total_generated)
    }
}

/// What the agent's work cost, as far as the agent says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cost {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cached_input_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_usd: Option<f64>,
}

/// What held the agent and the tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Isolation {
    pub agent: String,
    /// Empty where no test was run.
    pub tests: String,
}

/// One review among others of its branch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrendPoint {
    pub commit: String,
    pub timestamp: String,
    pub score: f64,
    pub pass: bool,
    pub proven: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
}

/// How the proven issues differ from those of the last review of the same branch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Changes {
    /// Commit and time of the review that this one is compared with.
    pub since_commit: String,
    pub since_timestamp: String,
    #[serde(deserialize_with = "or_default")]
    pub new: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub known: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub fixed: Vec<Gone>,
    /// Proven before, and neither proven nor refuted now.
    #[serde(deserialize_with = "or_default")]
    pub unclear: Vec<Gone>,
    /// The issues that the next review has to try again: the unclear ones, and those that were out of
    /// sight today. They count for nothing until their tests fail again.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<ProvenIssue>,
    /// Those of the known ones that had been fixed, and are back again.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub reopened: Vec<String>,
    /// The last issues that were fixed. Their tests are run again when their files have changed.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<Closed>,
    /// The highest number that an issue of this branch has had, so no number is used twice.
    #[serde(skip_serializing_if = "is_zero")]
    pub highest_id: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// An issue that was fixed, as long as it is remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Closed {
    pub issue: ProvenIssue,
    /// Of the flagged file when the test passed.
    #[serde(default)]
    pub digest: String,
}

/// An issue that was proven before and is not any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gone {
    pub fingerprint: String,
    pub severity: Risk,
    pub title: String,
    pub file: String,
    /// How that is known: its test passes now, its file is gone, or why nobody can tell.
    pub how: String,
}
