//! What a key accepts: read from a file, read from one string, described as JSON Schema.

use serde_json::json;

use super::{argv, duration, nearest::nearest, value::Value};

/// The shapes of values. Keys and options of rules share them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    /// A whole number from zero on.
    Int,
    /// A whole number between these two, both included.
    IntIn(i64, i64),
    String,
    OneOf(&'static [&'static str]),
    /// A length of time such as `1m30s`.
    Duration,
    StringList,
    /// Patterns of paths.
    Globs,
    /// A program and its arguments: a list in the file, a shell-quoted string elsewhere.
    Argv,
    /// Cannot be written in one string, so only a file can set it.
    Table,
}

impl Kind {
    /// Reads the one string that a variable, a flag or a default holds.
    pub(crate) fn parse(self, text: &str) -> Result<Value, String> {
        let value = match self {
            Self::Bool => match text.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" => Some(Value::Bool(true)),
                "false" | "0" | "no" => Some(Value::Bool(false)),
                _ => None,
            },
            Self::Int | Self::IntIn(..) => text.parse().ok().map(Value::Int),
            Self::String | Self::OneOf(_) => Some(Value::Text(text.to_owned())),
            Self::Duration => return self.duration(text),
            Self::StringList | Self::Globs => {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                Some(Value::List(items.map(str::to_owned).collect()))
            }
            Self::Argv => Some(Value::List(argv::split(text)?)),
            Self::Table => None,
        };
        let value = value.ok_or_else(|| format!("`{text}` is not {}", self.expected()))?;
        self.check(value)
    }

    /// Reads a default; an empty text is an empty list, or says that there is none.
    pub(crate) fn default_value(self, text: &str) -> Option<Value> {
        let is_list = matches!(self, Self::StringList | Self::Globs);
        if text.is_empty() && !is_list {
            return None;
        }
        // An option's default is written as the file would have it.
        self.parse(if is_list && text == "[]" { "" } else { text }).ok()
    }

    /// Judges what has the right type already.
    pub(crate) fn check(self, value: Value) -> Result<Value, String> {
        match (self, &value) {
            (Self::OneOf(words), Value::Text(text)) if !words.contains(&text.as_str()) => {
                let meant = nearest(text, words.iter().copied());
                let meant = meant.map(|word| format!("; did you mean `{word}`?"));
                let meant = meant.unwrap_or_default();
                Err(format!("`{text}` is not a valid value{meant} (valid: {})", words.join(", ")))
            }
            (Self::Int, Value::Int(number)) if *number < 0 => {
                Err(format!("{number} is not {}", self.expected()))
            }
            (Self::IntIn(least, most), Value::Int(number)) if !(least..=most).contains(number) => {
                Err(format!("{number} is not {}", self.expected()))
            }
            (Self::Argv, Value::List(words)) if words.first().is_none_or(String::is_empty) => {
                Err("the command names no program".to_owned())
            }
            (Self::Globs, Value::List(globs)) => {
                let wrong = globs.iter().find_map(|glob| globset::Glob::new(glob).err());
                wrong.map_or(Ok(value), |error| Err(error.to_string()))
            }
            _ => Ok(value),
        }
    }

    /// Reads a duration, which is a string in the file too.
    pub(crate) fn duration(self, text: &str) -> Result<Value, String> {
        let duration = duration::parse(text);
        let duration = duration.ok_or_else(|| format!("`{text}` is not {}", self.expected()))?;
        Ok(Value::Duration(duration))
    }

    /// What belongs here, with its article.
    pub(crate) fn expected(self) -> String {
        match self {
            Self::Bool => "true or false".to_owned(),
            Self::Int => "a whole number from zero on".to_owned(),
            Self::IntIn(least, most) => format!("a whole number from {least} to {most}"),
            Self::String => "a string".to_owned(),
            Self::OneOf(words) => format!("one of the strings {}", words.join(", ")),
            Self::Duration => "a duration such as \"90s\" or \"1m30s\"".to_owned(),
            Self::StringList | Self::Globs => "a list of strings".to_owned(),
            Self::Argv => "a list of strings: a program and its arguments".to_owned(),
            Self::Table => "a table".to_owned(),
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
            Self::String => json!({"type": "string"}),
            Self::OneOf(words) => json!({"type": "string", "enum": words}),
            Self::Duration => json!({
                "type": "string",
                "pattern": duration::PATTERN,
                "not": {"pattern": duration::ZERO_PATTERN},
            }),
            Self::StringList | Self::Globs => json!({"type": "array", "items": {"type": "string"}}),
            Self::Argv => json!({
                "type": "array",
                "prefixItems": [{"type": "string", "minLength": 1}],
                "items": {"type": "string"},
                "minItems": 1,
            }),
            Self::Table => json!({"type": "object"}),
        }
    }
}
