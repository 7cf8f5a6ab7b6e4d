//! What the caller and the two threads share, and how they wait for each other.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Tap;
use super::deny::Denied;
use super::error::{Cause, ClientError, Phase};
use super::files::Files;
use super::turn::{Collecting, Usage};
use super::wire::shorten;
use crate::frame::{FrameWriter, Skipped};
use crate::recording::Side;

/// Bytes that may wait to be written before whoever adds to them has to wait.
const QUEUE_BYTES: usize = 1024 * 1024;

pub(super) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    pub(super) tap: Option<Tap>,
    pub(super) files: Option<Files>,
}

#[derive(Default)]
pub(super) struct State {
    queue: VecDeque<String>,
    queued_bytes: usize,
    /// Set when nothing more will be sent.
    closed: bool,
    /// The number of the request that the caller waits for.
    pub(super) expected: Option<u64>,
    pub(super) answer: Option<Answer>,
    pub(super) collecting: Option<Collecting>,
    pub(super) cancelling: bool,
    /// Why nothing more will be read.
    pub(super) end: Option<Cause>,
    /// When writing failed, and why. The agent may have answered before it closed its input, so
    /// this alone does not end the wait at once.
    write_failure: Option<(Instant, Cause)>,
    pub(super) denied: Vec<Denied>,
    pub(super) denials: u64,
    pub(super) usage: Usage,
    /// What the sessions may cost.
    pub(super) most_dollars: Option<f64>,
    pub(super) skipped: Skipped,
}

/// An agent's answer to a request, as raw JSON.
pub(super) enum Answer {
    Result(String),
    Error(String),
}

/// A moment, and what it means when it has come.
pub(super) struct Deadline {
    at: Instant,
    cause: Cause,
}

impl Deadline {
    pub(super) fn new(now: Instant, limit: Duration, cause: Cause) -> Self {
        // A limit that no clock reaches is a year.
        let at = now.checked_add(limit).unwrap_or(now + Duration::from_secs(31_536_000));
        Self { at, cause }
    }

    fn remaining(&self) -> Result<Duration, Cause> {
        match self.at.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(self.cause.clone()),
            remaining => Ok(remaining),
        }
    }
}

impl Shared {
    pub(super) fn new(tap: Option<Tap>, files: Option<Files>) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), tap, files }
    }

    /// Looks at the state or changes it, and wakes whoever waits for a change.
    pub(super) fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        let value = look(&mut self.lock());
        self.changed.notify_all();
        value
    }

    pub(super) fn error(&self, phase: Phase, cause: Cause) -> ClientError {
        let noise = self.lock().skipped.sample.as_deref().map(shorten);
        ClientError { phase, cause, noise, stderr: None }
    }

    /// Begins or ends the collecting of text; gives what was collected before.
    pub(super) fn collect(&self, next: Option<Collecting>) -> Option<Collecting> {
        self.with(|state| std::mem::replace(&mut state.collecting, next))
    }

    pub(super) fn expect(&self, id: u64) {
        self.with(|state| {
            state.expected = Some(id);
            state.answer = None;
        });
    }

    /// Queues a message of the caller's.
    pub(super) fn send(&self, message: String, deadline: &Deadline) -> Result<(), Cause> {
        // What has no time to be answered is not asked.
        deadline.remaining()?;
        let mut state = self.lock();
        while state.queue_is_full() {
            state = self.pause(state, deadline.remaining()?);
        }
        state.enqueue(message);
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// Queues an answer to a request of the agent. An agent that asks and does not read is not read
    /// either, until it is killed.
    pub(super) fn reply(&self, message: String) {
        let mut state = self.lock();
        while state.queue_is_full() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.enqueue(message);
        drop(state);
        self.changed.notify_all();
    }

    /// Waits for the answer to the expected request.
    pub(super) fn wait(&self, deadline: &Deadline, grace: Duration) -> Result<Answer, Cause> {
        let mut state = self.lock();
        loop {
            if let Some(collecting) = state.collecting.as_ref().filter(|text| text.over_limit) {
                return Err(Cause::OutputLimit { limit: collecting.limit });
            }
            if let Some(answer) = state.answer.take() {
                return Ok(answer);
            }
            if let Some(end) = &state.end {
                return Err(end.clone());
            }
            if let Some(spent) = state.overspent() {
                return Err(Cause::CostLimit { spent });
            }
            let mut remaining = deadline.remaining()?;
            if let Some((at, cause)) = &state.write_failure {
                let over = Deadline::new(*at, grace, cause.clone()).remaining()?;
                remaining = remaining.min(over);
            }
            state = self.pause(state, remaining);
        }
    }

    /// Waits, after a cancellation, until the request is answered, the agent is gone or time is up.
    pub(super) fn wait_until_answered(&self, deadline: &Deadline) {
        let mut state = self.lock();
        while state.answer.is_none() && state.end.is_none() && state.write_failure.is_none() {
            let Ok(remaining) = deadline.remaining() else { return };
            state = self.pause(state, remaining);
        }
    }

    /// The answer of a turn that ended by itself.
    pub(super) fn finished_answer(&self) -> Option<Value> {
        let Answer::Result(answer) = self.lock().answer.take()? else { return None };
        let answer: Value = serde_json::from_str(&answer).ok()?;
        (answer.get("stopReason")?.as_str()? == "end_turn").then_some(answer)
    }

    /// No message is sent after this; those that wait still are.
    pub(super) fn close(&self) {
        self.with(|state| state.closed = true);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pause<'a>(&self, state: MutexGuard<'a, State>, time: Duration) -> MutexGuard<'a, State> {
        self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
    }

    /// The next message to write, or `None` when there will be none.
    fn next_message(&self) -> Option<String> {
        let mut state = self.lock();
        loop {
            if let Some(message) = state.queue.pop_front() {
                state.queued_bytes -= message.len();
                drop(state);
                self.changed.notify_all();
                return Some(message);
            }
            if state.closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl State {
    /// What a turn under way has cost, if that is more than it may.
    fn overspent(&self) -> Option<f64> {
        self.collecting.as_ref()?;
        let (spent, _) = self.usage.cost.as_ref().filter(|(_, unit)| unit == "USD")?;
        self.most_dollars.filter(|most| spent > most).map(|_| *spent)
    }

    /// One message always has room, however long it is.
    fn queue_is_full(&self) -> bool {
        self.queued_bytes >= QUEUE_BYTES && !self.closed && self.write_failure.is_none()
    }

    pub(super) fn enqueue(&mut self, message: String) {
        if !self.closed && self.write_failure.is_none() {
            self.queued_bytes += message.len();
            self.queue.push_back(message);
        }
    }
}

/// Starts the thread that writes, which also owns the agent's input and closes it at the end.
pub(super) fn start_writer(
    shared: &Arc<Shared>,
    agent_input: impl Write + Send + 'static,
) -> io::Result<()> {
    let shared = Arc::clone(shared);
    let mut writer = FrameWriter::new(agent_input);
    let run = move || {
        while let Some(message) = shared.next_message() {
            // Before it is written, or its answer could be seen first.
            if let Some(tap) = &shared.tap {
                tap(Side::Client, &message);
            }
            if let Err(error) = writer.write(&message) {
                shared.with(|state| {
                    state.write_failure = Some((Instant::now(), Cause::pipe(&error)));
                    state.queue.clear();
                    state.queued_bytes = 0;
                });
                return;
            }
        }
    };
    thread::Builder::new().name("acp-writer".to_owned()).spawn(run).map(drop)
}

impl fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The state holds prompts and answers, which belong in no log.
        formatter.debug_struct("Shared").finish_non_exhaustive()
    }
}
