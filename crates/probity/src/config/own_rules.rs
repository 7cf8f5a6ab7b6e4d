//! `[[check.rule]]`: rules of the user, as tables of the file.

use std::sync::Arc;

use probity_lint::{OwnRule, OwnRuleError, WrittenRule};
use serde::Deserialize;
use serde_json::json;

use super::{
    kind::ValueKind, setting::Setting, value::Value, word::Word as _, words::RuleSeverity,
};

/// More rules than this are a mistake.
const MOST: usize = 500;

/// The tables as they are written; each has been read once already.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OwnRules(Vec<toml::Table>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    message: String,
    #[serde(default)]
    description: String,
    severity: Option<String>,
    when: String,
    replace: Option<String>,
    with: Option<String>,
    #[serde(default)]
    bad: Vec<String>,
    #[serde(default)]
    good: Vec<String>,
}

impl OwnRules {
    /// In their order; none is left out, because none got here that cannot be read.
    pub(crate) fn read(&self) -> Vec<Arc<OwnRule>> {
        self.0.iter().filter_map(|table| read(table).ok()).map(Arc::new).collect()
    }
}

/// Why tables are not rules.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadOwnRules {
    #[error("{}", .0.message())]
    Table(#[from] toml::de::Error),
    #[error("`severity` is `{0}`; use error, warning, info or style")]
    Severity(String),
    #[error("`with` needs `replace`")]
    WithAlone,
    #[error(transparent)]
    Rule(#[from] OwnRuleError),
    #[error("{0} rules are more than {MOST}")]
    TooMany(usize),
    #[error("two rules have the name `{0}`")]
    SameName(String),
}

fn read(table: &toml::Table) -> Result<OwnRule, BadOwnRules> {
    let written = Written::deserialize(table.clone())?;
    let Written { name, message, description, severity, when, replace, with, bad, good } = written;
    let severity = match severity.as_deref() {
        None => None,
        Some(word) => {
            let known = RuleSeverity::ALL.iter().find(|known| known.word() == word);
            let known = known.and_then(|known| known.severity());
            Some(known.ok_or_else(|| BadOwnRules::Severity(word.to_owned()))?)
        }
    };
    let replacement = match (replace, with) {
        (Some(replaced), with) => Some((replaced, with.unwrap_or_default())),
        (None, Some(_)) => return Err(BadOwnRules::WithAlone),
        (None, None) => None,
    };
    let rule = WrittenRule { name, message, description, severity, when, replacement, bad, good };
    Ok(OwnRule::new(rule)?)
}

/// What is wrong with the first table that cannot be read, or with all of them together.
pub(super) fn check(tables: &[toml::Table]) -> Option<BadOwnRules> {
    if tables.len() > MOST {
        return Some(BadOwnRules::TooMany(tables.len()));
    }
    let mut names = Vec::with_capacity(tables.len());
    tables.iter().find_map(|table| match read(table) {
        Err(why) => Some(why),
        Ok(rule) if names.contains(&rule.name().to_owned()) => {
            Some(BadOwnRules::SameName(rule.name().to_owned()))
        }
        Ok(rule) => {
            names.push(rule.name().to_owned());
            None
        }
    })
}

pub(super) fn schema() -> serde_json::Value {
    let text = |doc: &str| json!({"type": "string", "description": doc});
    let texts =
        |doc: &str| json!({"type": "array", "items": {"type": "string"}, "description": doc});
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "pattern": "^[a-z0-9-]+$", "description": "Name of the rule, reported as own/NAME"},
                "message": text("What is wrong and what to do"),
                "description": text("Paragraph for `probity explain`"),
                "severity": {"enum": ["error", "warning", "info", "style"], "default": "warning"},
                "when": text("Expression that is true for instructions to report"),
                "replace": text("Text of the instruction that the fix replaces"),
                "with": text("Text that takes its place; empty if absent"),
                "bad": texts("Dockerfiles or instructions that the rule reports, for `probity rules test`"),
                "good": texts("Dockerfiles or instructions that the rule does not report"),
            },
            "required": ["name", "message", "when"],
            "additionalProperties": false,
        },
    })
}

impl Setting for OwnRules {
    const KIND: ValueKind = ValueKind::OwnRules;

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Tables(tables) => Some(Self(tables.clone())),
            _ => None,
        }
    }

    fn to_value(&self) -> Option<Value> {
        (!self.0.is_empty()).then(|| Value::Tables(self.0.clone()))
    }
}
