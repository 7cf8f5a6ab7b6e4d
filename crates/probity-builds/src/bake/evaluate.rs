//! Values of expressions in a Bake file.

use std::collections::{BTreeMap, BTreeSet};

use hcl::{
    Expression, Value,
    eval::{Context, ErrorKind, Evaluate as _},
};

use super::source::{Attributes, Definitions, Variable, VariableKind};
use crate::{Note, Surroundings};

/// Variables that depend on each other are tried this often.
const ROUNDS: usize = 8;

/// Evaluates attributes and remembers what it could not evaluate.
pub(super) struct Evaluator {
    context: Context<'static>,
    /// Functions that were called and are not built in here.
    functions: BTreeSet<String>,
    /// Variables whose values cannot be evaluated here.
    unknown: BTreeSet<String>,
    notes: Vec<Note>,
}

impl Evaluator {
    pub(super) fn new(definitions: &Definitions, surroundings: &dyn Surroundings) -> Self {
        let mut evaluator = Self {
            context: Context::new(),
            functions: BTreeSet::new(),
            unknown: BTreeSet::new(),
            notes: Vec::new(),
        };
        let mut waiting: Vec<(&String, &Expression)> = Vec::new();
        let mut unread = BTreeSet::new();
        for (name, variable) in &definitions.variables {
            let Some(given) = surroundings.variable(name) else {
                waiting.push((name, &variable.default));
                continue;
            };
            match from_environment(&given, variable) {
                Ok(value) => evaluator.declare(name, value),
                Err(why) => {
                    let message = format!("its value in the environment is left out: {why}");
                    evaluator.notes.push(Note::about(name, message));
                    unread.insert(name.clone());
                }
            }
        }
        waiting.extend(&definitions.globals);
        for _ in 0..ROUNDS {
            waiting.retain(|(name, expression)| match expression.evaluate(&evaluator.context) {
                Ok(value) => {
                    evaluator.declare(name, value);
                    false
                }
                Err(_) => true,
            });
        }
        // The reason for each that is left. What uses it is unknown too.
        evaluator.unknown = waiting.iter().map(|(name, _)| (*name).clone()).collect();
        evaluator.unknown.append(&mut unread);
        for (name, expression) in waiting {
            evaluator.value(name, expression);
        }
        evaluator
    }

    fn declare(&mut self, name: &str, value: Value) {
        self.context.declare_var(name, value);
    }

    /// The same with variables of a matrix.
    pub(super) fn with(&self, values: &BTreeMap<String, Value>) -> Context<'static> {
        let mut context = self.context.clone();
        for (name, value) in values {
            context.declare_var(name.as_str(), value.clone());
        }
        context
    }

    fn value(&mut self, about: &str, expression: &Expression) -> Option<Value> {
        let context = self.context.clone();
        self.value_in(&context, about, expression)
    }

    pub(super) fn value_in(
        &mut self,
        context: &Context<'static>,
        about: &str,
        expression: &Expression,
    ) -> Option<Value> {
        let error = match expression.evaluate(context) {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        match error.kind() {
            ErrorKind::UndefinedFunc(function) => {
                self.functions.insert(function.to_string());
            }
            ErrorKind::UndefinedVar(name) if self.unknown.contains(name.as_str()) => {}
            kind => {
                let message = format!("a value is left out: {kind}");
                self.notes.push(Note::about(about, message));
            }
        }
        None
    }

    pub(super) fn list(&mut self, about: &str, expression: Option<&Expression>) -> Vec<String> {
        let value = expression.and_then(|expression| self.value(about, expression));
        value.as_ref().map_or_else(Vec::new, texts)
    }

    /// The attributes of a target as values.
    pub(super) fn attributes_in(
        &mut self,
        context: &Context<'static>,
        about: &str,
        attributes: &Attributes,
        wanted: &[&'static str],
    ) -> BTreeMap<&'static str, Value> {
        let mut values = BTreeMap::new();
        for name in wanted {
            let expression = attributes.get(*name);
            let value = match expression {
                // A value of a map that cannot be evaluated hides none of the others.
                Some(Expression::Object(entries)) => {
                    let mut known = hcl::Map::new();
                    for (key, entry) in entries {
                        let key = match key {
                            hcl::ObjectKey::Identifier(name) => Some(name.to_string()),
                            hcl::ObjectKey::Expression(key) => {
                                self.value_in(context, about, key).as_ref().and_then(text)
                            }
                            _ => None,
                        };
                        let Some(key) = key else { continue };
                        let value = self.value_in(context, about, entry);
                        known.insert(key, value.unwrap_or(Value::Null));
                    }
                    Some(Value::Object(known))
                }
                Some(expression) => self.value_in(context, about, expression),
                None => None,
            };
            values.extend(value.map(|value| (*name, value)));
        }
        values
    }

    /// One note for all functions together.
    pub(super) fn into_notes(mut self) -> Vec<Note> {
        if !self.functions.is_empty() {
            let names: Vec<String> =
                self.functions.iter().map(|name| format!("`{name}`")).collect();
            let message = format!("values that call functions are left out: {}", names.join(", "));
            self.notes.push(Note { about: None, message });
        }
        self.notes
    }
}

/// The value that a text of the environment gives a variable, or why it gives none. The default decides
/// if there is no `type`.
fn from_environment(text: &str, variable: &Variable) -> Result<Value, &'static str> {
    let of_default = match &variable.default {
        Expression::Bool(_) => VariableKind::Bool,
        Expression::Number(_) => VariableKind::Number,
        Expression::Array(_) | Expression::Object(_) => VariableKind::Other,
        _ => VariableKind::Text,
    };
    match variable.kind.unwrap_or(of_default) {
        VariableKind::Text => Ok(Value::from(text)),
        VariableKind::Bool => match text {
            "1" | "t" | "T" | "true" | "True" | "TRUE" => Ok(Value::from(true)),
            "0" | "f" | "F" | "false" | "False" | "FALSE" => Ok(Value::from(false)),
            _ => Err("it is not a boolean"),
        },
        VariableKind::Number => {
            let real = || text.parse::<f64>().ok().and_then(hcl::Number::from_f64);
            let number = text.parse::<i64>().map(hcl::Number::from).ok().or_else(real);
            number.map(Value::Number).ok_or("it is not a number")
        }
        VariableKind::Other => Err("lists and maps cannot be read"),
    }
}

/// The text of a scalar.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

/// The scalars of a list; one scalar is a list of one.
pub(super) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().filter_map(text).collect(),
        other => text(other).into_iter().collect(),
    }
}

/// The scalars of a map.
pub(super) fn pairs(value: &Value) -> BTreeMap<String, Option<String>> {
    match value {
        Value::Object(entries) => {
            entries.iter().map(|(key, value)| (key.clone(), text(value))).collect()
        }
        _ => BTreeMap::new(),
    }
}
