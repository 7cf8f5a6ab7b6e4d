//! Which names a file may hold where.

use crate::config::{
    catalogue::NAMESPACES,
    key::Dialect,
    table::{self, NAMED},
};

pub(crate) fn join(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

/// The names that may stand directly below a path, in the order of the table.
pub(crate) fn children(dialect: Dialect, at: &str) -> Vec<&'static str> {
    let below = |path: &'static str| match at {
        "" => Some(path),
        _ => path.strip_prefix(at).and_then(|rest| rest.strip_prefix('.')),
    };
    let mut names: Vec<&'static str> = Vec::new();
    let paths = table::keys().filter_map(|key| key.path_in(dialect));
    let named = NAMED.iter().filter_map(|named| named.path_in(dialect));
    for path in paths.chain(named) {
        let name = below(path).and_then(|below| below.split('.').next());
        names.extend(name.filter(|name| !names.contains(name)));
    }
    if is_rules(dialect, at) {
        names.extend(NAMESPACES);
    }
    // The name in between is the user's own.
    let table = at.rsplit_once('.').map(|(tables, _)| tables);
    let inside = NAMED.iter().find(|named| table.is_some() && named.path_in(dialect) == table);
    names.extend(inside.into_iter().flat_map(|named| named.keys_in(dialect)).map(|key| key.path));
    names
}

/// Whether rules are configured below a path.
pub(crate) fn is_rules(dialect: Dialect, at: &str) -> bool {
    match dialect {
        Dialect::Probity => at == "check.rules",
        Dialect::Tally => at == "rules",
        Dialect::Containai => false,
    }
}

/// What the original tool knows and what means nothing here is let through.
pub(super) fn is_foreign(dialect: Dialect, path: &str) -> bool {
    const CONTAINAI: &[&str] = &[
        "credentials",
        "secure_engine",
        "ssh",
        "danger",
        "update",
        "template",
        "workspace",
        "default_excludes",
        "env.from_host",
        "env.env_file",
        "import.exclude_priv",
        "image.channel",
        "agent.data_volume",
    ];
    dialect == Dialect::Containai && CONTAINAI.contains(&path)
}
