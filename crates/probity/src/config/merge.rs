//! Layers over defaults: the strongest source of each value wins, and is remembered.

use std::collections::BTreeMap;

use super::{
    key::{Key, Typed},
    layer::Layer,
    setting::Setting,
    table,
    value::{Origin, Sourced, Value},
};

/// All values that hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Merged {
    settings: BTreeMap<&'static str, Sourced<Value>>,
    /// The lists that grow from layer to layer.
    lists: BTreeMap<&'static str, Vec<Sourced<String>>>,
    pub(crate) rules: BTreeMap<String, BTreeMap<String, Sourced<Value>>>,
    pub(crate) tables: BTreeMap<(&'static str, String), BTreeMap<&'static str, Sourced<Value>>>,
}

impl Merged {
    /// The last layer is the strongest.
    pub(super) fn new(layers: &[&Layer]) -> Self {
        let mut merged = Self::default();
        for key in table::keys() {
            let default = key.default_value();
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
            merged.tables.extend(layer.tables.clone());
        }
        merged
    }

    pub(crate) fn setting(&self, key: &Key) -> Option<&Sourced<Value>> {
        self.settings.get(key.path)
    }

    pub(crate) fn items(&self, key: &Key) -> Vec<Sourced<String>> {
        self.lists.get(key.path).cloned().unwrap_or_default()
    }

    pub(crate) fn origin(&self, key: &Key) -> &Origin {
        self.setting(key).map_or(&Origin::Default, |setting| &setting.origin)
    }

    /// Gives a key the value that something else means for it.
    pub(super) fn imply<T: Setting>(&mut self, key: &Typed<T>, value: &T, origin: Origin) {
        match value.to_value() {
            Some(value) => self.imply_value(&key.key, Sourced { value, origin }),
            None => _ = self.settings.remove(key.key.path),
        }
    }

    pub(super) fn imply_value(&mut self, key: &Key, setting: Sourced<Value>) {
        self.settings.insert(key.path, setting);
    }
}

fn items(setting: &Sourced<Value>) -> Vec<Sourced<String>> {
    let Value::List(items) = &setting.value else { return Vec::new() };
    let sourced = |item: &String| Sourced { value: item.clone(), origin: setting.origin.clone() };
    items.iter().map(sourced).collect()
}
