//! Why a conversation with an agent failed.

use std::fmt;
use std::time::Duration;

/// What failed, and while what was going on.
#[derive(Debug, thiserror::Error)]
#[error("{phase}: {cause}{}", Remarks(self))]
pub struct ClientError {
    pub phase: Phase,
    #[source]
    pub cause: Cause,
    /// What the agent wrote on standard output besides messages, if it did.
    pub noise: Option<String>,
    /// The end of the agent's standard error. The client does not have it; whoever started the
    /// process adds it with [`ClientError::with_stderr`].
    pub stderr: Option<String>,
}

impl ClientError {
    /// Adds the end of the agent's standard error.
    #[must_use]
    pub fn with_stderr(mut self, tail: impl Into<String>) -> Self {
        self.stderr = Some(tail.into()).filter(|tail| !tail.trim().is_empty());
        self
    }
}

/// The step of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Start,
    Session,
    Prompt,
    Close,
}

impl fmt::Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Start => "starting the agent",
            Self::Session => "opening a session",
            Self::Prompt => "waiting for the agent's answer",
            Self::Close => "closing the session",
        })
    }
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Cause {
    #[error("no answer within {}", Seconds(.limit))]
    TimedOut { limit: Duration },
    #[error("the limit of {} for the whole conversation is reached", Seconds(.limit))]
    WholeTimedOut { limit: Duration },
    #[error("the answer is longer than {limit} bytes")]
    OutputLimit { limit: usize },
    #[error("the cost limit is exceeded: {spent:.2} US dollars are spent")]
    CostLimit { spent: f64 },
    #[error("the agent closed its standard output")]
    Ended,
    #[error("the agent's pipe failed: {message}")]
    Pipe { message: String },
    #[error("the agent needs a login: {message}{}", Methods(.methods))]
    LoginNeeded { message: String, methods: Vec<AuthMethod> },
    #[error("the agent answered with error {code}: {message}")]
    Refused { code: i64, message: String },
    #[error("the agent speaks protocol version {version}, not 1")]
    Version { version: String },
    #[error("the answer to {method} has no {field}")]
    Malformed { method: &'static str, field: &'static str },
}

impl Cause {
    pub(super) fn pipe(error: &std::io::Error) -> Self {
        Self::Pipe { message: error.to_string() }
    }

    /// Whether it is we who gave up, while the agent may still be at work.
    pub(super) fn is_ours(&self) -> bool {
        matches!(
            self,
            Self::TimedOut { .. }
                | Self::WholeTimedOut { .. }
                | Self::OutputLimit { .. }
                | Self::CostLimit { .. }
        )
    }
}

/// A way to log in that the agent offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthMethod {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
}

struct Seconds<'a>(&'a Duration);

impl fmt::Display for Seconds<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} s", self.0.as_secs_f64())
    }
}

struct Methods<'a>(&'a [AuthMethod]);

impl fmt::Display for Methods<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, method) in self.0.iter().enumerate() {
            formatter.write_str(if index == 0 { "; it offers " } else { ", " })?;
            write!(formatter, "{}", method.name)?;
            if let Some(description) = &method.description {
                write!(formatter, " ({description})")?;
            }
        }
        Ok(())
    }
}

struct Remarks<'a>(&'a ClientError);

impl fmt::Display for Remarks<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(noise) = &self.0.noise {
            write!(formatter, "; it also wrote: {}", noise.trim())?;
        }
        if let Some(stderr) = &self.0.stderr {
            write!(formatter, "\nits standard error ends with:\n{}", stderr.trim_end())?;
        }
        Ok(())
    }
}
