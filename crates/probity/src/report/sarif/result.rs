//! One finding as a SARIF result.

use std::collections::HashMap;

use probity_finding::{Finding, Fix, LineIndex, Severity};
use serde::Serialize;

use super::uri::ArtifactLocation;
use crate::report::place::{Place, Unit};

pub(crate) fn result<'a>(
    artifact: &'a ArtifactLocation,
    lines: &LineIndex<'_>,
    finding: &'a Finding,
    rule_index: usize,
    fingerprint: String,
) -> SarifResult<'a> {
    let shown = |span| Region::from(Place::shown(lines, span, Unit::Utf16));
    let location = |region| PhysicalLocation { artifact_location: artifact, region };
    SarifResult {
        rule_id: &finding.rule,
        rule_index,
        level: match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info | Severity::Style => "note",
        },
        message: Message { text: text(finding) },
        // SARIF means by several locations that a change is needed at each of them.
        locations: std::iter::once(finding.span)
            .chain(finding.also_at.iter().copied().map(Some))
            .map(|span| Location {
                id: None,
                physical_location: location(span.map(shown)),
                message: None,
            })
            .collect(),
        related_locations: (1..)
            .zip(&finding.related)
            .map(|(id, related)| Location {
                id: Some(id),
                physical_location: location(Some(shown(related.span))),
                message: Some(Message { text: related.message.clone() }),
            })
            .collect(),
        partial_fingerprints: HashMap::from([("probity/v1", fingerprint)]),
        fixes: finding
            .fixes
            .iter()
            // What an agent has yet to propose has no edits, and SARIF wants at least one.
            .filter(|fix| !fix.edits.is_empty())
            .map(|fix| sarif_fix(artifact, lines, fix))
            .collect(),
        properties: (finding.severity == Severity::Style)
            .then_some(Properties { severity: finding.severity.as_str() }),
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
    SarifFix {
        description: Message { text: fix.title.to_string() },
        artifact_changes: [ArtifactChange {
            artifact_location: artifact,
            replacements: fix
                .edits
                .iter()
                .map(|edit| Replacement {
                    deleted_region: Place::exact(lines, edit.span, Unit::Utf16).into(),
                    inserted_content: Content { text: &edit.text },
                })
                .collect(),
        }],
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SarifResult<'a> {
    rule_id: &'a str,
    rule_index: usize,
    level: &'static str,
    message: Message,
    locations: Vec<Location<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location<'a>>,
    partial_fingerprints: HashMap<&'static str, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<SarifFix<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Properties>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Message {
    pub(crate) text: String,
}

#[derive(Serialize)]
struct Properties {
    severity: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    physical_location: PhysicalLocation<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation<'a> {
    artifact_location: &'a ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

/// All four numbers are always written: without an end column a region reaches to its line's end.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
    start_column: usize,
    end_line: usize,
    end_column: usize,
}

impl From<Place> for Region {
    fn from(place: Place) -> Self {
        Self {
            start_line: place.line,
            start_column: place.column,
            end_line: place.end_line,
            end_column: place.end_column,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifFix<'a> {
    description: Message,
    artifact_changes: [ArtifactChange<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactChange<'a> {
    artifact_location: &'a ArtifactLocation,
    replacements: Vec<Replacement<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Replacement<'a> {
    deleted_region: Region,
    inserted_content: Content<'a>,
}

#[derive(Serialize)]
struct Content<'a> {
    text: &'a str,
}
