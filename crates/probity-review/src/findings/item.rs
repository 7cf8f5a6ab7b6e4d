//! One item of the list, field by field.

use serde_json::Value;

use super::AgentFinding;
use crate::{
    clean::{capped, one_line, plain},
    risk::UnknownWord,
};

const TITLE_CHARS: usize = 300;
const PATH_CHARS: usize = 1_000;
const DESCRIPTION_BYTES: usize = 16 << 10;
/// A test, or a patch, that is longer is not the small proof that was asked for.
const CODE_BYTES: usize = 256 << 10;

/// Why an item is not a finding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadItem {
    #[error("it is not an object")]
    NotObject,
    #[error("{0} is missing")]
    Missing(&'static str),
    #[error(transparent)]
    Word(#[from] UnknownWord),
    #[error("{0} is 0, and lines are counted from 1")]
    LineZero(&'static str),
    #[error("{0} is not a line number")]
    NotLine(&'static str),
    #[error("{name} has {bytes} bytes, the limit is {CODE_BYTES}")]
    TooLong { name: &'static str, bytes: usize },
    #[error("{0} has a NUL character in it")]
    Nul(&'static str),
    #[error("{0} is not a text")]
    NotText(&'static str),
}

pub(super) fn read(item: &Value) -> Result<AgentFinding, BadItem> {
    if !item.is_object() {
        return Err(BadItem::NotObject);
    }
    let needed = |name: &'static str| short(item, name).ok_or(BadItem::Missing(name));
    let title = needed("title")?;
    let file = needed("file")?;
    let line = line(item, "line")?.ok_or(BadItem::Missing("line"))?;
    let end_line = self::line(item, "end_line")?.filter(|end| *end >= line);
    let severity = short(item, "severity_hint").or_else(|| short(item, "severity"));
    let severity = severity.ok_or(BadItem::Missing("severity_hint"))?.parse()?;
    let category = needed("category")?.parse()?;
    let description = text(item, "description").unwrap_or_default();
    Ok(AgentFinding {
        title,
        description: capped(plain(description).trim(), DESCRIPTION_BYTES),
        file,
        line,
        end_line,
        severity,
        category,
        test_code: code(item, "test_code")?,
        test_file: short(item, "test_file"),
        test_name: short(item, "test_name"),
        fix_patch: code(item, "fix_patch")?,
        other_fixes: Vec::new(),
    })
}

/// A text of one line that is not empty.
pub(super) fn short(item: &Value, name: &str) -> Option<String> {
    let chars = if name == "title" { TITLE_CHARS } else { PATH_CHARS };
    Some(one_line(text(item, name)?, chars)).filter(|text| !text.is_empty())
}

/// A line number; some agents write it as a text or with a fraction.
pub(super) fn line(item: &Value, name: &'static str) -> Result<Option<u64>, BadItem> {
    let number = match item.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Number(number)) => number.as_u64().or_else(|| {
            let float = number.as_f64()?;
            let whole = float.fract() == 0.0 && (0.0..=9e15).contains(&float);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a whole number in the range that was just checked"
            )]
            whole.then_some(float as u64)
        }),
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(_) => None,
    };
    match number {
        Some(0) => Err(BadItem::LineZero(name)),
        Some(number) => Ok(Some(number)),
        None => Err(BadItem::NotLine(name)),
    }
}

/// A program text: kept as it is but for its line ends, and refused if it cannot be one.
pub(super) fn code(item: &Value, name: &'static str) -> Result<Option<String>, BadItem> {
    match item.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(code)) if code.trim().is_empty() => Ok(None),
        Some(Value::String(code)) if code.len() > CODE_BYTES => {
            Err(BadItem::TooLong { name, bytes: code.len() })
        }
        Some(Value::String(code)) if code.contains('\0') => Err(BadItem::Nul(name)),
        Some(Value::String(code)) => Ok(Some(code.replace("\r\n", "\n"))),
        Some(_) => Err(BadItem::NotText(name)),
    }
}

fn text<'a>(item: &'a Value, name: &str) -> Option<&'a str> {
    item.get(name)?.as_str()
}
