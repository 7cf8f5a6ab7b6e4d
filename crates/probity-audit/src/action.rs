//! What a model wants next, read from whatever it wrote.

mod error;
mod object;
mod schema;

use serde_json::{Map, Value};

pub(crate) use self::error::ActionError;
use crate::{
    answer::{FAILURES, SUCCESSES, verdict},
    exploit,
    tools::request::Request,
};

/// Twice as much as anybody reads; more would fill the output with one hit.
const MOST_CONTEXT: u64 = 20;
const USUAL_CONTEXT: u64 = 2;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    Read(Request),
    /// The model is done; what it found is still to be judged.
    Final(Map<String, Value>),
}

/// What a conversation is to end with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    Findings,
    /// On a finding of another conversation.
    Verdict,
    /// Of a finding of another conversation.
    Exploit,
}

impl Expected {
    /// The keys of which a final answer has at least one.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Findings => &["findings", "status"],
            Self::Verdict => &["verdict"],
            Self::Exploit => &["test_code", "reason"],
        }
    }
}

/// Reads an action: a JSON object alone, in a fence, or among prose, outside of what the model thinks
/// aloud. Where there are several, the last one counts, because models think before they speak. Two
/// final answers that differ are an error.
pub(crate) fn parse(text: &str, expected: Expected) -> Result<Action, ActionError> {
    let said = object::without_thoughts(text);
    let objects = object::objects(&said);
    let mut last = None;
    let mut why = None;
    let mut finals: Vec<Map<String, Value>> = Vec::new();
    for object in objects {
        match action(object, expected) {
            Ok(action) => {
                if let Action::Final(object) = &action
                    && !finals.contains(object)
                {
                    finals.push(object.clone());
                }
                last = Some(action);
            }
            Err(error) => why = Some(error),
        }
    }
    match last {
        Some(Action::Final(_)) if finals.len() > 1 => Err(ActionError::TwoAnswers),
        Some(action) => Ok(action),
        // An object inside of a broken one is not what was meant.
        None => Err(object::complaint(&said).or(why).unwrap_or_else(|| match said.find('{') {
            Some(_) => ActionError::NotJson,
            None => ActionError::NoObject,
        })),
    }
}

fn action(object: Map<String, Value>, expected: Expected) -> Result<Action, ActionError> {
    let name = match object.get("action") {
        Some(Value::String(name)) => name.trim().to_lowercase(),
        Some(Value::Null) | None => {
            for name in ["tool_calls", "tool_call", "function_call", "function", "arguments"] {
                if object.contains_key(name) {
                    return Err(ActionError::ToolCall(name));
                }
            }
            // An empty object does not count as an answer: a model that says nothing has not looked.
            if expected.keys().iter().any(|key| object.contains_key(*key)) {
                return done(object, expected);
            }
            return Err(ActionError::NoAction(expected));
        }
        Some(_) => return Err(ActionError::NotText("action")),
    };
    if name == "final" {
        return done(object, expected);
    }
    misnamed(&name, &object)?;
    let path = word(&object, "path")?.unwrap_or_else(|| ".".to_owned());
    Ok(Action::Read(match name.as_str() {
        "read_file" => Request::ReadFile {
            path,
            offset: number(&object, "offset")?.unwrap_or(1).max(1),
            limit: number(&object, "limit")?.filter(|limit| *limit > 0),
        },
        "list_dir" => Request::ListDir { path },
        "find_files" => Request::FindFiles { path, glob: word(&object, "glob")? },
        "grep" => Request::Grep {
            pattern: word(&object, "pattern")?.unwrap_or_default(),
            path,
            context_lines: context_lines(object.get("context_lines"))?,
        },
        other => return Err(ActionError::UnknownAction(other.to_owned())),
    }))
}

/// A final answer whose findings are not a list, or have another name, would otherwise pass as a
/// clean one.
fn done(object: Map<String, Value>, expected: Expected) -> Result<Action, ActionError> {
    if expected == Expected::Exploit {
        exploit::check(&object)?;
        return Ok(Action::Final(object));
    }
    if expected == Expected::Verdict {
        return match verdict(&object) {
            Some(_) => Ok(Action::Final(object)),
            None => Err(ActionError::NoVerdict),
        };
    }
    match object.get("findings") {
        Some(Value::Array(_) | Value::Object(_)) => return Ok(Action::Final(object)),
        None | Some(Value::Null) => {}
        Some(_) => return Err(ActionError::FindingsNotList),
    }
    let is_list = |value: &Value| value.as_array().is_some_and(|list| !list.is_empty());
    if let Some((name, _)) = object.iter().find(|(_, value)| is_list(value)) {
        return Err(ActionError::FindingsElsewhere(name.clone()));
    }
    let status = object.get("status").and_then(Value::as_str).unwrap_or_default().trim();
    let is_known = SUCCESSES.iter().chain(FAILURES).any(|known| status.eq_ignore_ascii_case(known));
    if is_known { Ok(Action::Final(object)) } else { Err(ActionError::NoFindings) }
}

fn word(object: &Map<String, Value>, key: &'static str) -> Result<Option<String>, ActionError> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
        Some(_) => Err(ActionError::NotText(key)),
    }
}

/// Names that models use for arguments of ours. Their values would be ignored, and the
/// whole project would be searched in the place of one file.
const MISNAMED: &[(&str, &[&str])] = &[
    (
        "path",
        &["file", "filename", "file_path", "filepath", "file_name", "dir", "directory", "folder"],
    ),
    ("pattern", &["query", "regex", "search", "text", "expression", "term"]),
    ("glob", &["name", "mask", "include"]),
    ("offset", &["start", "start_line", "from", "from_line", "line_start"]),
    ("limit", &["count", "end", "end_line", "num_lines", "lines", "max_lines"]),
];

fn misnamed(action: &str, object: &Map<String, Value>) -> Result<(), ActionError> {
    let arguments: &[&str] = match action {
        "read_file" => &["path", "offset", "limit"],
        "grep" => &["path", "pattern"],
        "find_files" => &["path", "glob"],
        _ => &["path"],
    };
    for (name, others) in MISNAMED {
        if object.contains_key(*name) || !arguments.contains(name) {
            continue;
        }
        if let Some(other) = others.iter().find(|other| object.contains_key(**other)) {
            return Err(ActionError::Misnamed { given: other, action: action.to_owned(), name });
        }
    }
    Ok(())
}

fn context_lines(value: Option<&Value>) -> Result<usize, ActionError> {
    let number = counted(value).ok_or(ActionError::NotCount("context_lines"))?;
    let number = number.unwrap_or(USUAL_CONTEXT).min(MOST_CONTEXT);
    Ok(usize::try_from(number).unwrap_or_default())
}

fn number(object: &Map<String, Value>, key: &'static str) -> Result<Option<u64>, ActionError> {
    counted(object.get(key)).ok_or(ActionError::NotCount(key))
}

/// A whole number, or one written as a string, if there is one; `None` for anything else.
fn counted(value: Option<&Value>) -> Option<Option<u64>> {
    match value {
        None | Some(Value::Null) => Some(None),
        Some(Value::Number(number)) => number.as_u64().map(Some),
        Some(Value::String(text)) => text.trim().parse().ok().map(Some),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests;
