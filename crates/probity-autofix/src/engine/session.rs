//! One conversation: what may be sent, how long it may take, and what came back.

use std::time::Instant;

use probity_agent::{Agent, AgentError, Cancel, Cause, Limits, Phase, StopReason, Turn};
use probity_secrets::FindSecrets;
use probity_text::beginning;

use super::{Event, Opening, Settings};
use crate::{
    AgentContext, Answer, Expect, Reason,
    checks::Issue,
    outcome::{Refusal, Session},
    parse_answer,
    secrets::Payload,
};

const MOST_DENIED: usize = 20;
const LONGEST_DENIED: usize = 200;
const LONGEST_STDERR: usize = 400;

/// Why a session ended without an accepted proposal.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) reason: Reason,
    pub(crate) detail: String,
}

/// What holds for every question of one session.
#[derive(Clone, Copy)]
pub(crate) struct SessionTerms<'c> {
    pub(crate) settings: Settings,
    /// Knows what may not be sent.
    pub(crate) detector: Option<&'c dyn FindSecrets>,
    pub(crate) context: Option<&'c AgentContext>,
}

pub(crate) struct Conversation<'c> {
    terms: SessionTerms<'c>,
    payload: &'c Payload,
    open: Opening<'c>,
    agent: Option<Box<dyn Agent>>,
    cancel: &'c Cancel,
    watch: &'c dyn Fn(Event<'_>),
    began: Instant,
    session: Session,
}

impl<'c> Conversation<'c> {
    pub(crate) fn new(
        terms: SessionTerms<'c>,
        payload: &'c Payload,
        open: Opening<'c>,
        cancel: &'c Cancel,
        watch: &'c dyn Fn(Event<'_>),
    ) -> Self {
        let (began, session) = (Instant::now(), Session::default());
        Self { terms, payload, open, agent: None, cancel, watch, began, session }
    }

    pub(super) fn ask(&mut self, round: u32, prompt: &str, expect: Expect) -> Result<Answer, Stop> {
        self.say(round, prompt).map(|answer| parse_answer(&answer, expect))
    }

    /// Sends a prompt, if it may be sent, and gives the agent's words.
    pub(crate) fn say(&mut self, round: u32, prompt: &str) -> Result<String, Stop> {
        sendable(prompt, self.payload, self.terms)?;
        let left = self.terms.settings.timeout.saturating_sub(self.began.elapsed());
        if left.is_zero() {
            return Err(timed_out(&self.terms.settings));
        }
        let mut agent = match self.agent.take() {
            Some(agent) => agent,
            None => (self.open)().map_err(|error| self.explained(&error))?,
        };
        (self.watch)(Event::Asking { round, prompt });
        self.session.rounds = round;
        self.session.prompts += 1;
        self.session.prompt_bytes += prompt.len();
        let answer = agent.ask(&Turn::new(prompt), &Limits::within(left), self.cancel);
        self.note_reads(round);
        let answer = answer.map_err(|error| self.explained(&error))?;
        self.agent = Some(agent);
        self.session.answer_bytes += answer.text.len();
        let room = MOST_DENIED.saturating_sub(self.session.denied.len());
        let denied = answer.denied.iter().take(room).map(|what| beginning(what, LONGEST_DENIED));
        self.session.denied.extend(denied);
        (self.watch)(Event::Answered { round, answer: &answer.text });
        let stopped = match &answer.stop {
            StopReason::EndTurn => return Ok(answer.text),
            StopReason::MaxTokens => "the answer is cut off: the agent reached its limit of tokens",
            StopReason::Refusal => "the agent refused",
            StopReason::Cancelled => "the agent says that it was cancelled",
            StopReason::Other(_) => "the agent stopped for an unknown reason",
        };
        Err(Stop { reason: Reason::AgentFailed, detail: stopped.to_owned() })
    }

    /// What the agent has read while it was asked, also if it failed in the end.
    fn note_reads(&mut self, round: u32) {
        let reader = self.terms.context.and_then(|context| context.reader.as_ref());
        let Some(reader) = reader else { return };
        for read in reader.since(self.session.reads.len()) {
            (self.watch)(Event::Read { round, read: &read });
            self.session.reads.push(read);
        }
    }

    /// Does something whose time does not count as the agent's.
    pub(super) fn apart<Value>(&mut self, work: impl FnOnce() -> Value) -> Value {
        let began = Instant::now();
        let value = work();
        self.began += began.elapsed();
        value
    }

    pub(super) fn refused(&mut self, round: u32, reason: Reason, issues: &[Issue]) {
        self.session.refusals.push(Refusal { round, reason, issues: issues.to_vec() });
        (self.watch)(Event::Refused { round, issues });
    }

    /// Ends the agent, and gives what the session cost.
    pub(crate) fn finish(self) -> Session {
        drop(self.agent);
        Session { duration: self.began.elapsed(), ..self.session }
    }

    fn explained(&self, error: &AgentError) -> Stop {
        let reason = match error.cause {
            Cause::TimedOut(_) if error.phase != Phase::Initializing => {
                return timed_out(&self.terms.settings);
            }
            Cause::TimedOut(_) => Reason::AgentTimeout,
            Cause::PromptTooLarge { .. } => Reason::PromptTooLarge,
            Cause::AnswerTooLarge { .. } => Reason::MalformedOutput,
            _ => Reason::AgentFailed,
        };
        let mut detail = error.to_string();
        let last = error.stderr.lines().map(str::trim).rfind(|line| !line.is_empty());
        if let Some(line) = last {
            let line = beginning(line, LONGEST_STDERR);
            detail.push_str(&format!("; its standard error ends: {line}"));
        }
        let is_remote = matches!(error.cause, Cause::Connection(_) | Cause::Status { .. });
        if error.phase == Phase::Initializing || is_remote {
            detail.push_str(&format!("; {}", error.way_out()));
        }
        Stop { reason, detail }
    }
}

/// Whether this very text may be sent.
pub(crate) fn sendable(
    prompt: &str,
    payload: &Payload,
    terms: SessionTerms<'_>,
) -> Result<(), Stop> {
    let most = terms.settings.max_input_bytes;
    let bytes = prompt.len();
    if bytes > most {
        let detail = format!("the prompt has {bytes} bytes, and {most} are the most");
        return Err(Stop { reason: Reason::PromptTooLarge, detail });
    }
    match payload.objection(prompt, terms.settings.secrets, terms.detector) {
        Some(detail) => Err(Stop { reason: Reason::SecretsFound, detail }),
        None => Ok(()),
    }
}

fn timed_out(settings: &Settings) -> Stop {
    let seconds = settings.timeout.as_secs_f64();
    let detail = format!("no accepted answer within {seconds} s");
    Stop { reason: Reason::AgentTimeout, detail }
}
