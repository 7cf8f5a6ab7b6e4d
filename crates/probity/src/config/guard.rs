//! What a repository's file may set: it may tighten what the user has, and never loosen it.

mod paths;
mod restrict;

use probity_sandbox::Limits;

pub(crate) use self::{
    paths::{begin_at_files, directory_of, stays_here},
    restrict::{Refused, Trust, restrict},
};
use super::{value::Value, word::Word as _, words::AuditFailOn};

/// How far a repository's file is obeyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// It may set the key, which harms nobody: it is about the repository alone, and costs nothing.
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
    /// It may set a limit that is not above the user's, or the usual one if the user sets none or zero.
    Limit(Usual),
    /// It may set a number that is not below the user's.
    AtLeast,
    /// It may name an agent, but no command and no recording.
    AgentName,
    /// It may name a path below the directory of the file, or one of these words. A word with a colon
    /// is what others begin with.
    Below(&'static [&'static str]),
    /// Its list leaves out items of the user's.
    Narrow,
    /// It counts as it is at the merge base, which the command reads itself: the reviewed change must
    /// not choose what judges it.
    MergeBase,
}

impl Guard {
    /// Whether a repository's value holds beside the user's own one, which may be the default.
    pub(crate) fn allows(self, users: Option<&Value>, wanted: &Value) -> bool {
        match self {
            Self::Open | Self::Narrow => true,
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
                let limit = |value: &Value| number(value).filter(|number| *number > 0.0);
                let usual = || usual.value().as_ref().and_then(number);
                let Some(most) = users.and_then(limit).or_else(usual) else { return true };
                limit(wanted).or_else(usual).is_some_and(|wanted| wanted <= most)
            }
            Self::AtLeast => users.and_then(number) <= number(wanted),
            Self::AgentName => wanted.plain().chars().all(is_plain),
            Self::Below(words) => match wanted {
                Value::List(paths) => paths.iter().all(|path| paths::is_below(path, words)),
                other => paths::is_below(&other.plain(), words),
            },
        }
    }

    /// What a repository may do, for people.
    pub(crate) fn doc(self) -> &'static str {
        match self {
            Self::Open => "may set this key",
            Self::User | Self::Trusted => "may not set this key",
            Self::IfUnset => "may set this key only if you do not",
            Self::Tighten(_) | Self::LowerBar | Self::AtLeast => "may only tighten this key",
            Self::AtMost | Self::Limit(_) => "may only lower this key",
            Self::Narrow => "may only leave out items of your list",
            Self::MergeBase => "counts as it is at the merge base",
            Self::AgentName => "may only name a known agent here",
            Self::Below(_) => {
                "may only name a path below its own directory here, without `..`, links and git \
                 directories"
            }
        }
    }

    /// The value that a repository's may not go beyond, if there is one.
    fn bound(self, users: Option<&Value>) -> Option<Value> {
        match self {
            Self::Tighten(_) | Self::LowerBar | Self::AtLeast | Self::AtMost => users.cloned(),
            Self::Limit(usual) => {
                let users = users.filter(|value| number(value) > Some(0.0));
                users.cloned().or_else(|| usual.value())
            }
            _ => None,
        }
    }
}

/// A limit that holds if nobody sets one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usual {
    Memory,
    Cpus,
    Processes,
    Tmp,
    Shm,
    File,
    /// One for each processor.
    Processors,
    Unlimited,
}

impl Usual {
    fn value(self) -> Option<Value> {
        let limits = Limits::usual();
        let whole = |number: u64| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
        match self {
            Self::Cpus => limits.cpus.map(Value::Float),
            Self::Memory => limits.memory.map(Value::Bytes),
            Self::Tmp => limits.tmp.map(Value::Bytes),
            Self::Shm => limits.shm.map(Value::Bytes),
            Self::File => limits.file.map(Value::Bytes),
            Self::Processes => limits.pids.map(whole),
            Self::Processors => {
                let processors = std::thread::available_parallelism();
                Some(whole(processors.map_or(1, |count| count.get() as u64)))
            }
            Self::Unlimited => None,
        }
    }
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

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.')
}
