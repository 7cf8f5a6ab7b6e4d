//! The environment's layer: the variables of every key, and of every option of a rule.

use std::{collections::BTreeMap, ffi::OsString};

use super::{
    catalogue::{Catalogue, EVERY_RULE, Oddity},
    error::ConfigError,
    key::{self, PREFIX, TALLY_PREFIX, own_variable, tally_variable},
    kind::Kind,
    layer::Layer,
    nearest::nearest,
    table,
    value::{Origin, Value},
};
use crate::name::Name;

/// Reads the variables that count under a name; what looks like one and is none becomes a warning.
///
/// A variable that is set to nothing is not set: that is how most systems that run us can take one
/// back.
pub(crate) fn read(
    catalogue: &Catalogue<'_>,
    called: Name,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<(Layer, Vec<String>), ConfigError> {
    let known: Vec<String> = table::keys().flat_map(|key| key.variables(called)).collect();
    let mut left = BTreeMap::new();
    for (name, value) in variables {
        let counts = |name: &&str| is_ours(called, name) || known.iter().any(|own| own == name);
        let Some(name) = name.to_str().filter(counts) else { continue };
        let value = value.into_string().map_err(|_| wrong(name, "is not valid UTF-8"))?;
        // tally reads its variables to the letter.
        let value = if name.starts_with(TALLY_PREFIX) { value.as_str() } else { value.trim() };
        if !value.is_empty() {
            left.insert(name.to_owned(), value.to_owned());
        }
    }
    let mut layer = Layer::default();
    let mut warnings = Vec::new();
    for key in table::keys() {
        for name in key.variables(called) {
            let Some(text) = left.remove(&name) else { continue };
            let value = parse(&name, key.kind, &text)?;
            if let (Value::List(items), true) = (&value, key.path.starts_with("check.rules.")) {
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
    rule_options(catalogue, called, &mut left, &mut layer)?;
    warnings.extend(left.keys().map(|name| {
        // The prefix is no likeness, as all have it.
        let tail = |name: &str| name.split_once('_').map_or(String::new(), |(_, tail)| tail.into());
        let alike = known.iter().filter(|known| prefix(known) == prefix(name));
        let tails: Vec<(String, &String)> = alike.map(|known| (tail(known), known)).collect();
        let meant = nearest(&tail(name), tails.iter().map(|(tail, _)| tail.as_str()));
        let meant = tails.iter().find(|(tail, _)| Some(tail.as_str()) == meant);
        let meant = meant.map(|(_, known)| format!("; did you mean `{known}`?"));
        format!("unknown environment variable `{name}`{}", meant.unwrap_or_default())
    }));
    Ok((layer, warnings))
}

/// Whether a name can only be meant for us, so that an unknown one is worth a warning.
fn is_ours(called: Name, name: &str) -> bool {
    let is_section = |rest: &str| {
        let section = rest.split_once("__").map(|(section, _)| section.to_ascii_lowercase());
        section.is_some_and(|section| table::keys().any(|key| key.section() == section))
    };
    match called {
        Name::Probity => {
            name.starts_with(TALLY_PREFIX) || name.strip_prefix(PREFIX).is_some_and(is_section)
        }
        Name::Tally => name.starts_with(TALLY_PREFIX),
        _ => false,
    }
}

fn prefix(name: &str) -> &str {
    name.split('_').next().unwrap_or_default()
}

/// Says no where the key says yes, as the flag of the same name does.
const NO_INLINE_DIRECTIVES: &str = "TALLY_NO_INLINE_DIRECTIVES";

fn inverted(left: &mut BTreeMap<String, String>, layer: &mut Layer) -> Result<(), ConfigError> {
    let Some(text) = left.remove(NO_INLINE_DIRECTIVES) else { return Ok(()) };
    let value = parse(NO_INLINE_DIRECTIVES, Kind::Bool, &text)?;
    let key = &key::check::inline_directives::enabled;
    if !layer.settings.contains_key(key.key.path) {
        let origin = Origin::Env { name: NO_INLINE_DIRECTIVES.to_owned() };
        layer.set(key, &(value == Value::Bool(false)), origin);
    }
    Ok(())
}

const MAX_LINES: &str = "TALLY_RULES_MAX_LINES";

/// `TALLY_RULES_TALLY_MAX_LINES_MAX`, or without the namespace for tally's own rules, and the same
/// after `PROBITY_CHECK__RULES_`.
///
/// `TALLY_RULES_MAX_LINES` stands for the rule's one number, as it does for tally.
fn rule_options(
    catalogue: &Catalogue<'_>,
    called: Name,
    left: &mut BTreeMap<String, String>,
    layer: &mut Layer,
) -> Result<(), ConfigError> {
    if !left.keys().any(|name| name.contains("_RULES_")) {
        return Ok(());
    }
    if let Some(text) = left.remove(MAX_LINES) {
        left.entry(format!("{MAX_LINES}_MAX")).or_insert(text);
    }
    for rule in catalogue.rules {
        let bare = rule.name.strip_prefix("tally/");
        for option in EVERY_RULE.iter().chain(rule.options).filter(|o| o.kind != Kind::Table) {
            let paths = Some(rule.name).into_iter().chain(bare);
            let paths = paths.map(|rule| format!("rules.{rule}.{}", option.name));
            let names = paths.flat_map(|path| {
                let own = (called == Name::Probity).then(|| own_variable(&format!("check.{path}")));
                own.into_iter().chain([tally_variable(&path)])
            });
            for name in names {
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

fn parse(name: &str, kind: Kind, text: &str) -> Result<Value, ConfigError> {
    kind.parse(text).map_err(|reason| wrong(name, &reason))
}

fn wrong(name: &str, reason: &str) -> ConfigError {
    ConfigError::Setting { name: name.to_owned(), reason: reason.to_owned() }
}
