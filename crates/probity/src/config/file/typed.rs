//! Values of a file, held against the kind that belongs in their place.

use serde::Deserialize;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{Reader, SpannedValue};
use crate::config::{kind::ValueKind, value::Value};

impl Reader<'_> {
    /// Reads a value of this kind, or notes at the value why it is none.
    pub(super) fn typed(
        &mut self,
        kind: ValueKind,
        path: &str,
        value: &SpannedValue<'_>,
    ) -> Option<Value> {
        let read = match (kind, value.get_ref()) {
            (ValueKind::Bool, DeValue::Boolean(value)) => Ok(Value::Bool(*value)),
            (ValueKind::Int | ValueKind::IntIn(..), DeValue::Integer(number)) => {
                let parsed = i64::from_str_radix(number.as_str(), number.radix());
                parsed.map(Value::Int).map_err(|_| kind.out_of_range(number))
            }
            (ValueKind::String | ValueKind::OneOf(_), DeValue::String(text)) => {
                Ok(Value::Text(text.to_string()))
            }
            (ValueKind::Amount | ValueKind::Score, DeValue::Integer(number)) => {
                kind.parse(number.as_str())
            }
            (ValueKind::Amount | ValueKind::Score, DeValue::Float(number)) => {
                kind.parse(number.as_str())
            }
            (ValueKind::Duration | ValueKind::Memory, DeValue::String(text)) => kind.measure(text),
            (_, DeValue::Array(items)) if kind.is_list() || kind == ValueKind::Argv => {
                Ok(Value::List(self.strings(path, items)?))
            }
            (ValueKind::Runners | ValueKind::OwnRules, DeValue::Array(items)) => {
                return self.tables(kind, path, items);
            }
            (ValueKind::SecretMounts, DeValue::Table(_)) => {
                let value = toml::de::ValueDeserializer::from(value.clone());
                let table = toml::Table::deserialize(value);
                table.map(Value::Table).map_err(Into::into)
            }
            _ => {
                self.wrong_type(path, &kind.expected(), value);
                return None;
            }
        };
        match read.and_then(|value| kind.check(value)) {
            Ok(value) => Some(value),
            Err(reason) => {
                self.problem(value.span().start, format!("`{path}`: {reason}"));
                None
            }
        }
    }

    /// Reads a list of tables. Notes a mistake at the table that has it.
    fn tables(
        &mut self,
        kind: ValueKind,
        path: &str,
        items: &[Spanned<DeValue<'_>>],
    ) -> Option<Value> {
        let mut tables = Vec::with_capacity(items.len());
        for item in items {
            self.as_table(&format!("{path}[{}]", tables.len()), item)?;
            match toml::Table::deserialize(toml::de::ValueDeserializer::from(item.clone())) {
                Ok(table) => tables.push(table),
                Err(error) => {
                    self.problem(item.span().start, format!("`{path}`: {}", error.message()));
                    return None;
                }
            }
        }
        let Err(reason) = kind.check(Value::Tables(tables.clone())) else {
            return Some(Value::Tables(tables));
        };
        // A list with a wrong table stays wrong, whatever follows it.
        let counts: Vec<usize> = (1..=tables.len()).collect();
        let is_right = |count: &usize| {
            let tables = tables.iter().take(*count).cloned().collect();
            kind.check(Value::Tables(tables)).is_ok()
        };
        let wrong = items.get(counts.partition_point(is_right))?;
        self.problem(wrong.span().start, format!("`{path}`: {reason}"));
        None
    }

    pub(super) fn as_table<'v, 'i>(
        &mut self,
        path: &str,
        value: &'v SpannedValue<'i>,
    ) -> Option<&'v DeTable<'i>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.wrong_type(path, "a table", value);
        }
        table
    }

    fn strings(&mut self, path: &str, items: &[Spanned<DeValue<'_>>]) -> Option<Vec<String>> {
        let mut strings = Vec::new();
        for item in items {
            match item.get_ref() {
                DeValue::String(text) => strings.push(text.to_string()),
                _ => {
                    self.wrong_type(&format!("{path}[{}]", strings.len()), "a string", item);
                    return None;
                }
            }
        }
        Some(strings)
    }

    fn wrong_type(&mut self, path: &str, expected: &str, value: &SpannedValue<'_>) {
        let found = match value.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a float",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date or a time",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.problem(value.span().start, format!("`{path}` must be {expected}, not {found}"));
    }
}
