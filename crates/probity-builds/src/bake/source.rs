//! The definitions of a Bake file, from HCL or JSON, not evaluated yet.

use std::collections::BTreeMap;

use hcl::{Attribute, Block, Body, Expression, Structure};

use crate::DescribeError;

/// Attributes of one block by their names.
pub(super) type Attributes = BTreeMap<String, Expression>;

/// Maps of a target that a later block adds to. It replaces all other attributes.
const MERGED: [&str; 2] = ["args", "contexts"];

/// A `variable` block.
#[derive(Debug)]
pub(super) struct Variable {
    pub(super) default: Expression,
    /// What `type` says.
    pub(super) kind: Option<VariableKind>,
}

/// What a text from the environment becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VariableKind {
    Text,
    Number,
    Bool,
    /// A list, a map or something else that one text does not say.
    Other,
}

#[derive(Debug, Default)]
pub(crate) struct Definitions {
    pub(super) variables: BTreeMap<String, Variable>,
    /// Attributes outside all blocks, which other values may use.
    pub(super) globals: Attributes,
    pub(super) groups: BTreeMap<String, Attributes>,
    pub(super) targets: BTreeMap<String, Attributes>,
    /// Functions that the file defines itself.
    pub(super) functions: Vec<String>,
}

pub(crate) fn from_hcl(text: &str) -> Result<Definitions, DescribeError> {
    let body = hcl::parse(text).map_err(|error| match &error {
        hcl::Error::Parse(error) => DescribeError::Syntax {
            line: u64::try_from(error.location().line()).unwrap_or(u64::MAX),
            message: error.message().to_owned(),
        },
        other => DescribeError::Syntax { line: 1, message: other.to_string() },
    })?;
    let mut found = Definitions::default();
    for structure in body.into_inner() {
        match structure {
            Structure::Attribute(Attribute { key, expr }) => {
                found.globals.insert(key.to_string(), expr);
            }
            Structure::Block(block) => found.add(block),
        }
    }
    Ok(found)
}

impl Definitions {
    /// Adds the definitions of another file, which win.
    pub(super) fn merge(&mut self, other: Self) {
        self.variables.extend(other.variables);
        self.globals.extend(other.globals);
        self.groups.extend(other.groups);
        for (name, attributes) in other.targets {
            self.add_target(name, attributes);
        }
        self.functions.extend(other.functions);
    }

    /// The same target in two blocks is one target.
    fn add_target(&mut self, name: String, attributes: Attributes) {
        let target = self.targets.entry(name).or_default();
        for (key, later) in attributes {
            let earlier = target.remove(&key);
            let value = match (earlier, later) {
                (Some(Expression::Object(earlier)), Expression::Object(later))
                    if MERGED.contains(&key.as_str()) =>
                {
                    Expression::Object(merged(earlier, later))
                }
                (_, later) => later,
            };
            target.insert(key, value);
        }
    }

    fn add_variable(&mut self, name: String, mut attributes: Attributes) {
        let kind = attributes.get("type").map(VariableKind::of);
        let default = attributes.remove("default").unwrap_or(Expression::Null);
        self.variables.insert(name, Variable { default, kind });
    }

    fn add(&mut self, block: Block) {
        let Some(label) = block.labels.first().map(|label| label.as_str().to_owned()) else {
            return;
        };
        let attributes = attributes(block.body);
        match block.identifier.as_str() {
            "variable" => self.add_variable(label, attributes),
            "group" => drop(self.groups.insert(label, attributes)),
            "target" => self.add_target(label, attributes),
            "function" => self.functions.push(label),
            _ => {}
        }
    }
}

impl VariableKind {
    /// `type = number` in HCL, `"type": "number"` in JSON.
    fn of(expression: &Expression) -> Self {
        let name = match expression {
            Expression::Variable(name) => name.as_str(),
            Expression::String(name) => name,
            _ => "",
        };
        match name {
            "string" | "any" => Self::Text,
            "number" => Self::Number,
            "bool" => Self::Bool,
            _ => Self::Other,
        }
    }
}

type Entries = hcl::expr::Object<hcl::ObjectKey, Expression>;

/// Both maps, by their keys; later entries win.
fn merged(earlier: Entries, later: Entries) -> Entries {
    let keys: Vec<Option<String>> = later.keys().map(key_text).collect();
    let is_replaced =
        |key: &hcl::ObjectKey| key_text(key).is_some_and(|key| keys.contains(&Some(key)));
    let kept = earlier.into_iter().filter(|(key, _)| !is_replaced(key));
    let kept: Vec<_> = kept.collect();
    kept.into_iter().chain(later).collect()
}

/// `NAME` and `"NAME"` are one key.
fn key_text(key: &hcl::ObjectKey) -> Option<String> {
    match key {
        hcl::ObjectKey::Identifier(name) => Some(name.to_string()),
        hcl::ObjectKey::Expression(Expression::String(name)) => Some(name.clone()),
        _ => None,
    }
}

fn attributes(body: Body) -> Attributes {
    let own = body.into_inner().into_iter().filter_map(|structure| match structure {
        Structure::Attribute(Attribute { key, expr }) => Some((key.to_string(), expr)),
        Structure::Block(_) => None,
    });
    own.collect()
}

/// In JSON every text may be a template, as in HCL.
pub(crate) fn from_json(text: &str) -> Result<Definitions, DescribeError> {
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|error| DescribeError::Syntax {
            line: u64::try_from(error.line()).unwrap_or(u64::MAX),
            message: "it is not valid JSON".to_owned(),
        })?;
    let mut found = Definitions::default();
    for root in one_or_many(&value) {
        for (name, body) in labelled(root, "variable") {
            found.add_variable(name, body);
        }
        for (name, body) in labelled(root, "group") {
            found.groups.insert(name, body);
        }
        for (name, body) in labelled(root, "target") {
            found.add_target(name, body);
        }
        found.functions.extend(labelled(root, "function").into_iter().map(|(name, _)| name));
    }
    Ok(found)
}

/// The blocks of one kind with their labels. JSON has them as an object by label, or as a list of such
/// objects; the body of a label can be a list of bodies, too.
fn labelled(root: &serde_json::Value, kind: &str) -> Vec<(String, Attributes)> {
    let mut blocks = Vec::new();
    for labels in root.get(kind).into_iter().flat_map(one_or_many) {
        for (name, bodies) in labels.as_object().into_iter().flatten() {
            for body in one_or_many(bodies) {
                let attributes = body.as_object().into_iter().flatten();
                let attributes = attributes.map(|(key, value)| (key.clone(), expression(value)));
                blocks.push((name.clone(), attributes.collect()));
            }
        }
    }
    blocks
}

fn one_or_many(value: &serde_json::Value) -> &[serde_json::Value] {
    match value {
        serde_json::Value::Array(items) => items,
        other => std::slice::from_ref(other),
    }
}

fn expression(value: &serde_json::Value) -> Expression {
    use serde_json::Value;
    match value {
        Value::Null => Expression::Null,
        Value::Bool(value) => Expression::Bool(*value),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Expression::from(whole),
            (None, Some(real)) => Expression::from(real),
            (None, None) => Expression::Null,
        },
        Value::String(text) if text.contains("${") || text.contains("%{") => {
            Expression::from(hcl::TemplateExpr::from(text.as_str()))
        }
        Value::String(text) => Expression::from(text.as_str()),
        Value::Array(items) => Expression::Array(items.iter().map(expression).collect()),
        Value::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| {
                (hcl::ObjectKey::Expression(Expression::from(key.as_str())), expression(value))
            });
            Expression::Object(entries.collect())
        }
    }
}
