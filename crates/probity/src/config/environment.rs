//! The environment's layer: the variables of every key, and of every option of a rule.

use std::{collections::BTreeMap, ffi::OsString, fmt::Display};

use super::{
    catalogue::{Catalogue, EVERY_RULE, Oddity},
    error::ConfigError,
    key::{self, Key, PREFIX, TALLY_PREFIX, own_variable, tally_variable},
    kind::ValueKind,
    layer::Layer,
    nearest::nearest,
    table,
    value::{Origin, Value},
};
use crate::name::Name;

/// Which variables count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) catalogue: &'a Catalogue<'a>,
    /// The name under which we are called.
    pub(crate) name: Name,
    pub(crate) sections: &'a [&'a str],
}

impl Reading<'_> {
    /// Reads the variables; what looks like one and is none becomes a warning.
    ///
    /// A variable that is set to nothing is not set: that is how most systems that run us can take
    /// one back.
    pub(crate) fn read(
        self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<(Layer, Vec<String>), ConfigError> {
        let known: Vec<String> = self.keys().flat_map(|key| key.variables(self.name)).collect();
        let mut left = BTreeMap::new();
        for (name, value) in variables {
            let counts = |name: &&str| self.is_ours(name) || known.iter().any(|own| own == name);
            let Some(name) = name.to_str().filter(counts) else { continue };
            let value = value.into_string().map_err(|_| wrong(name, &"is not valid UTF-8"))?;
            // tally reads its variables to the letter.
            let value = if name.starts_with(TALLY_PREFIX) { value.as_str() } else { value.trim() };
            if !value.is_empty() {
                left.insert(name.to_owned(), value.to_owned());
            }
        }
        let mut layer = Layer::default();
        let mut warnings = Vec::new();
        for key in self.keys() {
            for name in key.variables(self.name) {
                let Some(text) = left.remove(&name) else { continue };
                let value = parse(&name, key.kind, &text)?;
                if key.path.starts_with("check.rules.") {
                    warnings.extend(self.mistakes(&name, &value));
                }
                if !layer.settings.contains_key(key.path) {
                    layer.insert(key, value, Origin::Env { name });
                }
            }
        }
        if self.sections.contains(&"check") {
            inverted(&mut left, &mut layer)?;
            self.rule_options(&mut left, &mut layer)?;
        }
        // A section that is misspelt may be any of them.
        let all: Vec<String> = table::keys().flat_map(|key| key.variables(self.name)).collect();
        warnings.extend(left.keys().map(|name| {
            let is_own = name.strip_prefix(PREFIX).is_some_and(is_misspelt);
            unknown(name, if is_own { &all } else { &known })
        }));
        Ok((layer, warnings))
    }

    fn keys(&self) -> impl Iterator<Item = &'static Key> {
        table::keys().filter(|key| self.sections.contains(&key.section()))
    }

    /// Whether a name can only be meant for us, so that an unknown one is worth a warning.
    fn is_ours(&self, name: &str) -> bool {
        let is_section = |rest: &str| {
            let section = rest.split_once("__").map(|(section, _)| section.to_ascii_lowercase());
            section.is_some_and(|section| self.sections.contains(&section.as_str()))
        };
        let is_tallys = name.starts_with(TALLY_PREFIX) && self.sections.contains(&"check");
        match self.name {
            Name::Probity => {
                let is_own = |rest: &str| is_section(rest) || is_misspelt(rest);
                is_tallys || name.strip_prefix(PREFIX).is_some_and(is_own)
            }
            Name::Tally => is_tallys,
            _ => false,
        }
    }

    /// Names of rules that can only be mistakes.
    fn mistakes(&self, variable: &str, value: &Value) -> Vec<String> {
        let Value::List(items) = value else { return Vec::new() };
        let odd = items.iter().filter_map(|item| self.catalogue.oddity(item));
        odd.filter_map(|oddity| match oddity {
            Oddity::Unknown(message) | Oddity::Unassigned(message) => {
                Some(format!("{variable}: {message}"))
            }
            Oddity::Idle(_) => None,
        })
        .collect()
    }

    /// `TALLY_RULES_TALLY_MAX_LINES_MAX`, or without the namespace for tally's own rules, and the
    /// same after `PROBITY_CHECK__RULES_`.
    ///
    /// `TALLY_RULES_MAX_LINES` stands for the rule's one number, as it does for tally.
    fn rule_options(
        self,
        left: &mut BTreeMap<String, String>,
        layer: &mut Layer,
    ) -> Result<(), ConfigError> {
        if !left.keys().any(|name| name.contains("_RULES_")) {
            return Ok(());
        }
        if let Some(text) = left.remove(MAX_LINES) {
            left.entry(format!("{MAX_LINES}_MAX")).or_insert(text);
        }
        for rule in self.catalogue.rules {
            let bare = rule.name.strip_prefix("tally/");
            for option in
                EVERY_RULE.iter().chain(rule.options).filter(|o| o.kind != ValueKind::SecretMounts)
            {
                let paths = Some(rule.name).into_iter().chain(bare);
                let paths = paths.map(|rule| format!("rules.{rule}.{}", option.name));
                let names = paths.flat_map(|path| {
                    let is_own = self.name == Name::Probity;
                    let own = is_own.then(|| own_variable(&format!("check.{path}")));
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
}

/// Whether what follows the prefix is like the variable of a key, but its section is not one.
fn is_misspelt(rest: &str) -> bool {
    let is_of = |section: &&str| {
        rest.to_ascii_lowercase().strip_prefix(*section).is_some_and(|key| key.starts_with("__"))
    };
    if table::SECTIONS.iter().any(is_of) {
        return false;
    }
    let own: Vec<String> = table::keys().map(|key| own_variable(key.path)).collect();
    nearest(rest, own.iter().filter_map(|own| own.strip_prefix(PREFIX))).is_some()
}

fn unknown(name: &str, known: &[String]) -> String {
    // The prefix is no likeness, as all have it.
    let parts = |name: &str| {
        let (prefix, tail) = name.split_once('_').unwrap_or((name, ""));
        (prefix.to_owned(), tail.to_owned())
    };
    let (prefix, tail) = parts(name);
    let alike = known.iter().map(|known| parts(known)).filter(|(known, _)| *known == prefix);
    let tails: Vec<String> = alike.map(|(_, tail)| tail).collect();
    let meant = nearest(&tail, tails.iter().map(String::as_str));
    let meant = meant.map(|tail| format!("; did you mean `{prefix}_{tail}`?"));
    format!("unknown environment variable `{name}`{}", meant.unwrap_or_default())
}

/// Says no where the key says yes, as the flag of the same name does.
const NO_INLINE_DIRECTIVES: &str = "TALLY_NO_INLINE_DIRECTIVES";

fn inverted(left: &mut BTreeMap<String, String>, layer: &mut Layer) -> Result<(), ConfigError> {
    let Some(text) = left.remove(NO_INLINE_DIRECTIVES) else { return Ok(()) };
    let value = parse(NO_INLINE_DIRECTIVES, ValueKind::Bool, &text)?;
    let key = &key::check::inline_directives::enabled;
    if !layer.settings.contains_key(key.key.path) {
        let origin = Origin::Env { name: NO_INLINE_DIRECTIVES.to_owned() };
        layer.set(key, &(value == Value::Bool(false)), origin);
    }
    Ok(())
}

const MAX_LINES: &str = "TALLY_RULES_MAX_LINES";

/// The value of a variable that others set too is not repeated: somebody may have put a key into the
/// wrong one.
fn parse(name: &str, kind: ValueKind, text: &str) -> Result<Value, ConfigError> {
    let is_ours = name.starts_with(TALLY_PREFIX) || name.starts_with(PREFIX);
    kind.parse(text).map_err(|reason| {
        if is_ours {
            return wrong(name, &reason);
        }
        ConfigError::Variable { name: name.to_owned(), expected: kind.expected() }
    })
}

fn wrong(name: &str, reason: &dyn Display) -> ConfigError {
    ConfigError::Setting { name: name.to_owned(), reason: reason.to_string() }
}
