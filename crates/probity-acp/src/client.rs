//! The ACP client: an agent behind a pair of pipes that gets prompts and nothing else.
//!
//! The agent is offered no terminal, and no files unless somebody serves them. Whatever else it asks
//! for is denied at once, also between turns, by the thread that reads. That is manners, not safety: a
//! process can do what its sandbox lets it do, whatever it says here.
//!
//! **Invariant:** every wait has a limit and every buffer has one. A blocked pipe blocks one of the
//! two threads, never the caller; they end when the process behind the pipes does.

mod canceller;
mod deny;
mod error;
mod files;
mod limits;
mod reader;
mod shared;
mod turn;
mod unescape;
pub(crate) mod wire;

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use crate::frame::Skipped;
use crate::recording::Side;
pub use canceller::Canceller;
pub use deny::Denied;
pub use error::{AuthMethod, Cause, ClientError, Phase};
pub use files::{FileRefusal, Files, ServeFiles};
pub use limits::Limits;
use shared::{Answer, Deadline, Shared};
use turn::Collecting;
pub use turn::{StopReason, Tokens, Turn, Usage};
pub use wire::AgentInfo;

/// Sees every message of a conversation, in both directions.
pub type Tap = Box<dyn Fn(Side, &str) + Send + Sync>;

/// A conversation with one agent.
///
/// Dropping it closes the agent's standard input. Ending the process is for whoever started it.
#[derive(Debug)]
pub struct Client {
    shared: Arc<Shared>,
    limits: Limits,
    began: Instant,
    next_id: u64,
    agent: AgentInfo,
    open_sessions: Vec<Session>,
}

/// A session of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session(String);

impl Session {
    /// The agent's name for it.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0
    }
}

/// Who we say we are.
#[derive(Clone, Copy, Debug)]
pub struct ClientName<'a> {
    pub name: &'a str,
    pub version: &'a str,
}

impl Client {
    /// Initializes the agent whose standard output and input are given.
    pub fn connect<R, W>(
        agent_output: R,
        agent_input: W,
        who: ClientName<'_>,
        limits: Limits,
        tap: Option<Tap>,
    ) -> Result<Self, ClientError>
    where
        R: Read + Send + 'static,
        W: Write + Send + 'static,
    {
        Self::connect_serving(agent_output, agent_input, who, limits, tap, None)
    }

    /// The same for an agent that may read the files that somebody serves.
    pub fn connect_serving<R, W>(
        agent_output: R,
        agent_input: W,
        who: ClientName<'_>,
        limits: Limits,
        tap: Option<Tap>,
        files: Option<Files>,
    ) -> Result<Self, ClientError>
    where
        R: Read + Send + 'static,
        W: Write + Send + 'static,
    {
        let began = Instant::now();
        let serves = files.is_some();
        let shared = Arc::new(Shared::new(tap, files));
        reader::start(&shared, agent_output, limits.line_bytes)
            .and_then(|()| shared::start_writer(&shared, agent_input))
            .map_err(|error| shared.error(Phase::Start, Cause::pipe(&error)))?;
        let agent = AgentInfo::default();
        let mut client =
            Self { shared, limits, began, next_id: 1, agent, open_sessions: Vec::new() };
        let answer =
            client.ask(Phase::Start, |id| wire::initialize(id, who.name, who.version, serves))?;
        client.agent =
            wire::read_agent(&answer).map_err(|cause| client.shared.error(Phase::Start, cause))?;
        Ok(client)
    }

    /// What the agent says of itself.
    #[must_use]
    pub fn agent(&self) -> &AgentInfo {
        &self.agent
    }

    /// Opens a session. `cwd` is a path where the agent runs, which may not be where we run.
    pub fn open_session(&mut self, cwd: &str) -> Result<Session, ClientError> {
        let answer = self.ask(Phase::Session, |id| wire::new_session(id, cwd))?;
        let Some(session) = answer.get("sessionId").and_then(Value::as_str) else {
            let cause = Cause::Malformed { method: "session/new", field: "sessionId" };
            return Err(self.shared.error(Phase::Session, cause));
        };
        let session = Session(session.to_owned());
        self.open_sessions.push(session.clone());
        Ok(session)
    }

