//! Layers over defaults: the strongest source of each value wins, and is remembered.

use std::{collections::BTreeMap, time::Duration};

use super::RuleSettings;
use crate::config::{
    keys::KEYS,
    layer::Layer,
    value::{Origin, Setting, Sourced, Value},
    words::{FixMode, RuleSeverity},
};

/// All values that hold.
#[derive(Clone, Debug)]
pub(in crate::config) struct Merged {
    pub(in crate::config) settings: BTreeMap<&'static str, Setting>,
    /// The lists that grow from layer to layer.
    pub(in crate::config) lists: BTreeMap<&'static str, Vec<Sourced<String>>>,
    pub(in crate::config) rules: BTreeMap<String, BTreeMap<String, Setting>>,
    agents: BTreeMap<String, BTreeMap<&'static str, Setting>>,
}

impl Merged {
    pub(super) fn new(layers: &[&Layer]) -> Self {
        let mut merged = Self {
            settings: BTreeMap::new(),
            lists: BTreeMap::new(),
            rules: BTreeMap::new(),
            agents: BTreeMap::new(),
        };
        for key in KEYS {
            let default = key.default.and_then(|text| key.kind.default_value(text));
            let default = default.map(|value| Sourced { value, origin: Origin::Default });
            let mut said = layers.iter().filter_map(|layer| layer.settings.get(key.path));
            if key.appends {
                merged.lists.insert(key.path, said.flat_map(items).collect());
            } else if let Some(setting) = said.next_back().cloned().or(default) {
                merged.settings.insert(key.path, setting);
            }
        }
        for layer in layers {
            for (rule, options) in &layer.rules {
                let rule = merged.rules.entry(rule.clone()).or_default();
                rule.extend(options.iter().map(|(name, value)| (name.clone(), value.clone())));
            }
            merged.agents.extend(layer.agents.clone());
        }
        merged
    }

    /// Lets the table of the chosen agent stand in for the keys of `ai`, and gives the agent's name
    /// back if it has none.
    ///
    /// A table is as strong as the file it stands in, so flags and variables beat it. Its command is
    /// also as strong as whoever chose the agent: naming one on the command line means that one.
    pub(super) fn take_agent(&mut self) -> Option<String> {
        let chosen = self.setting("ai.agent")?;
        let choice = chosen.origin.rank();
        let Value::Text(name) = chosen.value.clone() else { return None };
        let command_rank = self.setting("ai.command").map_or(0, |command| command.origin.rank());
        if command_rank > choice {
            return None;
        }
        let Some(table) = self.agents.get(&name) else {
            self.settings.remove("ai.command");
            return Some(name);
        };
        for (key, setting) in table {
            let Some(key) = KEYS.iter().find(|entry| entry.path.strip_prefix("ai.") == Some(*key))
            else {
                continue;
            };
            let own = if key.path == "ai.command" { choice } else { setting.origin.rank() };
            let rival = self.settings.get(key.path).map_or(0, |setting| setting.origin.rank());
            if own >= rival {
                self.settings.insert(key.path, setting.clone());
            }
        }
        None
    }

    /// Gives a key the value that another one means for it.
    pub(super) fn imply(&mut self, path: &'static str, value: Value, origin: Origin) {
        self.settings.insert(path, Sourced { value, origin });
    }

    pub(super) fn rule_settings(&self) -> BTreeMap<String, RuleSettings> {
        let settings = self.rules.iter().map(|(name, options)| {
            let mut settings = RuleSettings::default();
            for (option, Sourced { value, .. }) in options {
                match (option.as_str(), value) {
                    ("severity", Value::Text(word)) => {
                        settings.severity = RuleSeverity::from_word(word);
                    }
                    ("fix", Value::Text(word)) => settings.fix = FixMode::from_word(word),
                    ("exclude.paths", Value::List(globs)) => {
                        settings.exclude_paths.clone_from(globs);
                    }
                    _ => {
                        settings.options.insert(option.clone(), value.clone());
                    }
                }
            }
            (name.clone(), settings)
        });
        settings.collect()
    }

    pub(super) fn setting(&self, path: &str) -> Option<&Setting> {
        self.settings.get(path)
    }

    pub(super) fn origin(&self, path: &str) -> &Origin {
        self.setting(path).map_or(&Origin::Default, |setting| &setting.origin)
    }

    pub(super) fn appended(&self, path: &str) -> Vec<Sourced<String>> {
        self.lists.get(path).cloned().unwrap_or_default()
    }

    pub(super) fn bool(&self, path: &str) -> bool {
        matches!(self.setting(path), Some(Sourced { value: Value::Bool(true), .. }))
    }

    pub(super) fn int(&self, path: &str) -> u64 {
        match self.setting(path).map(|setting| &setting.value) {
            Some(Value::Int(number)) => u64::try_from(*number).unwrap_or_default(),
            _ => 0,
        }
    }

    pub(super) fn text(&self, path: &str) -> Option<String> {
        match self.setting(path).map(|setting| &setting.value) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }

    pub(super) fn word<T>(&self, path: &str, from_word: fn(&str) -> Option<T>) -> Option<T> {
        from_word(&self.text(path)?)
    }

    pub(super) fn duration(&self, path: &str) -> Duration {
        match self.setting(path).map(|setting| &setting.value) {
            Some(Value::Duration(duration)) => *duration,
            _ => Duration::ZERO,
        }
    }

    pub(super) fn list(&self, path: &str) -> Vec<String> {
        match self.setting(path).map(|setting| &setting.value) {
            Some(Value::List(items)) => items.clone(),
            _ => Vec::new(),
        }
    }
}

fn items(setting: &Setting) -> Vec<Sourced<String>> {
    let Value::List(items) = &setting.value else { return Vec::new() };
    let sourced = |item: &String| Sourced { value: item.clone(), origin: setting.origin.clone() };
    items.iter().map(sourced).collect()
}
