//! What the table of settings says about one key.

use std::fmt;

pub(crate) use super::table::{
    ai::key as ai, audit::key as audit, check::key as check, containment::key as containment,
    review::key as review,
};
use super::{guard::Guard, kind::ValueKind, value::Value};
use crate::name::Name;

/// One key.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    /// The section, the tables and the name, joined by dots: the path in `probity.toml`.
    pub(crate) path: &'static str,
    pub(crate) kind: ValueKind,
    default: fn() -> Option<Value>,
    doc: &'static str,
    pub(crate) flag: Option<Flag>,
    /// The flag that sets a switch to false, and what help says about it.
    pub(crate) no_flag: Option<(&'static str, &'static str)>,
    /// The path in `.tally.toml`; also what `TALLY_` variables are made of.
    tally: Option<&'static str>,
    /// The default under the name tally, where it is another.
    tally_default: Option<&'static str>,
    /// The default under `trix`, if it is another there.
    trix_default: Option<&'static str>,
    /// The path in `.containai/config.toml`.
    containai: Option<&'static str>,
    /// Whether the flag exists under the name `trix`.
    pub(crate) is_in_trix: bool,
    /// Variables of tally besides the one that is made of the path; that one beats these.
    also: &'static [&'static str],
    /// The variable of `ci-agent-review`.
    step: Option<&'static str>,
    is_own_in_step: bool,
    /// A variable that counts under every name that has the key.
    shared: Option<&'static str>,
    /// Whether a file may hold it, or only a flag or a variable.
    pub(crate) in_file: bool,
    /// Whether a stronger layer adds to the list instead of replacing it.
    pub(crate) appends: bool,
    pub(crate) is_deprecated: bool,
    pub(crate) is_secret: bool,
    pub(crate) guard: Guard,
    /// Whether the entry says what a repository's file may do.
    is_classified: bool,
    /// Whether a repository's file of tally's may set what ours may not, as it could for tally.
    pub(crate) is_free_in_tally: bool,
}

/// The flag of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flag {
    pub(crate) long: &'static str,
    pub(crate) short: Option<char>,
    /// What help calls the value; none for a switch.
    pub(crate) value: Option<&'static str>,
}

/// A key with the type of its setting.
pub(crate) struct Typed<T> {
    pub(crate) key: Key,
    pub(crate) default: fn() -> T,
}

/// Whose file a path is looked up in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Probity,
    Tally,
    Containai,
}

impl Key {
    pub(super) const fn new(
        path: &'static str,
        kind: ValueKind,
        default: fn() -> Option<Value>,
        doc: &'static str,
    ) -> Self {
        Self {
            path,
            kind,
            default,
            doc,
            flag: None,
            no_flag: None,
            tally: None,
            tally_default: None,
            trix_default: None,
            containai: None,
            is_in_trix: false,
            also: &[],
            step: None,
            is_own_in_step: false,
            shared: None,
            in_file: true,
            appends: false,
            is_deprecated: false,
            is_secret: false,
            guard: Guard::User,
            is_classified: false,
            is_free_in_tally: false,
        }
    }

    pub(super) const fn flag(self, long: &'static str) -> Self {
        Self { flag: Some(Flag { long, short: None, value: None }), ..self }
    }

    pub(super) const fn flag_of(self, long: &'static str, value: &'static str) -> Self {
        Self { flag: Some(Flag { long, short: None, value: Some(value) }), ..self }
    }

    pub(super) const fn short(self, short: char) -> Self {
        match self.flag {
            Some(flag) => Self { flag: Some(Flag { short: Some(short), ..flag }), ..self },
            None => self,
        }
    }

    pub(super) const fn no_flag(self, long: &'static str, help: &'static str) -> Self {
        Self { no_flag: Some((long, help)), ..self }
    }

    pub(super) const fn tally(self, path: &'static str) -> Self {
        Self { tally: Some(path), ..self }
    }

    pub(super) const fn tally_default(self, text: &'static str) -> Self {
        Self { tally_default: Some(text), ..self }
    }

    pub(super) const fn trix_default(self, text: &'static str) -> Self {
        Self { is_in_trix: true, trix_default: Some(text), ..self }
    }

