//! A bounded conversation of requests and outputs. What its end means is decided elsewhere.

use std::collections::HashSet;

use probity_agent::{Agent, AgentError, Limits, StopReason, Turn};
use serde_json::{Map, Value};

use super::{Event, Session, ended::SessionEnd};
use crate::{
    Rules, Skill, TokenUsage,
    action::{self, Action, Expected},
    coverage::Coverage,
    prompt,
    tools::request::Request,
};

/// One conversation, and what it has come to so far.
pub(super) struct Conversation<'a> {
    pub(super) session: &'a Session<'a>,
    pub(super) skill: &'a Skill,
    pub(super) coverage: Coverage,
    pub(super) usage: TokenUsage,
    /// What was read, so that nobody pays for it twice.
    answered: HashSet<Request>,
}

/// What comes after a final answer of the model.
pub(super) enum Next<T> {
    Ask(String),
    Done(T),
}

/// Decides whether a final answer is one.
pub(super) trait Judge {
    type Answer;
    const EXPECTED: Expected;

    fn judge(
        &mut self,
        conversation: &Conversation<'_>,
        object: &Map<String, Value>,
        left: usize,
    ) -> Result<Next<Self::Answer>, SessionEnd>;
}

impl<'a> Conversation<'a> {
    pub(super) fn new(session: &'a Session<'a>, skill: &'a Skill) -> Self {
        Self {
            session,
            skill,
            coverage: session.unseen.clone(),
            usage: TokenUsage::default(),
            answered: HashSet::new(),
        }
    }

    pub(super) fn converse<J: Judge>(
        &mut self,
        opened: Result<Box<dyn Agent>, AgentError>,
        first: String,
        most: usize,
        judge: &mut J,
    ) -> Result<J::Answer, SessionEnd> {
        let mut agent = opened.map_err(|error| SessionEnd::Agent(Box::new(error)))?;
        let mut said = first;
        let mut is_repair = false;
        for step in 1..=most {
            let (text, was_cut) = self.ask(agent.as_mut(), &said, step, most)?;
            // An example in the question is not an answer to it.
            if text.contains(said.trim()) {
                return Err(SessionEnd::Echo);
            }
            let left = most - step;
            said = match action::parse(&text, J::EXPECTED) {
                Ok(Action::Final(object)) => match judge.judge(self, &object, left)? {
                    Next::Ask(said) => said,
                    Next::Done(answer) => return Ok(answer),
                },
                Ok(Action::Read(request)) => {
                    is_repair = false;
                    self.read(&request, left)
                }
                // One more chance; a model that cannot take it will not take the next either.
                Err(why) if is_repair => return Err(SessionEnd::Unusable(why)),
                Err(why) => {
                    is_repair = true;
                    let why = why.to_string();
                    self.tell(&Event::Repairs { why: &why });
                    prompt::repair(&why, was_cut, left, J::EXPECTED)
                }
            };
        }
        Err(SessionEnd::MaxSteps(most))
    }

    /// One question, and what it cost. Gives the answer, and whether it was cut off.
    fn ask(
        &mut self,
        agent: &mut dyn Agent,
        said: &str,
        step: usize,
        most: usize,
    ) -> Result<(String, bool), SessionEnd> {
        let Session { budget, limits, cancel, secrets, .. } = self.session;
        if let Some(limit) = budget.exceeded() {
            return Err(SessionEnd::OverBudget(limit));
        }
        self.tell(&Event::Asks { step, most });
        let limits = Limits { output_tokens: budget.left(), ..**limits };
        let answer = agent
            .ask(&Turn::new(said), &limits, cancel)
            .map_err(|error| SessionEnd::Agent(Box::new(error)))?;
        let mut now = TokenUsage { requests: answer.requests.into(), ..TokenUsage::default() };
        if let Some(counted) = answer.usage {
            now.input_tokens = counted.input_tokens;
            now.output_tokens = counted.output_tokens;
            now.cost_usd = counted.cost;
        }
        self.usage.add(&now);
        // An agent that does not count is taken to need a token for four bytes.
        let guess = (said.len() + answer.text.len()) as u64 / 4;
        budget.spend(if answer.usage.is_some() { now.tokens() } else { guess });
        self.tell(&Event::Says { text: &secrets.mask(&answer.text) });
        Ok((answer.text, answer.stop == StopReason::MaxTokens))
    }

    /// Carries out a request, or says why not; the conversation goes on either way.
    fn read(&mut self, request: &Request, left: usize) -> String {
        let Session { tools, observer, rules, .. } = self.session;
        self.tell(&Event::Requests { request });
        if *rules == Rules::Probity && self.answered.contains(request) {
            let why = "it was answered before";
            self.tell(&Event::Refused { request, why });
            return prompt::repeated(request, left);
        }
        let confirm = |summary: &str, path: &str| observer.allow(summary, path);
        match tools.execute(request, &confirm) {
            Ok(reading) => {
                self.coverage.count(&reading.shown);
                self.answered.insert(request.clone());
                self.tell(&Event::Output { request, text: &reading.text });
                prompt::output(request, &reading.text, left)
            }
            Err(error) => {
                let why = error.to_string();
                self.tell(&Event::Refused { request, why: &why });
                prompt::refused(request, &why, left)
            }
        }
    }

    pub(super) fn tell(&self, event: &Event<'_>) {
        self.session.observer.event(self.skill, event);
    }
}
