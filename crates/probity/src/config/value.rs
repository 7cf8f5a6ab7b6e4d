//! One value of the configuration, and where it came from.

use std::{fmt, path::Path, sync::Arc, time::Duration};

use super::duration;

/// What a key or an option of a rule can be set to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Bool(bool),
    Int(i64),
    Text(String),
    Duration(Duration),
    List(Vec<String>),
    /// Free in shape; the rule that takes it knows more.
    Table(toml::Table),
}

impl Value {
    /// The value in a JSON Schema or a report.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Bool(value) => (*value).into(),
            Self::Int(value) => (*value).into(),
            Self::Text(value) => value.as_str().into(),
            Self::Duration(value) => duration::render(*value).into(),
            Self::List(items) => items.as_slice().into(),
            Self::Table(table) => serde_json::to_value(table).unwrap_or_default(),
        }
    }
}

/// Writes the value as it would stand in the file.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| toml::Value::from(text).to_string();
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Text(value) => f.write_str(&quoted(value)),
            Self::Duration(value) => f.write_str(&quoted(&duration::render(*value))),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
                write!(f, "[{}]", items.join(", "))
            }
            Self::Table(table) => write!(f, "{}", toml::Value::Table(table.clone())),
        }
    }
}

/// Where a value came from; later ones beat earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    File { path: Arc<Path>, line: usize },
    Env { name: String },
    Flag { name: String },
}

impl Origin {
    /// Orders the layers: flags over the environment over the file over the defaults.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File { .. } => 1,
            Self::Env { .. } => 2,
            Self::Flag { .. } => 3,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Env { name } | Self::Flag { name } => f.write_str(name),
        }
    }
}

/// A value together with its origin.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sourced<T> {
    pub(crate) value: T,
    pub(crate) origin: Origin,
}

pub(crate) type Setting = Sourced<Value>;
