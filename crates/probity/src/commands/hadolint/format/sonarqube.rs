//! SonarQube's generic issue import, in the form that it had before 10.3.

use std::io;

use probity_finding::Severity;
use serde_json::{Value, json};

use super::Report;
use crate::commands::hadolint::verdict::Verdict;

pub(super) fn write(reports: &[Report], replaced: Option<&str>) -> io::Result<Vec<u8>> {
    let issues: Vec<Value> =
        Report::each(reports, replaced).map(|(path, verdict)| issue(path, verdict)).collect();
    Ok(serde_json::to_vec(&json!({ "issues": issues }))?)
}

fn issue(path: &str, verdict: &Verdict) -> Value {
    let (kind, severity) = match verdict.severity {
        _ if verdict.is_syntax() => ("BUG", "BLOCKER"),
        Severity::Error => ("BUG", "CRITICAL"),
        Severity::Warning => ("CODE_SMELL", "MAJOR"),
        Severity::Info => ("CODE_SMELL", "MINOR"),
        Severity::Style => ("CODE_SMELL", "INFO"),
    };
    json!({
        "engineId": "Hadolint",
        "primaryLocation": {
            "filePath": path,
            "message": verdict.message,
            "textRange": text_range(verdict),
        },
        "ruleId": verdict.code,
        "severity": severity,
        "type": kind,
    })
}

/// Columns from zero. SonarQube refuses a report for one range that is empty or outlasts its line, so
/// one that goes on below is its first character.
fn text_range(verdict: &Verdict) -> Value {
    let place = verdict.place;
    let start = place.column - 1;
    let is_within = place.line == place.end_line && place.end_column - 1 > start;
    json!({
        "endColumn": if is_within { place.end_column - 1 } else { start + 1 },
        "endLine": place.line,
        "startColumn": start,
        "startLine": place.line,
    })
}
