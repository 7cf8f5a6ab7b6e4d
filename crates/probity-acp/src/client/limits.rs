//! How long and how much an agent may take.

use std::time::Duration;

use crate::frame::LINE_LIMIT;

/// Every wait and every buffer of a client is bounded by one of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From the first byte sent to the answer to `initialize`.
    pub start: Duration,
    /// For `session/new`.
    pub session: Duration,
    /// For one turn.
    pub prompt: Duration,
    /// For everything together, from the connection on.
    pub whole: Duration,
    /// After a cancellation, for the agent to acknowledge it. This comes on top of the others.
    pub grace: Duration,
    /// Bytes of answer text in one turn.
    pub answer_bytes: usize,
    /// Bytes of one line.
    pub line_bytes: usize,
}

/// Some agents need several seconds for a cold start; one that needs a minute hangs.
const START: Duration = Duration::from_secs(60);

impl Limits {
    /// The usual limits for work that may take `whole`.
    #[must_use]
    pub fn within(whole: Duration) -> Self {
        Self {
            start: START.min(whole),
            session: START.min(whole),
            prompt: whole,
            whole,
            grace: Duration::from_secs(3),
            answer_bytes: 2 * 1024 * 1024,
            line_bytes: LINE_LIMIT,
        }
    }
}
