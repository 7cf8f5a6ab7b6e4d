//! What people see and are asked while an audit runs: the log, the bar, and the question before a
//! read. All of it is on stderr.

use std::{
    io::Write as _,
    sync::{Mutex, PoisonError},
};

use probity_audit::{Event, Observer, ProviderSpec, Request, Skill};
use probity_text::visible;

use crate::{
    screen::{
        count::{self, Count},
        is_confirmed,
    },
    streams,
};

/// How much of a text is shown in the log.
const MOST_CHARS: usize = 2_000;

/// What else is on the terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Talk {
    /// Each step is written down.
    pub(super) logs: bool,
    /// Somebody is asked before each read.
    pub(super) asks: bool,
}

pub(super) struct Watch {
    logs: bool,
    count: Option<Count>,
    provider: String,
    ids: Vec<String>,
    /// One question at a time, and no line of the log in the middle of one.
    terminal: Mutex<()>,
}

impl Watch {
    pub(super) fn new(talk: Talk, provider: &ProviderSpec, skills: &[Skill], done: usize) -> Self {
        let quiet = talk.logs || talk.asks;
        let count = (!quiet).then(|| {
            let count = Count::of(skills.len(), "skills");
            count.start_at(done);
            count
        });
        Self {
            logs: talk.logs,
            count,
            provider: format!("{} ({})", provider.name, provider.notes),
            ids: skills.iter().map(|skill| skill.id.clone()).collect(),
            terminal: Mutex::new(()),
        }
    }

    pub(super) fn start(&self, sources: usize) {
        if self.logs {
            let skills = self.ids.len();
            self.line(&format!(
                "[audit] {}: {skills} skills, {sources} source files",
                self.provider
            ));
        }
    }

    pub(super) fn finish(&mut self) {
        self.count = None;
    }

    fn line(&self, text: &str) {
        let _guard = self.terminal.lock().unwrap_or_else(PoisonError::into_inner);
        // With stderr gone the audit is still worth its report.
        drop(count::beside(|| writeln!(streams::stderr().lock(), "{text}")));
    }

    fn log(&self, skill: &Skill, text: &str) {
        let place = self.ids.iter().position(|id| *id == skill.id).map_or(0, |index| index + 1);
        let (id, all) = (visible::line(&skill.id), self.ids.len());
        self.line(&format!("[audit] skill {place}/{all} '{id}': {}", visible::block(text)));
    }
}

impl Observer for Watch {
    fn allow(&self, summary: &str, path: &str) -> bool {
        let _guard = self.terminal.lock().unwrap_or_else(PoisonError::into_inner);
        let (summary, path) = (visible::line(summary), visible::line(path));
        let question = format!("[audit][permission] {summary} -> {path}\nAllow this request?");
        // A question that nobody saw is not allowed.
        is_confirmed(&question).unwrap_or(false)
    }

    fn event(&self, skill: &Skill, event: &Event<'_>) {
        if let Some(count) = &self.count {
            match event {
                Event::Begins => count.say(&skill.id),
                Event::Asks { step, most } => {
                    count.say(&format!("{}: step {step} of {most}", skill.id));
                }
                Event::Exploits { finding } => {
                    count.say(&format!("{}: trying to exploit: {}", skill.id, finding.title));
                }
                Event::Ends { .. } => count.add_one(),
                _ => {}
            }
        }
        if self.logs {
            self.log(skill, &told(skill, event));
        }
    }
}

fn told(skill: &Skill, event: &Event<'_>) -> String {
    match event {
        Event::Begins => format!("begins ({})", skill.name),
        Event::Cached => "an earlier run has the answer; --no-cache asks again".to_owned(),
        Event::Exploits { finding } => format!("tries to exploit: {}", finding.title),
        Event::HasExploit { finding, level } => {
            format!("same vulnerability as in another skill, level {level}: {}", finding.title)
        }
        Event::Tried { level, reason } => format!("exploit tried, level {level}: {reason}"),
        Event::Refutes { finding } => format!("tries to refute: {}", finding.title),
        Event::Asks { step, most } => format!("step {step}/{most}: asking for the next action"),
        Event::Says { text } => format!("model output:\n{}", cut(text)),
        Event::Requests { request } => {
            format!("requested action {}: {}", request.action(), request.summary())
        }
        Event::Output { request, text } => match request {
            // The content of files stays out of logs, which are copied around.
            Request::ReadFile { .. } | Request::Grep { .. } => format!(
                "output of {}: {} characters (content not shown)",
                request.action(),
                text.chars().count()
            ),
            _ => format!("output of {}:\n{}", request.action(), cut(text)),
        },
        Event::Refused { request, why } => format!("{} refused: {why}", request.action()),
        Event::Repairs { why } => format!("the answer cannot be used: {why}; asking once more"),
        Event::Ends { iteration } => format!(
            "ended: status={}, findings={}, state written",
            iteration.status,
            iteration.findings.len()
        ),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARS) {
        Some((at, _)) => {
            let total = text.chars().count();
            let kept = text.get(..at).unwrap_or_default();
            format!("{kept}\n… (truncated, {total} chars total)")
        }
        None => text.to_owned(),
    }
}
