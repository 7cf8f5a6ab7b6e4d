//! What every kind of agent has in common: it is asked, within limits, and answers.

use std::{ops::AddAssign, time::Duration};

use crate::{AgentError, Cancel};

/// One conversation with an agent. Turns build on one another; a turn that failed leaves no trace
/// in what the agent is told later.
///
/// The call blocks. Callers that want several conversations at once use several threads.
pub trait Agent: Send {
    /// What people call it; it stands in every error.
    fn name(&self) -> &str;

    fn ask(&mut self, turn: &Turn, limits: &Limits, cancel: &Cancel) -> Result<Answer, AgentError>;
}

/// What is said to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    pub prompt: String,
}

impl Turn {
    #[must_use]
    pub fn new(prompt: impl Into<String>) -> Self {
        Self { prompt: prompt.into() }
    }
}

/// What the agent said, no longer than [`Limits::answer_bytes`].
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub text: String,
    pub stop: StopReason,
    /// Absent where the agent does not count.
    pub usage: Option<Usage>,
    /// What the agent wanted to do and was not allowed to, in its own words, bounded.
    pub denied: Vec<String>,
    /// Requests it took: more than one after retries, or after an answer that was cut short.
    pub requests: u32,
}

/// Why the agent stopped talking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    EndTurn,
    /// The text is cut off in the middle.
    MaxTokens,
    Refusal,
    Cancelled,
    /// A reason of a newer protocol, or of a provider of its own mind.
    Other(String),
}

/// What it cost, summed over all requests of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// All tokens of the input, those read from a cache included.
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cached_input_tokens: u64,
    /// In US dollars, where the agent says.
    pub cost: Option<f64>,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cached_input_tokens =
            self.cached_input_tokens.saturating_add(other.cached_input_tokens);
        self.cost = match (self.cost, other.cost) {
            (Some(mine), Some(theirs)) => Some(mine + theirs),
            (mine, theirs) => mine.or(theirs),
        };
    }
}

/// How long one turn may take and how much may pass in either direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The whole turn: every attempt, and the waiting between them.
    pub total: Duration,
    /// One request to a provider, or one step of getting an agent to work.
    pub attempt: Duration,
    pub prompt_bytes: usize,
    pub answer_bytes: usize,
    /// The most that the turn may cost in US dollars. An agent that reports its cost while it works is
    /// stopped.
    pub dollars: Option<f64>,
    /// The most tokens that a chat API may answer with, in all requests of the turn together. It lowers
    /// the limit of an answer, where the request has one.
    pub output_tokens: Option<u64>,
}

impl Limits {
    pub const PROMPT_BYTES: usize = 8 << 20;
    pub const ANSWER_BYTES: usize = 2 << 20;

    /// The usual sizes, with one limit for the whole turn and for each attempt.
    ///
    /// An attempt gets all the time there is, because a model on a slow machine thinks for minutes
    /// before its first word.
    #[must_use]
    pub const fn within(total: Duration) -> Self {
        Self {
            total,
            attempt: total,
            prompt_bytes: Self::PROMPT_BYTES,
            answer_bytes: Self::ANSWER_BYTES,
            dollars: None,
            output_tokens: None,
        }
    }
}
