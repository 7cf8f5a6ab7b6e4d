//! Models that say what a test tells them to, and an audit that asks them.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use probity_agent::{Agent, AgentError, Answer, Cancel, Limits, Schema, StopReason, Turn, Usage};
use probity_audit::{
    AuditOptions, Event, Observer, PermissionPrompt, Previous, Provider, ProviderSpec, ReadScope,
    Rules, Skill, State, ToolOptions, run,
};

/// From the system prompt, the number of a question in its conversation, and its text to an answer.
type Answering = dyn Fn(&str, usize, &str) -> String + Send + Sync;

/// One question to a model.
pub(crate) struct Question {
    pub(crate) system: String,
    pub(crate) prompt: String,
    pub(crate) schema: Option<Schema>,
}

pub(crate) type Asked = Arc<Mutex<Vec<Question>>>;

struct Model {
    system: String,
    schema: Option<Schema>,
    turn: usize,
    answer: Arc<Answering>,
    asked: Asked,
}

impl Agent for Model {
    fn name(&self) -> &str {
        "model"
    }

    fn ask(&mut self, turn: &Turn, _: &Limits, _: &Cancel) -> Result<Answer, AgentError> {
        self.asked.lock().unwrap().push(Question {
            system: self.system.clone(),
            prompt: turn.prompt.clone(),
            schema: self.schema.clone(),
        });
        let text = (self.answer)(&self.system, self.turn, &turn.prompt);
        self.turn += 1;
        let usage = Some(Usage { input_tokens: 100, output_tokens: 10, ..Usage::default() });
        Ok(Answer { text, stop: StopReason::EndTurn, usage, denied: vec![], requests: 1 })
    }
}

pub(crate) fn model(
    answer: impl Fn(&str, usize, &str) -> String + Send + Sync + 'static,
) -> (Provider, Asked) {
    let asked: Asked = Arc::default();
    let (answer, kept): (Arc<Answering>, Asked) = (Arc::new(answer), Arc::clone(&asked));
    let spec =
        ProviderSpec { name: "model".into(), model: Some("one".into()), notes: String::new() };
    let provider = Provider::agent(spec, move |opening| {
        Ok(Box::new(Model {
            system: opening.system.to_owned(),
            schema: opening.schema.clone(),
            turn: 0,
            answer: Arc::clone(&answer),
            asked: Arc::clone(&kept),
        }))
    });
    (provider, asked)
}

/// The lines one after the other, the last one for ever.
pub(crate) fn saying(lines: &[&str]) -> (Provider, Asked) {
    let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    model(move |_, turn, _| lines[turn.min(lines.len() - 1)].clone())
}

struct Quiet;

impl Observer for Quiet {
    fn allow(&self, _: &str, _: &str) -> bool {
        true
    }
    fn event(&self, _: &Skill, _: &Event<'_>) {}
}

pub(crate) fn options<'a>(
    root: &'a Path,
    sources: &'a [String],
    skills: &'a [Skill],
    provider: &'a Provider,
) -> AuditOptions<'a> {
    AuditOptions {
        rules: Rules::Probity,
        root,
        sources,
        source_digest: Some(probity_audit::digest(root, sources).unwrap()),
        skills,
        provider,
        permission: PermissionPrompt::new(ReadScope::Workspace, false, false, sources),
        tools: ToolOptions {
            numbered: false,
            allow_sensitive: false,
            allow_ignored: false,
            rules: Rules::Probity,
        },
        limits: Limits::within(Duration::from_secs(10)),
        jobs: 1,
        budget: None,
        earlier: Vec::new(),
        previous: Previous::default(),
        changed: None,
        refute: false,
        prove: None,
        cache: None,
    }
}

pub(crate) fn audit(options: AuditOptions<'_>) -> State {
    run(options, &Quiet, &|_| Ok(()), &Cancel::new()).unwrap()
}
