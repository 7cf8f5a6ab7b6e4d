//! The actions as a JSON schema, for providers that can hold a model to one.
//!
//! Strict providers want every property to be required and an object at the top, so that arguments
//! which an action does not have are `null`.

use probity_agent::Schema;
use serde_json::{Map, Value, json};

use super::Expected;
use crate::exploit::EXPLOIT_FIELDS;

impl Expected {
    pub(crate) fn schema(self) -> Schema {
        let actions = ["read_file", "grep", "list_dir", "find_files", "final"];
        let mut properties = Map::new();
        properties.insert("action".to_owned(), json!({"type": "string", "enum": actions}));
        for word in ["path", "pattern", "glob"] {
            properties.insert(word.to_owned(), json!({"type": ["string", "null"]}));
        }
        for number in ["offset", "limit", "context_lines"] {
            properties.insert(number.to_owned(), json!({"type": ["integer", "null"]}));
        }
        match self {
            Self::Findings => properties.extend(findings()),
            Self::Verdict => properties.extend(verdict()),
            Self::Exploit => {
                for word in EXPLOIT_FIELDS.iter().chain(&["reason"]) {
                    properties.insert((*word).to_owned(), json!({"type": ["string", "null"]}));
                }
            }
        }
        Schema { name: "action", schema: object(properties) }
    }
}

fn findings() -> [(String, Value); 3] {
    let finding = Map::from_iter([
        ("title".to_owned(), json!({"type": "string"})),
        (
            "severity".to_owned(),
            json!({"type": "string", "enum": ["low", "medium", "high", "critical"]}),
        ),
        ("summary".to_owned(), json!({"type": "string"})),
        ("evidence".to_owned(), json!({"type": "array", "items": {"type": "string"}})),
        ("recommendation".to_owned(), json!({"type": "string"})),
        ("file".to_owned(), json!({"type": ["string", "null"]})),
        ("line".to_owned(), json!({"type": ["integer", "null"]})),
        ("impact".to_owned(), json!({"type": ["string", "null"]})),
        ("likelihood".to_owned(), json!({"type": ["string", "null"]})),
    ]);
    [
        ("status".to_owned(), json!({"type": ["string", "null"]})),
        ("findings".to_owned(), json!({"type": ["array", "null"], "items": object(finding)})),
        ("next_prompt".to_owned(), json!({"type": ["string", "null"]})),
    ]
}

fn verdict() -> [(String, Value); 4] {
    let verdicts = json!(["refuted", "upheld", "undecided", null]);
    [
        ("verdict".to_owned(), json!({"type": ["string", "null"], "enum": verdicts})),
        ("reason".to_owned(), json!({"type": ["string", "null"]})),
        ("evidence".to_owned(), json!({"type": ["array", "null"], "items": {"type": "string"}})),
        ("file".to_owned(), json!({"type": ["string", "null"]})),
    ]
}

fn object(properties: Map<String, Value>) -> Value {
    let required: Vec<&String> = properties.keys().collect();
    json!({
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": false,
    })
}
