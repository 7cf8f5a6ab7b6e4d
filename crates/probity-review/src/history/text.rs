//! Reviews as databases take them: PostgreSQL has no NUL, and nobody wants escape sequences kept.

use serde_json::Value;

use crate::{clean::plain, output::ReviewOutput};

/// Program texts are kept to the letter, but for NUL.
const CODE: &[&str] = &["test_code", "fix_patch"];

pub(super) fn storable(review: &ReviewOutput) -> String {
    // Values of ours always have a JSON; an empty object would be refused when it is read.
    let mut value = serde_json::to_value(review).unwrap_or_default();
    clean(&mut value, false);
    value.to_string()
}

pub(super) fn without_nul(text: &str) -> String {
    text.replace('\0', "")
}

fn clean(value: &mut Value, is_code: bool) {
    match value {
        Value::String(text) if is_code => *text = without_nul(text),
        Value::String(text) => *text = plain(text),
        Value::Array(items) => items.iter_mut().for_each(|item| clean(item, is_code)),
        Value::Object(fields) => {
            for (name, field) in fields {
                clean(field, CODE.contains(&name.as_str()));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
