//! JSON objects in a text that may hold anything else beside them.

use serde_json::{Map, Value};

/// More than this many places where an object might begin are not looked at.
const MOST_STARTS: usize = 200;

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
