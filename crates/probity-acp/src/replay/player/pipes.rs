//! What a player receives and sends.

use std::io::{ErrorKind, Read, Write};

use serde_json::{Value, json};

use super::{Player, Received, Request, Stop};
use crate::client::wire::{response_error, response_result};
use crate::envelope::{Envelope, Id, MessageKind};
use crate::replay::script::Exchange;
use crate::replay::template::Template;
use crate::replay::{ReplayEnd, ReplayError};
use crate::splice::Splice;

impl<R: Read, W: Write> Player<'_, R, W> {
    /// Reads one message into the inbox.
    pub(super) fn receive(&mut self) -> Result<(), Stop> {
        let message = match self.input.read() {
            Ok(Some(message)) => message,
            Ok(None) => return Err(Stop::ReplayEnd(ReplayEnd::InputClosed)),
            Err(error) => return Err(Stop::Failed(ReplayError::Read(error))),
        };
        self.inbox.push_back(match message.kind() {
            MessageKind::Request { id, method, params } => Received::Request(Request {
                id: id.into_owned(),
                method: method.into_owned(),
                params: params.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default(),
            }),
            MessageKind::Notification { method, .. } => Received::Notification(method.into_owned()),
            MessageKind::Response { id: Some(id), .. } => Received::Response(id.into_owned()),
            MessageKind::Response { id: None, .. } | MessageKind::Batch => return Ok(()),
        });
        Ok(())
    }

    /// Takes the first message that `wanted` takes; others stay for whoever asks for them later.
    fn take<T>(
        &mut self,
        wanted: impl Fn(&Received) -> bool,
        get: impl Fn(Received) -> Option<T>,
    ) -> Result<T, Stop> {
        loop {
            if let Some(at) = self.inbox.iter().position(&wanted)
                && let Some(found) = self.inbox.remove(at).and_then(&get)
            {
                return Ok(found);
            }
            self.receive()?;
        }
    }

    pub(super) fn next_request(&mut self) -> Result<Request, Stop> {
        self.take(
            |received| matches!(received, Received::Request(_)),
            |received| match received {
                Received::Request(request) => Some(request),
                _ => None,
            },
        )
    }

    pub(super) fn await_answer(&mut self, id: &Id<'_>) -> Result<(), Stop> {
        self.take(
            |received| matches!(received, Received::Response(answered) if answered.same_as(id)),
            |_| Some(()),
        )
    }

    pub(super) fn await_notification(&mut self, method: &str) -> Result<(), Stop> {
        self.take(
            |received| matches!(received, Received::Notification(name) if name == method),
            |_| Some(()),
        )
    }

    /// Sends a recorded message; an answer gets the id with which its request was asked this time.
    pub(super) fn send_recorded(&mut self, frame: &str) -> Result<(), Stop> {
        let Some(envelope) = Envelope::parse(frame) else { return Ok(()) };
        let mut splice = Splice::new(&envelope);
        if let MessageKind::Response { id: Some(id), .. } = envelope.kind()
            && let Some(actual) = self.ids.get(&id.into_owned())
        {
            splice.replace("id", |_| Some(actual.raw().to_owned()));
        }
        self.write_line(&splice.finish())
    }

    /// Answers what the script does not mention.
    pub(super) fn answer_unscripted(&mut self, request: &Request) -> Result<(), Stop> {
        let result = match request.method.as_str() {
            "initialize" => json!({
                "protocolVersion": 1,
                "agentCapabilities": {"sessionCapabilities": {"close": {}}},
                "agentInfo": {"name": "replay", "version": "1"},
            }),
            "session/new" => {
                self.sessions += 1;
                json!({"sessionId": format!("replay-{}", self.sessions)})
            }
            "session/close" => json!({}),
            _ => return self.refuse(request),
        };
        self.write_line(&response_result(&request.id, &result))
    }

    pub(super) fn refuse(&mut self, request: &Request) -> Result<(), Stop> {
        let message = format!("the script has no further answer to {}", request.method);
        self.write_line(&response_error(&request.id, -32603, &message))
    }

    /// The client left the script: it is told, and the replay fails.
    pub(super) fn mismatch(&mut self, exchange: &Exchange, request: &Request) -> Stop {
        let show = |method: &str, params: &Value| format!("{method} {params}");
        let expected = show(&exchange.method, exchange.params.as_ref().unwrap_or(&Value::Null));
        let got = show(&request.method, &request.params);
        let line = exchange.line;
        let error = ReplayError::Mismatch { line, expected, got };
        let told = response_error(&request.id, -32603, &error.to_string());
        match self.write_line(&told) {
            Ok(()) => Stop::Failed(error),
            Err(stop) => stop,
        }
    }

    pub(super) fn flood(&mut self, bytes: u64) -> Result<(), Stop> {
        let piece = [b'x'; 64 * 1024];
        let mut left = bytes;
        while left > 0 {
            let count = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
            self.write(piece.get(..count).unwrap_or_default())?;
            left -= count as u64;
        }
        Ok(())
    }

    pub(super) fn write_line(&mut self, line: &str) -> Result<(), Stop> {
        self.write(format!("{line}\n").as_bytes())
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let Some(output) = &mut self.output else { return Ok(()) };
        match output.write_all(bytes).and_then(|()| output.flush()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                Err(Stop::ReplayEnd(ReplayEnd::OutputClosed))
            }
            Err(error) => Err(Stop::Failed(ReplayError::Write(error))),
        }
    }
}

pub(super) fn update_line(update: &Value, session: Option<&str>, template: &Template) -> String {
    let session = template.fill(session.unwrap_or("${session}"));
    let params = json!({"sessionId": session, "update": update});
    json!({"jsonrpc": "2.0", "method": "session/update", "params": params}).to_string()
}

/// Parameters without what differs between two runs of one program.
pub(super) fn comparable(mut params: Value) -> Value {
    if let Value::Object(members) = &mut params {
        members.retain(|key, _| !matches!(key.as_str(), "_meta" | "cwd" | "clientInfo"));
    }
    params
}
