//! One target, or the targets that its matrix makes.

use std::collections::BTreeMap;

use hcl::Value;

use super::{
    Target,
    evaluate::{Evaluator, pairs, text, texts},
    source::Attributes,
};
use crate::{DescribeError, MOST_BUILDS};

const ATTRIBUTES: &[&str] = &[
    "context",
    "dockerfile",
    "dockerfile-inline",
    "target",
    "args",
    "platforms",
    "contexts",
    "inherits",
    "name",
];

/// The targets with their names.
pub(super) fn targets(
    name: &str,
    attributes: &Attributes,
    evaluator: &mut Evaluator,
) -> Result<Vec<(String, Target)>, DescribeError> {
    let combinations = combinations(name, attributes, evaluator)?;
    let mut made = Vec::with_capacity(combinations.len());
    for values in combinations {
        let context = evaluator.with(&values);
        let mut found = evaluator.attributes_in(&context, name, attributes, ATTRIBUTES);
        let own_name = found.remove("name").as_ref().and_then(text);
        let instance = match own_name {
            _ if values.is_empty() => name.to_owned(),
            Some(own_name) => own_name,
            None => generated_name(name, &values),
        };
        let is_hidden = ["context", "dockerfile", "dockerfile-inline"]
            .iter()
            .any(|place| attributes.contains_key(*place) && !found.contains_key(place));
        let mut scalar = |key: &str| found.remove(key).as_ref().and_then(text);
        let target = Target {
            context: scalar("context"),
            dockerfile: scalar("dockerfile"),
            dockerfile_inline: scalar("dockerfile-inline"),
            target: scalar("target"),
            args: found.get("args").map(pairs).unwrap_or_default(),
            platforms: found.get("platforms").map(texts),
            contexts: known(found.get("contexts").map(pairs).unwrap_or_default()),
            inherits: found.get("inherits").map(texts).unwrap_or_default(),
            is_hidden,
        };
        made.push((instance, target));
    }
    Ok(made)
}

fn known(pairs: BTreeMap<String, Option<String>>) -> BTreeMap<String, String> {
    pairs.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

/// Every combination of the matrix; one that is empty without a matrix.
fn combinations(
    name: &str,
    attributes: &Attributes,
    evaluator: &mut Evaluator,
) -> Result<Vec<BTreeMap<String, Value>>, DescribeError> {
    let context = evaluator.with(&BTreeMap::new());
    let found = evaluator.attributes_in(&context, name, attributes, &["matrix"]);
    let mut all = vec![BTreeMap::new()];
    let Some(Value::Object(axes)) = found.get("matrix") else { return Ok(all) };
    for (axis, values) in axes {
        let Value::Array(values) = values else { continue };
        if all.len().saturating_mul(values.len()) > MOST_BUILDS {
            return Err(DescribeError::TooManyBuilds);
        }
        all = all
            .iter()
            .flat_map(|before| {
                values.iter().map(move |value| {
                    let mut combination = before.clone();
                    combination.insert(axis.clone(), value.clone());
                    combination
                })
            })
            .collect();
    }
    Ok(all)
}

/// The name that Bake gives: the target and the values, with dashes for what a name cannot have.
fn generated_name(name: &str, values: &BTreeMap<String, Value>) -> String {
    let mut generated = name.to_owned();
    for value in values.values().filter_map(text) {
        generated.push('-');
        generated.extend(value.chars().map(|character| match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => character,
            _ => '-',
        }));
    }
    generated
}
