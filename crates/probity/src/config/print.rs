//! The settings in force as text or JSON, each value with the place it came from.

use serde_json::{Map, json};

use super::{
    catalogue::{Catalogue, OptionSchema},
    key::{Dialect, Key},
    settings::Settings,
    table,
    value::{Origin, Sourced, Value},
};

impl Settings {
    /// Lists every value of these sections as a file of this dialect would, in the order of the table.
    pub(crate) fn print(
        &self,
        catalogue: &Catalogue<'_>,
        dialect: Dialect,
        sections: &[&str],
    ) -> String {
        let mut out: String = self
            .files
            .iter()
            .map(|file| format!("# configuration file: {}\n", file.display()))
            .collect();
        if self.files.is_empty() {
            out.push_str("# no configuration file\n");
        }
        let shown = || table::keys().filter(|key| sections.contains(&key.section()));
        let in_file = || {
            shown().filter_map(|key| {
                let path = key.path_in(dialect)?;
                Some((key, path.rsplit_once('.').unwrap_or(("", path))))
            })
        };
        // Only keys above the first table header are at the top in TOML.
        for (key, (_, name)) in in_file().filter(|(_, (table, _))| table.is_empty()) {
            out.push_str(&self.line(key, name));
        }
        let mut last_table = "";
        for (key, (table, name)) in in_file().filter(|(_, (table, _))| !table.is_empty()) {
            if table != last_table {
                out.push_str(&format!("\n[{table}]\n"));
                last_table = table;
            }
            out.push_str(&self.line(key, name));
        }
        self.named_tables(dialect, sections, &mut out);
        if sections.contains(&"check") {
            self.rule_tables(catalogue, dialect, &mut out);
        }
        let mut elsewhere = shown().filter(|key| !key.in_file).peekable();
        if elsewhere.peek().is_some() {
            out.push_str("\n# set by flags and variables only\n");
        }
        for key in elsewhere {
            out.push_str(&format!("# {}", self.line(key, key.path).trim_start_matches("# ")));
        }
        out
    }

    /// The same for programs.
    pub(crate) fn to_json(
        &self,
        catalogue: &Catalogue<'_>,
        sections: &[&str],
    ) -> serde_json::Value {
        let files: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
        let entry =
            |value: &Value, origin: &str| json!({"value": value.to_json(), "origin": origin});
        let mut settings = Map::new();
        for key in table::keys().filter(|key| sections.contains(&key.section())) {
            let said = match self.merged.setting(key) {
                _ if key.appends => {
                    let (value, origin) = joined(&self.merged.items(key));
                    entry(&value, &origin)
                }
                Some(setting) => entry(&hidden(key, &setting.value), &setting.origin.to_string()),
                None => json!({"value": null, "origin": Origin::Default.to_string()}),
            };
            settings.insert(key.path.to_owned(), said);
        }
        let named = self.merged.tables.iter().filter(|((path, _), _)| is_in(path, sections));
        for ((path, name), keys) in named {
            for (key, setting) in keys {
                let said = entry(&setting.value, &setting.origin.to_string());
                settings.insert(format!("{path}.{name}.{key}"), said);
            }
        }
        if sections.contains(&"check") {
            for (rule, option, value, origin) in self.rule_options(catalogue) {
                let path = format!("check.rules.{}.{option}", header(&rule));
                settings.insert(path, entry(&value, &origin.to_string()));
            }
        }
        json!({"files": files, "settings": settings})
    }

    fn line(&self, key: &Key, name: &str) -> String {
        if key.appends {
            let (value, origin) = joined(&self.merged.items(key));
            return format!("{name} = {value}  # from {origin}\n");
        }
        match self.merged.setting(key) {
            Some(setting) => line(name, &hidden(key, &setting.value), &setting.origin),
            None => format!("# {name} is not set\n"),
        }
    }

    fn named_tables(&self, dialect: Dialect, sections: &[&str], out: &mut String) {
        for ((path, name), keys) in &self.merged.tables {
            let named = table::NAMED.iter().find(|named| named.path == *path);
            let Some(at) = named.and_then(|named| named.path_in(dialect)) else { continue };
            if !is_in(path, sections) {
                continue;
            }
            let lines: String =
                keys.iter().map(|(key, set)| line(key, &set.value, &set.origin)).collect();
            let name = toml::Value::from(name.as_str());
            out.push_str(&format!("\n[{at}.{name}]\n{lines}"));
        }
    }

    fn rule_tables(&self, catalogue: &Catalogue<'_>, dialect: Dialect, out: &mut String) {
        let all = if dialect == Dialect::Tally { "rules" } else { "check.rules" };
        let mut last = String::new();
        for (rule, option, value, origin) in self.rule_options(catalogue) {
            if rule != last {
                out.push_str(&format!("\n[{all}.{}]\n", header(&rule)));
                last = rule;
            }
            out.push_str(&line(&option, &value, &origin));
        }
    }

    /// Every option that has a value: rule, option, value and origin, sorted by rule.
    fn rule_options(&self, catalogue: &Catalogue<'_>) -> Vec<(String, String, Value, Origin)> {
        let has_options = catalogue.rules.iter().filter(|rule| !rule.options.is_empty());
        let mut names: Vec<&str> = has_options.map(|rule| rule.name).collect();
        names.extend(self.merged.rules.keys().map(String::as_str));
        names.sort_unstable();
        names.dedup();
        let mut all = Vec::new();
        for name in names {
            let set = self.merged.rules.get(name);
            for (option, setting) in set.into_iter().flatten() {
                let value = shown(option, &setting.value);
                all.push((name.to_owned(), option.clone(), value, setting.origin.clone()));
            }
            let rule = catalogue.rules.iter().find(|rule| rule.name == name);
            let options = rule.map_or(&[][..], |rule| rule.options);
            let is_unset =
                |schema: &&OptionSchema| !set.is_some_and(|set| set.contains_key(schema.name));
            for schema in options.iter().filter(is_unset) {
                let Some(value) = schema.kind.default_value(schema.default) else { continue };
                all.push((name.to_owned(), schema.name.to_owned(), value, Origin::Default));
            }
        }
        all
    }
}

fn is_in(path: &str, sections: &[&str]) -> bool {
    path.split('.').next().is_some_and(|section| sections.contains(&section))
}

/// A value that may hold a password is not shown.
fn hidden(key: &Key, value: &Value) -> Value {
    if key.is_secret { Value::Text("***".to_owned()) } else { value.clone() }
}

/// What is allowed as no secret may have been one all the same.
fn shown(option: &str, value: &Value) -> Value {
    match value {
        Value::List(values) if option == "allowed-values" => {
            Value::List(values.iter().map(|value| "*".repeat(value.chars().count())).collect())
        }
        _ => value.clone(),
    }
}

fn joined(items: &[Sourced<String>]) -> (Value, String) {
    let value = Value::List(items.iter().map(|item| item.value.clone()).collect());
    let mut origins: Vec<String> = items.iter().map(|item| item.origin.to_string()).collect();
    origins.dedup();
    if origins.is_empty() {
        origins.push(Origin::Default.to_string());
    }
    (value, origins.join(", "))
}

fn line(name: &str, value: &Value, origin: &Origin) -> String {
    format!("{name} = {value}  # from {origin}\n")
}

/// `tally/labels/prefer-grouped` as the file writes it: the namespace, then the quoted rest.
pub(super) fn header(name: &str) -> String {
    match name.split_once('/') {
        Some((namespace, rule)) if rule.contains('/') => format!("{namespace}.\"{rule}\""),
        _ => name.replace('/', "."),
    }
}
