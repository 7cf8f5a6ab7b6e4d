//! One configuration file, read strictly: whatever it says is understood, or an error with its place.
//!
//! The tree of spanned values is walked by hand against the table of keys. Deserializing into structs
//! would locate errors as well, but would stop at the first one, and would forget the line of every
//! value that is right.

mod names;
mod rules;
mod typed;

use std::{collections::BTreeMap, path::Path, sync::Arc};

use toml::{
    Spanned,
    de::{DeString, DeTable, DeValue},
};

pub(super) use self::names::{children, is_rules, join};
use super::{
    catalogue::{Catalogue, NAMESPACES},
    error::{ConfigError, Problem, did_you_mean, line_and_column},
    key::{Dialect, Key, ai, containment, own_variable},
    kind::ValueKind,
    layer::Layer,
    table::{self, NAMED, NamedTables},
    value::{Origin, Owner, Sourced, Value},
    word::Word as _,
    words::NetworkMode,
};

/// The key of `probity.toml` that belongs to no section.
pub(super) const EXTENDS: &str = "extends";

/// A file to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) dialect: Dialect,
    pub(crate) owner: Owner,
    /// The path that messages show.
    pub(crate) path: &'a Path,
    pub(crate) text: &'a str,
}

/// Why a value in a file of tally's does not count. Such a file comes with a repository, which must
/// neither take an agent out of its sandbox nor choose which key goes to which server.
fn never_of_a_file(key: &Key, value: &Value) -> Option<String> {
    let path = key.path;
    if path == ai::sandbox.key.path && *value == Value::Text("none".to_owned()) {
        return Some(
            "`ai.sandbox = \"none\"` is ignored in a file: only `--ai-sandbox` and \
             `TALLY_AI_SANDBOX` can take an agent out of its sandbox"
                .to_owned(),
        );
    }
    if path == ai::endpoint.key.path || path == ai::api_key_env.key.path {
        return Some(format!(
            "`{path}` is ignored in this file: a repository must not choose which API key goes to \
             which server; set it with `--{}`, {} or in your own probity.toml",
            key.flag.map_or("", |flag| flag.long),
            own_variable(path),
        ));
    }
    None
}

/// Reads what a file says, and what is odd about it.
pub(crate) fn read(
    catalogue: &Catalogue<'_>,
    source: Source<'_>,
) -> Result<(Layer, Vec<Problem>), ConfigError> {
    let Source { dialect, owner, path, text } = source;
    let mut reader = Reader {
        catalogue,
        dialect,
        owner,
        path: Arc::from(path),
        text,
        layer: Layer::default(),
        problems: Vec::new(),
        warnings: Vec::new(),
    };
    match DeTable::parse(text) {
        Ok(root) if is_pyproject(path) => {
            if let Some(own) = tool_probity(root.get_ref()) {
                reader.root(own);
            }
        }
        Ok(root) => reader.root(root.get_ref()),
        Err(error) => reader.syntax(&error),
    }
    reader.check_network();
    let Reader { layer, mut problems, mut warnings, .. } = reader;
    if problems.is_empty() {
        warnings.sort_by_key(|warning| (warning.line, warning.column));
        return Ok((layer, warnings));
    }
    problems.sort_by_key(|problem| (problem.line, problem.column));
    Err(ConfigError::invalid(problems, text))
}

pub(crate) const PYPROJECT: &str = "pyproject.toml";

fn is_pyproject(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == PYPROJECT)
}

/// Whether a `pyproject.toml` is meant for us too. One that is broken is, if it may be.
pub(super) fn has_own_table(text: &str) -> bool {
    match DeTable::parse(text) {
        Ok(root) => tool_probity(root.get_ref()).is_some(),
        Err(_) => text.contains("tool.probity"),
    }
}

/// Whether a file has a section that only ours have.
pub(super) fn has_own_section(text: &str) -> bool {
    let peers = children(Dialect::Tally, "");
    let own = children(Dialect::Probity, "");
    let is_own = |name: &str| name == EXTENDS || (own.contains(&name) && !peers.contains(&name));
    DeTable::parse(text).is_ok_and(|root| root.get_ref().keys().any(|name| is_own(name.get_ref())))
}

fn tool_probity<'t, 'i>(root: &'t DeTable<'i>) -> Option<&'t DeTable<'i>> {
    let tool = root.get("tool")?.get_ref().as_table()?;
    tool.get("probity")?.get_ref().as_table()
}

type SpannedKey<'i> = Spanned<DeString<'i>>;
type SpannedValue<'i> = Spanned<DeValue<'i>>;

