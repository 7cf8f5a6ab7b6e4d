//! JSON literals: the text of one, and one of a text.

use std::borrow::Cow;

/// What a string says, or the spelling of any other value: agents have used numbers for session ids.
pub(crate) fn content(raw: &str) -> Cow<'_, str> {
    match raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) if !inner.contains('\\') => Cow::Borrowed(inner),
        Some(_) => serde_json::from_str(raw).map_or(Cow::Borrowed(raw), Cow::Owned),
        None => Cow::Borrowed(raw),
    }
}

/// What a string says; nothing for any other value.
pub(crate) fn text(raw: &str) -> Option<Cow<'_, str>> {
    raw.starts_with('"').then(|| content(raw))
}

pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    if !text.bytes().all(is_plain) {
        return serde_json::Value::from(text).to_string();
    }
    // Most texts need no escapes, ours least of all.
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    literal.push_str(text);
    literal.push('"');
    literal
}
