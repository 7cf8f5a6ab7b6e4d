//! SonarQube's generic issue import, in the form with rules that has been current since 10.3.
//!
//! Severity belongs to the rule there, and an issue must not have one. A rule that was hit with
//! several gets the most severe of them.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use probity_finding::{LineIndex, Severity, Span};
use serde::Serialize;

use super::{
    FileReport, Reporter, Totals,
    place::{LineRange, Unit},
    stream::{Items, write_json},
};

const HEAD: &str = "{\"issues\":[";

#[derive(Debug, Default)]
pub(crate) struct Sonarqube {
    issues: Items,
    rules: BTreeMap<String, Severity>,
}

impl Reporter for Sonarqube {
    fn file(&mut self, out: &mut dyn Write, file: &FileReport<'_>) -> io::Result<()> {
        let lines = LineIndex::new(file.text);
        for finding in file.findings {
            let rule = self.rules.entry(finding.rule.to_string()).or_insert(finding.severity);
            *rule = finding.severity.max(*rule);
            let location = |span: Option<Span>, message| Location {
                message,
                file_path: file.path,
                text_range: span.map(|span| text_range(&lines, span)),
            };
            let issue = Issue {
                rule_id: &finding.rule,
                primary_location: location(finding.span, &finding.message),
                secondary_locations: finding
                    .also_at
                    .iter()
                    .map(|&span| location(Some(span), finding.message.as_str()))
                    .chain(
                        finding
                            .related
                            .iter()
                            .map(|related| location(Some(related.span), related.message.as_str())),
                    )
                    .collect(),
            };
            self.issues.push(out, HEAD, &issue)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>, out: &mut dyn Write, _totals: &Totals) -> io::Result<()> {
        self.issues.end(out, HEAD)?;
        out.write_all(b",\n\"rules\":")?;
        let rules: Vec<Rule<'_>> =
            self.rules.iter().map(|(id, &severity)| rule(id, severity)).collect();
        write_json(out, &rules)?;
        out.write_all(b"}\n")
    }
}

/// SonarQube refuses a whole report for one range that is empty or outlasts its line, so a range
/// that is not clearly within the text is its first line.
fn text_range(lines: &LineIndex<'_>, span: Span) -> TextRange {
    let place = LineRange::shown(lines, span, Unit::Utf16);
    let fits = |line: usize, column: usize| {
        let text = lines.line_text(line - 1);
        column <= text.trim_start_matches('\u{feff}').encode_utf16().count() + 1
    };
    let is_empty = (place.line, place.column) >= (place.end_line, place.end_column);
    if is_empty || !fits(place.line, place.column) || !fits(place.end_line, place.end_column) {
        return TextRange { start_line: place.line, rest: None };
    }
    TextRange {
        start_line: place.line,
        rest: Some(Rest {
            end_line: place.end_line,
            start_column: place.column - 1,
            end_column: place.end_column - 1,
        }),
    }
}

fn rule(id: &str, severity: Severity) -> Rule<'_> {
    let (kind, old_severity, quality, impact) = match severity {
        Severity::Error => ("BUG", "CRITICAL", "RELIABILITY", "HIGH"),
        Severity::Warning => ("CODE_SMELL", "MAJOR", "MAINTAINABILITY", "MEDIUM"),
        Severity::Info => ("CODE_SMELL", "MINOR", "MAINTAINABILITY", "LOW"),
        Severity::Style => ("CODE_SMELL", "INFO", "MAINTAINABILITY", "LOW"),
    };
    Rule {
        id,
        name: id,
        engine_id: "probity",
        clean_code_attribute: "CONVENTIONAL",
        kind,
        severity: old_severity,
        impacts: [Impact { software_quality: quality, severity: impact }],
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Issue<'a> {
    rule_id: &'a str,
    primary_location: Location<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    secondary_locations: Vec<Location<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'a> {
    message: &'a str,
    file_path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_range: Option<TextRange>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TextRange {
    start_line: usize,
    #[serde(flatten)]
    rest: Option<Rest>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rest {
    end_line: usize,
    start_column: usize,
    end_column: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule<'a> {
    id: &'a str,
    name: &'a str,
    engine_id: &'static str,
    clean_code_attribute: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    severity: &'static str,
    impacts: [Impact; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Impact {
    software_quality: &'static str,
    severity: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, samples};

    #[test]
    fn issues_come_first_and_the_rules_behind_them() {
        insta::assert_snapshot!(samples::report(Format::Sonarqube), @r#"
{"issues":[
{"ruleId":"tally/no-user","primaryLocation":{"message":"no stage sets a user","filePath":"app/Dockerfile"}},
{"ruleId":"hadolint/DL3006","primaryLocation":{"message":"the image is not tagged; pin a version","filePath":"app/Dockerfile","textRange":{"startLine":1,"endLine":1,"startColumn":5,"endColumn":11}}},
{"ruleId":"buildkit/FromAsCasing","primaryLocation":{"message":"`as` and `FROM` differ in case","filePath":"app/Dockerfile","textRange":{"startLine":1,"endLine":1,"startColumn":12,"endColumn":14}},"secondaryLocations":[{"message":"the stage is used here","filePath":"app/Dockerfile","textRange":{"startLine":4,"endLine":4,"startColumn":0,"endColumn":17}}]},
{"ruleId":"hadolint/DL3004","primaryLocation":{"message":"sudo does not work as it seems to","filePath":"app/Dockerfile","textRange":{"startLine":2,"endLine":2,"startColumn":15,"endColumn":19}}},
{"ruleId":"x/from","primaryLocation":{"message":"a | b ` * _x_ <b>&amp; [l](u)\\","filePath":"a b/ü%20&,:.Dockerfile","textRange":{"startLine":1,"endLine":1,"startColumn":0,"endColumn":4}}},
{"ruleId":"x/run","primaryLocation":{"message":"<>&\"' 100% \u001b[31mred\u0000\nsecond, line: \u009b\u202e","filePath":"a b/ü%20&,:.Dockerfile","textRange":{"startLine":2,"endLine":2,"startColumn":0,"endColumn":24}}},
{"ruleId":"buildkit/empty","primaryLocation":{"message":"the file is empty","filePath":"empty.Dockerfile"}}
],
"rules":[{"id":"buildkit/FromAsCasing","name":"buildkit/FromAsCasing","engineId":"probity","cleanCodeAttribute":"CONVENTIONAL","type":"CODE_SMELL","severity":"INFO","impacts":[{"softwareQuality":"MAINTAINABILITY","severity":"LOW"}]},{"id":"buildkit/empty","name":"buildkit/empty","engineId":"probity","cleanCodeAttribute":"CONVENTIONAL","type":"BUG","severity":"CRITICAL","impacts":[{"softwareQuality":"RELIABILITY","severity":"HIGH"}]},{"id":"hadolint/DL3004","name":"hadolint/DL3004","engineId":"probity","cleanCodeAttribute":"CONVENTIONAL","type":"BUG","severity":"CRITICAL","impacts":[{"softwareQuality":"RELIABILITY","severity":"HIGH"}]},{"id":"hadolint/DL3006","name":"hadolint/DL3006","engineId":"probity","cleanCodeAttribute":"CONVENTIONAL","type":"CODE_SMELL","severity":"MAJOR","impacts":[{"softwareQuality":"MAINTAINABILITY","severity":"MEDIUM"}]},{"id":"tally/no-user","name":"tally/no-user","engineId":"probity","cleanCodeAttribute":"CONVENTIONAL","type":"CODE_SMELL","severity":"MINOR","impacts":[{"softwareQuality":"MAINTAINABILITY","severity":"LOW"}]},{"id":"x/from","name":"x/from","engineId":"probity","cleanCodeAttribute":"CONVENTIONAL","type":"CODE_SMELL","severity":"MAJOR","impacts":[{"softwareQuality":"MAINTAINABILITY","severity":"MEDIUM"}]},{"id":"x/run","name":"x/run","engineId":"probity","cleanCodeAttribute":"CONVENTIONAL","type":"CODE_SMELL","severity":"MAJOR","impacts":[{"softwareQuality":"MAINTAINABILITY","severity":"MEDIUM"}]}]}
"#);
    }

    #[test]
    fn ranges_that_sonarqube_would_refuse_are_lines() {
        let lines = LineIndex::new("ab\r\ncd");
        for (span, columns) in [
            (Span::new(0, 2), Some((0, 2))),
            (Span::new(0, 4), Some((0, 2))),
            (Span::at(1), None),
            (Span::at(6), None),
            // Between the two halves of a line end.
            (Span::new(3, 5), None),
            (Span::new(70, 80), None),
        ] {
            let rest = text_range(&lines, span).rest;
            assert_eq!(rest.map(|rest| (rest.start_column, rest.end_column)), columns, "{span:?}");
        }
    }
}
