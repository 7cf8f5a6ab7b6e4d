//! `.hadolint.yaml`: what it says, for the name hadolint, and as a layer where there is no tally file.
//!
//! hadolint passes over keys that it does not know and takes the defaults if any value is wrong. Here
//! an unknown key is a warning and a wrong value an error, each with its place.

mod as_layer;
mod words;
mod yaml;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, path::Path};

use probity_finding::Severity;

use self::yaml::Node;
pub(crate) use self::{
    words::{Format, LabelType, Threshold},
    yaml::Placed,
};
use super::{
    error::{ConfigError, Problem, did_you_mean},
    word::Word,
};

/// The names of such files; in one directory the first beats the second.
pub(crate) const FILE_NAMES: [&str; 2] = [".hadolint.yaml", ".hadolint.yml"];

/// What one file says; whatever it is silent about is absent.
#[derive(Clone, Debug, Default)]
pub(crate) struct HadolintFile {
    pub(crate) failure_threshold: Option<Placed<Threshold>>,
    pub(crate) format: Option<Placed<Format>>,
    pub(crate) no_color: Option<Placed<bool>>,
    pub(crate) no_fail: Option<Placed<bool>>,
    pub(crate) strict_labels: Option<Placed<bool>>,
    pub(crate) disable_ignore_pragma: Option<Placed<bool>>,
    pub(crate) ignored: Vec<Placed<String>>,
    pub(crate) overrides: Vec<(Severity, Placed<String>)>,
    pub(crate) labels: BTreeMap<String, Placed<LabelType>>,
    pub(crate) trusted_registries: Vec<Placed<String>>,
}

const KEYS: [&str; 10] = [
    "disable-ignore-pragma",
    "failure-threshold",
    "format",
    "ignored",
    "label-schema",
    "no-color",
    "no-fail",
    "override",
    "strict-labels",
    "trustedRegistries",
];

const SEVERITIES: [&str; 4] = ["error", "warning", "info", "style"];

/// Whether a path is to be read as such a file.
pub(crate) fn is_hadolint_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// Reads the text of a file; the path is the one that messages show.
pub(crate) fn read(path: &Path, text: &str) -> Result<(HadolintFile, Vec<Problem>), ConfigError> {
    let mut reader =
        Reader { path, file: HadolintFile::default(), problems: Vec::new(), warnings: Vec::new() };
    match yaml::parse(text) {
        Ok(root) => reader.root(root),
        Err((line, column, message)) => {
            reader.problems.push(reader.at(line, column, format!("not valid YAML: {message}")));
        }
    }
    let Reader { file, problems, warnings, .. } = reader;
    if problems.is_empty() {
        Ok((file, warnings))
    } else {
        Err(ConfigError::invalid(problems, text))
    }
}

struct Reader<'a> {
    path: &'a Path,
    file: HadolintFile,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl Reader<'_> {
    fn root(&mut self, root: Placed<Node>) {
        let pairs = match root.value {
            Node::Map(pairs) => pairs,
            // A file with nothing but comments says nothing.
            Node::Null => return,
            _ => return self.wrong(&root, "the file", "a table of keys"),
        };
        for (key, value) in pairs {
            let name = key.value.as_str();
            match name {
                "failure-threshold" => self.file.failure_threshold = self.word(name, &value),
                "format" => self.file.format = self.word(name, &value),
                "no-color" => self.file.no_color = self.switch(name, &value),
                "no-fail" => self.file.no_fail = self.switch(name, &value),
                "strict-labels" => self.file.strict_labels = self.switch(name, &value),
                "disable-ignore-pragma" => {
                    self.file.disable_ignore_pragma = self.switch(name, &value);
                }
                "ignored" => self.file.ignored = self.list(name, value),
                "trustedRegistries" => self.file.trusted_registries = self.list(name, value),
                "label-schema" => self.labels(value),
                "override" => self.overrides(value),
                _ => self.unknown(&key, "", &KEYS),
            }
        }
    }

    fn overrides(&mut self, value: Placed<Node>) {
        for (key, value) in self.table("override", value) {
            match key.value.parse::<Severity>() {
                Ok(severity) => {
                    let rules = self.list(&format!("override.{severity}"), value);
                    self.file.overrides.extend(rules.into_iter().map(|rule| (severity, rule)));
                }
                Err(_) => self.unknown(&key, " in `override`", &SEVERITIES),
            }
        }
    }

    fn labels(&mut self, value: Placed<Node>) {
        for (key, value) in self.table("label-schema", value) {
            if let Some(kind) = self.word(&format!("label-schema.{}", key.value), &value) {
                self.file.labels.insert(key.value, kind);
            }
        }
    }

    fn table(&mut self, key: &str, value: Placed<Node>) -> Vec<(Placed<String>, Placed<Node>)> {
        match value.value {
            Node::Map(pairs) => pairs,
            Node::Null => Vec::new(),
            _ => {
                self.wrong(&value, key, "a table");
                Vec::new()
            }
        }
    }

    fn list(&mut self, key: &str, value: Placed<Node>) -> Vec<Placed<String>> {
        let items = match value.value {
            Node::List(items) => items,
            Node::Null => return Vec::new(),
            _ => {
                self.wrong(&value, key, "a list of words");
                return Vec::new();
            }
        };
        let mut words = Vec::with_capacity(items.len());
        for Placed { value, line, column } in items {
            match value {
                Node::Text(value) => words.push(Placed { value, line, column }),
                value => self.wrong(&Placed { value, line, column }, key, "a list of words"),
            }
        }
        words
    }

    fn switch(&mut self, key: &str, value: &Placed<Node>) -> Option<Placed<bool>> {
        match value.value {
            Node::Bool(switch) => Some(value.with(switch)),
            Node::Null => None,
            _ => {
                self.wrong(value, key, "true or false");
                None
            }
        }
    }

    fn word<T: Word>(&mut self, key: &str, value: &Placed<Node>) -> Option<Placed<T>> {
        let word = match &value.value {
            Node::Text(word) => word,
            Node::Null => return None,
            _ => "",
        };
        let found = T::from_word(word);
        if found.is_none() {
            self.wrong(value, key, &format!("one of {}", T::NAMES.join(", ")));
        }
        found.map(|found| value.with(found))
    }

    fn unknown(&mut self, key: &Placed<String>, place: &str, valid: &[&str]) {
        let meant = did_you_mean(&key.value, valid.iter().copied());
        let valid = valid.join(", ");
        let message = format!("unknown key `{}`{place}{meant} (valid keys: {valid})", key.value);
        self.warnings.push(self.at(key.line, key.column, message));
    }

    fn wrong(&mut self, value: &Placed<Node>, key: &str, expected: &str) {
        let message = format!("`{key}` must be {expected}");
        self.problems.push(self.at(value.line, value.column, message));
    }

    fn at(&self, line: usize, column: usize, message: String) -> Problem {
        Problem::new(self.path, line, column, message)
    }
}
