//! What a model wants next, read from whatever it wrote.

mod object;
mod schema;

use serde_json::{Map, Value};

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

/// Reads an action: a JSON object alone, in a fence, or among prose, outside of what the model thinks
/// aloud. Where there are several, the last one counts, because models think before they speak. Two
/// final answers that differ are an error.
///
/// The error says what is wrong, in words for the model.
pub(crate) fn parse(text: &str, expected: Expected) -> Result<Action, String> {
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
        Some(Action::Final(_)) if finals.len() > 1 => {
            Err("there are two different final answers; send the one that you mean".to_owned())
        }
        Some(action) => Ok(action),
        // An object inside of a broken one is not what was meant.
        None => Err(object::complaint(&said).or(why).unwrap_or_else(|| match said.find('{') {
            Some(_) => "the text that looks like a JSON object is not valid JSON".to_owned(),
            None => "there is no JSON object in the answer".to_owned(),
        })),
    }
}

fn action(object: Map<String, Value>, expected: Expected) -> Result<Action, String> {
    let name = match object.get("action") {
        Some(Value::String(name)) => name.trim().to_lowercase(),
        Some(Value::Null) | None => {
            for name in ["tool_calls", "tool_call", "function_call", "function", "arguments"] {
                if object.contains_key(name) {
                    return Err(format!(
                        "`{name}` is not read here: write the action itself as the object, for \
                         example {{\"action\":\"read_file\",\"path\":\"relative/path.ak\"}}"
                    ));
                }
            }
            let keys: &[&str] = match expected {
                Expected::Findings => &["findings", "status"],
                Expected::Verdict => &["verdict"],
                Expected::Exploit => &["test_code", "reason"],
            };
            // An empty object does not count as an answer: a model that says nothing has not looked.
            if keys.iter().any(|key| object.contains_key(*key)) {
                return done(object, expected);
            }
            let keys = keys.join("` and no `");
            return Err(format!("the object has no `action`, no `{keys}`"));
        }
        Some(_) => return Err("`action` is not a string".to_owned()),
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
        other => {
            let other = probity_text::one_line(other, 60);
            return Err(format!(
                "'{other}' is not an action; the actions are read_file, grep, list_dir, find_files and final"
            ));
        }
    }))
}

/// A final answer whose findings are not a list, or have another name, would otherwise pass as a
/// clean one.
fn done(object: Map<String, Value>, expected: Expected) -> Result<Action, String> {
    if expected == Expected::Exploit {
        return exploit::check(&object).map(|()| Action::Final(object));
    }
    if expected == Expected::Verdict {
        return match verdict(&object) {
            Some(_) => Ok(Action::Final(object)),
            None => Err("the final answer has no `verdict`, which is `refuted`, `upheld` or \
                         `undecided`"
                .to_owned()),
        };
    }
    match object.get("findings") {
        Some(Value::Array(_) | Value::Object(_)) => return Ok(Action::Final(object)),
        None | Some(Value::Null) => {}
        Some(_) => return Err("`findings` is not a list".to_owned()),
    }
    let is_list = |value: &Value| value.as_array().is_some_and(|list| !list.is_empty());
    if let Some((name, _)) = object.iter().find(|(_, value)| is_list(value)) {
        let name = probity_text::one_line(name, 60);
        return Err(format!("findings belong into `findings`, and not into `{name}`"));
    }
    let status = object.get("status").and_then(Value::as_str).unwrap_or_default().trim();
    let is_known = SUCCESSES.iter().chain(FAILURES).any(|known| status.eq_ignore_ascii_case(known));
    if is_known {
        Ok(Action::Final(object))
    } else {
        Err("the final answer has no `findings`, which may be an empty list, and no \
             `status` such as `completed`"
            .to_owned())
    }
}

fn word(object: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
        Some(_) => Err(format!("`{key}` is not a string")),
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

fn misnamed(action: &str, object: &Map<String, Value>) -> Result<(), String> {
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
            return Err(format!("`{other}` is not an argument of {action}; it is called `{name}`"));
        }
    }
    Ok(())
}

fn context_lines(value: Option<&Value>) -> Result<usize, String> {
    let number = counted(value).map_err(|()| "`context_lines` is not a number of lines")?;
    let number = number.unwrap_or(USUAL_CONTEXT).min(MOST_CONTEXT);
    Ok(usize::try_from(number).unwrap_or_default())
}

fn number(object: &Map<String, Value>, key: &str) -> Result<Option<u64>, String> {
    counted(object.get(key)).map_err(|()| format!("`{key}` is not a number of lines"))
}

/// A whole number, or one written as a string.
fn counted(value: Option<&Value>) -> Result<Option<u64>, ()> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Number(number)) => number.as_u64().map(Some).ok_or(()),
        Some(Value::String(text)) => text.trim().parse().map(Some).map_err(|_| ()),
        Some(_) => Err(()),
    }
}

#[cfg(test)]
mod tests;
