//! A report as JSON, read again.

use serde::Deserialize;

use super::{AuditScope, Report, Reported};
use crate::{Rules, state::State};

#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error("it is not JSON of a report: {0}")]
    Json(#[from] serde_json::Error),
    #[error("it is the state of an audit, and not a report")]
    State,
}

/// What of a report is read again.
#[derive(Deserialize)]
struct WrittenReport {
    title: String,
    generated_at: String,
    findings: Vec<Reported>,
    #[serde(default)]
    unverified: Vec<Reported>,
    #[serde(default)]
    elsewhere: Vec<Reported>,
    #[serde(default)]
    previous: Vec<Reported>,
    #[serde(default)]
    scope: Option<AuditScope>,
    #[serde(default)]
    summary: Counts,
}

#[derive(Default, Deserialize)]
struct Counts {
    #[serde(default)]
    skills: usize,
    #[serde(default)]
    known: usize,
}

impl Report {
    /// Reads the findings, the scope and the counts of a report as JSON. What is left out by comments
    /// is looked for again, on the code of today.
    ///
    /// # Errors
    ///
    /// When the text is not a report that this program wrote.
    pub fn parse(text: &str) -> Result<Self, ReportError> {
        let kept: WrittenReport = match serde_json::from_str(text) {
            Ok(kept) => kept,
            Err(_) if serde_json::from_str::<State>(text).is_ok() => {
                return Err(ReportError::State);
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Self {
            title: kept.title,
            generated_at: kept.generated_at,
            findings: kept.findings,
            unverified: kept.unverified,
            elsewhere: kept.elsewhere,
            previous: kept.previous,
            failed: Vec::new(),
            ignored: Vec::new(),
            known: kept.summary.known,
            changed: None,
            cached: Vec::new(),
            warnings: Vec::new(),
            skills: kept.summary.skills,
            usage: None,
            coverage: Vec::new(),
            is_scaffold: false,
            scope: kept.scope,
            rules: Rules::Probity,
        })
    }
}
