//! One value of the configuration, and where it came from.

use std::{fmt, path::Path, sync::Arc, time::Duration};

use super::{duration, memory};

/// What a key or an option of a rule can be set to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Bool(bool),
    Int(i64),
    Float(f64),
    /// An amount of memory.
    Bytes(u64),
    Text(String),
    Duration(Duration),
    List(Vec<String>),
    Tables(Vec<toml::Table>),
    /// Free in shape; the rule that takes it knows more.
    Table(toml::Table),
}

impl Value {
    /// The value in a JSON Schema or a report.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Bool(value) => (*value).into(),
            Self::Int(value) => (*value).into(),
            Self::Float(value) => (*value).into(),
            Self::List(items) => items.as_slice().into(),
            Self::Tables(tables) => serde_json::to_value(tables).unwrap_or_default(),
            Self::Table(table) => serde_json::to_value(table).unwrap_or_default(),
            Self::Bytes(_) | Self::Text(_) | Self::Duration(_) => self.plain().into(),
        }
    }

    /// The value as a variable or a flag would have it.
    pub(crate) fn plain(&self) -> String {
        match self {
            Self::Text(value) => value.clone(),
            Self::Duration(value) => duration::render(*value),
            Self::Bytes(bytes) => memory::render(*bytes),
            Self::List(items) => items.join(","),
            other => other.to_string(),
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
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Bytes(_) | Self::Text(_) | Self::Duration(_) => {
                f.write_str(&quoted(&self.plain()))
            }
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
                write!(f, "[{}]", items.join(", "))
            }
            Self::Tables(tables) => {
                let tables: Vec<String> = tables
                    .iter()
                    .map(|table| toml::Value::from(table.clone()).to_string())
                    .collect();
                write!(f, "[{}]", tables.join(", "))
            }
            Self::Table(table) => write!(f, "{}", toml::Value::Table(table.clone())),
        }
    }
}

/// Whose file it is: the user's own counts as what the user says, a repository's does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    User,
    Repository,
}

/// Where a value came from; later ones beat earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    File { path: Arc<Path>, line: usize, owner: Owner },
    Env { name: String },
    Flag { name: String },
}

impl Origin {
    /// Orders the layers.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File { owner: Owner::User, .. } => 1,
            Self::File { owner: Owner::Repository, .. } => 2,
            Self::Env { .. } => 3,
            Self::Flag { .. } => 4,
        }
    }

    /// The file and the line, where it is one.
    pub(crate) fn place(&self) -> Option<(&Path, usize)> {
        match self {
            Self::File { path, line, .. } => Some((path, *line)),
            _ => None,
        }
    }

    /// Whether a file that may be anybody's who wrote the repository says it.
    pub(crate) fn is_repository(&self) -> bool {
        matches!(self, Self::File { owner: Owner::Repository, .. })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line, .. } => write!(f, "{}:{line}", path.display()),
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
