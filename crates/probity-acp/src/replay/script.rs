//! Reading scripts.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::HostAction;
use crate::envelope::{Envelope, Id, MessageKind};

/// A script, cut into exchanges.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// What the agent does before it is asked anything.
    pub(super) prelude: Vec<Step>,
    pub(super) exchanges: Vec<Exchange>,
}

#[derive(Debug, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct ScriptError {
    pub line: usize,
    pub fault: ScriptFault,
}

/// Why a line of a script cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum ScriptFault {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("unknown key {0:?}")]
    UnknownKey(String),
    #[error("none of the keys {}", ACTIONS.join(", "))]
    NoAction,
    #[error("{key}: {error}")]
    Value { key: String, error: serde_json::Error },
    #[error("hang is \"listening\" or \"deaf\"")]
    Hang,
    #[error("only \"output\" can be closed")]
    Close,
    #[error("only \"TERM\" can be ignored")]
    Ignore,
    #[error("the frame is not a message")]
    Frame,
    #[error("a message is from \"client\" or \"agent\", not {0:?}")]
    Sender(String),
}

/// The keys of the actions, in the order in which a line is searched for them.
const ACTIONS: [&str; 15] = [
    "answer", "fail", "say", "update", "ask", "await", "noise", "half", "flood", "sleep", "hang",
    "close", "exit", "spawn", "ignore",
];

/// A request of the client and what the agent does about it.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    pub(super) line: usize,
    pub(super) method: String,
    /// Recorded parameters; `None` takes any.
    pub(super) params: Option<Value>,
    pub(super) recorded_id: Option<Id<'static>>,
    /// Name, and the texts before and after.
    pub(super) captures: Vec<(String, [String; 2])>,
    pub(super) steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) line: usize,
    pub(super) action: Action,
}

#[derive(Clone, Debug)]
pub(super) enum Action {
    Send(String),
    /// The client's recorded answer to a request of the agent.
    AwaitAnswer(Id<'static>),
    /// A recorded notification of the client: waited for only where the order is kept.
    AwaitRecorded(String),
    Await(String),
    Answer {
        outcome: (&'static str, Value),
        times: u64,
        id_as_string: bool,
    },
    Say {
        text: String,
        session: Option<String>,
        times: u64,
    },
    Update {
        update: Value,
        session: Option<String>,
    },
    Ask {
        method: String,
        params: Value,
        id: Option<Value>,
    },
    Noise(String),
    Half(String),
    Flood(u64),
    Sleep(u64),
    Hang {
        deaf: bool,
    },
    CloseOutput,
    Exit(i32),
    Host(HostAction),
}

impl Script {
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let mut script = Self::default();
        for (index, text) in text.lines().enumerate() {
            let line = index + 1;
            if text.trim().is_empty() || text.trim_start().starts_with('#') {
                continue;
            }
            match read_line(line, text).map_err(|fault| ScriptError { line, fault })? {
                Some(Read::Exchange(exchange)) => script.exchanges.push(exchange),
                Some(Read::Action(action)) => {
                    let steps = match script.exchanges.last_mut() {
                        Some(exchange) => &mut exchange.steps,
                        None => &mut script.prelude,
                    };
                    steps.push(Step { line, action });
                }
                None => {}
            }
        }
        Ok(script)
    }
}

enum Read {
    Exchange(Exchange),
    Action(Action),
}

/// The keys that go with a recorded line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded<'a> {
    #[serde(default, rename = "at")]
    _at: Option<u64>,
    from: String,
    #[serde(borrow)]
    frame: Option<&'a RawValue>,
    #[serde(default, rename = "withheld")]
    _withheld: Option<u64>,
}

