//! What a repository's file may set: it may tighten what the user has, and never loosen it.

use std::{
    fmt,
    path::{Component, Path, PathBuf},
};

use probity_sandbox::Limits;

use super::{
    key::{Dialect, Key, own_variable},
    layer::Layer,
    table::{self, NAMED},
    value::{Origin, Value},
    word::Word as _,
    words::AuditFailOn,
};

/// How far a repository's file is obeyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// It may set the key.
    Open,
    /// It may not: only a flag, a variable or the user's own file does.
    User,
    /// It may not, unless the user trusts the very file, which `cai trust` does for
    /// `.containai/config.toml`.
    Trusted,
    /// It may set the key if the user does not.
    IfUnset,
    /// It may choose a word that is not looser than the user's. The words go from the tightest to the
    /// loosest; an absent one is the loosest of all.
    Tighten(&'static [&'static str]),
    /// It may choose a bar for the findings of an audit that is not above the user's, neither in
    /// severity nor in level.
    LowerBar,
    /// It may set a number that is not above the user's.
    AtMost,
    /// It may set a limit that is not above the user's, or the usual one where the user sets none.
    Limit(Usual),
    /// It may set a number that is not below the user's.
    AtLeast,
    /// It may name an agent, but no command and no recording.
    AgentName,
    /// It may name a path below the working directory.
    Below,
    /// It counts as it is at the merge base, which the command reads itself: the reviewed change must
    /// not choose what judges it.
    MergeBase,
}

impl Guard {
    /// Whether a repository's value holds beside the user's own one, which may be the default.
    pub(crate) fn allows(self, users: Option<&Value>, wanted: &Value) -> bool {
        match self {
            Self::Open => true,
            Self::User | Self::Trusted | Self::MergeBase => false,
            Self::IfUnset => users.is_none(),
            Self::Tighten(words) => {
                let rank = |value: &Value| words.iter().position(|word| *word == value.plain());
                let users = users.and_then(rank).unwrap_or(words.len());
                rank(wanted).is_some_and(|wanted| wanted <= users)
            }
            Self::LowerBar => {
                let bar =
                    |value: &Value| AuditFailOn::from_word(&value.plain()).map(AuditFailOn::bar);
                let (Some(users), Some(wanted)) = (users.and_then(bar), bar(wanted)) else {
                    return users.is_none();
                };
                wanted.0 <= users.0 && wanted.1 <= users.1
            }
            Self::AtMost => {
                users.and_then(number).is_none_or(|users| number(wanted) <= Some(users))
            }
            Self::Limit(usual) => {
                let users = users.and_then(number).or_else(|| usual.number());
                users.is_none_or(|users| number(wanted) <= Some(users))
            }
            Self::AtLeast => users.and_then(number) <= number(wanted),
            Self::AgentName => wanted.plain().chars().all(is_plain),
            Self::Below => match wanted {
                Value::List(paths) => paths.iter().all(|path| stays_here(Path::new(path))),
                other => stays_here(Path::new(&other.plain())),
            },
        }
    }

    /// What a repository may do, for people.
    pub(crate) fn doc(self) -> &'static str {
        match self {
            Self::Open => "may set this key",
            Self::User | Self::Trusted => "may not set this key",
            Self::IfUnset => "may set this key only if you do not",
            Self::Tighten(_) | Self::LowerBar | Self::AtMost | Self::Limit(_) | Self::AtLeast => {
                "may only tighten this key"
            }
            Self::MergeBase => "counts as it is at the merge base",
            Self::AgentName => "may only name a known agent here",
            Self::Below => {
                "may only name a relative path here, without `..`, links and git directories"
            }
        }
    }
}

/// A limit that sandboxed processes have where nobody sets one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usual {
    Memory,
    Cpus,
    Processes,
    Tmp,
    Shm,
    File,
}