    /// One turn: sends the text and collects what the agent says until it stops.
    ///
    /// A turn that takes too long, says too much or costs too much is cancelled, and the agent gets the
    /// grace time to acknowledge that. After an error the session is in an unknown state.
    pub fn prompt(&mut self, session: &Session, text: &str) -> Result<Turn, ClientError> {
        self.shared.collect(Some(Collecting::new(session.id(), self.limits.answer_bytes)));
        let answer = self.ask(Phase::Prompt, |id| wire::prompt(id, session.id(), text));
        let answer = match answer {
            Err(error) if matches!(error.cause, Cause::CostLimit { .. }) => {
                self.cancel();
                // An agent that had finished when it reported its cost has an answer, which is paid for.
                self.shared.finished_answer().ok_or(error)
            }
            answered => answered,
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                if error.cause.is_ours() {
                    self.cancel();
                }
                self.shared.collect(None);
                self.shared.with(|state| state.cancelling = false);
                return Err(error);
            }
        };
        self.shared.with(|state| state.cancelling = false);
        let Some(collected) = self.shared.collect(None) else {
            return Err(self.shared.error(Phase::Prompt, Cause::Ended));
        };
        let stop = answer.get("stopReason").and_then(Value::as_str).unwrap_or_default();
        Ok(Turn {
            text: collected.text,
            last_message: collected.last_message,
            stop: StopReason::from_wire(stop),
            tokens: wire::read_tokens(&answer),
        })
    }

    /// Sets what the sessions together may cost in US dollars, for agents that report their cost.
    pub fn limit_cost(&mut self, dollars: Option<f64>) {
        self.shared.with(|state| state.most_dollars = dollars);
    }

    /// Calls off turns from another thread.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        Canceller(Arc::clone(&self.shared))
    }

    /// Closes the sessions, where the agent knows how, and then its standard input.
    pub fn close(mut self) -> Result<(), ClientError> {
        if self.agent.closes_sessions {
            for session in std::mem::take(&mut self.open_sessions) {
                self.ask(Phase::Close, |id| wire::close(id, session.id()))?;
            }
        }
        Ok(())
    }

    /// What the agent asked for and did not get: the first of it, and how often it asked in all.
    #[must_use]
    pub fn denied(&self) -> (Vec<Denied>, u64) {
        self.shared.with(|state| (state.denied.clone(), state.denials))
    }

    /// What the agent said about tokens and cost of its sessions together.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.shared.with(|state| state.usage.clone())
    }

    /// What the agent wrote besides messages.
    #[must_use]
    pub fn skipped(&self) -> Skipped {
        self.shared.with(|state| state.skipped.clone())
    }

    /// Sends a request and waits for its answer within the limits of its phase.
    fn ask(
        &mut self,
        phase: Phase,
        message: impl FnOnce(u64) -> String,
    ) -> Result<Value, ClientError> {
        let limit = match phase {
            Phase::Start => self.limits.start,
            Phase::Session => self.limits.session,
            Phase::Prompt => self.limits.prompt,
            Phase::Close => self.limits.grace,
        };
        let now = Instant::now();
        let whole = self.limits.whole.saturating_sub(now.duration_since(self.began));
        let deadline = match phase {
            // What is over may be closed even when the time is over.
            Phase::Close => Deadline::new(now, limit, Cause::TimedOut { limit }),
            _ if whole < limit => {
                Deadline::new(now, whole, Cause::WholeTimedOut { limit: self.limits.whole })
            }
            _ => Deadline::new(now, limit, Cause::TimedOut { limit }),
        };
        let id = self.next_id;
        self.next_id += 1;
        self.shared.expect(id);
        self.shared
            .send(message(id), &deadline)
            .inspect_err(|_| self.shared.with(|state| state.expected = None))
            .and_then(|()| self.shared.wait(&deadline, self.limits.grace))
            .and_then(|answer| match answer {
                Answer::Result(result) => Ok(serde_json::from_str(&result).unwrap_or_default()),
                Answer::Error(error) => Err(wire::read_error(&error, &self.agent.auth_methods)),
            })
            .map_err(|cause| self.shared.error(phase, cause))
    }

    /// Asks the agent to stop and waits for it to say that it did; what it says is of no interest.
    fn cancel(&self) {
        let limit = self.limits.grace;
        let deadline = Deadline::new(Instant::now(), limit, Cause::TimedOut { limit });
        // A prompt that was never sent, for lack of time, needs no cancellation.
        if self.shared.with(canceller::cancel) {
            self.shared.wait_until_answered(&deadline);
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.shared.close();
    }
}
