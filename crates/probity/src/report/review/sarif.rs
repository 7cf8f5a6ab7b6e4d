//! SARIF 2.1.0. A rule is a category; severities are SARIF's levels and GitHub's scores.

use probity_finding::patch::{LineKind, Patch};
use probity_review::{Category, ProvenIssue, ReviewOutput, Risk, Status, missing_fix};
use probity_text::visible;
use serde_json::{Value, json};

use super::{made_visible, observed};
use crate::report::{
    sarif::uri::{ArtifactLocation, BASE},
    stream::write_json,
};

pub(super) fn render(review: &ReviewOutput) -> anyhow::Result<String> {
    let mut results: Vec<Value> = Vec::new();
    for issue in &review.proven_issues {
        let level = match issue.severity {
            Risk::Critical | Risk::High => "error",
            Risk::Medium => "warning",
            Risk::Low => "note",
        };
        let text = if issue.description.is_empty() {
            issue.title.clone()
        } else {
            format!("{}\n\n{}", issue.title, issue.description)
        };
        let place = (issue.file.as_str(), issue.line, issue.end_line);
        let mut result = result(issue.category, level, &text, place, &issue.fingerprint);
        result["properties"] = json!({
            "id": issue.id,
            "severity": issue.severity,
            "proven": true,
            "proof": issue.proof,
            "test": issue.test_name,
            "testFile": issue.test_file,
        });
        if let Some(fix) = fix(issue) {
            result["fixes"] = json!([fix]);
        }
        results.push(result);
    }
    for it in &review.observations {
        let place = (it.file.as_str(), it.line, None);
        let mut result = result(it.category, "note", &observed(it), place, &it.fingerprint);
        result["kind"] = json!("review");
        // A result that is not a failure must not have another level.
        result["level"] = json!("none");
        result["properties"] = json!({ "id": it.id, "proven": false, "reason": it.reason });
        results.push(result);
    }
    results.iter_mut().for_each(made_visible);
    let rules: Vec<Value> = Category::ALL.map(rule).to_vec();
    let failed = review.status == Status::Error;
    let mut invocation = json!({ "executionSuccessful": !failed });
    if let Some(error) = &review.error {
        invocation["toolExecutionNotifications"] =
            json!([{ "level": "error", "message": { "text": visible::block(&error.message) } }]);
    }
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "probity review",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "invocations": [invocation],
            "columnKind": "utf16CodeUnits",
            "originalUriBaseIds": {
                BASE: { "description": { "text": "The root of the repository." } },
            },
            "results": results,
        }],
    });
    let mut report = Vec::new();
    write_json(&mut report, &log)?;
    report.push(b'\n');
    Ok(String::from_utf8(report)?)
}

fn result(
    category: Category,
    level: &str,
    text: &str,
    (file, line, end_line): (&str, u64, Option<u64>),
    fingerprint: &str,
) -> Value {
    let index = Category::ALL.iter().position(|it| *it == category).unwrap_or(0);
    let mut region = json!({ "startLine": line });
    if let Some(end) = end_line {
        region["endLine"] = json!(end);
    }
    let mut result = json!({
        "ruleId": format!("review/{category}"),
        "ruleIndex": index,
        "level": level,
        "message": { "text": text },
        "locations": [{ "physicalLocation": {
            "artifactLocation": ArtifactLocation::new(file),
            "region": region,
        } }],
    });
    if !fingerprint.is_empty() {
        result["partialFingerprints"] = json!({ "probity/v1": fingerprint });
    }
    result
}

/// The proven fix as replacements of lines; nothing if it is not a patch of the flagged file alone.
fn fix(issue: &ProvenIssue) -> Option<Value> {
    if missing_fix(issue).is_some() {
        return None;
    }
    let patch = Patch::parse(issue.fix_patch.as_deref()?, &issue.file).ok()?;
    let replacements: Vec<Value> = patch
        .hunks()
        .iter()
        .map(|hunk| {
            let side = |other: LineKind| {
                let lines = hunk.lines.iter().filter(move |line| line.kind != other);
                lines.map(|line| format!("{}\n", line.text)).collect::<Vec<String>>()
            };
            let (before, after) = (side(LineKind::Added), side(LineKind::Removed));
            // Without old lines the hunk says after which line it goes.
            let start = if before.is_empty() { hunk.old_start + 1 } else { hunk.old_start.max(1) };
            json!({
                "deletedRegion": {
                    "startLine": start, "startColumn": 1,
                    "endLine": start + before.len(), "endColumn": 1,
                },
                "insertedContent": { "text": after.concat() },
            })
        })
        .collect();
    let change = json!({
        "artifactLocation": ArtifactLocation::new(&issue.file),
        "replacements": replacements,
    });
    let words = "The fix with which the test passes.";
    Some(json!({ "description": { "text": words }, "artifactChanges": [change] }))
}

fn rule(category: Category) -> Value {
    let about = match category {
        Category::Security => "A hole that a test walks through.",
        Category::Correctness => "Behavior that a test shows to be wrong.",
        Category::Performance => "A cost that a test shows to be too high.",
        Category::Maintainability => "A trap for anyone who changes this code next.",
        Category::Testing => "Tests that do not test.",
    };
    json!({
        "id": format!("review/{category}"),
        "shortDescription": { "text": about },
        "properties": { "tags": [category] },
    })
}
