//! Which rules a configuration may speak of, as the configuration needs to know them.

use super::{
    kind::Kind,
    words::{FixMode, RuleSeverity},
};

/// The tables below `rules`, which are also the first part of every rule's name.
pub(crate) const NAMESPACES: [&str; 5] =
    ["tally", "buildkit", "hadolint", "shellcheck", "powershell"];

/// One rule that runs here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleSchema {
    /// With its namespace, such as `tally/max-lines`.
    pub(crate) name: &'static str,
    /// What the rule takes besides what every rule takes.
    pub(crate) options: &'static [OptionSchema],
}

/// One option of a rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OptionSchema {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) doc: &'static str,
    /// As it would stand in an environment variable; empty when there is none.
    pub(crate) default: &'static str,
}

/// What every rule takes. `exclude.paths` is a table with a list in the file.
pub(crate) const EVERY_RULE: [OptionSchema; 3] = [
    OptionSchema {
        name: "severity",
        kind: Kind::OneOf(RuleSeverity::WORDS),
        doc: "How the rule's findings are reported; `off` switches the rule off.",
        default: "",
    },
    OptionSchema {
        name: "fix",
        kind: Kind::OneOf(FixMode::WORDS),
        doc: "When the rule's fixes may be applied.",
        default: "",
    },
    OptionSchema {
        name: "exclude.paths",
        kind: Kind::Globs,
        doc: "Globs of files that the rule does not look at.",
        default: "",
    },
];

/// All rules there are: those that run here, and names that a file written for others may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Catalogue<'a> {
    pub(crate) rules: &'a [RuleSchema],
    /// Full names that are accepted with a warning.
    pub(crate) elsewhere: &'a [&'a str],
}

/// How a rule is known.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known {
    Here(&'static [OptionSchema]),
    Elsewhere,
}

impl<'a> Catalogue<'a> {
    pub(crate) fn find(&self, name: &str) -> Option<Known> {
        if let Some(rule) = self.rules.iter().find(|rule| rule.name == name) {
            return Some(Known::Here(rule.options));
        }
        let elsewhere = self.elsewhere.contains(&name) || is_code(name);
        elsewhere.then_some(Known::Elsewhere)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'a str> {
        let here = self.rules.iter().map(|rule| rule.name);
        here.chain(self.elsewhere.iter().copied())
    }

    /// Whether rules have names that go on below this one, as `tally/labels` does.
    pub(crate) fn is_group(&self, name: &str) -> bool {
        self.names().any(|rule| rule.strip_prefix(name).is_some_and(|rest| rest.starts_with('/')))
    }
}

/// The shapes of codes of which others have more than any list here could keep up with.
/// The JSON Schema holds the same as patterns.
pub(crate) const CODE_PATTERNS: [(&str, &str); 3] = [
    ("hadolint", "^DL[0-9]{4}$"),
    ("shellcheck", "^SC[0-9]{4}$"),
    ("powershell", "^PS[A-Z][A-Za-z]*$"),
];

fn is_code(name: &str) -> bool {
    let is_number = |rest: &str| rest.len() == 4 && rest.bytes().all(|b| b.is_ascii_digit());
    if let Some(rest) = name.strip_prefix("powershell/PS") {
        return rest.starts_with(|c: char| c.is_ascii_uppercase())
            && rest.bytes().all(|b| b.is_ascii_alphabetic());
    }
    let number = name.strip_prefix("hadolint/DL").or_else(|| name.strip_prefix("shellcheck/SC"));
    number.is_some_and(is_number)
}
