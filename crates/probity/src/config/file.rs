//! One configuration file, read strictly: whatever it says is understood, or an error with its place.
//!
//! The tree of spanned values is walked by hand against the table of keys. Deserializing into structs
//! would locate errors as well, but would stop at the first one, and would forget the line of every
//! value that is right.

mod rules;
mod typed;

use std::{path::Path, sync::Arc};

use toml::{
    Spanned,
    de::{DeString, DeTable, DeValue},
};

use super::{
    catalogue::{Catalogue, NAMESPACES},
    error::{ConfigError, Problem, did_you_mean, line_and_column},
    keys::{AGENT_KEYS, KEYS, Key, children, join},
    layer::Layer,
    value::{Origin, Sourced, Value},
};

/// Reads the text of a file; the path is the one that messages show.
pub(crate) fn read(
    catalogue: &Catalogue<'_>,
    path: &Path,
    text: &str,
) -> Result<(Layer, Vec<Problem>), ConfigError> {
    let mut reader = Reader {
        catalogue,
        path: Arc::from(path),
        text,
        layer: Layer::default(),
        problems: Vec::new(),
        warnings: Vec::new(),
    };
    match DeTable::parse(text) {
        Ok(root) => reader.table("", root.get_ref()),
        Err(error) => reader.syntax(&error),
    }
    let Reader { layer, mut problems, mut warnings, .. } = reader;
    if problems.is_empty() {
        warnings.sort_by_key(|warning| (warning.line, warning.column));
        return Ok((layer, warnings));
    }
    problems.sort_by_key(|problem| (problem.line, problem.column));
    Err(ConfigError::Invalid { problems })
}

type SpannedKey<'i> = Spanned<DeString<'i>>;
type SpannedValue<'i> = Spanned<DeValue<'i>>;

struct Reader<'a> {
    catalogue: &'a Catalogue<'a>,
    path: Arc<Path>,
    text: &'a str,
    layer: Layer,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl Reader<'_> {
    /// Reads a table of the key table; `at` is its path, empty for the root.
    fn table(&mut self, at: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let path = join(at, name.get_ref());
            // A quoted key with a dot in it is not a path.
            let is_plain = !name.get_ref().contains('.');
            if !is_plain {
                self.unknown_key(at, name);
            } else if let Some(key) = KEYS.iter().find(|key| key.in_file && key.path == path) {
                self.setting(key, name, value);
            } else if path == "ai.agents" {
                self.each_agent(value);
            } else if at == "rules" && NAMESPACES.contains(&name.get_ref().as_ref()) {
                self.rules(name.get_ref(), value);
            } else if children(&path).is_empty() {
                self.unknown_key(at, name);
            } else if let Some(inner) = self.as_table(&path, value) {
                self.table(&path, inner);
            }
        }
    }

    fn setting(&mut self, key: &'static Key, name: &SpannedKey<'_>, value: &SpannedValue<'_>) {
        if key.path == "rules.include" || key.path == "rules.exclude" {
            self.patterns(key.path, value);
        }
        let Some(value) = self.typed(key.kind, key.path, value) else { return };
        if key.path == "ai.sandbox" && value == Value::Text("none".to_owned()) {
            let message = "`ai.sandbox = \"none\"` is ignored in a file: only `--ai-sandbox` and \
                           `TALLY_AI_SANDBOX` can take an agent out of its sandbox";
            self.warn(name.span().start, message.to_owned());
            return;
        }
        let origin = self.origin(name);
        self.layer.insert(key, value, origin);
    }

    fn each_agent(&mut self, agents: &SpannedValue<'_>) {
        let Some(agents) = self.as_table("ai.agents", agents) else { return };
        for (name, agent) in agents {
            let at = format!("ai.agents.{}", name.get_ref());
            let Some(agent) = self.as_table(&at, agent) else { continue };
            let mut settings = std::collections::BTreeMap::new();
            for (key_name, value) in agent {
                let key = AGENT_KEYS.iter().find(|key| key.path == key_name.get_ref().as_ref());
                let Some(key) = key else {
                    self.unknown_key(&at, key_name);
                    continue;
                };
                let path = join(&at, key.path);
                if let Some(value) = self.typed(key.kind, &path, value) {
                    settings.insert(key.path, Sourced { value, origin: self.origin(key_name) });
                }
            }
            if !agent.contains_key("command") {
                self.problem(name.span().start, format!("[{at}] has no `command`"));
            }
            self.layer.agents.insert(name.get_ref().to_string(), settings);
        }
    }

    fn unknown_key(&mut self, at: &str, name: &SpannedKey<'_>) {
        let valid = children(at);
        let name_text = name.get_ref().as_ref();
        let mut meant = did_you_mean(name_text, valid.iter().copied());
        if meant.is_empty() {
            let elsewhere = KEYS
                .iter()
                .filter(|key| key.in_file)
                .find(|key| key.path.rsplit_once('.').is_some_and(|(_, last)| last == name_text));
            let elsewhere = elsewhere.map(|key| format!("; did you mean `{}`?", key.path));
            meant = elsewhere.unwrap_or_default();
        }
        let place = if at.is_empty() { "at the top".to_owned() } else { format!("in [{at}]") };
        let valid = valid.join(", ");
        self.problem(
            name.span().start,
            format!("unknown key `{name_text}` {place}{meant} (valid keys: {valid})"),
        );
    }

    fn syntax(&mut self, error: &toml::de::Error) {
        let span = error.span().unwrap_or(0..0);
        let message = match self.text.get(span.clone()) {
            Some(key) if error.message() == "duplicate key" => format!("duplicate key `{key}`"),
            _ => format!("not valid TOML: {}", error.message()),
        };
        self.problem(span.start, message);
    }

    fn origin(&self, name: &SpannedKey<'_>) -> Origin {
        let (line, _) = line_and_column(self.text, name.span().start);
        Origin::File { path: Arc::clone(&self.path), line }
    }

    fn problem(&mut self, offset: usize, message: String) {
        let problem = self.at(offset, message);
        self.problems.push(problem);
    }

    fn warn(&mut self, offset: usize, message: String) {
        let warning = self.at(offset, message);
        self.warnings.push(warning);
    }

    fn at(&self, offset: usize, message: String) -> Problem {
        let (line, column) = line_and_column(self.text, offset);
        Problem { path: self.path.to_path_buf(), line, column, message }
    }
}
