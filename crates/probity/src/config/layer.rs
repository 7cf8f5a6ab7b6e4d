//! What one source says: a file, the environment, or the command line.

use std::collections::BTreeMap;

use super::{
    catalogue::{Catalogue, EVERY_RULE, Known},
    error::ConfigError,
    keys::{self, Key},
    value::{Origin, Setting, Sourced, Value},
};

/// The settings of one source; whatever it is silent about is absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layer {
    /// By the path of the key.
    pub(crate) settings: BTreeMap<&'static str, Setting>,
    /// The tables below `ai.agents`, by name.
    pub(crate) agents: BTreeMap<String, BTreeMap<&'static str, Setting>>,
    /// By the rule's full name, then by option; `exclude.paths` is one option.
    pub(crate) rules: BTreeMap<String, BTreeMap<String, Setting>>,
}

impl Layer {
    /// Sets a key from a flag; the text is read as a variable's would be.
    pub(crate) fn flag(&mut self, flag: &str, path: &str, text: &str) -> Result<(), ConfigError> {
        let key = known(flag, path)?;
        let value = key.kind.parse(text).map_err(|reason| wrong(flag, reason))?;
        self.insert(key, value, flag_origin(flag));
        Ok(())
    }

    /// Sets a list from a flag that was given any number of times; given never, it says nothing.
    pub(crate) fn flag_list(
        &mut self,
        flag: &str,
        path: &str,
        items: &[String],
    ) -> Result<(), ConfigError> {
        let key = known(flag, path)?;
        if !items.is_empty() {
            self.insert(key, Value::List(items.to_vec()), flag_origin(flag));
        }
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
        let options = match catalogue.find(rule) {
            Some(Known::Here(rule)) => rule.options,
            _ => return Err(wrong(flag, format!("there is no rule `{rule}` here"))),
        };
        let schema = EVERY_RULE.iter().chain(options).find(|schema| schema.name == option);
        let schema =
            schema.ok_or_else(|| wrong(flag, format!("rule `{rule}` has no option `{option}`")))?;
        let value = schema.kind.parse(text).map_err(|reason| wrong(flag, reason))?;
        self.insert_rule(rule, option, value, flag_origin(flag));
        Ok(())
    }

    /// Changes a default for this run, as a program that stands in for another one needs it.
    pub(crate) fn default_value(&mut self, path: &str, text: &str) -> Result<(), ConfigError> {
        let key = known(path, path)?;
        let value = key.kind.parse(text).map_err(|reason| wrong(path, reason))?;
        self.insert(key, value, Origin::Default);
        Ok(())
    }

    pub(crate) fn insert(&mut self, key: &'static Key, value: Value, origin: Origin) {
        self.settings.insert(key.path, Sourced { value, origin });
    }

    pub(crate) fn insert_rule(&mut self, rule: &str, option: &str, value: Value, origin: Origin) {
        let options = self.rules.entry(rule.to_owned()).or_default();
        options.insert(option.to_owned(), Sourced { value, origin });
    }
}

fn known(name: &str, path: &str) -> Result<&'static Key, ConfigError> {
    keys::find(path).ok_or_else(|| wrong(name, format!("there is no configuration key `{path}`")))
}

fn wrong(name: &str, reason: String) -> ConfigError {
    ConfigError::Setting { name: name.to_owned(), reason }
}

fn flag_origin(flag: &str) -> Origin {
    Origin::Flag { name: flag.to_owned() }
}
