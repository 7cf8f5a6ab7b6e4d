//! The thread that reads what an agent writes: it hands on answers, collects text, and denies.

use std::io::{self, Read};
use std::sync::Arc;
use std::thread;

use serde_json::Value;

use super::deny;
use super::error::Cause;
use super::files;
use super::shared::{Answer, Shared, State};
use super::wire::shorten;
use crate::envelope::{Envelope, Id, MessageKind, Outcome, unquote};
use crate::frame::FrameReader;
use crate::recording::Side;
use crate::splice::find;

/// Denials are counted without end and listed up to here.
const DENIALS_LISTED: usize = 100;

/// An id is echoed into the answer; nobody needs one longer than this.
const ID_BYTES: usize = 4096;

pub(super) fn start(
    shared: &Arc<Shared>,
    agent_output: impl Read + Send + 'static,
    line_limit: usize,
) -> io::Result<()> {
    let shared = Arc::clone(shared);
    let mut frames = FrameReader::with_line_limit(agent_output, line_limit);
    let run = move || {
        let end = read(&shared, &mut frames);
        let skipped = frames.skipped().clone();
        shared.with(|state| {
            state.skipped = skipped;
            state.end = Some(end);
        });
    };
    thread::Builder::new().name("acp-reader".to_owned()).spawn(run).map(drop)
}

fn read(shared: &Shared, frames: &mut FrameReader<impl Read>) -> Cause {
    let mut known = 0;
    loop {
        match frames.read() {
            Ok(Some(message)) => {
                if let Some(tap) = &shared.tap {
                    tap(Side::Agent, message.text());
                }
                handle(shared, &message);
            }
            Ok(None) => return Cause::Ended,
            Err(error) => return Cause::pipe(&error),
        }
        let skipped = frames.skipped();
        if skipped.lines() != known {
            known = skipped.lines();
            let skipped = skipped.clone();
            shared.with(|state| state.skipped = skipped);
        }
    }
}

fn handle(shared: &Shared, message: &Envelope<'_>) {
    match message.kind() {
        MessageKind::Response { id: Some(id), outcome } => {
            shared.with(|state| take_answer(state, &id, outcome));
        }
        MessageKind::Request { id, method, params } if id.raw().len() <= ID_BYTES => {
            if let Some(served) = &shared.files
                && method == files::METHOD
            {
                return shared.reply(files::answer(served.as_ref(), &id, params));
            }
            let cancelling = shared.with(|state| state.cancelling);
            let (reply, denied) = deny::answer(&id, &method, params, cancelling);
            shared.with(|state| {
                state.denials += 1;
                if state.denied.len() < DENIALS_LISTED {
                    state.denied.push(denied);
                }
            });
            shared.reply(reply);
        }
        MessageKind::Notification { method, .. } if method == "session/update" => {
            take_update(shared, message);
        }
        // Nobody waits for an answer to these.
        MessageKind::Response { id: None, .. }
        | MessageKind::Request { .. }
        | MessageKind::Notification { .. }
        | MessageKind::Batch => {}
    }
}

/// Takes the answer to the request under way; a second one, or one that nobody asked for, is dropped.
fn take_answer(state: &mut State, id: &Id<'_>, outcome: Outcome<'_>) {
    if state.expected.is_none() || id.number() != state.expected {
        return;
    }
    state.expected = None;
    state.answer = Some(match outcome {
        Outcome::Result(result) => Answer::Result(result.to_owned()),
        Outcome::Error(error) => Answer::Error(error.to_owned()),
    });
}

fn take_update(shared: &Shared, message: &Envelope<'_>) {
    let text_at = |path: &str| find(message, path).last().and_then(|raw| unquote(raw));
    let session = text_at("params.sessionId");
    match text_at("params.update.sessionUpdate").as_deref() {
        Some("agent_message_chunk") => {
            if text_at("params.update.content.type").as_deref() != Some("text") {
                return;
            }
            // Not unquoted here: a chunk may hold half of a character.
            let literals = find(message, "params.update.content.text");
            let Some(escaped) =
                literals.last().and_then(|raw| raw.strip_prefix('"')?.strip_suffix('"'))
            else {
                return;
            };
            let message_id = text_at("params.update.messageId");
            shared.with(|state| {
                // Text after the answer to the prompt is part of no turn.
                let waiting = state.expected.is_some();
                if let Some(collecting) = state.collecting.as_mut()
                    && waiting
                    && session.as_deref() == Some(collecting.session.as_str())
                {
                    collecting.push(escaped, message_id.as_deref());
                }
            });
        }
        Some("usage_update") => {
            let update = find(message, "params.update").last().copied().unwrap_or("null");
            let update: Value = serde_json::from_str(update).unwrap_or_default();
            shared.with(|state| take_usage(state, &update));
        }
        _ => {}
    }
}

fn take_usage(state: &mut State, update: &Value) {
    let count = |key: &str| update.get(key).and_then(Value::as_u64);
    state.usage.context_used = count("used").or(state.usage.context_used);
    state.usage.context_size = count("size").or(state.usage.context_size);
    let cost = update.get("cost");
    let amount = cost.and_then(|cost| cost.get("amount")).and_then(Value::as_f64);
    let currency = cost.and_then(|cost| cost.get("currency")).and_then(Value::as_str);
    if let (Some(amount), Some(currency)) = (amount, currency) {
        state.usage.cost = Some((amount, shorten(currency)));
    }
}

#[cfg(test)]
mod tests {
    use super::{Envelope, Shared, handle};
    use crate::client::turn::Collecting;

    /// Through a pipe the caller would mostly have taken the text before the late part is read.
    #[test]
    fn text_that_is_read_after_the_answer_is_not_collected() {
        let chunk = r#"{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}}"#;
        let shared = Shared::new(None, None);
        shared.collect(Some(Collecting::new("s", 100)));
        shared.expect(3);
        for text in [chunk, r#"{"id":2,"result":{}}"#, chunk, r#"{"id":3,"result":{}}"#, chunk] {
            handle(&shared, &Envelope::parse(text).unwrap());
        }
        assert_eq!(shared.collect(None).unwrap().text, "xx");
    }
}
