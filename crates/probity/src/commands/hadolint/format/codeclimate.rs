//! Code Climate's issues, each ended by a NUL byte, and GitLab's list of the same.

use std::{fmt::Write as _, io};

use probity_finding::Severity;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::Report;
use crate::commands::hadolint::verdict::Verdict;

pub(super) fn write(reports: &[Report], replaced: Option<&str>) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    for (path, verdict) in Report::each(reports, replaced) {
        serde_json::to_writer(&mut out, &issue(path, verdict, None))?;
        out.push(0);
    }
    Ok(out)
}

pub(super) fn write_gitlab(reports: &[Report], replaced: Option<&str>) -> io::Result<Vec<u8>> {
    let issues = Report::each(reports, replaced)
        .map(|(path, verdict)| issue(path, verdict, Some(fingerprint(path, verdict))));
    Ok(serde_json::to_vec(&issues.collect::<Vec<_>>())?)
}

#[derive(Serialize)]
struct Issue<'a> {
    categories: [&'static str; 1],
    check_name: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
    location: Value,
    severity: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
}

fn issue<'a>(path: &str, verdict: &'a Verdict, fingerprint: Option<String>) -> Issue<'a> {
    let (line, column) = (verdict.place.line, verdict.place.column);
    let location = if verdict.is_syntax() {
        let place = json!({ "column": column, "line": line });
        json!({ "path": path, "positions": { "begin": place, "end": place } })
    } else {
        json!({ "lines": { "begin": line, "end": line }, "path": path })
    };
    Issue {
        categories: ["Bug Risk"],
        check_name: &verdict.code,
        description: &verdict.message,
        fingerprint,
        location,
        severity: match verdict.severity {
            Severity::Error => "blocker",
            Severity::Warning => "major",
            Severity::Info => "info",
            Severity::Style => "minor",
        },
        kind: "issue",
    }
}

/// Forty digits, as many as hadolint's, out of what its are made of: the place and the text.
fn fingerprint(path: &str, verdict: &Verdict) -> String {
    let mut hash = Sha256::new();
    for part in [path, &verdict.place.line.to_string(), &verdict.code, &verdict.message] {
        // The length in front keeps ("ab", "c") and ("a", "bc") apart.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().take(20).fold(String::with_capacity(40), |mut hex, byte| {
        // Writing to a string cannot fail.
        _ = write!(hex, "{byte:02x}");
        hex
    })
}
