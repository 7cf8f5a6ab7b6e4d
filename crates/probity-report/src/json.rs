//! One JSON document with everything that is known, in the shape that tally's users parse.
//!
//! Lines count from 1, columns are bytes from 0, and -1 stands for the file as a whole. Keys are only
//! ever added to that shape: here `fingerprint`, `related`, `spans`, `ai_fixes` and `ai_detections` where an
//! agent was asked, and `unfixed_files` where no fix may touch a file. As in tally, `invocation` names the
//! build of a Compose or Bake file; `invocations` of a file lists all of them, since a file is checked once.

use std::io::{self, Write};

use probity_check::builds::Invocation;
use probity_finding::{Applicability, Finding, Fingerprints, Fix, LineIndex, Related, Span};
use probity_lint::Rejection;
use serde::Serialize;

use super::{
    FileReport, Reporter, Totals,
    ai_detection::detection_json,
    ai_fix::fix_json,
    counts::Counts,
    place,
    stream::{Items, write_json},
};

const HEAD: &str = "{\"files\":[";
/// How many bytes of source a finding may quote.
const MOST_SOURCE: usize = 4096;

#[derive(Debug, Default)]
pub(crate) struct Json {
    files: Items,
    counts: Counts,
    ai_fixes: Vec<serde_json::Value>,
    ai_detections: Vec<serde_json::Value>,
    invocations: usize,
    unfixed_files: Vec<serde_json::Value>,
}

impl Reporter for Json {
    fn file(&mut self, out: &mut dyn Write, file: &FileReport<'_>) -> io::Result<()> {
        self.ai_fixes.extend(file.ai_fixes.iter().map(|fix| fix_json(fix, file.path)));
        self.ai_detections.extend(
            file.ai_detections.iter().map(|detection| detection_json(detection, file.path)),
        );
        self.unfixed_files.extend(file.rejection.map(|Rejection { line, reason }| {
            serde_json::json!({ "file": file.path, "line": line, "reason": reason })
        }));
        self.invocations += file.invocations.len();
        if file.findings.is_empty() {
            return Ok(());
        }
        self.counts.add(file.findings);
        let lines = LineIndex::new(file.text);
        let mut fingerprints = Fingerprints::new(file.path, &lines);
        let violations = file
            .findings
            .iter()
            .map(|finding| {
                let fingerprint = fingerprints.next(finding);
                let invocation = match file.invocations {
                    [only] => Some(*only),
                    _ => None,
                };
                Violation { invocation, ..violation(file.path, &lines, finding, fingerprint) }
            })
            .collect();
        let invocations = file.invocations;
        self.files.push(out, HEAD, &File { file: file.path, invocations, violations })
    }

    fn finish(self: Box<Self>, out: &mut dyn Write, totals: &Totals) -> io::Result<()> {
        self.files.end(out, HEAD)?;
        out.write_all(b",\n\"summary\":")?;
        let Counts { errors, warnings, info, style, files } = self.counts;
        let total = self.counts.total();
        let invocations = (self.invocations > 0).then_some(self.invocations);
        write_json(out, &Summary { total, errors, warnings, info, style, files, invocations })?;
        if !self.ai_fixes.is_empty() {
            out.write_all(b",\n\"ai_fixes\":")?;
            write_json(out, &self.ai_fixes)?;
        }
        if !self.ai_detections.is_empty() {
            out.write_all(b",\n\"ai_detections\":")?;
            write_json(out, &self.ai_detections)?;
        }
        if !self.unfixed_files.is_empty() {
            out.write_all(b",\n\"unfixed_files\":")?;
            write_json(out, &self.unfixed_files)?;
        }
        let Totals { files_scanned, rules_enabled } = totals;
        if let Some(invocations) = invocations {
            write!(out, ",\n\"invocations_scanned\":{invocations}")?;
        }
        writeln!(out, ",\n\"files_scanned\":{files_scanned},\"rules_enabled\":{rules_enabled}}}")
    }
}