struct Reader<'a> {
    catalogue: &'a Catalogue<'a>,
    dialect: Dialect,
    owner: Owner,
    path: Arc<Path>,
    text: &'a str,
    layer: Layer,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl Reader<'_> {
    fn root(&mut self, root: &DeTable<'_>) {
        if self.dialect == Dialect::Probity {
            let sections = children(Dialect::Probity, "");
            let said = |section: &&str| root.iter().any(|(name, _)| name.get_ref() == section);
            self.layer.sections = sections.into_iter().filter(said).collect();
            if let Some((name, value)) = root.iter().find(|(name, _)| name.get_ref() == EXTENDS) {
                self.extends(name, value);
            }
        }
        self.table("", root);
    }

    fn extends(&mut self, name: &SpannedKey<'_>, value: &SpannedValue<'_>) {
        let origin = self.origin(name);
        let is_one = value.get_ref().as_str().is_some();
        let kind = if is_one { ValueKind::String } else { ValueKind::StringList };
        let paths = match self.typed(kind, EXTENDS, value) {
            Some(Value::Text(path)) => vec![path],
            Some(Value::List(paths)) => paths,
            _ => return,
        };
        let sourced = |value| Sourced { value, origin: origin.clone() };
        self.layer.extends = paths.into_iter().map(sourced).collect();
    }

    /// Reads a table of the key table; `at` is its path, empty for the root.
    fn table(&mut self, at: &str, table: &DeTable<'_>) {
        let dialect = self.dialect;
        for (name, value) in table {
            let path = join(at, name.get_ref());
            let is_path = |own: Option<&'static str>| own == Some(path.as_str());
            if at.is_empty() && dialect == Dialect::Probity && path == EXTENDS {
                continue;
            }
            // A quoted key with a dot in it is not a path.
            if name.get_ref().contains('.') {
                self.unknown_key(at, name);
            } else if let Some(key) = table::keys().find(|key| is_path(key.path_in(dialect))) {
                self.setting(key, name, value);
            } else if let Some(named) = NAMED.iter().find(|named| is_path(named.path_in(dialect))) {
                self.named_tables(named, &path, value);
            } else if is_rules(dialect, at) && NAMESPACES.contains(&name.get_ref().as_ref()) {
                self.rules(at, name.get_ref(), value);
            } else if children(dialect, &path).is_empty() {
                if !names::is_foreign(dialect, &path) {
                    self.unknown_key(at, name);
                }
            } else if let Some(inner) = self.as_table(&path, value) {
                self.table(&path, inner);
            }
        }
    }

    fn setting(&mut self, key: &'static Key, name: &SpannedKey<'_>, value: &SpannedValue<'_>) {
        let path = key.path_in(self.dialect).unwrap_or(key.path);
        if is_rules(self.dialect, path.rsplit_once('.').map_or("", |(table, _)| table)) {
            self.patterns(path, value);
        }
        let Some(value) = self.typed(key.kind, path, value) else { return };
        if self.dialect == Dialect::Tally
            && let Some(message) = never_of_a_file(key, &value)
        {
            self.warn(name.span().start, message);
            return;
        }
        let origin = self.origin(name);
        self.layer.insert(key, value, origin);
    }

    fn named_tables(&mut self, named: &'static NamedTables, at: &str, tables: &SpannedValue<'_>) {
        let Some(tables) = self.as_table(at, tables) else { return };
        for (name, table) in tables {
            let at = format!("{at}.{}", name.get_ref());
            let Some(table) = self.as_table(&at, table) else { continue };
            let mut settings = BTreeMap::new();
            for (key_name, value) in table {
                let mut keys = named.keys_in(self.dialect);
                let Some(key) = keys.find(|key| key.path == key_name.get_ref().as_ref()) else {
                    self.unknown_key(&at, key_name);
                    continue;
                };
                let path = join(&at, key.path);
                if let Some(value) = self.typed(key.kind, &path, value) {
                    settings.insert(key.path, Sourced { value, origin: self.origin(key_name) });
                }
            }
            if named.needs_command(self.dialect) && !table.contains_key("command") {
                self.problem(name.span().start, format!("[{at}] has no `command`"));
            }
            self.layer.tables.insert((named.path, name.get_ref().to_string()), settings);
        }
    }

    /// A list of hosts without its mode would look like a limit and be none.
    fn check_network(&mut self) {
        let (allow, mode) = (&containment::network::allow.key, &containment::network::mode.key);
        let Some(list) = self.layer.settings.get(allow.path) else { return };
        let is_mode = |word: &str| {
            self.layer.settings.get(mode.path).is_some_and(|mode| mode.value.plain() == word)
        };
        if list.value == Value::List(Vec::new()) || is_mode(NetworkMode::Allowlist.word()) {
            return;
        }
        let (allow, mode) = (allow.path_in(self.dialect), mode.path_in(self.dialect));
        let message = format!(
            "`{}` has a meaning only with `{} = \"allowlist\"`",
            allow.unwrap_or_default(),
            mode.unwrap_or_default()
        );
        let line = list.origin.place().map_or(1, |(_, line)| line);
        self.problems.push(Problem::new(&self.path, line, 1, message));
    }

    fn unknown_key(&mut self, at: &str, name: &SpannedKey<'_>) {
        let valid = children(self.dialect, at);
        let name_text = name.get_ref().as_ref();
        let mut meant = did_you_mean(name_text, valid.iter().copied());
        if meant.is_empty() {
            let mut paths = table::keys().filter_map(|key| key.path_in(self.dialect));
            let elsewhere =
                paths.find(|path| path.rsplit_once('.').is_some_and(|(_, last)| last == name_text));
            meant = elsewhere.map(|path| format!("; did you mean `{path}`?")).unwrap_or_default();
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
        Origin::File { path: Arc::clone(&self.path), line, owner: self.owner }
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
        Problem::new(&self.path, line, column, message)
    }
}
