//! The objects of SARIF 2.1.0 that our logs have, for every command that writes one.
//!
//! Members are in the order in which they are written.

use std::{borrow::Cow, collections::HashMap};

use serde::Serialize;
use serde_json::Value;

use super::uri::{ArtifactLocation, BASE};

pub(crate) const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
pub(crate) const VERSION: &str = "2.1.0";
pub(crate) const COLUMN_KIND: &str = "utf16CodeUnits";

/// A log that is written at once. One that is written bit by bit has its results first.
#[derive(Serialize)]
pub(crate) struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Run<'a> {
    pub(crate) tool: Tool,
    pub(crate) invocations: [Invocation<'a>; 1],
    pub(crate) column_kind: &'static str,
    pub(crate) original_uri_base_ids: UriBases,
    pub(crate) results: Vec<Value>,
}

impl<'a> Log<'a> {
    pub(crate) fn new(run: Run<'a>) -> Self {
        Self { schema: SCHEMA, version: VERSION, runs: [run] }
    }
}

#[derive(Serialize)]
pub(crate) struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
struct Driver {
    name: &'static str,
    version: &'static str,
    rules: Vec<Rule>,
}

impl Tool {
    pub(crate) fn new(name: &'static str, version: &'static str, rules: Vec<Rule>) -> Self {
        Self { driver: Driver { name, version, rules } }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Rule {
    pub(crate) id: String,
    pub(crate) short_description: Message,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) help: Option<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) help_uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) properties: Option<Value>,
}

/// The directories that relative paths start from: ours has one.
#[derive(Serialize)]
pub(crate) struct UriBases(HashMap<&'static str, UriBase>);

#[derive(Serialize)]
struct UriBase {
    description: Message,
}

impl UriBases {
    pub(crate) fn new(description: &str) -> Self {
        Self(HashMap::from([(BASE, UriBase { description: Message::new(description) })]))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Invocation<'a> {
    pub(crate) execution_successful: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tool_execution_notifications: Vec<Notification<'a>>,
}

/// No result of the analysis, but a word about the run.
#[derive(Debug, Serialize)]
pub(crate) struct Notification<'a> {
    pub(crate) level: &'static str,
    pub(crate) message: Message,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) locations: Vec<Location<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) properties: Option<Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SarifResult<'a> {
    pub(crate) rule_id: Cow<'a, str>,
    pub(crate) rule_index: usize,
    pub(crate) level: &'static str,
    pub(crate) message: Message,
    pub(crate) locations: Vec<Location<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) related_locations: Vec<Location<'a>>,
    #[serde(skip_serializing_if = "Fingerprints::is_empty")]
    pub(crate) partial_fingerprints: Fingerprints,
    /// What the result is if it is not a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) fixes: Vec<SarifFix<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) properties: Option<Value>,
}

/// By the name of the method. All of ours come from one.
#[derive(Serialize)]
pub(crate) struct Fingerprints {
    #[serde(rename = "probity/v1")]
    pub(crate) own: String,
}

impl Fingerprints {
    fn is_empty(&self) -> bool {
        self.own.is_empty()
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Message {
    text: String,
}

impl Message {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Location<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    physical_location: PhysicalLocation<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

impl<'a> Location<'a> {
    /// The whole file, if there is no region.
    pub(crate) fn new(artifact: Cow<'a, ArtifactLocation>, region: Option<Region>) -> Self {
        let physical_location = PhysicalLocation { artifact_location: artifact, region };
        Self { id: None, physical_location, message: None }
    }

    /// Another place that the result mentions.
    pub(crate) fn related(self, id: usize, message: Message) -> Self {
        Self { id: Some(id), message: Some(message), ..self }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation<'a> {
    artifact_location: Cow<'a, ArtifactLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

/// Without an end column a region reaches to its line's end.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Region {
    pub(crate) start_line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) start_column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) end_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) end_column: Option<usize>,
}

impl Region {
    /// A whole line.
    pub(crate) fn line(line: usize) -> Self {
        Self { start_line: line, start_column: None, end_line: None, end_column: None }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SarifFix<'a> {
    description: Message,
    artifact_changes: [ArtifactChange<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactChange<'a> {
    artifact_location: Cow<'a, ArtifactLocation>,
    replacements: Vec<Replacement<'a>>,
}

impl<'a> SarifFix<'a> {
    pub(crate) fn new(
        description: &str,
        artifact: Cow<'a, ArtifactLocation>,
        replacements: Vec<Replacement<'a>>,
    ) -> Self {
        let change = ArtifactChange { artifact_location: artifact, replacements };
        Self { description: Message::new(description), artifact_changes: [change] }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Replacement<'a> {
    deleted_region: Region,
    inserted_content: Content<'a>,
}

#[derive(Serialize)]
struct Content<'a> {
    text: Cow<'a, str>,
}

impl<'a> Replacement<'a> {
    pub(crate) fn new(deleted_region: Region, text: impl Into<Cow<'a, str>>) -> Self {
        Self { deleted_region, inserted_content: Content { text: text.into() } }
    }
}
