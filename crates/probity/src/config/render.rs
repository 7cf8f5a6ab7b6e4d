//! A layer as the text of a `probity.toml`.

use super::{
    key::{Dialect, Key},
    layer::Layer,
    print::header,
    table::{self, NAMED},
};

impl Layer {
    /// The file that says the same, in the order of the table.
    pub(crate) fn to_own_file(&self) -> String {
        let mut out = String::new();
        let mut last_table = "";
        for key in table::keys() {
            let path = key.path_in(Dialect::Probity);
            let (Some(setting), Some(path)) = (self.settings.get(key.path), path) else { continue };
            let (table, name) = path.rsplit_once('.').unwrap_or(("", path));
            if table != last_table {
                out.push_str(&format!("\n[{table}]\n"));
                last_table = table;
            }
            out.push_str(&format!("{name} = {}\n", setting.value));
        }
        for (rule, options) in &self.rules {
            out.push_str(&format!("\n[check.rules.{}]\n", header(rule)));
            for (option, setting) in options {
                out.push_str(&format!("{option} = {}\n", setting.value));
            }
        }
        for ((path, name), keys) in &self.tables {
            out.push_str(&format!("\n[{path}.{}]\n", toml::Value::from(name.as_str())));
            let named = NAMED.iter().find(|named| named.path == *path);
            let order = named.into_iter().flat_map(|named| named.keys);
            let set = |key: &Key| keys.get(key.path).map(|setting| (key.path, setting));
            for (key, setting) in order.filter_map(set) {
                out.push_str(&format!("{key} = {}\n", setting.value));
            }
        }
        out.trim_start().to_owned()
    }
}
