//! What an agent was asked to find in a file, as reports show it.

use crate::AiSession;

/// One file. Texts are fit to be shown: bounded, and without secrets.
#[derive(Clone, Debug)]
pub struct AiDetection {
    pub outcome: DetectionOutcome,
    pub session: Option<AiSession>,
}

/// What became of the question.
#[derive(Clone, Debug)]
pub enum DetectionOutcome {
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
