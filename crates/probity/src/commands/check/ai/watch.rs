//! While an agent works: its progress, and the trace.

use std::io::Write as _;

use probity_autofix::{Event, Outcome};
use probity_text::visible;
use serde_json::json;

use super::{Progress, context, trace::Trace};
use crate::{commands::check::mask::Hider, report::ai_fix::read_to_json, screen::count, streams};

/// Sees one session.
pub(super) struct Watch<'w> {
    pub(super) shown: &'w str,
    pub(super) agent: &'w str,
    /// Hides the secrets of the file wherever they are quoted.
    pub(super) hider: Hider<'w>,
    pub(super) trace: Option<&'w Trace>,
    pub(super) heard: Option<&'w Progress>,
}

impl Watch<'_> {
    pub(super) fn event(&self, event: Event<'_>) {
        match event {
            Event::Asking { round, prompt } => {
                let bytes = prompt.len();
                self.progress(&format!("asking {}, round {round}, {bytes} bytes", self.agent));
                self.record(round, "prompt", || self.hidden(prompt).into());
            }
            Event::Answered { round, answer } => {
                self.progress(&format!("checking the answer of {}", self.agent));
                self.record(round, "answer", || self.hidden(answer).into());
            }
            Event::Read { round, read } => self.record(round, "read", || {
                read_to_json(&context::hidden(read, &|text: &str| self.hidden(text)))
            }),
            Event::Refused { round, issues } => self.record(round, "refused", || {
                let issues = serde_json::to_string(issues).unwrap_or_default();
                serde_json::from_str(&self.hidden(&issues)).unwrap_or_default()
            }),
        }
    }

    /// Shows what would be sent, and to whom.
    pub(super) fn preview(&self, prompt: Result<String, Outcome>, contained_by: &str) {
        let (shown, agent) = (self.shown, self.agent);
        let said = match prompt {
            Ok(prompt) => {
                let bytes = prompt.len();
                let text = self.hidden(&prompt);
                let stars = if text == prompt {
                    ""
                } else {
                    " (secrets are shown as stars here and would be sent as they are)"
                };
                let text = visible::block(&text).into_owned();
                format!(
                    "{shown}: {bytes} bytes would be sent to {agent}, sandbox: \
                     {contained_by}{stars}:\n{text}"
                )
            }
            Err(outcome @ Outcome::Skipped { .. }) => {
                format!("{shown}: nothing would be sent to {agent}: {outcome}\n")
            }
            Err(Outcome::Applied | Outcome::NoChange) => return,
        };
        // With stderr gone there is nobody to show it to.
        drop(count::beside(|| streams::stderr().write_all(said.as_bytes())));
    }

    pub(super) fn progress(&self, what: &str) {
        if let Some(heard) = self.heard {
            heard(self.shown, what);
        }
    }

    fn record(&self, round: u32, kind: &str, value: impl FnOnce() -> serde_json::Value) {
        let Some(trace) = self.trace else { return };
        trace.write(&json!({
            "file": self.hidden(self.shown),
            "agent": self.agent,
            "round": round,
            kind: value(),
        }));
    }

    fn hidden(&self, text: &str) -> String {
        self.hider.message(text)
    }
}
