//! What a review says about one finding: proven, observed, or discarded.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::read::or_default;
use crate::{Category, Risk, verdict::PersonVerdict};

/// A defect that a failing test demonstrates. Only these count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProvenIssue {
    pub id: String,
    pub severity: Risk,
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    pub file: String,
    pub line: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u64>,
    pub test_file: String,
    pub test_name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub test_output: String,
    pub category: Category,
    /// The same from review to review, wherever the line moves.
    #[serde(default)]
    pub fingerprint: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// Whether this change brought it in; absent where that cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub introduced: Option<bool>,
    /// Against the history, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
    /// The agent's own idea of the cure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix_patch: Option<String>,
    /// The test, so that a later review can run it again.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub test_code: String,
    /// Where in the repository it was run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub test_path: String,
    /// The flagged lines as they were reviewed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
}

impl ProvenIssue {
    /// The fingerprint, or what stands in for it in a review that has none: letters and digits.
    #[must_use]
    pub fn identity(&self) -> String {
        let print = &self.fingerprint;
        if !print.is_empty() && print.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return print.clone();
        }
        let words = format!("{}\0{}\0{}\0{}", self.file, self.line, self.category, self.title);
        let mut identity = crate::claims::hex(&Sha256::digest(words));
        identity.truncate(32);
        identity
    }
}

/// A proven issue that a person has taken out of the count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dismissed {
    pub issue: ProvenIssue,
    pub verdict: PersonVerdict,
    /// Who says so.
    pub by: String,
    pub reason: String,
    /// Digest of the flagged lines; with other lines the issue is back.
    #[serde(default)]
    pub lines: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    New,
    Known,
}

/// What the proof rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Proof {
    /// `P0` claimed, `P1` fails in every run, `P2` depends on the flagged function, `P3` passes with
    /// a fix that breaks nothing.
    pub level: String,
    pub outcome: String,
    pub reason: String,
    pub runner: String,
    #[serde(deserialize_with = "or_default")]
    pub runs: Vec<ProofRun>,
    /// Pairs of runs, one with each version of the code, that decided.
    #[serde(skip_serializing_if = "is_zero")]
    pub pairs: u32,
    /// Whether the failure depends on the flagged code; absent if no experiment shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reached: Option<bool>,
    /// The flagged function, if the test passes once it returns another value.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub control: String,
    /// Whether the test passes with the agent's own fix; absent without one that was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flips_with_fix: Option<bool>,
    /// What became of the agent's fix; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<ProofFix>,
}

/// What became of a fix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProofFix {
    /// `flips`, `unguarded`, `does-not-flip`, `breaks-tests`, `refused`, `cheats`, `flaky` or `slow`.
    pub result: String,
    pub reason: String,
    /// How far existing tests guard it; absent if its test does not pass with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<FixGuard>,
    /// Existing tests that pass with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests_passed: Option<u64>,
    /// Existing tests that it breaks.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub tests_broken: Vec<String>,
}

/// How far existing tests guard a fix, and which could say nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixGuard {
    pub state: GuardState,
    #[serde(default, deserialize_with = "or_default")]
    pub gaps: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuardState {
    /// Every existing test that touches the changed files ran without the fix and with it.
    Guarded,
    /// The nearest ones did.
    PartlyGuarded,
    Unguarded,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// One run of a test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProofRun {
    pub outcome: String,
    pub milliseconds: u64,
}

/// A concern without a proof. It never changes a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    pub id: String,
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    pub file: String,
    pub line: u64,
    pub category: Category,
    /// What the agent thinks of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Risk>,
    /// Why it is not proven.
    #[serde(default)]
    pub reason: String,
    /// Whether the author has to say which behavior is meant.
    #[serde(default, skip_serializing_if = "is_false")]
    pub question: bool,
    #[serde(default)]
    pub fingerprint: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub test_file: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub test_name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub test_output: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
}

/// What was said and dropped: a test that passes, a place that is not under review, a bad item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Discarded {
    pub id: String,
    #[serde(default)]
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    pub reason: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub test_file: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub test_name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub test_output: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}
