//! What an agent was asked to find in a file, as reports show it.

use serde_json::{Value, json};

use super::ai_fix::AiSession;

/// One file. Texts are fit to be shown: bounded, and without secrets.
#[derive(Clone, Debug)]
pub(crate) struct AiDetection {
    outcome: Outcome,
    session: Option<AiSession>,
}

#[derive(Clone, Debug)]
enum Outcome {
    Asked {
        accepted: usize,
        /// What the agent reported and what did not count, with the reason.
        unaccepted: Vec<String>,
    },
    /// An earlier answer was used.
    Cached {
        accepted: usize,
    },
    Skipped {
        reason: &'static str,
        detail: String,
    },
}

impl AiDetection {
    pub(crate) fn asked(
        accepted: usize,
        unaccepted: Vec<String>,
        session: Option<AiSession>,
    ) -> Self {
        Self { outcome: Outcome::Asked { accepted, unaccepted }, session }
    }

    pub(crate) fn cached(accepted: usize) -> Self {
        Self { outcome: Outcome::Cached { accepted }, session: None }
    }

    pub(crate) fn skipped(
        reason: &'static str,
        detail: String,
        session: Option<AiSession>,
    ) -> Self {
        Self { outcome: Outcome::Skipped { reason, detail }, session }
    }

    pub(super) fn to_json(&self, file: &str) -> Value {
        let mut value = match &self.outcome {
            Outcome::Asked { accepted, unaccepted } => json!({
                "file": file, "outcome": "asked", "accepted": accepted, "unaccepted": unaccepted,
            }),
            Outcome::Cached { accepted } => json!({
                "file": file, "outcome": "cached", "accepted": accepted,
            }),
            Outcome::Skipped { reason, detail } => json!({
                "file": file, "outcome": "skipped", "reason": reason, "detail": detail,
            }),
        };
        if let (Some(session), Some(members)) = (&self.session, value.as_object_mut()) {
            members.insert("session".to_owned(), session.to_json());
        }
        value
    }
}
