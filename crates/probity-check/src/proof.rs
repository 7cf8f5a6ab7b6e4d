//! What an experiment with two images came to, as reports show it.

use crate::StagesReport;

/// Texts are fit to be shown: bounded, and without secrets.
#[derive(Clone, Debug, Default)]
pub struct ProofReport {
    /// `static`, `build` or `run`.
    pub level: &'static str,
    pub summary: String,
    /// Why the level is lower than asked for.
    pub obstacle: Option<String>,
    /// In bytes, before and after.
    pub sizes: Option<(u64, u64)>,
    /// Ports that listen in both images, and the status with which both answer.
    pub ports: Vec<(u16, Option<String>)>,
    /// Whether both were still running at the end, if they were started.
    pub is_running: Option<bool>,
    pub health: Option<String>,
    /// Whether files that were opened and closed again were seen.
    pub is_watched: bool,
    pub differences: Vec<DifferenceReport>,
    /// None if an image was compared that no Dockerfile of ours made.
    pub stages: Option<StagesReport>,
}

#[derive(Clone, Debug)]
pub struct DifferenceReport {
    pub check: &'static str,
    pub message: String,
    pub is_harmful: bool,
}

impl ProofReport {
    /// The same without what `hide` replaces.
    #[must_use]
    pub fn masked(self, hide: &dyn Fn(&str) -> String) -> Self {
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
}
