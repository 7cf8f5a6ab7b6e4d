//! A review without anything that must not leave the machine.

use serde_json::Value;

use super::ReviewOutput;
use crate::redact::Redactor;

/// By these a review, a commit or an issue is found again; a mask would break them.
const IDENTITIES: &[&str] = &[
    "schema_version",
    "status",
    "commit",
    "first_commit",
    "merge_base",
    "since_commit",
    "timestamp",
    "since_timestamp",
    "id",
    "issue_id",
    "fingerprint",
    "digest",
];
/// Programs: with a mask in them they would be other programs, so they are left out.
const PROGRAMS: &[&str] = &["test_code", "fix_patch"];

impl ReviewOutput {
    /// The same review with secrets masked, and without tests and fixes that contain one. The file may
    /// have been written where these secrets were not known.
    #[must_use]
    pub fn redacted(&self, redactor: &Redactor) -> Self {
        // Values of ours always have a JSON that is read back.
        let mut value = serde_json::to_value(self).unwrap_or_default();
        redact(&mut value, redactor);
        serde_json::from_value(value).unwrap_or_else(|_| self.clone())
    }
}

fn redact(value: &mut Value, redactor: &Redactor) {
    match value {
        Value::String(text) => *text = redactor.text(text),
        Value::Array(items) => items.iter_mut().for_each(|item| redact(item, redactor)),
        Value::Object(fields) => {
            fields.retain(|name, field| {
                let program = if PROGRAMS.contains(&name.as_str()) { field.as_str() } else { None };
                program.is_none_or(|program| redactor.is_clean(program))
            });
            for (name, field) in fields {
                if !IDENTITIES.contains(&name.as_str()) && !PROGRAMS.contains(&name.as_str()) {
                    redact(field, redactor);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
