//! What can go wrong between a question and its answer, said so that a person can act on it.

use std::{fmt, time::Duration};

/// Which agent failed, where, why, and what it said itself.
///
/// Its `Display` is one line of what happened; [`AgentError::way_out`] is what to do about it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{agent}: {phase}: {cause}")]
pub struct AgentError {
    pub agent: String,
    pub phase: Phase,
    pub cause: Cause,
    /// The end of what the agent wrote to stderr, bounded and fit for a terminal; often empty.
    pub stderr: Box<str>,
    pub(crate) way_out: Box<str>,
}

impl AgentError {
    pub(crate) fn new(
        agent: impl Into<String>,
        phase: Phase,
        cause: Cause,
        way_out: impl Into<String>,
    ) -> Self {
        let way_out = way_out.into().into_boxed_str();
        Self { agent: agent.into(), phase, cause, stderr: Box::default(), way_out }
    }

    #[must_use]
    pub fn way_out(&self) -> &str {
        &self.way_out
    }

    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self.cause, Cause::TimedOut(_))
    }

    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cause == Cause::Cancelled
    }
}

/// How far the conversation had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Before anything was sent or started.
    Preparing,
    Starting,
    Initializing,
    OpeningSession,
    Asking,
    ReadingAnswer,
}

impl fmt::Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Preparing => "preparing",
            Self::Starting => "starting",
            Self::Initializing => "initializing",
            Self::OpeningSession => "opening a session",
            Self::Asking => "asking",
            Self::ReadingAnswer => "reading the answer",
        })
    }
}

/// Why. Texts of the other side are bounded, in one line and without control characters.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Cause {
    #[error("{0}")]
    BadOptions(String),
    #[error("HTTP {status}{}", colon(.said))]
    Status { status: u16, said: String },
    #[error("{0}")]
    Connection(String),
    #[error("no answer within {}", seconds(.0))]
    TimedOut(Duration),
    #[error("cancelled")]
    Cancelled,
    #[error("the prompt has {bytes} bytes, the limit is {limit}")]
    PromptTooLarge { bytes: usize, limit: usize },
    #[error("the answer is longer than {limit} bytes")]
    AnswerTooLarge { limit: usize },
    /// In US dollars, in this turn.
    #[error(
        "the agent was stopped because it exceeded its budget: this answer has cost {spent:.2} US dollars"
    )]
    OverBudget { spent: f64 },
    #[error("{what}{}", colon(.said))]
    Unusable { what: String, said: String },
    #[error("the agent refused{}", colon(.0))]
    Refused(String),
    #[error("cannot start `{program}`: {why}")]
    NotStarted { program: String, why: String },
    #[error("the agent ended with {how}{}", colon(.said))]
    Ended { how: String, said: String },
    #[error("the agent reports an error{}", colon(.0))]
    Reported(String),
    #[error("the agent needs a login{}", colon(.0))]
    NeedsLogin(String),
}

fn colon(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}

fn seconds(time: &Duration) -> String {
    if time.subsec_millis() == 0 || time.as_secs() >= 60 {
        format!("{} s", time.as_secs())
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}
