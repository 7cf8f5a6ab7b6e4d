//! SARIF 2.1.0. A rule is a category; severities are SARIF's levels and GitHub's scores.

use std::{borrow::Cow, io};

use probity_finding::patch::{LineKind, Patch};
use probity_review::{Category, ProvenIssue, ReviewOutput, Risk, Status, missing_fix};
use probity_text::visible;
use serde_json::{Value, json};

use super::{made_visible, observed, untested};
use crate::{
    sarif::{
        uri::ArtifactLocation,
        wire::{
            COLUMN_KIND, Fingerprints, Invocation, Location, Log, Message, Notification, Region,
            Replacement, Rule, Run, SarifFix, SarifResult, Tool, UriBases,
        },
    },
    stream::write_json,
};

pub(super) fn render(review: &ReviewOutput) -> io::Result<String> {
    let mut results: Vec<Value> = Vec::new();
    for issue in &review.proven_issues {
        let mut value = serde_json::to_value(proven(issue))?;
        // They have always been last, and logs are compared byte for byte.
        if let Some(fix) = fix(issue) {
            value["fixes"] = json!([fix]);
        }
        results.push(value);
    }
    for observation in &review.observations {
        let place = (observation.file.as_str(), observation.line, None);
        let result = result(observation.category, observed(observation), place);
        results.push(serde_json::to_value(SarifResult {
            // A result that is not a failure must not have another level.
            level: "none",
            kind: Some("review"),
            partial_fingerprints: Fingerprints { own: observation.fingerprint.clone() },
            properties: Some(json!({
                "id": observation.id,
                "proven": false,
                "reason": observation.reason,
            })),
            ..result
        })?);
    }
    results.iter_mut().for_each(made_visible);
    let error = review.error.iter().map(|error| notification("error", &error.message));
    let untested = untested(review).map(|line| notification("warning", &line));
    let invocation = Invocation {
        execution_successful: review.status != Status::Error,
        tool_execution_notifications: error.chain(untested).collect(),
    };
    let rules = Category::ALL.map(rule).into();
    let log = Log::new(Run {
        tool: Tool::new("probity review", env!("CARGO_PKG_VERSION"), rules),
        invocations: [invocation],
        column_kind: COLUMN_KIND,
        original_uri_base_ids: UriBases::new("The root of the repository."),
        results,
    });
    let mut report = Vec::new();
    write_json(&mut report, &log)?;
    report.push(b'\n');
    String::from_utf8(report).map_err(io::Error::other)
}

fn notification(level: &'static str, text: &str) -> Notification<'static> {
    Notification {
        level,
        message: Message::new(visible::block(text)),
        locations: Vec::new(),
        properties: None,
    }
}

fn proven(issue: &ProvenIssue) -> SarifResult<'_> {
    let text = if issue.description.is_empty() {
        issue.title.clone()
    } else {
        format!("{}\n\n{}", issue.title, issue.description)
    };
    let place = (issue.file.as_str(), issue.line, issue.end_line);
    SarifResult {
        level: match issue.severity {
            Risk::Critical | Risk::High => "error",
            Risk::Medium => "warning",
            Risk::Low => "note",
        },
        partial_fingerprints: Fingerprints { own: issue.fingerprint.clone() },
        properties: Some(json!({
            "id": issue.id,
            "severity": issue.severity,
            "proven": true,
            "proof": issue.proof,
            "test": issue.test_name,
            "testFile": issue.test_file,
        })),
        ..result(issue.category, text, place)
    }
}

/// What proven issues and observations have in common.
fn result<'a>(
    category: Category,
    text: String,
    (file, line, end_line): (&str, u64, Option<u64>),
) -> SarifResult<'a> {
    let line_of = |line: u64| usize::try_from(line).unwrap_or(usize::MAX);
    let region = Region { end_line: end_line.map(line_of), ..Region::line(line_of(line)) };
    SarifResult {
        rule_id: Cow::Owned(format!("review/{category}")),
        rule_index: Category::ALL.iter().position(|other| *other == category).unwrap_or(0),
        level: "note",
        message: Message::new(text),
        locations: vec![Location::new(Cow::Owned(ArtifactLocation::new(file)), Some(region))],
        related_locations: Vec::new(),
        partial_fingerprints: Fingerprints { own: String::new() },
        kind: None,
        fixes: Vec::new(),
        properties: None,
    }
}

/// The proven fix as replacements of lines; nothing if it is not a patch of the flagged file alone.
fn fix(issue: &ProvenIssue) -> Option<SarifFix<'static>> {
    if missing_fix(issue).is_some() {
        return None;
    }
    let patch = Patch::parse(issue.fix_patch.as_deref()?, &issue.file).ok()?;
    let replacements = patch.hunks().iter().map(|hunk| {
        let side = |other: LineKind| {
            let lines = hunk.lines.iter().filter(move |line| line.kind != other);
            lines.map(|line| format!("{}\n", line.text)).collect::<Vec<String>>()
        };
        let (before, after) = (side(LineKind::Added), side(LineKind::Removed));
        // Without old lines the hunk says after which line it goes.
        let start = if before.is_empty() { hunk.old_start + 1 } else { hunk.old_start.max(1) };
        let deleted = Region {
            start_line: start,
            start_column: Some(1),
            end_line: Some(start + before.len()),
            end_column: Some(1),
        };
        Replacement::new(deleted, after.concat())
    });
    let artifact = Cow::Owned(ArtifactLocation::new(&issue.file));
    Some(SarifFix::new("The fix with which the test passes.", artifact, replacements.collect()))
}

fn rule(category: Category) -> Rule {
    let about = match category {
        Category::Security => "A hole that a test walks through.",
        Category::Correctness => "Behavior that a test shows to be wrong.",
        Category::Performance => "A cost that a test shows to be too high.",
        Category::Maintainability => "A trap for anyone who changes this code next.",
        Category::Testing => "Tests that do not test.",
    };
    Rule {
        id: format!("review/{category}"),
        short_description: Message::new(about),
        help: None,
        help_uri: None,
        properties: Some(json!({ "tags": [category] })),
    }
}
