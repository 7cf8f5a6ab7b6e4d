//! A skill: one markdown file about one class of vulnerability, with strict YAML in front.
//!
//! Parsing is pure; which files there are is the caller's question.

mod embedded;
mod frontmatter;
mod prompt;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

pub use self::embedded::{Pack, embedded};
use crate::Risk;

/// What a model is told to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    pub id: String,
    pub name: String,
    pub severity: Risk,
    pub description: String,
    pub prompt_fragment: String,
    pub examples: Vec<String>,
    pub false_positives: Vec<String>,
    pub references: Vec<String>,
    pub tags: Vec<String>,
    pub confidence_hint: Option<String>,
    /// The text below the frontmatter.
    pub guidance_markdown: String,
    /// Of the whole file; it tells whether a skill is the one that an earlier run has finished.
    pub digest: String,
}

/// The frontmatter, word for word.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    id: String,
    name: String,
    severity: String,
    description: String,
    prompt_fragment: String,
    #[serde(default)]
    examples: Vec<String>,
    #[serde(default)]
    false_positives: Vec<String>,
    #[serde(default)]
    references: Vec<String>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    confidence_hint: Option<String>,
}

/// Why a file is not a skill. Every message names the file, and the field if there is one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkillError {
    #[error("Failed to parse frontmatter from vulnerability skill file {file}: {why}")]
    Frontmatter { file: String, why: &'static str },
    #[error("Invalid YAML frontmatter in vulnerability skill file {file}: {why}")]
    Yaml { file: String, why: String },
    #[error(
        "Invalid `severity` value '{value}' in vulnerability skill file {file}. Expected one of: low, medium, high, critical"
    )]
    Severity { file: String, value: String },
    #[error("Field `{field}` must be non-empty in vulnerability skill file {file}")]
    Empty { file: String, field: &'static str },
}

impl Skill {
    /// Reads a skill. `file` is what it is called in messages.
    pub fn parse(file: &str, text: &str) -> Result<Self, SkillError> {
        let (yaml, body) = frontmatter::split(text)
            .map_err(|why| SkillError::Frontmatter { file: file.to_owned(), why })?;
        let fields: Fields = serde_saphyr::from_str(&yaml).map_err(|error| SkillError::Yaml {
            file: file.to_owned(),
            why: frontmatter::explained(&error.to_string()),
        })?;
        let severity = Risk::parse(&fields.severity).ok_or_else(|| SkillError::Severity {
            file: file.to_owned(),
            value: fields.severity.clone(),
        })?;
        for (field, value) in [
            ("id", &fields.id),
            ("name", &fields.name),
            ("severity", &fields.severity),
            ("description", &fields.description),
            ("prompt_fragment", &fields.prompt_fragment),
        ] {
            if value.trim().is_empty() {
                return Err(SkillError::Empty { file: file.to_owned(), field });
            }
        }
        let digest = Sha256::digest(text.as_bytes());
        Ok(Self {
            id: fields.id.trim().to_owned(),
            name: fields.name.trim().to_owned(),
            severity,
            description: fields.description.trim().to_owned(),
            prompt_fragment: fields.prompt_fragment.trim().to_owned(),
            examples: fields.examples,
            false_positives: fields.false_positives,
            references: fields.references,
            tags: fields.tags,
            confidence_hint: fields.confidence_hint.filter(|hint| !hint.trim().is_empty()),
            guidance_markdown: body.trim().to_owned(),
            digest: digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect(),
        })
    }
}

#[cfg(test)]
mod tests;
