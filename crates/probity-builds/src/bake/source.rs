//! The definitions of a Bake file, from HCL or JSON, not evaluated yet.

use std::collections::BTreeMap;

use hcl::{Attribute, Block, Body, Expression, Structure};

use crate::DescribeError;

/// Attributes of one block by their names.
pub(super) type Attributes = BTreeMap<String, Expression>;

#[derive(Debug, Default)]
pub(crate) struct Definitions {
    /// Variables with their defaults.
    pub(super) variables: Attributes,
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
    fn add(&mut self, block: Block) {
        let Some(label) = block.labels.first().map(|label| label.as_str().to_owned()) else {
            return;
        };
        let attributes = attributes(block.body);
        match block.identifier.as_str() {
            "variable" => {
                let default = attributes.get("default").cloned().unwrap_or(Expression::Null);
                self.variables.insert(label, default);
            }
            "group" => drop(self.groups.insert(label, attributes)),
            // The same target in two blocks is one target, the later values win.
            "target" => self.targets.entry(label).or_default().extend(attributes),
            "function" => self.functions.push(label),
            _ => {}
        }
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
    let section = |name: &str| value.get(name).and_then(serde_json::Value::as_object);
    for (name, variable) in section("variable").into_iter().flatten() {
        let default = variable.get("default").map_or(Expression::Null, expression);
        found.variables.insert(name.clone(), default);
    }
    for (kind, into) in [("group", &mut found.groups), ("target", &mut found.targets)] {
        for (name, body) in section(kind).into_iter().flatten() {
            let attributes = body.as_object().into_iter().flatten();
            let attributes = attributes.map(|(key, value)| (key.clone(), expression(value)));
            into.insert(name.clone(), attributes.collect());
        }
    }
    found.functions.extend(section("function").into_iter().flatten().map(|(name, _)| name.clone()));
    Ok(found)
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