fn read_line(line: usize, text: &str) -> Result<Option<Read>, ScriptFault> {
    // Recorded messages are not read further than this: they may hold what no value can.
    let keys: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
    if keys.contains_key("from") {
        let recorded: Recorded<'_> = serde_json::from_str(text)?;
        return read_recorded(line, &recorded);
    }
    let mut keys: Map<String, Value> = serde_json::from_str(text)?;
    keys.remove("at");
    let read = if let Some(method) = keys.remove("on") {
        let captures = take(&mut keys, "capture")?.unwrap_or_default();
        let captures: Map<String, Value> = captures;
        let captures = captures
            .into_iter()
            .map(|(name, ends)| Ok((name, typed("capture", ends)?)))
            .collect::<Result<_, ScriptFault>>()?;
        let method = typed("on", method)?;
        let (params, recorded_id, steps) = (None, None, Vec::new());
        Read::Exchange(Exchange { line, method, params, recorded_id, captures, steps })
    } else {
        Read::Action(read_action(&mut keys)?)
    };
    match keys.keys().next() {
        Some(key) => Err(ScriptFault::UnknownKey(key.clone())),
        None => Ok(Some(read)),
    }
}

fn read_action(keys: &mut Map<String, Value>) -> Result<Action, ScriptFault> {
    let Some((name, value)) =
        ACTIONS.into_iter().find_map(|name| keys.remove(name).map(|value| (name, value)))
    else {
        return Err(ScriptFault::NoAction);
    };
    Ok(match name {
        "answer" | "fail" => Action::Answer {
            outcome: (if name == "answer" { "result" } else { "error" }, value),
            times: take(keys, "times")?.unwrap_or(1),
            id_as_string: take::<String>(keys, "id")?.is_some(),
        },
        "say" => Action::Say {
            text: typed(name, value)?,
            session: take(keys, "session")?,
            times: take(keys, "times")?.unwrap_or(1),
        },
        "update" => Action::Update { update: value, session: take(keys, "session")? },
        "ask" => Action::Ask {
            method: typed(name, value)?,
            params: keys.remove("params").unwrap_or_default(),
            id: keys.remove("id"),
        },
        "await" => Action::Await(typed(name, value)?),
        "noise" => Action::Noise(typed(name, value)?),
        "half" => Action::Half(typed(name, value)?),
        "flood" => Action::Flood(typed(name, value)?),
        "sleep" => Action::Sleep(typed(name, value)?),
        "hang" => match value.as_str() {
            Some("listening") => Action::Hang { deaf: false },
            Some("deaf") => Action::Hang { deaf: true },
            _ => return Err(ScriptFault::Hang),
        },
        "close" if value == "output" => Action::CloseOutput,
        "close" => return Err(ScriptFault::Close),
        "exit" => Action::Exit(typed(name, value)?),
        "spawn" => Action::Host(HostAction::Spawn(typed(name, value)?)),
        _ if value == "TERM" => Action::Host(HostAction::IgnoreTerminate),
        _ => return Err(ScriptFault::Ignore),
    })
}

fn read_recorded(line: usize, recorded: &Recorded<'_>) -> Result<Option<Read>, ScriptFault> {
    // A message that was withheld cannot be played.
    let Some(frame) = recorded.frame else { return Ok(None) };
    let envelope = Envelope::parse(frame.get()).ok_or(ScriptFault::Frame)?;
    match recorded.from.as_str() {
        "agent" => return Ok(Some(Read::Action(Action::Send(frame.get().to_owned())))),
        "client" => {}
        other => return Err(ScriptFault::Sender(other.to_owned())),
    }
    Ok(Some(match envelope.kind() {
        MessageKind::Request { id, method, params } => Read::Exchange(Exchange {
            line,
            method: method.into_owned(),
            params: Some(match params {
                Some(params) => serde_json::from_str(params)?,
                None => Value::Null,
            }),
            recorded_id: Some(id.into_owned()),
            captures: Vec::new(),
            steps: Vec::new(),
        }),
        MessageKind::Notification { method, .. } => {
            Read::Action(Action::AwaitRecorded(method.into_owned()))
        }
        MessageKind::Response { id: Some(id), .. } => {
            Read::Action(Action::AwaitAnswer(id.into_owned()))
        }
        MessageKind::Response { id: None, .. } | MessageKind::Batch => return Ok(None),
    }))
}

fn take<T: serde::de::DeserializeOwned>(
    keys: &mut Map<String, Value>,
    key: &str,
) -> Result<Option<T>, ScriptFault> {
    keys.remove(key).map(|value| typed(key, value)).transpose()
}

fn typed<T: serde::de::DeserializeOwned>(key: &str, value: Value) -> Result<T, ScriptFault> {
    serde_json::from_value(value).map_err(|error| ScriptFault::Value { key: key.to_owned(), error })
}
