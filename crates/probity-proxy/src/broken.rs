//! Lines that are no message, though their beginning may say who waits for an answer to them.

use probity_acp::{Broken, Envelope, Id, LINE_LIMIT};
use serde::de::IgnoredAny;
use serde_json::{StreamDeserializer, de::StrRead, value::RawValue};

use crate::message::{INVALID_REQUEST, PARSE_ERROR, Refusal};

/// What can be done about such a line.
#[derive(Debug, PartialEq)]
pub(crate) enum Remedy {
    /// It asked for something: who asked is told.
    Refuse(Id<'static>, Refusal),
    /// It answered something: this is taken for the answer.
    Answer(String),
    Nothing,
}

/// Reads as much of the line as is there. An agent also writes logs, which may be JSON; only what
/// says that it is JSON-RPC is taken for a message that went wrong.
pub(crate) fn remedy(broken: &Broken) -> Remedy {
    let head = read(&broken.head);
    let Some(id) = head.id else { return Remedy::Nothing };
    if !head.is_rpc {
        return Remedy::Nothing;
    }
    let refusal = if broken.is_too_long {
        let what = format!("the line is longer than {} MiB", LINE_LIMIT >> 20);
        Refusal::new(INVALID_REQUEST, what)
    } else if head.is_whole {
        Refusal::new(INVALID_REQUEST, "this is not a request")
    } else {
        Refusal::new(PARSE_ERROR, "this is not JSON")
    };
    if head.is_answer { Remedy::Answer(refusal.to(&id)) } else { Remedy::Refuse(id, refusal) }
}

#[derive(Default)]
struct Head {
    id: Option<Id<'static>>,
    is_rpc: bool,
    is_answer: bool,
    /// The line was read to its end.
    is_whole: bool,
}

fn read(text: &str) -> Head {
    let mut head = Head::default();
    let Some(mut rest) = text.trim_start().strip_prefix('{') else { return head };
    // No message has so many parts before its payload.
    for _ in 0..32 {
        let Some((key, after)) = take::<String>(rest) else { break };
        let Some(after) = after.trim_start().strip_prefix(':') else { break };
        head.is_answer |= matches!(key.as_str(), "result" | "error");
        let after = match key.as_str() {
            "id" => {
                let Some((raw, after)) = take::<&RawValue>(after) else { break };
                let line = format!(r#"{{"id":{}}}"#, raw.get());
                // A number that the end of the line has cut short would be somebody else's.
                let is_ended = after.trim_start().starts_with([',', '}']);
                head.id = Envelope::parse(&line)
                    .and_then(|envelope| Some(envelope.id()?.into_owned()))
                    .filter(|id| is_ended && id.raw() != "null");
                after
            }
            "jsonrpc" => {
                let Some((version, after)) = take::<String>(after) else { break };
                head.is_rpc = version == "2.0";
                after
            }
            _ => {
                let Some((_, after)) = take::<IgnoredAny>(after) else { break };
                after
            }
        };
        let after = after.trim_start();
        if let Some(after) = after.strip_prefix(',') {
            rest = after;
        } else {
            head.is_whole = after.trim_end() == "}";
            break;
        }
    }
    head
}

/// One value, and what comes after it.
fn take<'a, T: serde::Deserialize<'a>>(text: &'a str) -> Option<(T, &'a str)> {
    let mut values: StreamDeserializer<'a, StrRead<'a>, T> =
        serde_json::Deserializer::from_str(text).into_iter();
    let value = values.next()?.ok()?;
    Some((value, text.get(values.byte_offset()..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(is_too_long: bool, head: &str) -> String {
        match remedy(&Broken { is_too_long, head: head.to_owned() }) {
            Remedy::Refuse(id, refusal) => format!("refuse {id}: {}", refusal.code),
            Remedy::Answer(answer) => answer,
            Remedy::Nothing => "nothing".to_owned(),
        }
    }

    #[test]
    fn who_waits_for_an_answer_is_read_from_the_beginning() {
        for (is_too_long, head, expected) in [
            (
                true,
                r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":"xxx"#,
                "refuse 7: -32600",
            ),
            (true, r#"{ "id" : "a\"b" , "jsonrpc":"2.0","params":["#, r#"refuse "a\"b": -32600"#),
            (true, r#"{"jsonrpc":"2.0","params":{"id":7,"a":"#, "nothing"),
            (true, r#"{"jsonrpc":"2.0","id":12"#, "nothing"),
            (true, r#"{"jsonrpc":"2.0","method":"m","params":"#, "nothing"),
            (true, r#"{"level":"info","id":7,"text":""#, "nothing"),
            (
                true,
                r#"{"jsonrpc":"2.0","id":7,"result":{"content":""#,
                r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"the line is longer than 32 MiB"}}"#,
            ),
            (false, r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{bad}}"#, "refuse 7: -32700"),
            (false, r#"{"jsonrpc":"2.0","id":7,"method":5}"#, "refuse 7: -32600"),
            (false, r#"{"jsonrpc":"2.0","id":null,"method":5}"#, "nothing"),
            (false, "{{{{", "nothing"),
            (false, "", "nothing"),
        ] {
            assert_eq!(shown(is_too_long, head), expected, "{head}");
        }
    }
}
