//! The environment's layer: `TALLY_A_B` for every key, and for every option of a rule.

use std::{collections::BTreeMap, ffi::OsString};

use super::{
    catalogue::{Catalogue, EVERY_RULE, Oddity},
    error::ConfigError,
    keys::{self, KEYS, PREFIX, variable},
    kind::Kind,
    layer::Layer,
    nearest::nearest,
    value::{Origin, Value},
};

/// Reads the variables whose names begin with `TALLY_`; what is left over becomes warnings.
///
/// A variable that is set to nothing is not set: that is how most systems that run us can take one
/// back.
pub(crate) fn read(
    catalogue: &Catalogue<'_>,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<(Layer, Vec<String>), ConfigError> {
    let mut left = BTreeMap::new();
    for (name, value) in variables {
        let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else { continue };
        let value = value.into_string().map_err(|_| wrong(name, "is not valid UTF-8"))?;
        if !value.is_empty() {
            left.insert(name.to_owned(), value);
        }
    }
    let mut layer = Layer::default();
    let mut warnings = Vec::new();
    for key in KEYS {
        for name in names_of(key) {
            let Some(text) = left.remove(&name) else { continue };
            let value = parse(&name, key.kind, &text)?;
            if let (Value::List(items), true) = (&value, key.path.starts_with("rules.")) {
                let odd = items.iter().filter_map(|item| catalogue.oddity(item));
                warnings.extend(odd.filter_map(|oddity| match oddity {
                    Oddity::Unknown(message) | Oddity::Unassigned(message) => {
                        Some(format!("{name}: {message}"))
                    }
                    Oddity::Idle(_) => None,
                }));
            }
            if !layer.settings.contains_key(key.path) {
                layer.insert(key, value, Origin::Env { name });
            }
        }
    }
    inverted(&mut left, &mut layer)?;
    rule_options(catalogue, &mut left, &mut layer)?;
    let unknown = left.keys().map(|name| {
        let known: Vec<String> = KEYS.iter().flat_map(names_of).collect();
        // The prefix is no likeness, as all have it.
        let known_tails = known.iter().map(|known| known.trim_start_matches(PREFIX));
        let meant = nearest(name.trim_start_matches(PREFIX), known_tails);
        let meant = meant.map(|tail| format!("; did you mean `{PREFIX}{tail}`?"));
        format!("unknown environment variable `{name}`{}", meant.unwrap_or_default())
    });
    warnings.extend(unknown);
    Ok((layer, warnings))
}

/// Says no where the key says yes, as the flag of the same name does.
const NO_INLINE_DIRECTIVES: &str = "TALLY_NO_INLINE_DIRECTIVES";

fn inverted(left: &mut BTreeMap<String, String>, layer: &mut Layer) -> Result<(), ConfigError> {
    let Some(text) = left.remove(NO_INLINE_DIRECTIVES) else { return Ok(()) };
    let value = parse(NO_INLINE_DIRECTIVES, Kind::Bool, &text)?;
    let key = keys::find("inline-directives.enabled");
    if let (Some(key), Value::Bool(no)) = (key, value)
        && !layer.settings.contains_key(key.path)
    {
        layer.insert(key, Value::Bool(!no), Origin::Env { name: NO_INLINE_DIRECTIVES.to_owned() });
    }
    Ok(())
}

const MAX_LINES: &str = "TALLY_RULES_MAX_LINES";

/// `TALLY_RULES_TALLY_MAX_LINES_MAX`, or without the namespace for tally's own rules.
///
/// `TALLY_RULES_MAX_LINES` stands for the rule's one number, as it does for tally.
fn rule_options(
    catalogue: &Catalogue<'_>,
    left: &mut BTreeMap<String, String>,
    layer: &mut Layer,
) -> Result<(), ConfigError> {
    if !left.keys().any(|name| name.starts_with("TALLY_RULES_")) {
        return Ok(());
    }
    if let Some(text) = left.remove(MAX_LINES) {
        left.entry(format!("{MAX_LINES}_MAX")).or_insert(text);
    }
    for rule in catalogue.rules {
        let bare = rule.name.strip_prefix("tally/");
        for option in EVERY_RULE.iter().chain(rule.options).filter(|o| o.kind != Kind::Table) {
            let full = Some(rule.name).into_iter().chain(bare);
            for name in full.map(|rule| variable(&format!("rules.{rule}.{}", option.name))) {
                let Some(text) = left.remove(&name) else { continue };
                let value = parse(&name, option.kind, &text)?;
                let is_set =
                    layer.rules.get(rule.name).is_some_and(|r| r.contains_key(option.name));
                if !is_set {
                    layer.insert_rule(rule.name, option.name, value, Origin::Env { name });
                }
            }
        }
    }
    Ok(())
}

/// The variables that set a key, the one that wins first.
fn names_of(key: &keys::Key) -> impl Iterator<Item = String> {
    let others = key.other_variables.iter().map(|&name| name.to_owned());
    std::iter::once(variable(key.path)).chain(others)
}

fn parse(name: &str, kind: Kind, text: &str) -> Result<Value, ConfigError> {
    kind.parse(text).map_err(|reason| wrong(name, &reason))
}

fn wrong(name: &str, reason: &str) -> ConfigError {
    ConfigError::Setting { name: name.to_owned(), reason: reason.to_owned() }
}
