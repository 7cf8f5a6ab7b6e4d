//! The reviews that the tests publish.

use serde_json::{Value, json};

use super::{
    super::{CODE, FIX},
    FILE,
};

pub(super) fn issue(id: &str, severity: &str, line: u64, title: &str, print: char) -> Value {
    json!({
        "id": id, "severity": severity, "title": title, "description": "/close\n@everyone look",
        "file": FILE, "line": line, "test_file": format!("review/tests/{id}_t.test.js"),
        "test_name": "averages", "test_output": "6 !== 3", "category": "correctness",
        "fingerprint": print.to_string().repeat(32), "test_code": "assert.equal(average([2, 4]), 3);\n",
        "code": CODE.lines().nth(usize::try_from(line).unwrap() - 1).unwrap(),
        "proof": { "level": "P3", "outcome": "failed", "reason": "It passes with the fix." },
    })
}

/// A defect whose fix is proven, and one on a line that the change does not show.
pub(super) fn review(commit: &str) -> Value {
    let mut proven = issue("ISS-001", "high", 4, "the average is wrong", 'a');
    proven["fix_patch"] = json!(FIX);
    proven["proof"]["flips_with_fix"] = json!(true);
    proven["proof"]["fix"] = json!({ "result": "flips", "guard": { "state": "guarded" } });
    let other = issue("ISS-002", "low", 8, "clamp loses numbers", 'b');
    with_issues(commit, &[proven, other])
}

pub(super) fn with_issues(commit: &str, issues: &[Value]) -> Value {
    let deductions: Vec<Value> = issues
        .iter()
        .map(|issue| json!({ "issue_id": issue["id"], "severity": issue["severity"], "points": 1.0 }))
        .collect();
    let value = 10.0 - deductions.len() as f64;
    json!({
        "schema_version": "1.0.0", "status": "ok",
        "metadata": { "repo": "forge.example/o/r", "commit": commit, "branch": "b",
            "timestamp": "2026-11-16T00:00:00Z", "duration_seconds": 1, "agent_cli": "claude",
            "agent_model": "", "files_reviewed": 1, "tests_generated": 2, "tests_failing": 2 },
        "score": { "value": value, "max": 10.0, "pass": true, "threshold": 7.0,
            "deductions": deductions },
        "proven_issues": issues, "observations": [],
        "test_summary": { "total_generated": 2, "passing": 0, "failing": 2, "error": 0 },
        "summary": format!("Score {value} of 10."),
    })
}
