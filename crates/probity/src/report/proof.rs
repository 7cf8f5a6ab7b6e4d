//! What an experiment with two images came to, as reports show it.

use probity_image::{Difference, Verdict};
use serde_json::{Value, json};

use super::stages::StagesReport;

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
    /// Whether both were still running at the end, if they were started.
    pub(crate) is_running: Option<bool>,
    pub(crate) health: Option<String>,
    /// Whether files that were opened and closed again were seen.
    pub(crate) is_watched: bool,
    pub(crate) differences: Vec<DifferenceReport>,
    /// None if an image was compared that no Dockerfile of ours made.
    pub(crate) stages: Option<StagesReport>,
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
            is_running: verdict.evidence.is_running,
            health: verdict.evidence.health.clone(),
            is_watched: verdict.evidence.is_watched,
            differences: verdict.differences.iter().map(shown).collect(),
            stages: None,
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
            "running": self.is_running,
            "health": self.health,
            "openedFilesSeen": self.is_watched,
            "differences": differences.collect::<Value>(),
            "stages": self.stages.as_ref().map(StagesReport::to_json),
        })
    }
}
