//! JSON objects in a text that may hold anything else beside them, and what is wrong with a text
//! that should hold one.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::ActionError;

/// More than this many places where an object might begin are not looked at.
const MOST_STARTS: usize = 200;

/// As many as a model could count.
const MOST_CLOSERS: usize = 20;

/// Every object of the text, in its order. One within another is not listed apart.
pub(super) fn objects(text: &str) -> Vec<Map<String, Value>> {
    if let Ok(Value::Object(object)) = serde_json::from_str(text.trim()) {
        return vec![object];
    }
    let mut objects = Vec::new();
    let mut rest = text;
    for _ in 0..MOST_STARTS {
        let Some(start) = rest.find('{') else { break };
        let candidate = rest.get(start..).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_str(candidate).into_iter::<Value>();
        let skip = match values.next() {
            Some(Ok(Value::Object(object))) => {
                objects.push(object);
                values.byte_offset().max(1)
            }
            _ => 1,
        };
        rest = candidate.get(skip..).unwrap_or_default();
    }
    objects
}

/// The text without what a model thinks aloud. A thought without an end is a thought to the end.
pub(super) fn without_thoughts(text: &str) -> Cow<'_, str> {
    const OPEN: &str = "<think>";
    const CLOSE: &str = "</think>";
    // Some servers drop the mark that opens a thought.
    let text = match (text.find(OPEN), text.find(CLOSE)) {
        (open, Some(close)) if open.is_none_or(|open| close < open) => {
            text.get(close + CLOSE.len()..).unwrap_or_default()
        }
        _ => text,
    };
    if !text.contains(OPEN) {
        return Cow::Borrowed(text);
    }
    let mut said = String::new();
    let mut rest = text;
    while let Some((before, thought)) = rest.split_once(OPEN) {
        said.push_str(before);
        rest = thought.split_once(CLOSE).map_or("", |(_, after)| after);
    }
    said.push_str(rest);
    Cow::Owned(said)
}

/// What is wrong with the first thing in a text that looks like a JSON object. Nothing if its brackets are as they should be.
pub(super) fn complaint(text: &str) -> Option<ActionError> {
    let start = text.find('{')?;
    let Shape { open, has_open_string, trailing_comma } =
        Shape::of(text.get(start..).unwrap_or(""));
    if let Some(closer) = trailing_comma {
        return Some(ActionError::TrailingComma(closer));
    }
    if has_open_string {
        return Some(ActionError::OpenString);
    }
    if open.is_empty() {
        return None;
    }
    Some(ActionError::NotClosed(open.iter().rev().take(MOST_CLOSERS).collect()))
}

/// What a reader of brackets sees in a text.
#[derive(Default)]
struct Shape {
    /// The closing brackets that are still to come.
    open: Vec<char>,
    has_open_string: bool,
    trailing_comma: Option<char>,
}

impl Shape {
    fn of(text: &str) -> Self {
        let mut shape = Self::default();
        let mut characters = text.chars();
        let mut is_after_comma = false;
        while let Some(character) = characters.next() {
            if shape.has_open_string {
                match character {
                    '\\' => drop(characters.next()),
                    '"' => shape.has_open_string = false,
                    _ => {}
                }
                continue;
            }
            match character {
                '"' => shape.has_open_string = true,
                '{' => shape.open.push('}'),
                '[' => shape.open.push(']'),
                '}' | ']' => {
                    if is_after_comma {
                        shape.trailing_comma.get_or_insert(character);
                    }
                    shape.open.pop();
                    if shape.open.is_empty() {
                        break;
                    }
                }
                _ => {}
            }
            is_after_comma = character == ',' || is_after_comma && character.is_whitespace();
        }
        shape
    }
}