fn violation<'a>(
    path: &'a str,
    lines: &LineIndex<'a>,
    finding: &'a Finding,
    fingerprint: String,
) -> Violation<'a> {
    let mut fixes: Vec<SuggestedFix<'a>> =
        finding.fixes.iter().map(|fix| suggested_fix(path, lines, fix)).collect();
    if let Some(preferred) = fixes.first_mut() {
        preferred.is_preferred = true;
    }
    Violation {
        location: location(path, lines, finding.span),
        spans: match finding.also_at.as_slice() {
            [] => Vec::new(),
            [..] => finding.spans().map(|span| location(path, lines, Some(span))).collect(),
        },
        rule: &finding.rule,
        message: &finding.message,
        detail: finding.detail.as_deref(),
        severity: finding.severity.as_str(),
        doc_url: finding.docs.as_deref(),
        source_code: finding.span.and_then(|span| source_lines(lines, span)),
        suggested_fix: fixes.first().cloned(),
        suggested_fixes: if fixes.len() > 1 { fixes } else { Vec::new() },
        fingerprint,
        related: finding
            .related
            .iter()
            .map(|Related { span, message }| RelatedPlace {
                location: location(path, lines, Some(*span)),
                message,
            })
            .collect(),
        invocation: None,
    }
}

fn suggested_fix<'a>(path: &'a str, lines: &LineIndex<'a>, fix: &'a Fix) -> SuggestedFix<'a> {
    SuggestedFix {
        description: &fix.title,
        edits: fix
            .edits
            .iter()
            .map(|edit| TextEdit {
                location: location(path, lines, Some(edit.span)),
                new_text: &edit.text,
            })
            .collect(),
        safety: match fix.applicability {
            Applicability::Safe => 0,
            Applicability::Suggestion => 1,
            Applicability::Unsafe => 2,
        },
        is_preferred: false,
        needs_resolve: fix.objective.is_some(),
        resolver_id: fix.objective.as_ref().map(|_| "ai-autofix"),
        priority: fix.priority,
    }
}

fn location<'a>(path: &'a str, lines: &LineIndex<'_>, span: Option<Span>) -> Location<'a> {
    let point = |offset: Option<usize>| match offset.map(|offset| lines.position(offset)) {
        Some(at) => Point { line: signed(at.line) + 1, column: signed(at.column) },
        None => Point { line: -1, column: -1 },
    };
    Location {
        file: path,
        start: point(span.map(|span| span.start)),
        end: point(span.map(|span| span.end)),
    }
}

fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The lines that a finding touches, without the last line's end.
///
/// Of more than a screenful only the first line is given: many findings about one long instruction
/// would otherwise repeat it each time, and the report would outgrow the file by far.
fn source_lines<'a>(lines: &LineIndex<'a>, span: Span) -> Option<&'a str> {
    let span = place::trimmed(lines, span);
    let first = lines.line_span(lines.position(span.start).line);
    let last = lines.line_span(lines.position(span.end).line);
    let shown = [first.to(last), first].into_iter().find(|span| span.len() <= MOST_SOURCE)?;
    shown.slice(lines.text())
}

#[derive(Serialize)]
struct File<'a> {
    file: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    invocations: &'a [&'a Invocation],
    violations: Vec<Violation<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Violation<'a> {
    location: Location<'a>,
    /// Every place, where there are several; the first one is `location`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    spans: Vec<Location<'a>>,
    rule: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    severity: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    doc_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suggested_fix: Option<SuggestedFix<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggested_fixes: Vec<SuggestedFix<'a>>,
    fingerprint: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<RelatedPlace<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invocation: Option<&'a Invocation>,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct SuggestedFix<'a> {
    description: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    edits: Vec<TextEdit<'a>>,
    #[serde(skip_serializing_if = "is_zero")]
    safety: i32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_preferred: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    needs_resolve: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolver_id: Option<&'static str>,
    #[serde(skip_serializing_if = "is_zero")]
    priority: i32,
}

fn is_zero(number: &i32) -> bool {
    *number == 0
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct TextEdit<'a> {
    location: Location<'a>,
    new_text: &'a str,
}

#[derive(Serialize)]
struct RelatedPlace<'a> {
    location: Location<'a>,
    message: &'a str,
}

#[derive(Clone, Serialize)]
struct Location<'a> {
    file: &'a str,
    start: Point,
    end: Point,
}

#[derive(Clone, Serialize)]
struct Point {
    line: i64,
    column: i64,
}

#[derive(Serialize)]
struct Summary {
    total: usize,
    errors: usize,
    warnings: usize,
    info: usize,
    style: usize,
    files: usize,
    /// Builds of Compose and Bake files, with findings or without.
    #[serde(skip_serializing_if = "Option::is_none")]
    invocations: Option<usize>,
}

#[cfg(test)]
mod tests;
