//! Whether a file holds a report of ours, so that another one may take its place.
//!
//! A repository's file names where reports go, and must not have anything else overwritten. Each format
//! is known by what it always contains.

use serde_json::Value;

/// The name that reports have for the program that wrote them.
const TOOL: &str = "probity";
const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
/// An audit's title.
const AUDIT: &str = "Vulnerability Report";
/// The summary of a text report is not longer.
const LINES_OF_SUMMARY: usize = 40;

/// Whether these bytes are a report of any command and format, or nothing.
pub fn is_ours(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    text.is_empty()
        || is_json(text)
        || is_codeclimate(text)
        || is_xml(text)
        || is_annotations(text)
        || is_gnu(text)
        || is_text(text)
        || is_page(text)
}

fn is_json(text: &str) -> bool {
    if !text.starts_with(['{', '[']) {
        return false;
    }
    let Ok(page) = serde_json::from_str::<Value>(text) else { return false };
    match &page {
        Value::Array(issues) => issues.iter().all(is_issue),
        page => {
            has(page, &["files", "summary", "files_scanned", "rules_enabled"])
                || has(page, &["rules", "findings", "files", "files_scanned"])
                || is_sarif(page)
                || is_sonarqube(page)
                || has(page, &["title", "generated_at", "findings", "unverified", "coverage"])
                || has(page, &["source_files", "provider", "permission_prompt", "iterations"])
        }
    }
}

fn has(page: &Value, members: &[&str]) -> bool {
    members.iter().all(|member| page.get(member).is_some())
}

fn is_sarif(page: &Value) -> bool {
    let names = page.pointer("/runs/0/tool/driver/name");
    page.get("version").is_some() && names == Some(&Value::from(TOOL))
}

fn is_sonarqube(page: &Value) -> bool {
    let rules = page.get("rules").and_then(Value::as_array);
    page.get("issues").is_some_and(Value::is_array)
        && rules.is_some_and(|rules| rules.iter().all(|rule| rule["engineId"] == TOOL))
}

/// An issue as Code Climate and GitLab have it.
fn is_issue(issue: &Value) -> bool {
    issue["type"] == "issue" && has(issue, &["check_name", "location", "severity", "fingerprint"])
}

fn is_codeclimate(text: &str) -> bool {
    let issue = |text: &str| serde_json::from_str(text).is_ok_and(|issue| is_issue(&issue));
    text.strip_suffix('\0').is_some_and(|issues| issues.split('\0').all(issue))
}

fn is_xml(text: &str) -> bool {
    let Some(document) = text.strip_prefix(XML) else { return false };
    let is_between =
        |begin: &str, end: &str| document.starts_with(begin) && document.trim_end().ends_with(end);
    is_between("<checkstyle version=", "</checkstyle>")
        || is_between("<testsuites name=\"probity\"", "</testsuites>")
}

fn is_annotations(text: &str) -> bool {
    let is_one = |line: &str| {
        let commands = ["::error file=", "::warning file=", "::notice file="];
        commands.iter().any(|command| line.starts_with(command)) && line.contains(",title=")
    };
    text.lines().all(is_one)
}

fn is_gnu(text: &str) -> bool {
    text.lines().all(|line| line.strip_prefix("probity:").is_some_and(is_finding))
}

/// `path:line:column: severity: message [rule]`.
fn is_finding(line: &str) -> bool {
    let severities = [": error: ", ": warning: ", ": info: ", ": style: "];
    let rule = line.rsplit_once(" [").and_then(|(_, rule)| rule.strip_suffix(']'));
    severities.iter().any(|severity| line.contains(severity))
        && rule.is_some_and(|rule| rule.contains('/') && !rule.contains(' '))
}

/// A text for people ends with what was counted; with `--quiet` there are only findings and lines of
/// source below them.
fn is_text(text: &str) -> bool {
    let is_source = |line: &str| {
        let gutter = line.trim_start().trim_start_matches(|letter: char| letter.is_ascii_digit());
        line.is_empty() || gutter.trim_start().starts_with(['|', '=', '.'])
    };
    let is_folded = |line: &str| line.contains(": and ") && line.contains(" more of ");
    text.lines().rev().take(LINES_OF_SUMMARY).any(is_count)
        || (text.lines().next().is_some_and(is_finding)
            && text.lines().all(|line| is_finding(line) || is_folded(line) || is_source(line)))
}

/// `3 findings in 1 of 2 files`, also in bold, as the head of what follows.
fn is_count(line: &str) -> bool {
    let plain = line.replace("**", "");
    let words: Vec<&str> = plain.split_whitespace().collect();
    let is_number = |word: &str| word.parse::<usize>().is_ok();
    let is_files = |word: &str| word.starts_with("file");
    match words.as_slice() {
        ["No", "findings", "in", scanned, files] => is_number(scanned) && is_files(files),
        [count, "finding" | "findings", "in", some, "of", scanned, files, ..] => {
            [count, some, scanned].iter().all(|word| is_number(word)) && is_files(files)
        }
        _ => false,
    }
}

/// An audit's report as markdown or HTML.
fn is_page(text: &str) -> bool {
    let heading = format!("# {AUDIT}\n\n- Generated at: ");
    let html = format!("<h1>{AUDIT}</h1>");
    let has_heading = text.starts_with(&heading)
        || (text.starts_with("> ") && text.contains(&format!("\n\n{heading}")));
    has_heading || (text.starts_with("<!DOCTYPE html>") && text.contains(&html))
}

#[cfg(test)]
mod tests {
    use super::is_ours;
    use crate::{Detail, Format, Options, samples};

    #[test]
    fn every_format_is_known_with_findings_and_without() {
        for &format in Format::ALL {
            for detail in [Detail::Quiet, Detail::Short, Detail::Full] {
                for show_source in [true, false] {
                    let options = Options { detail, show_source, ..samples::OPTIONS };
                    for files in [samples::files(), Vec::new()] {
                        let report = samples::render(format, &options, &files);
                        assert!(is_ours(report.as_bytes()), "{format:?} {detail:?}: {report}");
                    }
                }
            }
        }
    }

    #[test]
    fn files_of_the_user_are_not_reports() {
        for text in [
            "\n",
            "export PATH=~/bin:$PATH\nalias ll='ls -l'\n",
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA me@example.org\n",
            "FROM scratch\n",
            "# Notes\n\nNo findings in the last week.\n",
            "{}",
            "{\"name\":\"app\",\"files\":[\"dist\"],\"version\":\"2.1.0\"}",
            "{\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{\"name\":\"other\"}}}]}",
            "[1]",
            "[{\"type\":\"issue\"}]",
            "{\"issues\":[],\"rules\":[{\"engineId\":\"other\"}]}",
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<project></project>\n",
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"jest\"></testsuites>\n",
            "::error file=a,title=b::c\nrm -rf x\n",
            "probity:a:1:1: error: m [a/b]\nelse\n",
            "a:1:1: error: m [a/b]\nelse\n",
            "<!DOCTYPE html>\n<h1>Mine</h1>\n",
        ] {
            assert!(!is_ours(text.as_bytes()), "{text}");
        }
        assert!(!is_ours(b"\x7fELF\x02\x01\x01\0"));
        assert!(is_ours(b""));
    }
}
