//! The tables of rules in a file, held against the catalogue.

use toml::de::DeTable;

use super::{Reader, SpannedKey, SpannedValue};
use crate::config::{
    catalogue::{EVERY_RULE, Known, Oddity, OptionSchema},
    error::did_you_mean,
    key::Dialect,
    kind::ValueKind,
};

const EXCLUDE_PATHS: &str = "exclude.paths";

impl Reader<'_> {
    /// Notes names among included and excluded rules that choose nothing. In our own file one that
    /// can only be a mistake is an error.
    pub(super) fn patterns(&mut self, key: &str, value: &SpannedValue<'_>) {
        let is_exclude = key.ends_with(".exclude");
        let items = value.get_ref().as_array().into_iter().flatten();
        for item in items {
            let Some(text) = item.get_ref().as_str() else { continue };
            let Some(oddity) = self.catalogue.oddity(text) else { continue };
            let place = item.span().start;
            match oddity {
                Oddity::Unknown(message) | Oddity::Unassigned(message)
                    if self.dialect == Dialect::Probity =>
                {
                    self.problem(place, format!("`{key}`: {message}"));
                }
                // To leave out what is not there is no mistake.
                Oddity::Idle(_) | Oddity::Unassigned(_) if is_exclude => {}
                Oddity::Idle(message) | Oddity::Unassigned(message) | Oddity::Unknown(message) => {
                    self.warn(place, format!("`{key}`: {message}"));
                }
            }
        }
    }

    /// Reads a namespace, or a group of rules inside one: `[rules.tally.labels.prefer-grouped]` and
    /// `[rules.tally."labels/prefer-grouped"]` are the same table. `table` is the path of all rules.
    pub(super) fn rules(&mut self, table: &str, group: &str, value: &SpannedValue<'_>) {
        let at = format!("{table}.{}", group.replace('/', "."));
        let Some(rules) = self.as_table(&at, value) else { return };
        for (key, value) in rules {
            let name = format!("{group}/{}", key.get_ref());
            let known = self.catalogue.find(&name);
            if let Some(known) = known
                && !self.is_nobodys(&name)
            {
                let path = format!("{at}.{}", key.get_ref());
                let Some(options) = self.as_table(&path, value) else { continue };
                self.rule(table, &name, known, key, options);
            } else if self.catalogue.is_group(&name) {
                self.rules(table, &name, value);
            } else {
                let namespace = format!("{}/", name.split('/').next().unwrap_or_default());
                let names = self.catalogue.names().filter(|rule| rule.starts_with(&namespace));
                let bare: Vec<&str> =
                    names.filter_map(|rule| rule.strip_prefix(namespace.as_str())).collect();
                let wanted = name.strip_prefix(namespace.as_str()).unwrap_or(&name);
                let meant = did_you_mean(wanted, bare);
                self.problem(key.span().start, format!("unknown rule `{name}`{meant}"));
            }
        }
    }

    /// Whether a name has the shape of a code and no tool has it, which our own file does not take.
    fn is_nobodys(&self, name: &str) -> bool {
        let is_own = self.dialect == Dialect::Probity;
        is_own && matches!(self.catalogue.oddity(name), Some(Oddity::Unassigned(_)))
    }

    fn rule(
        &mut self,
        table: &str,
        name: &str,
        known: Known<'_>,
        key: &SpannedKey<'_>,
        said: &DeTable<'_>,
    ) {
        let (name, options) = match known {
            // Settings under another tool's name are the rule's own from here on.
            Known::Here(rule) => (rule.name, rule.options),
            Known::Elsewhere => {
                let message = format!("rule `{name}` is not implemented here yet");
                self.warn(key.span().start, message);
                (name, &[][..])
            }
        };
        for (option, value) in said {
            let schemas = EVERY_RULE.iter().chain(options);
            let schema = schemas.clone().find(|schema| schema.name == option.get_ref().as_ref());
            if option.get_ref() == "exclude" {
                self.exclude(table, name, value);
            } else if let Some(schema) = schema.filter(|schema| schema.name != EXCLUDE_PATHS) {
                self.option(table, name, schema, option, value);
            } else if matches!(known, Known::Here(_)) {
                let names = schemas.map(|schema| match schema.name {
                    EXCLUDE_PATHS => "exclude",
                    name => name,
                });
                let names: Vec<&str> = names.collect();
                let meant = did_you_mean(option.get_ref(), names.iter().copied());
                let message = format!(
                    "unknown option `{}` of rule `{name}`{meant} (valid options: {})",
                    option.get_ref(),
                    names.join(", ")
                );
                self.problem(option.span().start, message);
            }
        }
    }

    fn exclude(&mut self, table: &str, rule: &str, value: &SpannedValue<'_>) {
        let path = format!("{table}.{}.exclude", rule.replace('/', "."));
        let Some(excluded) = self.as_table(&path, value) else { return };
        for (name, value) in excluded {
            if name.get_ref() != "paths" {
                let meant = did_you_mean(name.get_ref(), ["paths"]);
                let message = format!(
                    "unknown key `{}` in [{path}]{meant} (valid keys: paths)",
                    name.get_ref()
                );
                self.problem(name.span().start, message);
                continue;
            }
            let path = format!("{path}.paths");
            let Some(paths) = self.typed(ValueKind::Globs, &path, value) else { continue };
            let origin = self.origin(name);
            self.layer.insert_rule(rule, EXCLUDE_PATHS, paths, origin);
        }
    }

    fn option(
        &mut self,
        table: &str,
        rule: &str,
        schema: &OptionSchema,
        name: &SpannedKey<'_>,
        value: &SpannedValue<'_>,
    ) {
        let path = format!("{table}.{}.{}", rule.replace('/', "."), schema.name);
        if let Some(value) = self.typed(schema.kind, &path, value) {
            let origin = self.origin(name);
            self.layer.insert_rule(rule, schema.name, value, origin);
        }
    }
}
