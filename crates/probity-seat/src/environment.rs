//! The variables of a process: few, and by name.

use std::{
    env,
    ffi::{OsStr, OsString},
    path::PathBuf,
};

use probity_agent::AgentTable;

use crate::grants::is_a_key;

/// Variables that say nothing of the user but how the terminal and the language are.
const HARMLESS: &[&str] = &["LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "NO_COLOR"];

/// The `PATH` of commands, which see the system's programs.
pub(crate) const SYSTEM_PATH: &str =
    "/home/agent/.local/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

pub(crate) type Environment = Vec<(OsString, OsString)>;

/// Of our own environment, these.
pub(crate) fn named<Name: AsRef<OsStr>>(names: impl IntoIterator<Item = Name>) -> Environment {
    let value = |name: Name| {
        let value = env::var_os(name.as_ref())?;
        Some((name.as_ref().to_owned(), value))
    };
    names.into_iter().filter_map(value).collect()
}

pub(crate) fn harmless() -> Environment {
    named(HARMLESS)
}

/// For an agent that the user wants to run as themselves: all but the keys of other agents.
pub(crate) fn users(table: &AgentTable) -> Environment {
    let is_key = |name: &OsStr| name.to_str().is_some_and(|name| is_a_key(name, table));
    env::vars_os().filter(|(name, _)| !is_key(name)).collect()
}

/// Our `PATH`, with these directories before it.
pub(crate) fn path_with(before: &[PathBuf]) -> Option<OsString> {
    let path = env::var_os("PATH");
    let ours = path.iter().flat_map(env::split_paths);
    match before {
        [] => path,
        before => env::join_paths(before.iter().cloned().chain(ours)).ok().or(path),
    }
}
