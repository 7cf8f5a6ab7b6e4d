//! SARIF 2.1.0, with hadolint as the tool: services tell known alerts from new ones by its name.

use std::io;

use probity_finding::Severity;
use serde_json::{Value, json};

use super::Report;
use crate::commands::hadolint::{VERSION, verdict::Verdict};

pub(super) fn write(reports: &[Report]) -> io::Result<Vec<u8>> {
    let results: Vec<Value> =
        Report::each(reports, None).map(|(path, verdict)| result(path, verdict)).collect();
    let report = json!({
        "$schema": "http://json.schemastore.org/sarif-2.1.0",
        "runs": [{
            "defaultSourceLanguage": "dockerfile",
            "results": results,
            "tool": { "driver": {
                "downloadUri": "https://github.com/hadolint/hadolint",
                "fullName": "Haskell Dockerfile Linter",
                "name": "Hadolint",
                "shortDescription": {
                    "text": "Dockerfile linter, validate inline bash, written in Haskell",
                },
                "version": VERSION,
            } },
        }],
        "version": "2.1.0",
    });
    Ok(serde_json::to_vec(&report)?)
}

fn result(path: &str, verdict: &Verdict) -> Value {
    let level = match verdict.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Style => "note",
    };
    let language = if verdict.code.starts_with("SC") { "sh" } else { "dockerfile" };
    let place = verdict.place;
    json!({
        "level": level,
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": path },
            "region": {
                "endColumn": place.end_column,
                "endLine": place.end_line,
                "sourceLanguage": language,
                "startColumn": place.column,
                "startLine": place.line,
            },
        } }],
        "message": { "text": verdict.message },
        "ruleId": verdict.code,
    })
}
