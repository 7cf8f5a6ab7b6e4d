//! What became of the fixes of one file, as values for reports.

use std::{fmt, time::Duration};

use probity_finding::Edit;

use crate::{ContextRead, Issue};

/// What one session with an agent came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolution {
    /// What turns the text that was given into the one that was accepted; empty where none was.
    pub edits: Vec<Edit>,
    /// One for each member of the request, in its order.
    pub outcomes: Vec<Outcome>,
    pub session: Session,
}

/// What the session cost, and what is worth knowing about it. Of the texts only lines that
/// issues quote are in here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Session {
    pub rounds: u32,
    /// Questions in all, those after unreadable answers included.
    pub prompts: u32,
    pub prompt_bytes: usize,
    pub answer_bytes: usize,
    pub duration: Duration,
    /// Secrets of the file: sent where that is allowed, else replaced by tokens.
    pub secrets: usize,
    /// What the agent wanted to do and was not allowed to, bounded.
    pub denied: Vec<String>,
    /// The files of the build context that it asked for, whether or not it got them.
    pub reads: Vec<ContextRead>,
    /// What had to be put right, and what is new in the image.
    pub notes: Vec<String>,
    /// Why each proposal that was not taken was not, round by round.
    pub refusals: Vec<Refusal>,
}

/// A proposal that was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// From one.
    pub round: u32,
    pub reason: Reason,
    pub issues: Vec<Issue>,
}

/// What became of one objective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Applied,
    /// The agent sees nothing to do, or nothing that it is sure of.
    NoChange,
    Skipped {
        reason: Reason,
        detail: String,
    },
}

/// Why an objective was not met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    AiDisabled,
    NotConfigured,
    SecretsFound,
    PromptTooLarge,
    AgentFailed,
    AgentTimeout,
    /// Neither `NO_CHANGE` nor one block.
    MalformedOutput,
    /// No patch, one that does not apply, or one that fails a patch check.
    PatchRejected,
    /// The file that came of it fails a check.
    ValidationFailed,
    /// An experiment was required and could not be made.
    Unproven,
    /// It went with another objective, whose reason is given there.
    Batched,
}

impl Outcome {
    pub(crate) fn skipped(reason: Reason, detail: impl Into<String>) -> Self {
        Self::Skipped { reason, detail: detail.into() }
    }

    /// As reports name it: `applied`, `no-change`, `skipped`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::NoChange => "no-change",
            Self::Skipped { .. } => "skipped",
        }
    }
}

impl Reason {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AiDisabled => "ai-disabled",
            Self::NotConfigured => "not-configured",
            Self::SecretsFound => "secrets-found",
            Self::PromptTooLarge => "prompt-too-large",
            Self::AgentFailed => "agent-failed",
            Self::AgentTimeout => "agent-timeout",
            Self::MalformedOutput => "malformed-output",
            Self::PatchRejected => "patch-rejected",
            Self::ValidationFailed => "validation-failed",
            Self::Unproven => "unproven",
            Self::Batched => "batched",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Applied | Self::NoChange => formatter.write_str(self.as_str()),
            Self::Skipped { reason, detail } => write!(formatter, "{}: {detail}", reason.as_str()),
        }
    }
}
