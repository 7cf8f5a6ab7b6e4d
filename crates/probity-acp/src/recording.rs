//! Recordings: what an agent and its client said to each other, without secrets.
//!
//! A recording has one JSON object a line, `{"at":12,"from":"agent","frame":{…}}`: milliseconds since
//! it began, who spoke, the message. Lines of the agent that are no messages are `{"at":12,"noise":"…"}`.
//! The same file with more kinds of lines in it is a script for [`crate::replay`].

use std::io::{self, Write};
use std::time::Instant;

use serde_json::json;
use serde_json::value::RawValue;

use crate::envelope::{quote, unquote};
use crate::frame::FrameWriter;
use crate::splice::scan::string_literals;

/// Who spoke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Client,
    Agent,
}

/// Writes a recording. `mask` takes a text and gives it back without its secrets.
#[derive(Debug)]
pub struct Recorder<W, M> {
    sink: FrameWriter<W>,
    mask: M,
    began: Instant,
}

impl<W: Write, M: Fn(&str) -> String> Recorder<W, M> {
    pub fn new(sink: W, mask: M) -> Self {
        Self { sink: FrameWriter::new(sink), mask, began: Instant::now() }
    }

    /// Records one message.
    pub fn message(&mut self, from: Side, frame: &str) -> io::Result<()> {
        let at = self.milliseconds();
        let from = match from {
            Side::Client => "client",
            Side::Agent => "agent",
        };
        let line = match masked(frame, &self.mask) {
            Some(frame) => format!(r#"{{"at":{at},"from":"{from}","frame":{frame}}}"#),
            None => json!({"at": at, "from": from, "withheld": frame.len()}).to_string(),
        };
        self.sink.write(&line)
    }

    /// Records a line of the agent that is no message.
    pub fn noise(&mut self, line: &str) -> io::Result<()> {
        let at = self.milliseconds();
        self.sink.write(&json!({"at": at, "noise": (self.mask)(line)}).to_string())
    }

    pub fn into_inner(self) -> W {
        self.sink.into_inner()
    }

    fn milliseconds(&self) -> u128 {
        self.began.elapsed().as_millis()
    }
}

/// The message without secrets, or `None` if what is left is not JSON and must not be written.
///
/// Strings are masked as the texts they are, so that an escape cannot hide a secret; then the
/// message as a whole, for secrets that are known by the name they stand under.
fn masked(frame: &str, mask: &impl Fn(&str) -> String) -> Option<String> {
    let mut text = String::with_capacity(frame.len());
    let mut copied = 0;
    for place in string_literals(frame) {
        let literal = frame.get(place.clone())?;
        // A string with half a character cannot be unquoted; its spelling is masked instead.
        let content = unquote(literal).unwrap_or(literal.into());
        let clean = mask(&content);
        if clean != content {
            text.push_str(frame.get(copied..place.start)?);
            text.push_str(&quote(&clean));
            copied = place.end;
        }
    }
    text.push_str(frame.get(copied..)?);
    let whole = mask(&text);
    let sound = whole == text
        || (!whole.contains('\n') && serde_json::from_str::<&RawValue>(&whole).is_ok());
    sound.then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::{Recorder, Side, masked};

    #[test]
    fn secrets_are_removed_however_they_are_spelled() {
        let mask =
            |text: &str| text.replace("a\nkey", "***").replace("\"pw\":\"x\"", "\"pw\":\"*\"");
        for (frame, expected) in [
            (r#"{"id":1,"n":1e2,"s":"see a\nkey!"}"#, Some(r#"{"id":1,"n":1e2,"s":"see ***!"}"#)),
            (r#"{"s":"a\u000ak\u0065y"}"#, Some(r#"{"s":"***"}"#)),
            (r#"{"a\nkey":1}"#, Some(r#"{"***":1}"#)),
            (r#"{"pw":"x"}"#, Some(r#"{"pw":"*"}"#)),
            (r#"{"s":"\ud800"}"#, Some(r#"{"s":"\ud800"}"#)),
        ] {
            assert_eq!(masked(frame, &mask).as_deref(), expected, "{frame}");
        }
        let breaks = |text: &str| text.replace("{\"id\":1", "***");
        assert_eq!(masked(r#"{"id":1}"#, &breaks), None);
    }

    #[test]
    fn a_message_that_masking_breaks_is_withheld() {
        let mut recorder = Recorder::new(Vec::new(), |text: &str| text.replace("\":", "***"));
        recorder.message(Side::Agent, r#"{"id":"secret"}"#).unwrap();
        recorder.noise("noise\":").unwrap();
        let text = String::from_utf8(recorder.into_inner()).unwrap();
        assert!(text.contains(r#""from":"agent","withheld":15"#), "{text}");
        assert!(text.contains(r#""noise":"noise***""#) && !text.contains("secret"), "{text}");
    }
}
