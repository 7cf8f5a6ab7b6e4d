//! What a key accepts: read from a file, read from one string, described as JSON Schema.

use std::fmt::Display;

use probity_agent::split_words;
use probity_sandbox::Allowlist;
use serde_json::json;

use super::{
    bad_value::BadValue, duration, memory, own_rules, runner, secret_mounts, value::Value,
    word::UnknownWord,
};

/// The shapes of values. Keys and options of rules share them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Bool,
    /// A whole number from zero on.
    Int,
    /// A whole number between these two, both included.
    IntIn(i64, i64),
    /// A number above zero.
    Amount,
    /// A number from 0 to 10.
    Score,
    /// An amount of memory such as `4g`.
    Memory,
    String,
    OneOf(&'static [&'static str]),
    /// A length of time such as `1m30s`.
    Duration,
    StringList,
    /// Patterns of paths.
    Globs,
    /// Names of environment variables.
    Variables,
    /// `NAME=VALUE`, one a line outside of files: values may contain commas.
    Assignments,
    /// Hosts that can be reached.
    Hosts,
    /// A program and its arguments: a list in the file, a shell-quoted string elsewhere.
    Argv,
    /// Commands that run tests, each a table.
    Runners,
    /// Rules, each a table.
    OwnRules,
    /// Programs and the secrets that they need, each a table. They cannot be written in one string,
    /// so only a file can set them.
    SecretMounts,
}

