//! A GitLab code quality report.

use serde_json::{Value, json};
use std::io;

use probity_review::{ReviewOutput, Risk, Status};

use super::{made_visible, observed, untested};
use crate::stream::write_json;

pub(super) fn render(review: &ReviewOutput) -> io::Result<String> {
    let mut issues: Vec<Value> = Vec::new();
    if review.status == Status::Error {
        let message = review.error.as_ref().map_or(review.summary.as_str(), |error| &error.message);
        // An empty report would be read as a clean one.
        issues.push(issue("review/error", message, "none", "blocker", "review.json", 1));
    }
    if review.status == Status::Ok {
        for (it, line) in review.unstarted.iter().zip(untested(review)) {
            let print = format!("unstarted-{}-{}", it.language, it.package);
            let what = format!("Not tested: {line}");
            issues.push(issue("review/unstarted", &what, &print, "major", "review.json", 1));
        }
    }
    for it in &review.proven_issues {
        let severity = match it.severity {
            Risk::Critical => "blocker",
            Risk::High => "critical",
            Risk::Medium => "major",
            Risk::Low => "minor",
        };
        let check = format!("review/{}", it.category);
        issues.push(issue(&check, &it.title, &it.fingerprint, severity, &it.file, it.line));
    }
    for it in &review.observations {
        let check = format!("review/{}", it.category);
        // An observation may stand where an issue does, and has to be told from it.
        let print = format!("observation-{}", it.fingerprint);
        issues.push(issue(&check, &observed(it), &print, "info", &it.file, it.line));
    }
    issues.iter_mut().for_each(made_visible);
    let mut report = Vec::new();
    write_json(&mut report, &issues)?;
    report.push(b'\n');
    String::from_utf8(report).map_err(io::Error::other)
}

fn issue(
    check: &str,
    description: &str,
    fingerprint: &str,
    severity: &str,
    path: &str,
    line: u64,
) -> Value {
    json!({
        "type": "issue",
        "check_name": check,
        "description": description,
        "categories": ["Bug Risk"],
        "severity": severity,
        "fingerprint": fingerprint,
        "location": { "path": path, "lines": { "begin": line } },
    })
}
