//! The tables of rules in a file, held against the catalogue.

use toml::de::DeTable;

use super::{Reader, SpannedKey, SpannedValue};
use crate::config::{
    catalogue::{EVERY_RULE, Known, Oddity, OptionSchema},
    error::did_you_mean,
    kind::Kind,
};

const EXCLUDE_PATHS: &str = "exclude.paths";

impl Reader<'_> {
    /// Warns of names in `rules.include` and `rules.exclude` that choose nothing.
    pub(super) fn patterns(&mut self, key: &str, value: &SpannedValue<'_>) {
        let items = value.get_ref().as_array().into_iter().flatten();
        for item in items {
            let Some(text) = item.get_ref().as_str() else { continue };
            match self.catalogue.oddity(text) {
                // To leave out what is not there is no mistake.
                Some(Oddity::Idle(_) | Oddity::Unassigned(_)) if key == "rules.exclude" => {}
                Some(
                    Oddity::Idle(message) | Oddity::Unassigned(message) | Oddity::Unknown(message),
                ) => self.warn(item.span().start, format!("`{key}`: {message}")),
                None => {}
            }
        }
    }

    /// Reads a namespace, or a group of rules inside one: `[rules.tally.labels.prefer-grouped]` and
    /// `[rules.tally."labels/prefer-grouped"]` are the same table.
    pub(super) fn rules(&mut self, group: &str, value: &SpannedValue<'_>) {
        let at = format!("rules.{}", group.replace('/', "."));
        let Some(table) = self.as_table(&at, value) else { return };
        for (key, value) in table {
            let name = format!("{group}/{}", key.get_ref());
            if let Some(known) = self.catalogue.find(&name) {
                let path = format!("{at}.{}", key.get_ref());
                let Some(table) = self.as_table(&path, value) else { continue };
                self.rule(&name, known, key, table);
            } else if self.catalogue.is_group(&name) {
                self.rules(&name, value);
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

    fn rule(&mut self, name: &str, known: Known<'_>, key: &SpannedKey<'_>, table: &DeTable<'_>) {
        let (name, options) = match known {
            // Settings under another tool's name are the rule's own from here on.
            Known::Here(rule) => (rule.name, rule.options),
            Known::Elsewhere => {
                let message = format!("rule `{name}` is not implemented here yet");
                self.warn(key.span().start, message);
                (name, &[][..])
            }
        };
        for (option, value) in table {
            let schemas = EVERY_RULE.iter().chain(options);
            let schema = schemas.clone().find(|schema| schema.name == option.get_ref().as_ref());
            if option.get_ref() == "exclude" {
                self.exclude(name, value);
            } else if let Some(schema) = schema.filter(|schema| schema.name != EXCLUDE_PATHS) {
                self.option(name, schema, option, value);
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

    fn exclude(&mut self, rule: &str, value: &SpannedValue<'_>) {
        let path = format!("rules.{}.exclude", rule.replace('/', "."));
        let Some(table) = self.as_table(&path, value) else { return };
        for (name, value) in table {
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
            let Some(paths) = self.typed(Kind::Globs, &path, value) else { continue };
            let origin = self.origin(name);
            self.layer.insert_rule(rule, EXCLUDE_PATHS, paths, origin);
        }
    }

    fn option(
        &mut self,
        rule: &str,
        schema: &OptionSchema,
        name: &SpannedKey<'_>,
        value: &SpannedValue<'_>,
    ) {
        let path = format!("rules.{}.{}", rule.replace('/', "."), schema.name);
        if let Some(value) = self.typed(schema.kind, &path, value) {
            let origin = self.origin(name);
            self.layer.insert_rule(rule, schema.name, value, origin);
        }
    }
}
