//! Finding the list in the answer.
//!
//! An empty list means a clean review, so that the two brackets have to be what the answer is, and
//! not something that happens to stand in a sentence.

use serde_json::Value;

use super::FindingsError;
use crate::clean::one_line;

/// Keys under which agents and their envelopes put a list, or a text with a list in it.
const KEYS: &[&str] =
    &["findings", "issues", "structured_output", "result", "response", "results", "output"];

/// The key of the list that was asked for.
type ListKey = &'static str;
/// An envelope in an envelope is as deep as it gets.
const MAX_DEPTH: usize = 4;
/// Places in prose where JSON may begin. Each is tried by reading to its end, so they are few.
const MAX_STARTS: usize = 64;
/// As much as may be said beside an empty list.
const LEAD_IN_BYTES: usize = 120;
/// Words by which an agent says that it has not looked.
const REFUSALS: &[&str] = &[
    "cannot",
    "can't",
    "can\u{2019}t",
    "could not",
    "couldn't",
    "couldn\u{2019}t",
    "unable",
    "sorry",
    "apolog",
    "unfortunately",
    "refuse",
    "not able",
    "example",
    "failed",
    "error",
];

/// The list under the wanted key, or the one list that there is.
pub(super) fn list(answer: &str, wanted: ListKey) -> Result<Vec<Value>, FindingsError> {
    let answer = answer.trim().trim_start_matches('\u{feff}').trim_start();
    if answer.is_empty() {
        return Err(FindingsError::Empty);
    }
    if let Some(list) = whole(answer, MAX_DEPTH, wanted) {
        return Ok(list);
    }
    let in_prose = in_prose(answer, wanted);
    if let (Some(list), Ok(_) | Err(false)) = (fenced(answer, wanted), &in_prose) {
        return Ok(list);
    }
    match in_prose {
        Ok(list) => Ok(list),
        Err(true) => Err(FindingsError::CutOff),
        Err(false) => Err(FindingsError::NoList { beginning: one_line(answer, 120) }),
    }
}

/// A text that is JSON from its first character to its last.
fn whole(text: &str, depth: usize, wanted: ListKey) -> Option<Vec<Value>> {
    unwrapped(serde_json::from_str(text).ok()?, depth, wanted)
}

/// The list in a value: itself, or what an envelope holds.
fn unwrapped(value: Value, depth: usize, wanted: ListKey) -> Option<Vec<Value>> {
    match value {
        Value::Array(list) => Some(list),
        Value::Object(mut object) => {
            if object.contains_key("title") && object.contains_key("file") {
                return Some(vec![Value::Object(object)]);
            }
            let depth = depth.checked_sub(1)?;
            [wanted].iter().chain(KEYS).find_map(|key| match object.remove(*key)? {
                Value::String(text) => {
                    whole(text.trim(), depth, wanted).or_else(|| fenced(&text, wanted))
                }
                value => unwrapped(value, depth, wanted),
            })
        }
        _ => None,
    }
}

/// The last fenced block that is a list: earlier ones are drafts and quotations.
fn fenced(text: &str, wanted: ListKey) -> Option<Vec<Value>> {
    let mut found: Option<Vec<Value>> = None;
    let mut open: Option<(usize, usize)> = None;
    let mut offset = 0;
    let mut blocks = 0;
    let mut prose = String::new();
    for line in text.split_inclusive('\n') {
        let start = offset;
        offset += line.len();
        let ticks = line.trim_start().bytes().take_while(|byte| *byte == b'`').count();
        let bare = line.trim().len() == ticks;
        match open {
            None if ticks >= 3 => {
                open = Some((offset, ticks));
                blocks += 1;
            }
            None => prose.push_str(line),
            Some((from, opened)) if ticks >= opened && bare => {
                let block = text.get(from..start).unwrap_or_default();
                found = whole(block.trim(), MAX_DEPTH, wanted).filter(|list| fits(list)).or(found);
                open = None;
            }
            _ => {}
        }
    }
    found.filter(|list| !list.is_empty() || (blocks == 1 && is_lead_in(prose.trim())))
}

/// Whether words beside an empty list only lead to it, and do not take it back.
fn is_lead_in(prose: &str) -> bool {
    let prose = prose.to_lowercase();
    prose.len() <= LEAD_IN_BYTES && !REFUSALS.iter().any(|word| prose.contains(word))
}

/// The last list of objects that stands somewhere in the text; else whether one is cut off. An
/// empty list in prose is no answer: it is as likely a quotation or the end of an apology.
fn in_prose(text: &str, wanted: ListKey) -> Result<Vec<Value>, bool> {
    let mut found = None;
    let mut cut_off = false;
    let mut from = 0;
    for _ in 0..MAX_STARTS {
        let rest = text.get(from..).unwrap_or_default();
        let Some(at) = rest.find(['[', '{']) else { break };
        let start = from + at;
        let candidate = text.get(start..).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_str(candidate).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                let end = start + values.byte_offset();
                let list = unwrapped(value, MAX_DEPTH, wanted).filter(|list| fits(list));
                found = list.filter(|list| !list.is_empty()).or(found);
                from = end.max(start + 1);
            }
            Some(Err(error)) => {
                cut_off |= error.is_eof() && looks_like_findings(candidate);
                from = start + 1;
            }
            None => break,
        }
    }
    // What is complete in a list that is cut off is not all that there was.
    if cut_off { Err(true) } else { found.ok_or(false) }
}

fn fits(list: &[Value]) -> bool {
    list.iter().all(Value::is_object)
}

fn looks_like_findings(candidate: &str) -> bool {
    let after = candidate.get(1..).unwrap_or_default().trim_start();
    after.is_empty() || after.starts_with(['{', '"'])
}