impl Usual {
    #[expect(clippy::cast_precision_loss, reason = "limits are compared, not counted")]
    fn number(self) -> Option<f64> {
        let limits = Limits::usual();
        let whole = match self {
            Self::Cpus => return limits.cpus,
            Self::Memory => limits.memory,
            Self::Processes => limits.pids,
            Self::Tmp => limits.tmp,
            Self::Shm => limits.shm,
            Self::File => limits.file,
        };
        whole.map(|number| number as f64)
    }
}

/// Whose word a repository's file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Nobody's; there is no way to trust this file.
    Never,
    /// Nobody's until `cai trust`.
    NotYet,
    /// The user's, but for what is never a repository's to give.
    Given,
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

/// Takes out of a repository's layer what it may not say, in the order of the file.
pub(crate) fn restrict(
    layer: &mut Layer,
    users: &Layer,
    dialect: Dialect,
    trust: Trust,
) -> Vec<Refused> {
    let mut refused = Vec::new();
    for key in table::keys() {
        let Some(setting) = layer.settings.get(key.path) else { continue };
        let default = key.default_value();
        let own = users.settings.get(key.path).map(|setting| &setting.value).or(default.as_ref());
        let can_be_trusted = !matches!(key.guard, Guard::User | Guard::IfUnset);
        let is_trusted = trust == Trust::Given && can_be_trusted;
        if is_trusted || key.guard.allows(own, &setting.value) {
            continue;
        }
        // The user's choice is as good as the repository's, or another file counts, so that there is
        // nothing to say.
        if !matches!(key.guard, Guard::IfUnset | Guard::MergeBase) {
            let way_out = match dialect {
                _ if trust == Trust::NotYet && can_be_trusted => {
                    "run `cai trust` to trust this file".to_owned()
                }
                Dialect::Probity => way_out(key),
                Dialect::Tally | Dialect::Containai => OWN_FILE.to_owned(),
            };
            let path = key.path_in(dialect).unwrap_or(key.path);
            let shown = if key.is_secret { String::new() } else { format!(" = {}", setting.value) };
            refused.push(Refused {
                origin: setting.origin.clone(),
                what: format!("`{path}{shown}`"),
                why: format!("a repository's file {}; {way_out}", key.guard.doc()),
            });
        }
        layer.settings.remove(key.path);
    }
    let tables = std::mem::take(&mut layer.tables);
    for ((path, name), settings) in tables {
        let named = NAMED.iter().find(|named| named.path == path);
        let path = named.and_then(|named| named.path_in(dialect)).unwrap_or(path);
        let origins = settings.values().map(|setting| &setting.origin);
        let first = origins.min_by_key(|origin| origin.place().map(|(_, line)| line));
        refused.extend(first.map(|origin| Refused {
            origin: origin.clone(),
            what: format!("[{path}.{name}]"),
            why: format!("a repository's file may not set it; {OWN_FILE}"),
        }));
    }
    refused.sort_by_key(|refused| refused.origin.place().map(|(_, line)| line));
    refused
}

const OWN_FILE: &str = "set it in your own configuration file";

/// Where a key may be set instead.
fn way_out(key: &Key) -> String {
    let flag = key.flag.map(|flag| format!("--{}, ", flag.long)).unwrap_or_default();
    format!("set it with {flag}{} or in your own configuration file", own_variable(key.path))
}

#[expect(clippy::cast_precision_loss, reason = "limits are compared, not counted")]
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Bytes(bytes) => Some(*bytes as f64),
        Value::Duration(time) => Some(time.as_secs_f64()),
        _ => None,
    }
}

/// Whether a path that a repository names is below the working directory, and neither goes through a
/// link that the repository may have brought nor into a git directory.
pub(crate) fn stays_here(path: &Path) -> bool {
    let mut here = PathBuf::new();
    path.components().all(|part| {
        here.push(part);
        let is_plain = match part {
            Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
            Component::CurDir => true,
            _ => false,
        };
        is_plain && !here.symlink_metadata().is_ok_and(|found| found.is_symlink())
    })
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.')
}
