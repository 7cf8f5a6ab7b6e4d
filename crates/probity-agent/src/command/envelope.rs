//! What is found in the output of a command line, in the terms that all of them share.

use probity_text::one_line;
use serde_json::Value;

use crate::{
    StopReason, Usage,
    command::{claude, gemini},
};

/// How much is kept of the words of one thing that was denied.
const DENIED_CHARS: usize = 200;
/// How many things that were denied are kept.
const DENIED: usize = 100;

const ENVELOPE_KEYS: [&str; 6] = ["type", "is_error", "response", "stats", "error", "session_id"];

#[derive(Debug, PartialEq)]
pub(crate) enum Said {
    Answer(Envelope),
    /// The agent says itself that it failed.
    Error(String),
    /// The agent says that it does not know the user.
    Login(String),
    Nothing,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Envelope {
    pub(crate) text: String,
    pub(crate) stop: StopReason,
    pub(crate) usage: Option<Usage>,
    pub(crate) denied: Vec<String>,
}

impl Envelope {
    pub(crate) fn new(text: impl Into<String>, usage: Option<Usage>) -> Self {
        let (text, stop) = (text.into(), StopReason::EndTurn);
        Self { text, stop, usage, denied: Vec::new() }
    }
}

/// Output of a command that we know nothing of: an envelope where it is one, else plain text.
pub(crate) fn read_any(stdout: &str) -> Said {
    for read in [claude::read, gemini::read] {
        let said = read(stdout);
        if said != Said::Nothing {
            return said;
        }
    }
    match stdout.trim() {
        "" => Said::Nothing,
        _ => Said::Answer(Envelope::new(stdout, None)),
    }
}

/// Output without any envelope: some versions and wrappers write the bare answer. What has the
/// keys of an envelope or of an event is one that holds no answer.
pub(crate) fn read_plain(stdout: &str) -> Said {
    let is_envelope = |value: &Value| ENVELOPE_KEYS.iter().any(|key| value.get(*key).is_some());
    let enveloped = json_lines(stdout).any(|value| is_envelope(&value))
        || json_object(stdout).is_some_and(|value| is_envelope(&value));
    match stdout.trim() {
        "" => Said::Nothing,
        _ if enveloped => Said::Nothing,
        _ => Said::Answer(Envelope::new(stdout, None)),
    }
}

/// The JSON objects among the lines; other lines are noise of the program or its launcher.
pub(crate) fn json_lines(stdout: &str) -> impl DoubleEndedIterator<Item = Value> {
    stdout.lines().filter_map(|line| {
        let value: Value = serde_json::from_str(line.trim()).ok()?;
        value.is_object().then_some(value)
    })
}

/// One JSON object, over several lines perhaps, after noise perhaps.
pub(crate) fn json_object(stdout: &str) -> Option<Value> {
    let starts = stdout.match_indices('{').map(|(at, _)| at);
    let at_line = |&at: &usize| at == 0 || stdout.as_bytes().get(at - 1) == Some(&b'\n');
    starts.filter(at_line).find_map(|at| {
        let value: Value = serde_json::from_str(stdout.get(at..)?).ok()?;
        value.is_object().then_some(value)
    })
}

pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str()
}

pub(crate) fn count(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}

/// What was denied, in few words each.
pub(crate) fn denied<'a>(items: impl Iterator<Item = (&'a str, &'a Value)>) -> Vec<String> {
    items
        .take(DENIED)
        .map(|(tool, input)| one_line(&format!("{tool} {input}"), DENIED_CHARS))
        .collect()
}

/// Whether an error is about who the user is.
pub(crate) fn said_error(why: &str) -> Said {
    let low = why.to_ascii_lowercase();
    let about_login = ["/login", "not logged in", "log in", "authentication", "api key"];
    if about_login.iter().any(|words| low.contains(words)) {
        Said::Login(why.to_owned())
    } else {
        Said::Error(why.to_owned())
    }
}
