//! What a key is, and how keys are found in the one table of them.

mod table;

pub(crate) use self::table::{AGENT_KEYS, KEYS};
use super::{catalogue::NAMESPACES, kind::Kind};

/// One key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    /// The tables and the name, joined by dots.
    pub(crate) path: &'static str,
    pub(crate) kind: Kind,
    /// As it would stand in an environment variable; none when the key is unset by default.
    pub(crate) default: Option<&'static str>,
    pub(crate) doc: &'static str,
    /// Variables besides the one that [`variable`] makes of the path; that one beats these.
    pub(crate) other_variables: &'static [&'static str],
    /// Whether a file may hold it, or only a flag or a variable.
    pub(crate) in_file: bool,
    /// Whether a stronger layer adds to the list instead of replacing it.
    pub(crate) appends: bool,
}

/// The variable that sets a path: `ai.max-rounds` becomes `TALLY_AI_MAX_ROUNDS`.
pub(crate) fn variable(path: &str) -> String {
    let path = path.replace(['.', '-', '/'], "_");
    format!("{PREFIX}{}", path.to_ascii_uppercase())
}

/// What every variable begins with.
pub(crate) const PREFIX: &str = "TALLY_";

pub(crate) fn find(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

pub(crate) fn join(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

/// The names that may stand directly below a path, in the order of the table.
pub(crate) fn children(at: &str) -> Vec<&'static str> {
    if at.starts_with("ai.agents.") {
        return AGENT_KEYS.iter().map(|key| key.path).collect();
    }
    let mut names: Vec<&'static str> = Vec::new();
    for key in KEYS.iter().filter(|key| key.in_file) {
        let below = match at {
            "" => Some(key.path),
            _ => key.path.strip_prefix(at).and_then(|rest| rest.strip_prefix('.')),
        };
        let name = below.and_then(|below| below.split('.').next());
        names.extend(name.filter(|name| !names.contains(name)));
    }
    match at {
        "ai" => names.push("agents"),
        "rules" => names.extend(NAMESPACES),
        _ => {}
    }
    names
}

const fn key(path: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Key {
    Key { default: Some(default), ..unset(path, kind, doc) }
}

const fn unset(path: &'static str, kind: Kind, doc: &'static str) -> Key {
    let default = None;
    Key { path, kind, default, doc, other_variables: &[], in_file: true, appends: false }
}

impl Key {
    const fn also(self, other_variables: &'static [&'static str]) -> Self {
        Self { other_variables, ..self }
    }

    const fn appends(self) -> Self {
        Self { appends: true, ..self }
    }

    const fn not_in_file(self) -> Self {
        Self { in_file: false, ..self }
    }
}
