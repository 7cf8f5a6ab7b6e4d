//! Findings and problems of configuration files as diagnostics, pushed or pulled.

use gen_lsp_types::{
    Code, CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity,
    DiagnosticTag, DocumentDiagnosticParams, DocumentDiagnosticReport,
    FullDocumentDiagnosticReport, Location, Position, Range, RelatedFullDocumentDiagnosticReport,
    RelatedUnchangedDocumentDiagnosticReport, UnchangedDocumentDiagnosticReport, Uri,
};
use probity_finding::{Finding, Severity, Span};
use serde_json::Value;

use super::{Answer, View, typed};
use crate::{
    host::{ConfigProblem, Report},
    lines::{Lines, small},
};

/// Rules about text that has no effect, which editors show faded.
const UNNECESSARY: &[&str] = &[
    "tally/no-unreachable-stages",
    "probity/ignored-cmd",
    "probity/ignored-parser-directive",
    "buildkit/MultipleInstructionsDisallowed",
    "buildkit/RedundantTargetPlatform",
    "buildkit/NoEmptyContinuation",
];

/// Rules about words that still work and should not be written any more.
const DEPRECATED: &[&str] = &["buildkit/MaintainerDeprecated", "buildkit/LegacyKeyValueFormat"];

const SOURCE: &str = "probity";

/// One diagnostic for each finding, in the order of the report.
pub(crate) fn of_report(uri: &Uri, lines: &Lines<'_>, report: &Report) -> Vec<Diagnostic> {
    report.findings.iter().map(|finding| of_finding(uri, lines, finding)).collect()
}

pub(crate) fn of_finding(uri: &Uri, lines: &Lines<'_>, finding: &Finding) -> Diagnostic {
    let here = |span: Span, message: &str| DiagnosticRelatedInformation {
        location: Location { uri: uri.clone(), range: lines.range(span) },
        message: message.to_owned(),
    };
    let also = finding.also_at.iter().map(|span| here(*span, "the same applies here"));
    let related = finding.related.iter().map(|related| here(related.span, &related.message));
    let related: Vec<_> = also.chain(related).collect();
    Diagnostic {
        range: lines.range(finding.span.unwrap_or(Span::at(0))),
        severity: Some(severity(finding.severity)),
        code: Some(Code::String(finding.rule.to_string())),
        code_description: finding
            .docs
            .as_deref()
            .map(|address| CodeDescription { href: Uri::from(address) }),
        source: Some(SOURCE.to_owned()),
        message: finding.message.clone().into(),
        tags: tag(&finding.rule).map(|tag| vec![tag]),
        related_information: (!related.is_empty()).then_some(related),
        data: None,
    }
}

fn tag(rule: &str) -> Option<DiagnosticTag> {
    if UNNECESSARY.contains(&rule) {
        Some(DiagnosticTag::Unnecessary)
    } else if DEPRECATED.contains(&rule) {
        Some(DiagnosticTag::Deprecated)
    } else {
        None
    }
}

fn severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::Error,
        Severity::Warning => DiagnosticSeverity::Warning,
        Severity::Info => DiagnosticSeverity::Information,
        Severity::Style => DiagnosticSeverity::Hint,
    }
}

/// A problem of a configuration that is open: from its place to the end of the line.
pub(crate) fn of_config(lines: &Lines<'_>, problem: &ConfigProblem) -> Diagnostic {
    let line = lines.line_span(problem.line.saturating_sub(1));
    let text = line.slice(lines.text()).unwrap_or_default();
    let before: usize =
        text.chars().take(problem.column.saturating_sub(1)).map(char::len_utf8).sum();
    let range = lines.range(Span::new(line.start + before, line.end));
    of_problem(range, problem)
}

/// The same for a file whose text is not at hand: the columns of the line are not known either.
pub(crate) fn of_unopened(problem: &ConfigProblem) -> Diagnostic {
    let line = small(problem.line.saturating_sub(1));
    // An end behind the line means its end.
    let range = Range::new(Position::new(line, 0), Position::new(line, 1000));
    of_problem(range, problem)
}

fn of_problem(range: Range, problem: &ConfigProblem) -> Diagnostic {
    Diagnostic {
        range,
        severity: Some(severity(problem.severity)),
        code: Some(Code::String("configuration".to_owned())),
        source: Some(SOURCE.to_owned()),
        message: problem.message.clone().into(),
        code_description: None,
        tags: None,
        related_information: None,
        data: None,
    }
}

/// `textDocument/diagnostic`. The server pushes problems of configuration files, so the answer lacks them.
pub(super) fn pull(view: &View<'_>, params: Value) -> Answer {
    typed(params, |params: DocumentDiagnosticParams| {
        let result_id = view.document.revision.to_string();
        if params.previous_result_id.as_deref() == Some(result_id.as_str()) {
            return Ok(DocumentDiagnosticReport::from(RelatedUnchangedDocumentDiagnosticReport {
                related_documents: None,
                unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport {
                    result_id,
                },
            }));
        }
        let found = view.report().map(|report| of_report(&view.document.uri, &view.lines, report));
        Ok(DocumentDiagnosticReport::from(RelatedFullDocumentDiagnosticReport {
            related_documents: None,
            full_document_diagnostic_report: FullDocumentDiagnosticReport {
                result_id: Some(result_id),
                items: found.unwrap_or_default(),
            },
        }))
    })
}
