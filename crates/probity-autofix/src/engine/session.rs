//! One conversation: what may be sent, how long it may take, and what came back.

use std::time::Instant;

use probity_agent::{Agent, AgentError, Cancel, Cause, Limits, Phase, StopReason, Turn};
use probity_secrets::FindSecrets;
use probity_text::beginning;

use super::{Event, Opening, Request};
use crate::{
    Answer, Expect, Reason, SecretsPolicy,
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
pub(super) struct Stop {
    pub(super) reason: Reason,
    pub(super) detail: String,
}

pub(super) struct Conversation<'c> {
    request: &'c Request<'c>,
    payload: &'c Payload,
    open: Opening<'c>,
    agent: Option<Box<dyn Agent>>,
    cancel: &'c Cancel,
    watch: &'c dyn Fn(Event<'_>),
    began: Instant,
    session: Session,
}

impl<'c> Conversation<'c> {
    pub(super) fn new(
        request: &'c Request<'c>,
        payload: &'c Payload,
        open: Opening<'c>,
        cancel: &'c Cancel,
        watch: &'c dyn Fn(Event<'_>),
    ) -> Self {
        let (began, session) = (Instant::now(), Session::default());
        Self { request, payload, open, agent: None, cancel, watch, began, session }
    }

    pub(super) fn ask(&mut self, round: u32, prompt: &str, expect: Expect) -> Result<Answer, Stop> {
        let settings = &self.request.settings;
        let detector = self.request.fix.lint.secrets;
        sendable(prompt, self.payload, settings.secrets, detector, settings.max_input_bytes)?;
        let left = settings.timeout.saturating_sub(self.began.elapsed());
        if left.is_zero() {
            return Err(timed_out(self.request));
        }
        let mut agent = match self.agent.take() {
            Some(agent) => agent,
            None => (self.open)().map_err(|error| self.explained(&error))?,
        };
        (self.watch)(Event::Asking { round, prompt });
        self.session.rounds = round;
        self.session.prompts += 1;
        self.session.prompt_bytes += prompt.len();
        let answer = agent
            .ask(&Turn::new(prompt), &Limits::within(left), self.cancel)
            .map_err(|error| self.explained(&error))?;
        self.agent = Some(agent);
        self.session.answer_bytes += answer.text.len();
        let room = MOST_DENIED.saturating_sub(self.session.denied.len());
        let denied = answer.denied.iter().take(room).map(|what| beginning(what, LONGEST_DENIED));
        self.session.denied.extend(denied);
        (self.watch)(Event::Answered { round, answer: &answer.text });
        let stopped = match &answer.stop {
            StopReason::EndTurn => return Ok(parse_answer(&answer.text, expect)),
            StopReason::MaxTokens => "the answer is cut off: the agent reached its limit of tokens",
            StopReason::Refusal => "the agent refused",
            StopReason::Cancelled => "the agent says that it was cancelled",
            StopReason::Other(_) => "the agent stopped for a reason of its own",
        };
        Err(Stop { reason: Reason::AgentFailed, detail: stopped.to_owned() })
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
    pub(super) fn finish(self) -> Session {
        drop(self.agent);
        Session { duration: self.began.elapsed(), ..self.session }
    }

    fn explained(&self, error: &AgentError) -> Stop {
        let reason = match error.cause {
            Cause::TimedOut(_) if error.phase != Phase::Initializing => {
                return timed_out(self.request);
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
        if error.phase == Phase::Initializing {
            detail.push_str(&format!("; {}", error.way_out()));
        }
        Stop { reason, detail }
    }
}

/// Whether this very text may be sent.
pub(super) fn sendable(
    prompt: &str,
    payload: &Payload,
    policy: SecretsPolicy,
    detector: Option<&dyn FindSecrets>,
    most: usize,
) -> Result<(), Stop> {
    let bytes = prompt.len();
    if bytes > most {
        let detail = format!("the prompt has {bytes} bytes, and {most} are the most");
        return Err(Stop { reason: Reason::PromptTooLarge, detail });
    }
    match payload.objection(prompt, policy, detector) {
        Some(detail) => Err(Stop { reason: Reason::SecretsFound, detail }),
        None => Ok(()),
    }
}

fn timed_out(request: &Request<'_>) -> Stop {
    let seconds = request.settings.timeout.as_secs_f64();
    let detail = format!("no accepted answer within {seconds} s");
    Stop { reason: Reason::AgentTimeout, detail }
}