    pub(super) const fn also(self, also: &'static [&'static str]) -> Self {
        Self { also, ..self }
    }

    pub(super) const fn containai(self, path: &'static str) -> Self {
        Self { containai: Some(path), ..self }
    }

    pub(super) const fn trix(self) -> Self {
        Self { is_in_trix: true, ..self }
    }

    pub(super) const fn step(self, variable: &'static str) -> Self {
        Self { step: Some(variable), ..self }
    }

    /// Whether the variable of its own counts in a CI step, too.
    pub(super) const fn own_in_step(self) -> Self {
        Self { is_own_in_step: true, ..self }
    }

    pub(super) const fn shared(self, variable: &'static str) -> Self {
        Self { shared: Some(variable), ..self }
    }

    pub(super) const fn secret(self) -> Self {
        Self { is_secret: true, ..self }
    }

    pub(super) const fn kind(self, kind: ValueKind) -> Self {
        Self { kind, ..self }
    }

    pub(super) const fn appends(self) -> Self {
        Self { appends: true, ..self }
    }

    pub(super) const fn not_in_file(self) -> Self {
        Self { in_file: false, ..self }
    }

    pub(super) const fn deprecated(self) -> Self {
        Self { is_deprecated: true, ..self }
    }

    pub(super) const fn guard(self, guard: Guard) -> Self {
        Self { guard, is_classified: true, ..self }
    }

    pub(super) const fn free_in_tally(self) -> Self {
        Self { is_free_in_tally: true, ..self }
    }

    /// Does not compile for a key about which nobody has said what a repository may do.
    pub(super) const fn classified(self) -> Self {
        assert!(self.is_classified || !self.in_file, "say guard(Guard::…) for each key of a file");
        self
    }

    /// The meaning, without the blank that a doc comment begins with.
    pub(crate) fn doc(&self) -> &'static str {
        self.doc.trim_start()
    }

    pub(crate) fn default_value(&self) -> Option<Value> {
        (self.default)()
    }

    /// Whether tally has the setting too.
    pub(crate) fn is_in_tally(&self) -> bool {
        self.tally.is_some()
    }

    /// The default under a name, where it is not the one of every other name.
    pub(crate) fn default_under(&self, name: Name) -> Option<&'static str> {
        match name {
            Name::Tally => self.tally_default,
            Name::Trix => self.trix_default,
            _ => None,
        }
    }

    /// The default as messages show it; empty when there is none.
    pub(crate) fn default_text(&self) -> String {
        self.default_value().map(|value| value.plain()).unwrap_or_default()
    }

    /// The section, which is the first part of the path.
    pub(crate) fn section(&self) -> &'static str {
        self.path.split('.').next().unwrap_or_default()
    }

    /// The path in a file, where that file may hold the key.
    pub(crate) fn path_in(&self, dialect: Dialect) -> Option<&'static str> {
        if !self.in_file {
            return None;
        }
        match dialect {
            Dialect::Probity => Some(self.path),
            Dialect::Tally => self.tally,
            Dialect::Containai => self.containai,
        }
    }

    /// The variables that set the key under a name, the one that wins first.
    pub(crate) fn variables(&self, name: Name) -> Vec<String> {
        let mut variables = Vec::new();
        if name == Name::Probity {
            variables.push(own_variable(self.path));
        }
        if matches!(name, Name::Probity | Name::Tally) {
            variables.extend(self.tally.map(tally_variable));
            variables.extend(self.also.iter().map(|&also| also.to_owned()));
        }
        if name == Name::CiAgentReview {
            variables.extend(self.step.map(str::to_owned));
            variables.extend(self.is_own_in_step.then(|| own_variable(self.path)));
        }
        if matches!(name, Name::Probity | Name::CiAgentReview) {
            variables.extend(self.shared.map(str::to_owned));
        }
        variables
    }
}

/// What a variable of our own begins with.
pub(crate) const PREFIX: &str = "PROBITY_";
/// What a variable of tally begins with.
pub(crate) const TALLY_PREFIX: &str = "TALLY_";

/// `ai.max-rounds` becomes `PROBITY_AI__MAX_ROUNDS`.
pub(crate) fn own_variable(path: &str) -> String {
    let (section, rest) = path.split_once('.').unwrap_or((path, ""));
    format!("{PREFIX}{}__{}", upper(section), upper(rest))
}

/// `ai.max-rounds` becomes `TALLY_AI_MAX_ROUNDS`.
pub(crate) fn tally_variable(path: &str) -> String {
    format!("{TALLY_PREFIX}{}", upper(path))
}

fn upper(path: &str) -> String {
    path.replace(['.', '-', '/'], "_").to_ascii_uppercase()
}

/// Turns the underscores of an identifier into the dashes of a key.
pub(super) const fn dashed<const N: usize>(text: &str) -> [u8; N] {
    let bytes = text.as_bytes();
    let mut path = [0; N];
    let mut index = 0;
    while index < N {
        path[index] = if bytes[index] == b'_' { b'-' } else { bytes[index] };
        index += 1;
    }
    path
}

/// The path of a key out of its bytes.
pub(super) const fn text(path: &'static [u8]) -> &'static str {
    match std::str::from_utf8(path) {
        Ok(path) => path,
        // An identifier is text.
        Err(_) => "",
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("path", &self.path).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Typed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key.fmt(f)
    }
}
