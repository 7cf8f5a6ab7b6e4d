//! What people see and are asked while an audit runs: the log, the bar, and the question before a
//! read. All of it is on stderr.

use std::{
    io::{self, IsTerminal as _, Write as _},
    sync::{Mutex, PoisonError},
};

use indicatif::{ProgressBar, ProgressStyle};
use probity_audit::{Event, Observer, ProviderSpec, Request, Skill};
use probity_text::visible;

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
    bar: Option<ProgressBar>,
    provider: String,
    ids: Vec<String>,
    /// One question at a time, and no line of the log in the middle of one.
    terminal: Mutex<()>,
}

impl Watch {
    pub(super) fn new(talk: Talk, provider: &ProviderSpec, skills: &[Skill], done: usize) -> Self {
        let quiet = talk.logs || talk.asks;
        let bar = (!quiet && io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new(skills.len() as u64);
            if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} {msg}") {
                bar.set_style(style);
            }
            bar.set_position(done as u64);
            bar
        });
        Self {
            logs: talk.logs,
            bar,
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

    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn line(&self, text: &str) {
        let _guard = self.terminal.lock().unwrap_or_else(PoisonError::into_inner);
        // With stderr gone the audit is still worth its report.
        drop(writeln!(io::stderr().lock(), "{text}"));
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
        let mut err = io::stderr().lock();
        let (summary, path) = (visible::line(summary), visible::line(path));
        let asked =
            write!(err, "[audit][permission] {summary} -> {path}\nAllow this request? [y/N]: ")
                .and_then(|()| err.flush());
        let mut answer = String::new();
        // A question that nobody saw, or that nobody answers, is not allowed.
        asked.is_ok()
            && io::stdin().read_line(&mut answer).is_ok()
            && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
    }

    fn event(&self, skill: &Skill, event: &Event<'_>) {
        if let Some(bar) = &self.bar {
            match event {
                Event::Begins => bar.set_message(skill.id.clone()),
                Event::Asks { step, most } => {
                    bar.set_message(format!("{} step {step}/{most}", skill.id));
                }
                Event::Ends { .. } => bar.inc(1),
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
