//! Frames: JSON with its length before it. A broken frame is answered and passed over.
//!
//! The reader of lsp-server ends at the first frame that it cannot read, which would end the server;
//! so frames are read here, in bounded memory.

use std::io::{self, BufRead, Read as _, Write};

use lsp_server::{ErrorCode, Message};
use serde_json::{Value, json};

/// No message is longer; a document of this size is not a Dockerfile.
const LARGEST: u64 = 64 * 1024 * 1024;

/// No line of a header is longer.
const LONGEST_HEADER: u64 = 4096;

/// What came from the client.
#[derive(Debug)]
pub(crate) enum Incoming {
    Message(Message),
    Broken(Refusal),
}

/// The answer to something that is not a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// As the client wrote it, even if it is too large; null if it is neither a number nor a string.
    pub(crate) id: Value,
    pub(crate) code: i32,
    pub(crate) message: String,
}

/// What goes to the client.
#[derive(Debug)]
pub(crate) enum Outgoing {
    Message(Message),
    Refusal(Refusal),
}

/// The next frame; none at the end of the input.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let length = match header(input)? {
        Header::End => return Ok(None),
        Header::Broken(what) => return Ok(Some(refusal(ErrorCode::ParseError, what))),
        Header::Length(length) => length,
    };
    if length > LARGEST {
        io::copy(&mut input.by_ref().take(length), &mut io::sink())?;
        let what = format!("the message has {length} bytes, more than the limit of {LARGEST}");
        return Ok(Some(refusal(ErrorCode::InvalidRequest, what)));
    }
    let mut body = Vec::new();
    input.by_ref().take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Ok(None);
    }
    Ok(Some(message(&body)))
}

enum Header {
    Length(u64),
    Broken(String),
    End,
}

/// Reads up to the empty line. It skips lines that are not headers and so finds the next frame after
/// garbage.
fn header(input: &mut impl BufRead) -> io::Result<Header> {
    let mut length = None;
    let mut stray = None;
    loop {
        let mut line = Vec::new();
        input.by_ref().take(LONGEST_HEADER).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(Header::End);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        match line.split_once(':') {
            _ if line.is_empty() => break,
            Some((name, value)) if name.trim().eq_ignore_ascii_case("content-length") => {
                match value.trim().parse() {
                    Ok(number) => length = Some(number),
                    Err(_) => stray = Some(format!("`{line}` is not a valid Content-Length")),
                }
            }
            Some((name, _)) if name.eq_ignore_ascii_case("content-type") => {}
            _ => {
                let shown: String = line.chars().take(80).collect();
                stray.get_or_insert(format!("`{shown}` is not a header"));
            }
        }
    }
    Ok(match (length, stray) {
        (Some(length), _) => Header::Length(length),
        (None, Some(what)) => Header::Broken(what),
        (None, None) => Header::Broken("a frame needs a Content-Length header".to_owned()),
    })
}

fn message(body: &[u8]) -> Incoming {
    let value: Value = match serde_json::from_slice(body) {
        Ok(value) => value,
        Err(error) => return refusal(ErrorCode::ParseError, format!("not valid JSON: {error}")),
    };
    let id = value.get("id").cloned();
    let refuse = |id: Option<Value>, message: &str| {
        let id = id.filter(|id| id.is_number() || id.is_string()).unwrap_or_default();
        let message = message.to_owned();
        Incoming::Broken(Refusal { id, code: ErrorCode::InvalidRequest as i32, message })
    };
    match serde_json::from_value(value) {
        // lsp-server drops an id that it cannot read; the client would wait for the answer forever.
        Ok(Message::Notification(_)) if id.is_some() => {
            refuse(id, "the id of a request is a string or an integer of 32 bits")
        }
        Ok(message) => Incoming::Message(message),
        Err(_) => refuse(id, "not a request, a notification or a response"),
    }
}

fn refusal(code: ErrorCode, message: String) -> Incoming {
    Incoming::Broken(Refusal { id: Value::Null, code: code as i32, message })
}

pub(crate) fn write(output: &mut impl Write, outgoing: &Outgoing) -> io::Result<()> {
    match outgoing {
        Outgoing::Message(message) => message.write(output),
        Outgoing::Refusal(Refusal { id, code, message }) => {
            let error = json!({ "code": code, "message": message });
            let text = json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string();
            write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
            output.flush()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn broken_frames_are_refused_and_the_next_one_is_read() {
        let good = framed(r#"{"jsonrpc":"2.0","id":7,"method":"a"}"#);
        for (broken, code, id) in [
            (framed("{"), -32700, Value::Null),
            (framed("[]"), -32600, Value::Null),
            (framed(r#"{"id":3}"#), -32600, json!(3)),
            (framed(r#"{"id":1.5,"method":"a"}"#), -32600, json!(1.5)),
            (framed(r#"{"id":1099511627776,"method":"a"}"#), -32600, json!(1_u64 << 40)),
            (framed(r#"{"id":{"a":1},"method":"a"}"#), -32600, Value::Null),
            (framed(r#"{"id":null,"method":"a"}"#), -32600, Value::Null),
            (framed("\u{fffd}"), -32700, Value::Null),
            ("Content-Length: x\r\n\r\n".to_owned(), -32700, Value::Null),
            ("Content-Type: a\r\n\r\n".to_owned(), -32700, Value::Null),
            ("hello\r\n\r\n".to_owned(), -32700, Value::Null),
        ] {
            let bytes = format!("{broken}{good}");
            let mut input = bytes.as_bytes();
            match read(&mut input).unwrap() {
                Some(Incoming::Broken(refusal)) => {
                    assert_eq!((refusal.code, refusal.id), (code, id), "{broken}");
                }
                other => panic!("{broken}: {other:?}"),
            }
            let next = read(&mut input).unwrap();
            assert!(matches!(next, Some(Incoming::Message(Message::Request(_)))), "{broken}");
            assert!(read(&mut input).unwrap().is_none());
        }
    }

    #[test]
    fn garbage_before_a_header_costs_no_message() {
        let text = format!("noise\r\n{}", framed(r#"{"method":"a"}"#));
        let read = read(&mut text.as_bytes()).unwrap();
        assert!(matches!(read, Some(Incoming::Message(Message::Notification(_)))), "{read:?}");
        // Half a frame is the end of a client that has died.
        let half = &framed("{}")[..10];
        assert!(super::read(&mut half.as_bytes()).unwrap().is_none());
    }
}
