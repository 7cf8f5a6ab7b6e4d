//! Findings that are known already, from an earlier report in any of our formats.

use std::collections::HashSet;

use serde_json::Value;

use crate::Finding;

/// The fingerprints of known findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    fingerprints: HashSet<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    #[error("the baseline is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the baseline has no fingerprint; it should be a state, or a report as JSON or SARIF")]
    NoFingerprint,
}

impl Baseline {
    /// Reads a state, or a report as JSON or SARIF. One that says that it has no findings is fine.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let value: Value = serde_json::from_str(text)?;
        let mut baseline = Self::default();
        baseline.collect(&value, 0);
        let is_ours = ["iterations", "findings", "runs"].iter().any(|key| value.get(key).is_some());
        if baseline.fingerprints.is_empty() && !is_ours {
            return Err(BaselineError::NoFingerprint);
        }
        Ok(baseline)
    }

    pub(crate) fn knows(&self, finding: &Finding) -> bool {
        finding.fingerprint.as_ref().is_some_and(|print| self.fingerprints.contains(print))
    }

    fn collect(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Array(items) if depth < 16 => {
                items.iter().for_each(|item| self.collect(item, depth + 1));
            }
            Value::Object(object) if depth < 16 => {
                for (key, value) in object {
                    match value {
                        Value::String(print) if key == "fingerprint" || key == "probity/v1" => {
                            self.fingerprints.insert(print.clone());
                        }
                        other => self.collect(other, depth + 1),
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_found_in_every_format() {
        for (text, expected) in [
            (r#"{"iterations":[{"findings":[{"fingerprint":"a"}]}]}"#, Ok(vec!["a"])),
            (r#"{"findings":[{"fingerprint":"a"}],"unverified":[]}"#, Ok(vec!["a"])),
            (
                r#"{"runs":[{"results":[{"partialFingerprints":{"probity/v1":"b"}}]}]}"#,
                Ok(vec!["b"]),
            ),
            (r#"{"findings":[]}"#, Ok(vec![])),
            (r#"{"other":1}"#, Err("no fingerprint")),
            ("x", Err("not JSON")),
        ] {
            match (Baseline::parse(text), expected) {
                (Ok(found), Ok(prints)) => {
                    let prints = prints.into_iter().map(str::to_owned).collect();
                    assert_eq!(found.fingerprints, prints, "{text}");
                }
                (Err(error), Err(says)) => assert!(error.to_string().contains(says), "{error}"),
                (found, expected) => panic!("{text}: {found:?}, not {expected:?}"),
            }
        }
    }
}
