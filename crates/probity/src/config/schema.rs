//! The JSON Schema of the file, for editors and for whoever checks files without us.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    catalogue::{CODE_PATTERNS, Catalogue, EVERY_RULE, NAMESPACES, OptionSchema},
    keys::{self, AGENT_KEYS, Key, children, join},
    kind::Kind,
};

/// The schema of a file that may set every key, and the rules of the catalogue.
pub(crate) fn schema(catalogue: &Catalogue<'_>) -> Value {
    let mut root = table(catalogue, "");
    insert(&mut root, "$schema", json!("https://json-schema.org/draft/2020-12/schema"));
    insert(&mut root, "title", json!("Configuration of check: .tally.toml or tally.toml"));
    root
}

fn table(catalogue: &Catalogue<'_>, at: &str) -> Value {
    let properties = children(at).into_iter().map(|name| {
        let path = join(at, name);
        let schema = match keys::find(&path) {
            Some(key) => key_schema(key),
            None if path == "ai.agents" => agents_schema(),
            None if at == "rules" && NAMESPACES.contains(&name) => {
                namespace_schema(catalogue, name)
            }
            None => table(catalogue, &path),
        };
        (name.to_owned(), schema)
    });
    closed(properties.collect())
}

fn agents_schema() -> Value {
    let keys = AGENT_KEYS.iter().map(|key| (key.path.to_owned(), key_schema(key)));
    let mut agent = closed(keys.collect());
    insert(&mut agent, "required", json!(["command"]));
    json!({
        "type": "object",
        "description": "Agents by name, for `ai.agent`.",
        "additionalProperties": agent,
    })
}

fn namespace_schema(catalogue: &Catalogue<'_>, namespace: &str) -> Value {
    let mut rules = Map::new();
    let mut groups: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    let here = catalogue.rules.iter().map(|rule| (rule.name, Some(rule.options)));
    let elsewhere = catalogue.elsewhere.iter().map(|&name| (name, None));
    for (name, options) in here.chain(elsewhere) {
        let Some((_, name)) = name.split_once('/').filter(|(of, _)| *of == namespace) else {
            continue;
        };
        rules.insert(name.to_owned(), rule_schema(options));
        if let Some((group, rest)) = name.split_once('/') {
            groups.entry(group).or_default().insert(rest.to_owned(), rule_schema(options));
        }
    }
    for (group, rules_of_group) in groups {
        rules.entry(group).or_insert_with(|| closed(rules_of_group));
    }
    // A property and a pattern are both asked, which is right: what the pattern demands holds for
    // every rule.
    let patterns = CODE_PATTERNS.iter().filter(|(of, _)| *of == namespace);
    let patterns: Map<String, Value> =
        patterns.map(|(_, pattern)| ((*pattern).to_owned(), rule_schema(None))).collect();
    let mut schema = closed(rules);
    if !patterns.is_empty() {
        insert(&mut schema, "patternProperties", Value::Object(patterns));
    }
    schema
}

/// The table of one rule; of a rule that is known elsewhere only the common part is known.
fn rule_schema(options: Option<&[OptionSchema]>) -> Value {
    let mut properties = Map::new();
    for option in EVERY_RULE.iter().chain(options.unwrap_or_default()) {
        let schema = described(option.kind, option.doc, Some(option.default));
        let (name, schema) = match option.name.split_once('.') {
            Some((outer, inner)) => (outer, closed(Map::from_iter([(inner.to_owned(), schema)]))),
            None => (option.name, schema),
        };
        properties.insert(name.to_owned(), schema);
    }
    let mut table = closed(properties);
    if options.is_none() {
        insert(&mut table, "additionalProperties", json!(true));
    }
    table
}

fn key_schema(key: &Key) -> Value {
    let mut schema = described(key.kind, key.doc, key.default);
    if key.path == "ai.redact-secrets" {
        insert(&mut schema, "deprecated", json!(true));
    }
    schema
}

fn described(kind: Kind, doc: &str, default: Option<&str>) -> Value {
    let mut schema = kind.schema();
    insert(&mut schema, "description", json!(doc));
    if let Some(value) = default.and_then(|text| kind.default_value(text)) {
        insert(&mut schema, "default", value.to_json());
    }
    schema
}

/// A table that takes nothing but these.
fn closed(properties: Map<String, Value>) -> Value {
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn insert(schema: &mut Value, name: &str, value: Value) {
    if let Value::Object(members) = schema {
        members.insert(name.to_owned(), value);
    }
}
