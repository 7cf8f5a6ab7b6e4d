//! What a model wants next, read from whatever it wrote.

mod object;

use serde_json::{Map, Value};

use crate::{
    answer::{FAILURES, SUCCESSES},
    tools::request::Request,
};

/// Twice as much as anybody reads; more would fill the output with one hit.
const MOST_CONTEXT: u64 = 20;
const USUAL_CONTEXT: usize = 2;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    Read(Request),
    /// The model is done; what it found is still to be judged.
    Final(Map<String, Value>),
}

/// Reads an action: a JSON object alone, in a fence, or among prose. Where there are several, the
/// first that is an action counts.
///
/// The error says what is missing, in words for the model.
pub(crate) fn parse(text: &str) -> Result<Action, String> {
    let mut why = "there is no JSON object in the answer".to_owned();
    let mut is_first = true;
    for object in object::objects(text) {
        match action(object) {
            Ok(action) => return Ok(action),
            // The first object is the one that was meant, and what it lacks is worth telling.
            Err(error) if is_first => why = error,
            Err(_) => {}
        }
        is_first = false;
    }
    Err(why)
}

fn action(object: Map<String, Value>) -> Result<Action, String> {
    let name = match object.get("action") {
        Some(Value::String(name)) => name.trim().to_lowercase(),
        Some(Value::Null) | None => {
            // An empty object is no verdict: a model that says nothing has not looked.
            if object.contains_key("findings") || object.contains_key("status") {
                return done(object);
            }
            return Err("the object has no `action`, no `findings` and no `status`".to_owned());
        }
        Some(_) => return Err("`action` is not a string".to_owned()),
    };
    let path = word(&object, "path")?.unwrap_or_else(|| ".".to_owned());
    Ok(Action::Read(match name.as_str() {
        "final" => return done(object),
        "read_file" => Request::ReadFile { path },
        "list_dir" => Request::ListDir { path },
        "find_files" => Request::FindFiles { path, glob: word(&object, "glob")? },
        "grep" => Request::Grep {
            pattern: word(&object, "pattern")?.unwrap_or_default(),
            path,
            context_lines: context_lines(object.get("context_lines"))?,
        },
        other => {
            let other = crate::text::one_line(other, 60);
            return Err(format!(
                "'{other}' is no action; the actions are read_file, grep, list_dir, find_files and final"
            ));
        }
    }))
}

/// A final answer whose findings are no list, or stand under another name, would otherwise pass as
/// a clean one.
fn done(object: Map<String, Value>) -> Result<Action, String> {
    match object.get("findings") {
        Some(Value::Array(_) | Value::Object(_)) => return Ok(Action::Final(object)),
        None | Some(Value::Null) => {}
        Some(_) => return Err("`findings` is not a list".to_owned()),
    }
    let is_list = |value: &Value| value.as_array().is_some_and(|list| !list.is_empty());
    if let Some((name, _)) = object.iter().find(|(_, value)| is_list(value)) {
        let name = crate::text::one_line(name, 60);
        return Err(format!("findings belong into `findings`, and not into `{name}`"));
    }
    let status = object.get("status").and_then(Value::as_str).unwrap_or_default().trim();
    let is_known = SUCCESSES.iter().chain(FAILURES).any(|known| status.eq_ignore_ascii_case(known));
    match is_known {
        true => Ok(Action::Final(object)),
        false => Err("the final answer has no `findings`, which may be an empty list, and no \
                      `status` such as `completed`"
            .to_owned()),
    }
}

fn word(object: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
        Some(_) => Err(format!("`{key}` is not a string")),
    }
}

fn context_lines(value: Option<&Value>) -> Result<usize, String> {
    let number = match value {
        None | Some(Value::Null) => return Ok(USUAL_CONTEXT),
        Some(Value::Number(number)) => number.as_u64(),
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(_) => None,
    };
    let number = number.ok_or("`context_lines` is not a number of lines")?;
    Ok(usize::try_from(number.min(MOST_CONTEXT)).unwrap_or(USUAL_CONTEXT))
}

#[cfg(test)]
mod tests;
