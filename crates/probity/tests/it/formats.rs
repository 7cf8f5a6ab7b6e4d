//! Every format, read back by a parser that is not ours.
//!
//! The report of real findings in hostile files goes through the readers below `tests/readers`; what
//! they saw must be what `--format json` says, field by field.

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    binary::{directory, probity, tools},
    sarif::valid,
};

/// Paths and texts that break careless writers: markup, quotes, percent signs, ESC, line ends.
fn hostile() -> TempDir {
    let dir = directory(&[
        ("plain/Dockerfile", "FROM scratch AS Bad\r\nUSER é😀\r\nMAINTAINER x\r\n"),
        ("a b/ü%20&,:;='\"<x>.Dockerfile", "FROM a AS Bad\nWORKDIR a<b>&\"%'|`\u{1b}[31m\n"),
        ("new\nline/Dockerfile", "FROM a AS Bad\n"),
        ("empty/Dockerfile", ""),
        ("clean/Dockerfile", "FROM scratch\n"),
        ("broken/Dockerfile", "FROM a\nF<>&\"%OO x\n"),
    ]);
    fs::write(dir.path().join("plain/Dockerfile.bin"), b"FROM a\0").unwrap();
    dir
}

fn report(dir: &Path, format: &str) -> String {
    probity().dir(dir).args(["check", "--format", format, "--no-color"]).run().code(1).stdout
}

/// What a foreign reader sees in a report.
fn read_back(format: &str, report: &str) -> Vec<Value> {
    let reader = format!("read_{}.py", format.replace('-', "_"));
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers").join(reader);
    let mut child = Command::new(tools().join("python/bin/python"))
        .arg(reader)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(report.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{format}: {stderr}\n{report}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Pictures for control characters, as formats that cannot hold them show them.
fn pictured(text: &str) -> String {
    text.chars()
        .map(|char| match char {
            '\0'..='\u{1f}' => char::from_u32(0x2400 + char as u32).unwrap(),
            other => other,
        })
        .collect()
}

#[test]
fn every_format_says_what_json_says() {
    let dir = hostile();
    let expected = read_back("json", &report(dir.path(), "json"));
    assert!(expected.len() >= 8, "{expected:#?}");
    assert!(expected.iter().any(|finding| finding["path"].as_str().unwrap().contains('\n')));
    assert!(expected.iter().any(|finding| finding["message"].as_str().unwrap().contains("<b>")));
    for format in [
        "sarif",
        "github-actions",
        "markdown",
        "checkstyle",
        "codeclimate",
        "gitlab",
        "junit",
        "gnu",
        "sonarqube",
    ] {
        let actual = read_back(format, &report(dir.path(), format));
        assert_eq!(actual.len(), expected.len(), "{format}: {actual:#?}");
        for (actual, expected) in actual.iter().zip(&expected) {
            for field in ["path", "message", "rule", "severity", "line"] {
                let (Some(seen), wanted) = (actual.get(field), &expected[field]) else { continue };
                let same = seen == wanted
                    || seen.as_str().is_some_and(|seen| {
                        let wanted = wanted.as_str().unwrap_or_default();
                        pictured(seen) == pictured(wanted)
                            || field == "severity" && is_same_severity(seen, wanted)
                    })
                    // A format without findings of whole files puts them on the first line.
                    || field == "line" && wanted.is_null() && seen.as_u64() == Some(1);
                assert!(same, "{format} {field}: {seen} instead of {wanted} in {actual:#}");
            }
        }
    }
}

/// Formats with a scale of their own map ours onto it; what was worse stays worse.
fn is_same_severity(seen: &str, wanted: &str) -> bool {
    let seen = seen.to_lowercase();
    let words: &[&str] = match wanted {
        "error" => &["blocker", "critical", "high", "failure"],
        "warning" => &["major", "medium"],
        "info" => &["note", "notice", "info", "minor", "low"],
        _ => &["note", "notice", "minor", "info", "low", "style"],
    };
    words.contains(&seen.as_str())
}

#[test]
fn text_holds_no_control_characters() {
    let dir = hostile();
    let text = report(dir.path(), "text");
    let odd: Vec<char> = text.chars().filter(|c| c.is_control() && *c != '\n').collect();
    assert!(odd.is_empty(), "{odd:?} in\n{text}");
}

#[test]
fn sarif_passes_the_schema_and_the_official_validator() {
    let dir = hostile();
    let sarif = report(dir.path(), "sarif");
    let document = valid(&sarif);
    let result = &document["runs"][0]["results"][0];
    assert!(result["partialFingerprints"].is_object(), "{result:#}");
}