impl ValueKind {
    /// Reads the one string that a variable, a flag or a default holds.
    pub(crate) fn parse(self, text: &str) -> Result<Value, BadValue> {
        let value = match self {
            Self::Bool => match text.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Some(Value::Bool(true)),
                "false" | "0" | "no" | "off" => Some(Value::Bool(false)),
                _ => None,
            },
            Self::Int | Self::IntIn(..) => text.parse().ok().map(Value::Int),
            // Amounts of money are written with their sign too.
            Self::Amount | Self::Score => {
                text.trim().trim_start_matches('$').parse().ok().map(Value::Float)
            }
            Self::String | Self::OneOf(_) => Some(Value::Text(text.to_owned())),
            Self::Duration | Self::Memory => return self.measure(text),
            Self::StringList | Self::Globs | Self::Variables | Self::Hosts => {
                let items = text.split([',', '\n']).map(str::trim).filter(|item| !item.is_empty());
                Some(Value::List(items.map(str::to_owned).collect()))
            }
            Self::Assignments => {
                let items = text.lines().map(str::trim).filter(|item| !item.is_empty());
                Some(Value::List(items.map(str::to_owned).collect()))
            }
            Self::Argv => Some(Value::List(split_words(text)?)),
            Self::Runners | Self::OwnRules => runner::parse(text),
            Self::SecretMounts => None,
        };
        self.check(value.ok_or_else(|| self.not_expected(text))?)
    }

    pub(crate) fn is_list(self) -> bool {
        matches!(
            self,
            Self::StringList | Self::Globs | Self::Variables | Self::Assignments | Self::Hosts
        )
    }

    /// Reads the default of a rule's option; an empty text is an empty list, or says that there is
    /// none.
    pub(crate) fn default_value(self, text: &str) -> Option<Value> {
        if text.is_empty() && !self.is_list() {
            return None;
        }
        // An option's default is written as the file would have it.
        self.parse(if self.is_list() && text == "[]" { "" } else { text }).ok()
    }

    /// Judges what has the right type already.
    pub(crate) fn check(self, value: Value) -> Result<Value, BadValue> {
        match self.fault(&value) {
            Some(fault) => Err(fault),
            None => Ok(value),
        }
    }

    fn fault(self, value: &Value) -> Option<BadValue> {
        match (self, value) {
            (Self::OneOf(words), Value::Text(text)) if !words.contains(&text.as_str()) => {
                Some(UnknownWord::new(text, words).into())
            }
            (Self::Int, Value::Int(number)) if *number < 0 => Some(self.out_of_range(number)),
            (Self::IntIn(least, most), Value::Int(number)) if !(least..=most).contains(number) => {
                Some(self.out_of_range(number))
            }
            (Self::Amount, Value::Float(number)) if !(number.is_finite() && *number > 0.0) => {
                Some(self.out_of_range(number))
            }
            (Self::Score, Value::Float(number)) if !(0.0..=10.0).contains(number) => {
                Some(self.out_of_range(number))
            }
            (Self::Argv, Value::List(words)) if words.first().is_none_or(String::is_empty) => {
                Some(BadValue::NoProgram)
            }
            (Self::Runners, Value::Tables(tables)) => runner::check(tables).map(Into::into),
            (Self::OwnRules, Value::Tables(tables)) => own_rules::check(tables).map(Into::into),
            (Self::SecretMounts, Value::Table(programs)) => {
                secret_mounts::check(programs).map(Into::into)
            }
            (Self::Globs, Value::List(globs)) => {
                globs.iter().find_map(|glob| globset::Glob::new(glob).err()).map(Into::into)
            }
            (Self::Variables, Value::List(names)) => {
                let wrong = names.iter().find(|name| !is_variable(name));
                wrong.map(|name| BadValue::Variable(name.clone()))
            }
            (Self::Assignments, Value::List(items)) => {
                let is_assignment =
                    |item: &str| item.split_once('=').is_some_and(|(name, _)| is_variable(name));
                let wrong = items.iter().find(|item| !is_assignment(item));
                wrong.map(|item| BadValue::Assignment(item.clone()))
            }
            (Self::Hosts, Value::List(hosts)) => Allowlist::parse(hosts).err().map(Into::into),
            _ => None,
        }
    }

    /// The fault of a text that is not one of this kind.
    pub(crate) fn not_expected(self, text: &str) -> BadValue {
        BadValue::Text { text: text.to_owned(), expected: self.expected() }
    }

    /// The fault of a number that this kind does not have.
    pub(crate) fn out_of_range(self, number: &dyn Display) -> BadValue {
        BadValue::Number { number: number.to_string(), expected: self.expected() }
    }

    /// Reads a duration or an amount of memory, which are strings in the file too.
    pub(crate) fn measure(self, text: &str) -> Result<Value, BadValue> {
        let value = match self {
            Self::Memory => memory::parse(text).map(Value::Bytes),
            _ => duration::parse(text).map(Value::Duration),
        };
        value.ok_or_else(|| self.not_expected(text))
    }

    /// What belongs here, with its article.
    pub(crate) fn expected(self) -> String {
        match self {
            Self::Bool => "true or false".to_owned(),
            Self::Int => "a whole number from zero on".to_owned(),
            Self::IntIn(least, most) => format!("a whole number from {least} to {most}"),
            Self::Amount => "a number above 0".to_owned(),
            Self::Score => "a number from 0 to 10".to_owned(),
            Self::Memory => "an amount of memory such as \"512m\" or \"4g\"".to_owned(),
            Self::String => "a string".to_owned(),
            Self::OneOf(words) => format!("one of the strings {}", words.join(", ")),
            Self::Duration => "a duration such as \"90s\" or \"1m30s\"".to_owned(),
            Self::StringList | Self::Globs | Self::Variables | Self::Hosts => {
                "a list of strings".to_owned()
            }
            Self::Assignments => "a list of strings such as \"NAME=VALUE\"".to_owned(),
            Self::Argv => "a list of strings: a program and its arguments".to_owned(),
            Self::Runners | Self::OwnRules => "a list of tables".to_owned(),
            Self::SecretMounts => "a table of programs".to_owned(),
        }
    }

    /// The JSON Schema of a value of this kind.
    pub(crate) fn schema(self) -> serde_json::Value {
        match self {
            Self::Bool => json!({"type": "boolean"}),
            Self::Int => json!({"type": "integer", "minimum": 0}),
            Self::IntIn(least, most) => {
                json!({"type": "integer", "minimum": least, "maximum": most})
            }
            Self::Amount => json!({"type": "number", "exclusiveMinimum": 0}),
            Self::Score => json!({"type": "number", "minimum": 0, "maximum": 10}),
            Self::Memory => json!({"type": "string", "pattern": memory::PATTERN}),
            Self::String => json!({"type": "string"}),
            Self::OneOf(words) => json!({"type": "string", "enum": words}),
            Self::Duration => json!({
                "type": "string",
                "pattern": duration::PATTERN,
                "not": {"pattern": duration::ZERO_PATTERN},
            }),
            Self::StringList | Self::Globs | Self::Hosts => {
                json!({"type": "array", "items": {"type": "string"}})
            }
            Self::Variables => {
                json!({"type": "array", "items": {"type": "string", "pattern": "^[A-Za-z0-9_]+$"}})
            }
            Self::Assignments => {
                json!({"type": "array", "items": {"type": "string", "pattern": "^[A-Za-z0-9_]+="}})
            }
            Self::Argv => json!({
                "type": "array",
                "prefixItems": [{"type": "string", "minLength": 1}],
                "items": {"type": "string"},
                "minItems": 1,
            }),
            Self::Runners => runner::schema(),
            Self::OwnRules => own_rules::schema(),
            Self::SecretMounts => secret_mounts::schema(),
        }
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
