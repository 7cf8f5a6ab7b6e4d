//! What an experiment with two images came to, as reports show it.

use probity_image::{Difference, Verdict};
use serde_json::{Value, json};

/// Texts are fit to be shown: bounded, and without secrets.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProofReport {
    /// `static`, `build` or `run`.
    pub(crate) level: &'static str,
    pub(crate) summary: String,
    /// Why the level is lower than asked for.
    pub(crate) obstacle: Option<String>,
    /// In bytes, before and after.
    pub(crate) sizes: Option<(u64, u64)>,
    /// Ports that listen in both images, and the status with which both answer.
    pub(crate) ports: Vec<(u16, Option<String>)>,
    pub(crate) differences: Vec<DifferenceReport>,
}

#[derive(Clone, Debug)]
pub(crate) struct DifferenceReport {
    pub(crate) check: &'static str,
    pub(crate) message: String,
    pub(crate) is_harmful: bool,
}

impl ProofReport {
    pub(crate) fn of(verdict: &Verdict) -> Self {
        let shown = |difference: &Difference| DifferenceReport {
            check: difference.check(),
            message: difference.to_string(),
            is_harmful: difference.is_harmful(),
        };
        Self {
            level: verdict.level.name(),
            summary: verdict.to_string(),
            obstacle: verdict.obstacle.as_ref().map(ToString::to_string),
            sizes: verdict.evidence.sizes.map(|sizes| (sizes.before, sizes.after)),
            ports: verdict.evidence.ports.clone(),
            differences: verdict.differences.iter().map(shown).collect(),
        }
    }

    pub(crate) fn masked(self, hide: &impl Fn(&str) -> String) -> Self {
        let differences = self.differences.into_iter().map(|difference| DifferenceReport {
            message: hide(&difference.message),
            ..difference
        });
        Self {
            summary: hide(&self.summary),
            obstacle: self.obstacle.map(|obstacle| hide(&obstacle)),
            differences: differences.collect(),
            ..self
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        let ports = self.ports.iter().map(|(port, status)| json!({"port": port, "status": status}));
        let differences = self.differences.iter().map(|difference| {
            json!({
                "check": difference.check,
                "message": difference.message,
                "harmful": difference.is_harmful,
            })
        });
        json!({
            "level": self.level,
            "summary": self.summary,
            "obstacle": self.obstacle,
            "sizes": self.sizes.map(|(before, after)| json!({"before": before, "after": after})),
            "ports": ports.collect::<Value>(),
            "differences": differences.collect::<Value>(),
        })
    }
}
