//! The envelope of a message: where its id, method and payload stand, and nothing copied.
//!
//! One pass over the text both proves that it is JSON and finds the parts. Payloads stay raw text,
//! so that numbers, escapes, key order and duplicate keys reach the other side as they were written.

mod id;
mod layout;

use std::borrow::Cow;
use std::ops::Range;

pub use id::Id;
pub(crate) use layout::Layout;

/// A message that borrows the line it came in.
#[derive(Clone, Debug)]
pub struct Envelope<'a> {
    text: &'a str,
    layout: Layout,
}

/// What kind of message it is, with its parts. Payloads are raw JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageKind<'a> {
    Request {
        id: Id<'a>,
        method: Cow<'a, str>,
        params: Option<&'a str>,
    },
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a str>,
    },
    /// Some agents answer what they could not read with an error that has no id.
    Response {
        id: Option<Id<'a>>,
        outcome: Outcome<'a>,
    },
    /// An array: ACP has no batches, and the one who reads it may want to say so.
    Batch,
}

/// How a response ended. A response with neither a result nor an error has the result `null`: it is
/// what an undefined result looks like after it was written by JavaScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'a> {
    Result(&'a str),
    Error(&'a str),
}

impl<'a> Envelope<'a> {
    /// Reads one message; `None` if the text is no JSON-RPC message.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        Layout::of(text).map(|layout| Self { text, layout })
    }

    pub(crate) fn from_layout(text: &'a str, layout: Layout) -> Self {
        Self { text, layout }
    }

    /// The whole message as it came.
    #[must_use]
    pub fn text(&self) -> &'a str {
        self.text
    }

    #[must_use]
    pub fn kind(&self) -> MessageKind<'a> {
        if self.layout.batch {
            return MessageKind::Batch;
        }
        match (self.method(), self.id()) {
            (Some(method), Some(id)) => MessageKind::Request { id, method, params: self.params() },
            (Some(method), None) => MessageKind::Notification { method, params: self.params() },
            (None, id) => {
                let outcome = match (self.part(&self.layout.error), self.part(&self.layout.result))
                {
                    // Some write both keys and leave one of them null.
                    (Some(error), None) => Outcome::Error(error),
                    (Some(error), Some(_)) if error != "null" => Outcome::Error(error),
                    (_, result) => Outcome::Result(result.unwrap_or("null")),
                };
                MessageKind::Response { id, outcome }
            }
        }
    }

    #[must_use]
    pub fn id(&self) -> Option<Id<'a>> {
        self.part(&self.layout.id).map(Id::from_raw)
    }

    #[must_use]
    pub fn method(&self) -> Option<Cow<'a, str>> {
        self.part(&self.layout.method).and_then(unquote)
    }

    /// Whether a part of it comes twice, so that another reader may take another one.
    #[must_use]
    pub fn has_part_twice(&self) -> bool {
        self.layout.twice
    }

    #[must_use]
    pub fn params(&self) -> Option<&'a str> {
        self.part(&self.layout.params)
    }

    fn part(&self, place: &Option<Range<usize>>) -> Option<&'a str> {
        self.text.get(place.clone()?)
    }
}

/// The text of a JSON string literal; borrowed when nothing in it is escaped.
pub(crate) fn unquote(literal: &str) -> Option<Cow<'_, str>> {
    let inner = literal.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(literal).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

/// A text as a JSON string literal.
pub(crate) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::{Envelope, Id, MessageKind, Outcome};

    #[track_caller]
    fn check(text: &str, expected: MessageKind<'_>) {
        let envelope = Envelope::parse(text);
        assert_eq!(envelope.as_ref().map(Envelope::kind), Some(expected), "{text}");
        assert_eq!(envelope.map(|envelope| envelope.text()), Some(text));
    }

    fn id(raw: &str) -> Id<'_> {
        Id::from_raw(raw)
    }

    #[test]
    fn parts_are_found_in_any_order_and_kept_as_they_were_written() {
        let params = Some(r#"{"n":1e2,"n":12345678901234567890123,"s":"\u00e9\/"}"#);
        check(
            r#"{"params":{"n":1e2,"n":12345678901234567890123,"s":"\u00e9\/"},"id": "a\u0062" ,"x":1,"method":"a\/b","jsonrpc":"2.0"}"#,
            MessageKind::Request { id: id(r#""a\u0062""#), method: "a/b".into(), params },
        );
        check(r#"{"method":"m"}"#, MessageKind::Notification { method: "m".into(), params: None });
        check(
            r#"{"m\u0065thod":"m"}"#,
            MessageKind::Notification { method: "m".into(), params: None },
        );
        check(
            r#"{"id":null,"method":"m"}"#,
            MessageKind::Request { id: id("null"), method: "m".into(), params: None },
        );
        check(" [1, {}] \r", MessageKind::Batch);
    }

    #[test]
    fn responses_are_recognised_however_little_they_say() {
        let result = |raw| Outcome::Result(raw);
        let cases = [
            (r#"{"result":{"a":[]},"id":7}"#, Some("7"), result(r#"{"a":[]}"#)),
            (r#"{"jsonrpc":"2.0","id":7}"#, Some("7"), result("null")),
            (r#"{"id":7,"result":1,"error":null}"#, Some("7"), result("1")),
            (r#"{"id":7,"result":null,"error":{}}"#, Some("7"), Outcome::Error("{}")),
            (r#"{"error":{"code":1}}"#, None, Outcome::Error(r#"{"code":1}"#)),
            (r#"{"id":1,"result":1,"id":2,"result":2}"#, Some("2"), result("2")),
        ];
        for (text, raw, outcome) in cases {
            check(text, MessageKind::Response { id: raw.map(id), outcome });
        }
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for text in [
            "",
            "42",
            "\"text\"",
            "null",
            "{}",
            "{\"level\":\"info\"}",
            "{\"method\":5}",
            "{\"id\":1",
            "{\"id\":1} x",
            "{\"id\":01}",
            "[1",
            "Loaded cached credentials.",
            "{\"params\":{}}",
        ] {
            assert!(Envelope::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn deep_nesting_and_numbers_out_of_range_are_read() {
        let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
        let text = format!(r#"{{"method":"m","params":[{deep},1e999]}}"#);
        assert!(Envelope::parse(&text).is_some());
    }
}
