//! Code Climate's issues, and the report that GitLab makes of the same.
//!
//! Severities and shape are those that hadolint's users get. Code Climate's engines end each issue
//! with a NUL character; GitLab wants one array, and tells old issues from new ones by fingerprint.

use std::io::{self, Write};

use probity_finding::{Fingerprints, LineIndex, Severity, Span};
use serde::Serialize;

use super::{
    FileReport, Reporter, Totals,
    place::{LineRange, Unit},
    stream::{Items, write_json},
};

#[derive(Debug)]
pub(crate) struct Codeclimate;

impl Reporter for Codeclimate {
    fn file(&mut self, out: &mut dyn Write, file: &FileReport<'_>) -> io::Result<()> {
        for_each_issue(file, |issue| {
            write_json(out, issue)?;
            out.write_all(b"\0")
        })
    }

    fn finish(self: Box<Self>, _out: &mut dyn Write, _totals: &Totals) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug, Default)]
pub(crate) struct Gitlab {
    issues: Items,
}

impl Reporter for Gitlab {
    fn file(&mut self, out: &mut dyn Write, file: &FileReport<'_>) -> io::Result<()> {
        for_each_issue(file, |issue| self.issues.push(out, "[", issue))
    }

    fn finish(self: Box<Self>, out: &mut dyn Write, _totals: &Totals) -> io::Result<()> {
        self.issues.end(out, "[")?;
        out.write_all(b"\n")
    }
}

fn for_each_issue(
    file: &FileReport<'_>,
    mut write: impl FnMut(&Issue<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let lines = LineIndex::new(file.text);
    let mut fingerprints = Fingerprints::new(file.path, &lines);
    for finding in file.findings {
        write(&Issue {
            kind: "issue",
            check_name: &finding.rule,
            description: &finding.message,
            content: finding.detail.as_deref().map(|body| Content { body }),
            categories: [category(finding.severity)],
            location: Location { path: file.path, lines: line_range(&lines, finding.span) },
            other_locations: finding
                .also_at
                .iter()
                .map(|&span| Location { path: file.path, lines: line_range(&lines, Some(span)) })
                .collect(),
            severity: severity(finding.severity),
            fingerprint: fingerprints.next(finding),
        })?;
    }
    Ok(())
}

fn line_range(lines: &LineIndex<'_>, span: Option<Span>) -> Lines {
    match span.map(|span| LineRange::shown(lines, span, Unit::Character)) {
        Some(place) => Lines { begin: place.line, end: place.end_line },
        None => Lines { begin: 1, end: 1 },
    }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "blocker",
        Severity::Warning => "major",
        Severity::Style => "minor",
        Severity::Info => "info",
    }
}

fn category(severity: Severity) -> &'static str {
    match severity {
        Severity::Style => "Style",
        Severity::Error | Severity::Warning | Severity::Info => "Bug Risk",
    }
}

#[derive(Serialize)]
struct Issue<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    check_name: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Content<'a>>,
    categories: [&'static str; 1],
    location: Location<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other_locations: Vec<Location<'a>>,
    severity: &'static str,
    fingerprint: String,
}

#[derive(Serialize)]
struct Content<'a> {
    body: &'a str,
}

#[derive(Serialize)]
struct Location<'a> {
    path: &'a str,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: usize,
    end: usize,
}

#[cfg(test)]
mod tests {
    use crate::{Format, samples};

    #[test]
    fn gitlab_gets_one_array() {
        insta::assert_snapshot!(samples::report(Format::Gitlab), @r#"
[
{"type":"issue","check_name":"tally/no-user","description":"no stage sets a user","categories":["Bug Risk"],"location":{"path":"app/Dockerfile","lines":{"begin":1,"end":1}},"severity":"info","fingerprint":"487a867cf0d4e8a2c4a07463cdcfc2ce"},
{"type":"issue","check_name":"hadolint/DL3006","description":"the image is not tagged; pin a version","content":{"body":"An untagged image is `latest`,\nwhich changes without notice."},"categories":["Bug Risk"],"location":{"path":"app/Dockerfile","lines":{"begin":1,"end":1}},"severity":"major","fingerprint":"82b968d498610fd9d57c3b39779e5591"},
{"type":"issue","check_name":"buildkit/FromAsCasing","description":"`as` and `FROM` differ in case","categories":["Style"],"location":{"path":"app/Dockerfile","lines":{"begin":1,"end":1}},"severity":"minor","fingerprint":"abd1385446f8366751803e695e6f9187"},
{"type":"issue","check_name":"hadolint/DL3004","description":"sudo does not work as it seems to","categories":["Bug Risk"],"location":{"path":"app/Dockerfile","lines":{"begin":2,"end":2}},"severity":"blocker","fingerprint":"2e760918118903bacd76f4e63b969ae5"},
{"type":"issue","check_name":"x/from","description":"a | b ` * _x_ <b>&amp; [l](u)\\","categories":["Bug Risk"],"location":{"path":"a b/ü%20&,:.Dockerfile","lines":{"begin":1,"end":1}},"severity":"major","fingerprint":"80b74f28b47dc79efb22d0f846fa9acc"},
{"type":"issue","check_name":"x/run","description":"<>&\"' 100% \u001b[31mred\u0000\nsecond, line: \u009b\u202e","categories":["Bug Risk"],"location":{"path":"a b/ü%20&,:.Dockerfile","lines":{"begin":2,"end":2}},"severity":"major","fingerprint":"331594bfa163e99ebeb845881f14cf55"},
{"type":"issue","check_name":"buildkit/empty","description":"the file is empty","categories":["Bug Risk"],"location":{"path":"empty.Dockerfile","lines":{"begin":1,"end":1}},"severity":"blocker","fingerprint":"a09ac550925198d2cf87482149431eec"}
]
"#);
    }

    #[test]
    fn code_climate_gets_the_same_issues_each_ended_by_nul() {
        let stream = samples::report(Format::Codeclimate);
        let issues = stream.strip_suffix('\0').unwrap().split('\0');
        let issues: Vec<serde_json::Value> =
            issues.map(|issue| serde_json::from_str(issue).unwrap()).collect();
        let array: Vec<serde_json::Value> =
            serde_json::from_str(&samples::report(Format::Gitlab)).unwrap();
        assert_eq!(issues, array);
    }
}
