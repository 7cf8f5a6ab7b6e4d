//! What one source says: a file, the environment, or the command line.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
};

use super::{
    catalogue::{Catalogue, EVERY_RULE, Known},
    error::ConfigError,
    key::{Key, Typed},
    setting::Setting,
    value::{Origin, Sourced, Value},
};

/// The settings of one source; whatever it is silent about is absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layer {
    /// By the path of the key.
    pub(crate) settings: BTreeMap<&'static str, Sourced<Value>>,
    /// By the path of the named tables and the name: `ai.agents` and `mine`.
    pub(crate) tables: BTreeMap<(&'static str, String), BTreeMap<&'static str, Sourced<Value>>>,
    /// By the rule's full name, then by option; `exclude.paths` is one option.
    pub(crate) rules: BTreeMap<String, BTreeMap<String, Sourced<Value>>>,
    /// The sections that a `probity.toml` has, be they empty.
    pub(crate) sections: BTreeSet<&'static str>,
    /// Files whose settings count below these, as they are written.
    pub(crate) extends: Vec<Sourced<String>>,
}

impl Layer {
    /// Sets a key to a value of its type.
    pub(crate) fn set<T: Setting>(&mut self, key: &'static Typed<T>, value: &T, origin: Origin) {
        if let Some(value) = value.to_value() {
            self.insert(&key.key, value, origin);
        }
    }

    /// Sets a key from the text of a flag or a variable.
    pub(crate) fn parse(
        &mut self,
        key: &'static Key,
        text: &str,
        origin: Origin,
    ) -> Result<(), ConfigError> {
        let value = key.kind.parse(text).map_err(|reason| wrong(&origin, &reason))?;
        self.insert(key, value, origin);
        Ok(())
    }

    /// Sets a key to a value of the right shape, which may still be a wrong one.
    pub(crate) fn insert_checked(
        &mut self,
        key: &'static Key,
        value: Value,
        origin: Origin,
    ) -> Result<(), ConfigError> {
        let value = key.kind.check(value).map_err(|reason| wrong(&origin, &reason))?;
        self.insert(key, value, origin);
        Ok(())
    }

    /// Sets an option of a rule from a flag, such as `max` of `tally/max-lines`.
    pub(crate) fn flag_rule(
        &mut self,
        catalogue: &Catalogue<'_>,
        flag: &str,
        (rule, option): (&str, &str),
        text: &str,
    ) -> Result<(), ConfigError> {
        let origin = Origin::Flag { name: flag.to_owned() };
        let options = match catalogue.find(rule) {
            Some(Known::Here(rule)) => rule.options,
            _ => return Err(wrong(&origin, &format!("unknown rule `{rule}`"))),
        };
        let schema = EVERY_RULE.iter().chain(options).find(|schema| schema.name == option);
        let schema = schema
            .ok_or_else(|| wrong(&origin, &format!("rule `{rule}` has no option `{option}`")))?;
        let value = schema.kind.parse(text).map_err(|reason| wrong(&origin, &reason))?;
        self.insert_rule(rule, option, value, origin);
        Ok(())
    }

    pub(crate) fn insert(&mut self, key: &'static Key, value: Value, origin: Origin) {
        self.settings.insert(key.path, Sourced { value, origin });
    }

    pub(crate) fn insert_rule(&mut self, rule: &str, option: &str, value: Value, origin: Origin) {
        let options = self.rules.entry(rule.to_owned()).or_default();
        options.insert(option.to_owned(), Sourced { value, origin });
    }

    /// Forgets what the layer says about these sections.
    pub(crate) fn without(self, sections: &BTreeSet<&'static str>) -> Self {
        self.keep(|section| !sections.contains(section))
    }

    /// Forgets what the layer says about other sections.
    pub(super) fn only(self, sections: &[&str]) -> Self {
        self.keep(|section| sections.contains(&section))
    }

    fn keep(mut self, is_kept: impl Fn(&str) -> bool) -> Self {
        let stays = |path: &str| path.split('.').next().is_some_and(&is_kept);
        self.settings.retain(|path, _| stays(path));
        self.tables.retain(|(path, _), _| stays(path));
        if !stays("check") {
            self.rules.clear();
        }
        self
    }
}

fn wrong(origin: &Origin, reason: &dyn Display) -> ConfigError {
    ConfigError::Setting { name: origin.to_string(), reason: reason.to_string() }
}
