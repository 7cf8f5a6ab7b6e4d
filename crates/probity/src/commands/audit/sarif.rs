//! The report as SARIF: results as every command of ours writes them, and what an audit adds.

use std::io;

use probity_audit::{Report, Risk, Skill};
use probity_report::{self as report, FileReport, Screen, Totals};
use serde_json::{Value, json};

pub(super) fn sarif(
    report: &Report,
    root: &std::path::Path,
    skills: &[Skill],
) -> io::Result<String> {
    let files = report.by_file(root);
    let options = report::Options {
        show_source: false,
        detail: report::Detail::Full,
        screen: Screen::PLAIN,
        explain: None,
        tool_version: env!("CARGO_PKG_VERSION"),
        describe: |_| None,
    };
    let mut reporter = report::Format::Sarif.reporter(&options);
    let mut bytes = Vec::new();
    for file in &files {
        let part = FileReport {
            path: &file.path,
            text: &file.text,
            findings: &file.findings,
            ai_fixes: &[],
            ai_detections: &[],
            invocations: &[],
            rejection: None,
        };
        reporter.file(&mut bytes, &part)?;
    }
    let totals = Totals { files_scanned: files.len(), rules_enabled: report.skills };
    reporter.finish(&mut bytes, &totals)?;
    let mut document: Value = serde_json::from_slice(&bytes)?;
    let run = &mut document["runs"][0];
    // Results are in the order in which they were handed over.
    let marks = files.iter().flat_map(|file| &file.marks);
    if let Some(results) = run["results"].as_array_mut() {
        for (result, mark) in results.iter_mut().zip(marks) {
            if let Some(reason) = &mark.excuse {
                result["suppressions"] =
                    json!([{"kind": "inSource", "status": "accepted", "justification": reason}]);
            }
            if let Some(refutation) = &mark.refutation {
                result["properties"]["refutation"] = json!(refutation);
            }
            result["properties"]["id"] = json!(mark.id);
            result["properties"]["status"] = json!(mark.status);
            result["properties"]["level"] = json!(mark.level);
            if let Some(exploit) = &mark.exploit {
                result["properties"]["exploit"] = json!(exploit);
            }
            if mark.is_previous {
                result["properties"]["notReportedAgain"] = json!(true);
            }
            if mark.is_outside_change {
                result["properties"]["outsideChange"] = json!(true);
            }
        }
    }
    if let Some(rules) = run["tool"]["driver"]["rules"].as_array_mut() {
        for rule in rules {
            let skill = skills.iter().find(|skill| rule["id"] == skill.id.as_str());
            if let (Some(skill), Some(rule)) = (skill, rule.as_object_mut()) {
                rule.extend(described(skill));
            }
        }
    }
    run["invocations"] = json!([invocation(report)]);
    Ok(format!("{document:#}\n"))
}

/// What a skill says about its class of vulnerability.
fn described(skill: &Skill) -> serde_json::Map<String, Value> {
    let mut tags = vec!["security".to_owned()];
    tags.extend(skill.tags.iter().cloned());
    let rule = json!({
        "name": skill.name,
        "shortDescription": {"text": skill.name},
        "fullDescription": {"text": skill.description},
        "help": {"text": skill.guidance_markdown, "markdown": skill.guidance_markdown},
        "properties": {"security-severity": security_severity(skill.severity), "tags": tags},
    });
    match rule {
        Value::Object(rule) => rule,
        _ => serde_json::Map::new(),
    }
}

/// Code scanning services sort by this number, which goes from 0 to 10.
fn security_severity(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "3.0",
        Risk::Medium => "5.5",
        Risk::High => "8.0",
        Risk::Critical => "9.5",
    }
}

/// Whether the whole audit was done, and what is missing if it was not.
fn invocation(report: &Report) -> Value {
    let failed = report.failed.iter().map(|iteration| {
        let why = iteration.error.as_deref().unwrap_or_default();
        let text = format!("skill '{}' {}: {why}", iteration.skill_id, iteration.status);
        json!({"level": "error", "message": {"text": text}, "associatedRule": {"id": iteration.skill_id}})
    });
    let scaffold = report.is_scaffold.then(|| {
        json!({"level": "error", "message": {"text": "No model was asked: no skill was checked."}})
    });
    let cached = report.cached.iter().map(|skill| {
        let text = format!("skill '{skill}': the answer of an earlier run; --no-cache asks again");
        json!({"level": "note", "message": {"text": text}, "associatedRule": {"id": skill}})
    });
    let notifications: Vec<Value> = failed.chain(scaffold).chain(cached).collect();
    json!({
        "executionSuccessful": report.is_whole(),
        "toolExecutionNotifications": notifications,
    })
}
