//! Taking out of a repository's file what it may not say.

use std::fmt;

use super::{Guard, paths};
use crate::config::{
    key::{Dialect, Key, own_variable, tally_variable},
    layer::Layer,
    table::{self, NAMED},
    value::{Origin, Sourced, Value},
};

/// Whose word a repository's file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Nobody's; there is no way to trust this file.
    Never,
    /// Nobody's until `cai trust`.
    NotYet,
    /// The user's, but for what is never a repository's to give.
    Given,
    /// That of a file of tally's: it chooses an agent as it could for tally, and raises no limit.
    OfTally,
}

/// What a repository's file says and may not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) origin: Origin,
    /// The key and the value, or the table.
    pub(crate) what: String,
    /// Why, and where it may be set instead.
    pub(crate) why: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { origin, what, why } = self;
        write!(f, "{origin}: {what} is ignored: {why}")
    }
}

/// A file of a repository beside what the user says.
struct Judged<'a> {
    users: &'a Layer,
    dialect: Dialect,
    trust: Trust,
}

/// Takes out of a repository's layer what it may not say, in the order of the file.
pub(crate) fn restrict(
    layer: &mut Layer,
    users: &Layer,
    dialect: Dialect,
    trust: Trust,
) -> Vec<Refused> {
    let judged = Judged { users, dialect, trust };
    let mut refused = Vec::new();
    for key in table::keys() {
        let Some(setting) = layer.settings.get(key.path) else { continue };
        if judged.allows(key, setting) {
            continue;
        }
        // The user's choice is as good as the repository's, or another file counts, so that there is
        // nothing to say.
        if !matches!(key.guard, Guard::IfUnset | Guard::MergeBase) {
            refused.push(judged.refused(key, key.path_in(dialect).unwrap_or(key.path), setting));
        }
        layer.settings.remove(key.path);
    }
    let tables = std::mem::take(&mut layer.tables);
    for ((path, name), mut settings) in tables {
        let named = NAMED.iter().find(|named| named.path == path);
        let shown = named.and_then(|named| named.path_in(dialect)).unwrap_or(path);
        let shown = format!("{shown}.{name}");
        if trust == Trust::OfTally {
            // Each key stands in for one of the section.
            settings.retain(|inner, setting| {
                let section = path.split('.').next().unwrap_or_default();
                let replaced = format!("{section}.{inner}");
                let Some(key) = table::keys().find(|key| key.path == replaced) else { return true };
                let is_allowed = judged.allows(key, setting);
                if !is_allowed {
                    refused.push(judged.refused(key, &format!("{shown}.{inner}"), setting));
                }
                is_allowed
            });
            layer.tables.insert((path, name), settings);
            continue;
        }
        let origins = settings.values().map(|setting| &setting.origin);
        let first = origins.min_by_key(|origin| origin.place().map(|(_, line)| line));
        refused.extend(first.map(|origin| Refused {
            origin: origin.clone(),
            what: format!("[{shown}]"),
            why: format!("a repository's file may not set it; {OWN_FILE}"),
        }));
    }
    refused.sort_by_key(|refused| refused.origin.place().map(|(_, line)| line));
    refused
}

impl Judged<'_> {
    fn allows(&self, key: &Key, wanted: &Sourced<Value>) -> bool {
        let is_trusted = match self.trust {
            Trust::Given => can_be_trusted(key),
            Trust::OfTally => key.is_free_in_tally,
            Trust::Never | Trust::NotYet => false,
        };
        let default = key.default_value();
        let users = self.users_value(key).or(default.as_ref());
        is_trusted
            || (key.guard.allows(users, &wanted.value) && !paths::is_linked(key.guard, wanted))
    }

    fn users_value(&self, key: &Key) -> Option<&Value> {
        self.users.settings.get(key.path).map(|setting| &setting.value)
    }

    fn refused(&self, key: &Key, shown: &str, setting: &Sourced<Value>) -> Refused {
        let value = if key.is_secret { String::new() } else { format!(" = {}", setting.value) };
        let own = self.users_value(key);
        let default = key.default_value();
        let bound = key.guard.bound(own.or(default.as_ref()));
        let bound = match (bound, own) {
            (Some(bound), Some(own)) if bound == *own => format!(", which you set to {bound}"),
            (Some(bound), _) => format!(", which is {bound} by default"),
            (None, _) => String::new(),
        };
        Refused {
            origin: setting.origin.clone(),
            what: format!("`{shown}{value}`"),
            why: format!("a repository's file {}{bound}; {}", key.guard.doc(), self.way_out(key)),
        }
    }

    /// Where a key may be set instead.
    fn way_out(&self, key: &Key) -> String {
        let flag = key.flag.map(|flag| format!("--{}, ", flag.long)).unwrap_or_default();
        match (self.trust, key.path_in(Dialect::Tally)) {
            (Trust::NotYet, _) if can_be_trusted(key) => {
                "run `cai trust` to trust this file".to_owned()
            }
            (Trust::OfTally, Some(path)) => {
                let flag = flag.replace(", ", " or ");
                format!("set it with {flag}{}", tally_variable(path))
            }
            _ if self.dialect == Dialect::Probity => {
                format!("set it with {flag}{} or {OWN_FILE_ALONE}", own_variable(key.path))
            }
            _ => OWN_FILE.to_owned(),
        }
    }
}

const OWN_FILE: &str = "set it in your own configuration file";
const OWN_FILE_ALONE: &str = "in your own configuration file";

fn can_be_trusted(key: &Key) -> bool {
    !matches!(key.guard, Guard::User | Guard::IfUnset)
}
