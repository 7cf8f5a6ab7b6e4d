//! Completion in configuration files: tables, keys and values, as the JSON Schema has them.

use gen_lsp_types::CompletionItemKind;
use serde_json::Value;

use super::{Choice, Choices, choice, replacing};
use crate::features::View;

pub(super) fn choices(view: &View<'_>, at: usize) -> Option<Choices> {
    let schema = view.host.config_schema(&view.document.path)?;
    let line = view.lines.line_span(view.lines.line_of(at));
    let before = view.text().get(line.start..at)?.trim_start();
    if before.starts_with('#') {
        return None;
    }
    if let Some(header) = before.strip_prefix('[') {
        let header = header.trim_start_matches('[');
        let (path, word) = header.rsplit_once('.').unwrap_or(("", header));
        let tables = members(at_path(&schema, &parts(path))?)
            .filter(|(_, member)| member.get("properties").is_some())
            .map(|(name, member)| choice(name, CompletionItemKind::Module, about(member)));
        return Some(replacing(word, at, tables.collect()));
    }
    let table = table_above(view.text().get(..line.start)?);
    if let Some((key, value)) = before.split_once('=') {
        let mut path = parts(&table);
        path.extend(parts(key.trim()));
        let values = values(at_path(&schema, &path)?);
        let word_start = value.rfind([' ', '[', ',', '=']).map_or(0, |space| space + 1);
        return Some(replacing(value.get(word_start..)?, at, values));
    }
    let (path, word) = before.rsplit_once('.').unwrap_or(("", before));
    let mut full = parts(&table);
    full.extend(parts(path));
    let keys = members(at_path(&schema, &full)?)
        .map(|(name, member)| choice(name, CompletionItemKind::Property, about(member)));
    Some(replacing(word, at, keys.collect()))
}

/// The header of the table that a line is in.
fn table_above(text: &str) -> String {
    let headers = text.lines().rev().map(str::trim).filter(|line| line.starts_with('['));
    let header = headers.map(|line| line.trim_start_matches('[')).next().unwrap_or_default();
    header.split(']').next().unwrap_or_default().trim().to_owned()
}

fn parts(path: &str) -> Vec<&str> {
    let parts = path.split('.').map(|part| part.trim().trim_matches(['"', '\'']));
    parts.filter(|part| !part.is_empty()).collect()
}

fn at_path<'s>(schema: &'s Value, path: &[&str]) -> Option<&'s Value> {
    path.iter().try_fold(schema, |schema, part| {
        let named = schema.get("properties").and_then(|members| members.get(part));
        // The entries of a table of named tables have names of the user's choice.
        named.or_else(|| schema.get("additionalProperties").filter(|any| any.is_object()))
    })
}

fn members(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn about(schema: &Value) -> String {
    let text = |name: &str| schema.get(name).and_then(Value::as_str).unwrap_or_default();
    let default = schema.get("default").map(|value| format!("\n\nDefault: `{value}`."));
    format!("{}{}", text("description"), default.unwrap_or_default())
}

/// The values that a key takes, as TOML.
fn values(schema: &Value) -> Vec<Choice> {
    let about = about(schema);
    let value = |value: &Value| choice(value.to_string(), CompletionItemKind::Value, about.clone());
    let listed = [schema.get("enum"), schema.pointer("/items/enum")];
    let listed = listed.into_iter().flatten().filter_map(Value::as_array).flatten();
    let any_of = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
    let nested = any_of.into_iter().flatten().flat_map(values);
    let mut all: Vec<Choice> = listed.map(value).chain(nested).collect();
    if schema.get("type").is_some_and(|kind| kind == "boolean") {
        all.extend(
            ["true", "false"].map(|word| choice(word, CompletionItemKind::Value, about.clone())),
        );
    }
    if all.is_empty()
        && let Some(default) = schema.get("default").filter(|default| !default.is_null())
    {
        all.push(value(default));
    }
    all
}
