//! One finding as a SARIF result.

use std::borrow::Cow;

use probity_finding::{Finding, Fix, LineIndex, Severity};
use serde_json::json;

use super::{
    uri::ArtifactLocation,
    wire::{Fingerprints, Location, Message, Region, Replacement, SarifFix, SarifResult},
};
use crate::place::{LineRange, Unit};

pub(crate) fn result<'a>(
    artifact: &'a ArtifactLocation,
    lines: &LineIndex<'_>,
    finding: &'a Finding,
    rule_index: usize,
    fingerprint: String,
) -> SarifResult<'a> {
    let shown = |span| Region::from(LineRange::shown(lines, span, Unit::Utf16));
    let location = |region| Location::new(Cow::Borrowed(artifact), region);
    SarifResult {
        rule_id: Cow::Borrowed(&finding.rule),
        rule_index,
        level: match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info | Severity::Style => "note",
        },
        message: Message::new(text(finding)),
        // SARIF means by several locations that a change is needed at each of them.
        locations: std::iter::once(finding.span)
            .chain(finding.also_at.iter().copied().map(Some))
            .map(|span| location(span.map(shown)))
            .collect(),
        related_locations: (1..)
            .zip(&finding.related)
            .map(|(id, related)| {
                location(Some(shown(related.span))).related(id, Message::new(&related.message))
            })
            .collect(),
        partial_fingerprints: Fingerprints { own: fingerprint },
        kind: None,
        fixes: finding
            .fixes
            .iter()
            // What an agent has yet to propose has no edits, and SARIF wants at least one.
            .filter(|fix| !fix.edits.is_empty())
            .map(|fix| sarif_fix(artifact, lines, fix))
            .collect(),
        properties: (finding.severity == Severity::Style)
            .then(|| json!({ "severity": finding.severity.as_str() })),
    }
}

/// The message, and the detail as a paragraph of its own: viewers show the first line alone where
/// room is scarce.
fn text(finding: &Finding) -> String {
    match &finding.detail {
        Some(detail) => format!("{}\n\n{detail}", finding.message),
        None => finding.message.clone(),
    }
}

fn sarif_fix<'a>(
    artifact: &'a ArtifactLocation,
    lines: &LineIndex<'_>,
    fix: &'a Fix,
) -> SarifFix<'a> {
    let replacements = fix.edits.iter().map(|edit| {
        let deleted = LineRange::exact(lines, edit.span, Unit::Utf16);
        Replacement::new(deleted.into(), edit.text.as_str())
    });
    SarifFix::new(&fix.title, Cow::Borrowed(artifact), replacements.collect())
}

impl From<LineRange> for Region {
    fn from(place: LineRange) -> Self {
        Self {
            start_line: place.line,
            start_column: Some(place.column),
            end_line: Some(place.end_line),
            end_column: Some(place.end_column),
        }
    }
}
