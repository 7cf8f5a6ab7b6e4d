//! What an agent was asked to find in a file, as JSON.

use probity_check::{AiDetection, DetectionOutcome};
use serde_json::{Value, json};

use super::ai_fix::session_json;

pub(super) fn detection_json(detection: &AiDetection, file: &str) -> Value {
    let mut value = match &detection.outcome {
        DetectionOutcome::Asked { accepted, unaccepted } => json!({
            "file": file, "outcome": "asked", "accepted": accepted, "unaccepted": unaccepted,
        }),
        DetectionOutcome::Cached { accepted } => json!({
            "file": file, "outcome": "cached", "accepted": accepted,
        }),
        DetectionOutcome::Skipped { reason, detail } => json!({
            "file": file, "outcome": "skipped", "reason": reason, "detail": detail,
        }),
    };
    if let (Some(session), Some(members)) = (&detection.session, value.as_object_mut()) {
        members.insert("session".to_owned(), session_json(session));
    }
    value
}
