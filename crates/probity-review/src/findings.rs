//! What an agent says it found, read from whatever it wraps it in.
//!
//! One bad item is rejected alone: an agent that forgets one line number has not said nothing.

mod extract;
mod item;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::item::BadItem;
use crate::{Category, Risk, output::ProvenIssue};

/// A defect as the agent claims it. Nothing in it has been checked against the repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentFinding {
    pub title: String,
    pub description: String,
    pub file: String,
    pub line: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u64>,
    pub severity: Risk,
    pub category: Category,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix_patch: Option<String>,
    /// Fixes of findings that have the same test and were taken for this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_fixes: Vec<String>,
}

/// An issue of an earlier review, as the agent of that time claimed it.
impl From<&ProvenIssue> for AgentFinding {
    fn from(issue: &ProvenIssue) -> Self {
        let given = |text: &String| (!text.is_empty()).then(|| text.clone());
        Self {
            title: issue.title.clone(),
            description: issue.description.clone(),
            file: issue.file.clone(),
            line: issue.line,
            end_line: issue.end_line,
            severity: issue.severity,
            category: issue.category,
            test_code: given(&issue.test_code),
            test_file: given(&issue.test_path),
            test_name: given(&issue.test_name),
            fix_patch: issue.fix_patch.clone(),
            other_fixes: Vec::new(),
        }
    }
}

/// An item that is no finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// As far as it has one.
    pub title: String,
    pub file: String,
    pub line: Option<u64>,
    pub reason: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    pub accepted: Vec<AgentFinding>,
    pub rejected: Vec<Rejected>,
}

/// Why an answer has no findings in it, not even none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindingsError {
    #[error("the agent answered nothing")]
    Empty,
    #[error("the answer was cut off: it ends in the middle of its JSON")]
    CutOff,
    #[error("the answer has no list of findings in it: {beginning}")]
    NoList { beginning: String },
    #[error("none of the {items} items of the answer is a finding: {reason}")]
    NoneUsable { items: usize, reason: String },
}

/// Reads an answer: a bare array, an envelope around one, a fenced block, or prose around either.
pub fn parse(answer: &str) -> Result<Findings, FindingsError> {
    let items = extract::list(answer, "findings")?;
    let mut findings = Findings::default();
    for item in &items {
        match item::read(item) {
            Ok(finding) => findings.accepted.push(finding),
            Err(reason) => findings.rejected.push(rejected(item, &reason)),
        }
    }
    match findings.rejected.first() {
        // An answer that cannot be read at all must not look like a clean review.
        Some(first) if findings.accepted.is_empty() => Err(FindingsError::NoneUsable {
            items: findings.rejected.len(),
            reason: first.reason.clone(),
        }),
        _ => Ok(findings),
    }
}

/// A fix that the agent offers for a finding that it was asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OfferedFix {
    pub(crate) id: String,
    pub(crate) fix_patch: String,
}

/// Reads an answer to the question for fixes; an item that is none is left out.
pub(crate) fn parse_fixes(answer: &str) -> Result<Vec<OfferedFix>, FindingsError> {
    let items = extract::list(answer, "fixes")?;
    let fix = |item: &Value| {
        let fix_patch = item::code(item, "fix_patch").ok().flatten()?;
        Some(OfferedFix { id: item::short(item, "id")?, fix_patch })
    };
    Ok(items.iter().filter_map(fix).collect())
}

fn rejected(item: &Value, reason: &BadItem) -> Rejected {
    Rejected {
        title: item::short(item, "title").unwrap_or_else(|| "(no title)".to_owned()),
        file: item::short(item, "file").unwrap_or_default(),
        line: item::line(item, "line").ok().flatten(),
        reason: reason.to_string(),
    }
}
