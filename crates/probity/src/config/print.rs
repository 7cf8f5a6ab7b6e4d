//! The effective configuration as text, each value with the place it came from.

use super::{
    catalogue::{Catalogue, OptionSchema},
    effective::CheckConfig,
    keys::{KEYS, Key},
    value::{Origin, Sourced, Value},
};

impl CheckConfig {
    /// Lists every value that holds, in the order of the table of keys, then the options of rules.
    pub(crate) fn print(&self, catalogue: &Catalogue<'_>) -> String {
        let mut out = match &self.file {
            Some(file) => format!("# configuration file: {}\n", file.display()),
            None => "# no configuration file\n".to_owned(),
        };
        // Only keys above the first table header are at the top in TOML.
        let top = KEYS.iter().filter(|key| !key.path.contains('.'));
        for key in top.clone().filter(|key| key.in_file) {
            out.push_str(&self.line(key, key.path));
        }
        let mut last_table = "";
        for key in KEYS {
            let Some((table, name)) = key.path.rsplit_once('.') else { continue };
            if table != last_table {
                out.push_str(&format!("\n[{table}]\n"));
                last_table = table;
            }
            out.push_str(&self.line(key, name));
        }
        self.rule_tables(catalogue, &mut out);
        out.push_str("\n# set by flags and variables only\n");
        for key in top.filter(|key| !key.in_file) {
            out.push_str(&format!("# {}", self.line(key, key.path).trim_start_matches("# ")));
        }
        out
    }

    fn line(&self, key: &Key, name: &str) -> String {
        if let Some(items) = self.merged.lists.get(key.path) {
            return list_line(name, items);
        }
        match self.merged.settings.get(key.path) {
            Some(setting) => line(name, &setting.value, &setting.origin),
            None => format!("# {name} is not set\n"),
        }
    }

    fn rule_tables(&self, catalogue: &Catalogue<'_>, out: &mut String) {
        let has_options = catalogue.rules.iter().filter(|rule| !rule.options.is_empty());
        let mut names: Vec<&str> = has_options.map(|rule| rule.name).collect();
        names.extend(self.merged.rules.keys().map(String::as_str));
        names.sort_unstable();
        names.dedup();
        for name in names {
            let set = self.merged.rules.get(name);
            let rule = catalogue.rules.iter().find(|rule| rule.name == name);
            let options = rule.map_or(&[][..], |rule| rule.options);
            let mut lines = String::new();
            for (option, setting) in set.into_iter().flatten() {
                lines.push_str(&line(option, &shown(option, &setting.value), &setting.origin));
            }
            let is_unset =
                |schema: &&OptionSchema| !set.is_some_and(|set| set.contains_key(schema.name));
            lines.extend(options.iter().filter(is_unset).filter_map(default_line));
            if !lines.is_empty() {
                out.push_str(&format!("\n[rules.{}]\n{lines}", header(name)));
            }
        }
    }
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

fn list_line(name: &str, items: &[Sourced<String>]) -> String {
    let value = Value::List(items.iter().map(|item| item.value.clone()).collect());
    let mut origins: Vec<String> = items.iter().map(|item| item.origin.to_string()).collect();
    origins.dedup();
    if origins.is_empty() {
        origins.push(Origin::Default.to_string());
    }
    format!("{name} = {value}  # from {}\n", origins.join(", "))
}

fn line(name: &str, value: &Value, origin: &Origin) -> String {
    format!("{name} = {value}  # from {origin}\n")
}

fn default_line(schema: &OptionSchema) -> Option<String> {
    let value = schema.kind.default_value(schema.default)?;
    Some(line(schema.name, &value, &Origin::Default))
}

/// `tally/labels/prefer-grouped` as the file writes it: the namespace, then the quoted rest.
fn header(name: &str) -> String {
    match name.split_once('/') {
        Some((namespace, rule)) if rule.contains('/') => format!("{namespace}.\"{rule}\""),
        _ => name.replace('/', "."),
    }
}
