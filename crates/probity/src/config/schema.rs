//! The JSON Schemas of configuration files, for editors and for whoever checks files without us.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    catalogue::{CODE_PATTERNS, Catalogue, EVERY_RULE, NAMESPACES, OptionSchema},
    file::{EXTENDS, children, is_rules, join},
    guard::Guard,
    key::{Dialect, Key},
    kind::ValueKind,
    table::{self, NAMED, NamedTables},
};
use crate::name::Name;

/// The schema of a file that may set every key of a dialect, and the rules of the catalogue.
pub(crate) fn schema(catalogue: &Catalogue<'_>, dialect: Dialect) -> Value {
    let title = match dialect {
        Dialect::Probity => {
            "Configuration of probity: probity.toml, or tool.probity in pyproject.toml"
        }
        Dialect::Tally => "Configuration of check: .tally.toml or tally.toml",
        Dialect::Containai => "Configuration of containment: .containai/config.toml",
    };
    let mut root = table(catalogue, dialect, "");
    if let (Dialect::Probity, Some(properties)) =
        (dialect, root.get_mut("properties").and_then(Value::as_object_mut))
    {
        let extends = json!({
            "description": "Shared configuration files, relative to this file. Settings of this file \
                            win over theirs.",
            "oneOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}},
            ],
        });
        properties.insert(EXTENDS.to_owned(), extends);
    }
    insert(&mut root, "$schema", json!("https://json-schema.org/draft/2020-12/schema"));
    insert(&mut root, "title", json!(title));
    root
}

fn table(catalogue: &Catalogue<'_>, dialect: Dialect, at: &str) -> Value {
    let properties = children(dialect, at).into_iter().map(|name| {
        let path = join(at, name);
        let is_path = |own: Option<&'static str>| own == Some(path.as_str());
        let key = table::keys().find(|key| is_path(key.path_in(dialect)));
        let named = NAMED.iter().find(|named| is_path(named.path_in(dialect)));
        let schema = match (key, named) {
            (Some(key), _) => key_schema(key, dialect),
            (None, Some(named)) => named_schema(named, dialect),
            _ if is_rules(dialect, at) && NAMESPACES.contains(&name) => {
                namespace_schema(catalogue, name)
            }
            _ => table(catalogue, dialect, &path),
        };
        (name.to_owned(), schema)
    });
    closed(properties.collect())
}

fn named_schema(named: &NamedTables, dialect: Dialect) -> Value {
    let keys = named.keys_in(dialect).map(|key| (key.path.to_owned(), key_schema(key, dialect)));
    let mut entry = closed(keys.collect());
    if named.needs_command(dialect) {
        insert(&mut entry, "required", json!(["command"]));
    }
    json!({"type": "object", "description": named.doc, "additionalProperties": entry})
}

fn namespace_schema(catalogue: &Catalogue<'_>, namespace: &str) -> Value {
    let mut rules = Map::new();
    let mut groups: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for rule in catalogue.rules {
        let Some((_, name)) = rule.name.split_once('/').filter(|(of, _)| *of == namespace) else {
            continue;
        };
        let options = Some(rule.options);
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
        let default = option.kind.default_value(option.default);
        let schema = described(option.kind, option.doc, default);
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

fn key_schema(key: &Key, dialect: Dialect) -> Value {
    let doc = match key.guard {
        Guard::Open => key.doc().to_owned(),
        guard if dialect == Dialect::Probity => {
            format!("{}. A repository's file {}.", key.doc(), guard.doc())
        }
        _ => key.doc().to_owned(),
    };
    let own = if dialect == Dialect::Tally { key.default_under(Name::Tally) } else { None };
    let default = own.and_then(|text| key.kind.parse(text).ok()).or_else(|| key.default_value());
    let mut schema = described(key.kind, &doc, default);
    if key.is_deprecated {
        insert(&mut schema, "deprecated", json!(true));
    }
    schema
}

fn described(kind: ValueKind, doc: &str, default: Option<super::Value>) -> Value {
    let mut schema = kind.schema();
    insert(&mut schema, "description", json!(doc));
    if let Some(value) = default {
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
