//! While an agent works: its progress, and the trace.

use std::io::Write as _;

use probity_autofix::{Event, Outcome};
use probity_check::{SessionOf, masked_read};
use probity_report::ai_fix::read_to_json;
use probity_text::visible;
use serde_json::{Value, json};

use super::{Progress, trace::Trace};
use crate::{screen::count, streams};

pub(super) fn hear(
    session: &SessionOf<'_>,
    event: Event<'_>,
    trace: Option<&Trace>,
    progress: &Progress,
) {
    let hidden = |text: &str| session.hider.message(text);
    let record = |round: u32, kind: &str, value: &dyn Fn() -> Value| {
        let Some(trace) = trace else { return };
        trace.write(&json!({
            "file": hidden(session.shown),
            "agent": session.agent,
            "round": round,
            kind: value(),
        }));
    };
    let (shown, agent) = (session.shown, session.agent);
    match event {
        Event::Asking { round, prompt } => {
            let bytes = prompt.len();
            progress(shown, &format!("asking {agent}, round {round}, {bytes} bytes"));
            record(round, "prompt", &|| hidden(prompt).into());
        }
        Event::Answered { round, answer } => {
            progress(shown, &format!("checking the answer of {agent}"));
            record(round, "answer", &|| hidden(answer).into());
        }
        Event::Read { round, read } => {
            record(round, "read", &|| read_to_json(&masked_read(read, &hidden)));
        }
        Event::Refused { round, issues } => record(round, "refused", &|| {
            let issues = serde_json::to_string(issues).unwrap_or_default();
            serde_json::from_str(&hidden(&issues)).unwrap_or_default()
        }),
    }
}

/// Shows what would be sent, and to whom.
pub(super) fn preview(
    session: &SessionOf<'_>,
    prompt: Result<String, Outcome>,
    contained_by: &str,
) {
    let (shown, agent) = (session.shown, session.agent);
    let said = match prompt {
        Ok(prompt) => {
            let bytes = prompt.len();
            let text = session.hider.message(&prompt);
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
