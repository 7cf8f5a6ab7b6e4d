//! One turn of an agent: the text it said, how it stopped, what it used.

use super::unescape::Unescaper;

/// What came of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// All message text of the turn.
    pub text: String,
    /// Where in it the last message begins; an agent may put warnings into messages of their own.
    pub last_message: usize,
    pub stop: StopReason,
    pub tokens: Option<Tokens>,
}

impl Turn {
    /// The text of the last message only.
    #[must_use]
    pub fn last_message(&self) -> &str {
        self.text.get(self.last_message..).unwrap_or_default()
    }
}

/// Why the agent stopped. Anything but `EndTurn` means that the answer is not what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    EndTurn,
    MaxTokens,
    MaxTurnRequests,
    Refusal,
    Cancelled,
    /// A reason that is newer than this client, or none at all (empty).
    Other(String),
}

impl StopReason {
    pub(super) fn from_wire(name: &str) -> Self {
        match name {
            "end_turn" => Self::EndTurn,
            "max_tokens" => Self::MaxTokens,
            "max_turn_requests" => Self::MaxTurnRequests,
            "refusal" => Self::Refusal,
            "cancelled" => Self::Cancelled,
            other => Self::Other(super::wire::shorten(other)),
        }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::MaxTokens => "max_tokens",
            Self::MaxTurnRequests => "max_turn_requests",
            Self::Refusal => "refusal",
            Self::Cancelled => "cancelled",
            Self::Other(name) => name,
        }
    }
}

/// Tokens, if the agent counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub total: u64,
}

/// What the agent last said about a session's use of the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    pub context_used: Option<u64>,
    pub context_size: Option<u64>,
    /// For the whole session so far; the unit is a currency code, or what the agent calls it.
    pub cost: Option<(f64, String)>,
}

/// The text of a turn while it comes in.
#[derive(Debug)]
pub(super) struct Collecting {
    pub(super) session: String,
    pub(super) limit: usize,
    pub(super) text: String,
    pub(super) last_message: usize,
    message_id: Option<String>,
    unescaper: Unescaper,
    pub(super) over_limit: bool,
}

impl Collecting {
    pub(super) fn new(session: &str, limit: usize) -> Self {
        Self {
            session: session.to_owned(),
            limit,
            text: String::new(),
            last_message: 0,
            message_id: None,
            unescaper: Unescaper::default(),
            over_limit: false,
        }
    }

    /// Takes one chunk: the inside of a JSON string literal, and the id of the message it is part of.
    pub(super) fn push(&mut self, escaped: &str, message_id: Option<&str>) {
        if self.over_limit {
            return;
        }
        if self.message_id.as_deref() != message_id {
            self.message_id = message_id.map(str::to_owned);
            self.last_message = self.text.len();
        }
        // Unescaping never makes a text longer, but a huge chunk should not be unescaped to be
        // thrown away: six bytes of escape are at least one byte of text.
        if escaped.len() / 6 > self.limit {
            self.over_limit = true;
            return;
        }
        self.unescaper.push(escaped, &mut self.text);
        if self.text.len() > self.limit {
            self.over_limit = true;
            self.text = String::new();
        }
    }
}
