//! Which rules a configuration may speak of, as the configuration needs to know them.

use std::sync::LazyLock;

use probity_check::source::FILE_RULES;
use probity_lint::{
    AI_DETECTORS, FixMode, META_RULES, OWN_NAMESPACE, OptionKind, Pattern, RULES, SYNTAX_RULES,
    is_foreign_code, shell_codes,
};

use super::{error::did_you_mean, kind::ValueKind, word::Word as _, words::RuleSeverity};

/// The tables below `rules`, which are also the first part of every rule's name.
pub(crate) const NAMESPACES: [&str; 7] =
    ["tally", "buildkit", "hadolint", "shellcheck", "powershell", "probity", "ai"];

/// One rule that runs here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleSchema {
    /// With its namespace, such as `tally/max-lines`.
    pub(crate) name: &'static str,
    /// The names of the same check in other tools, which mean it in a configuration too.
    pub(crate) equals: &'static [&'static str],
    /// What the rule takes besides what every rule takes.
    pub(crate) options: &'static [OptionSchema],
}

impl RuleSchema {
    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.equals.contains(&name)
    }
}

/// One option of a rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OptionSchema {
    pub(crate) name: &'static str,
    pub(crate) kind: ValueKind,
    pub(crate) doc: &'static str,
    /// As it would stand in an environment variable; empty when there is none.
    pub(crate) default: &'static str,
}

/// What every rule takes. `exclude.paths` is a table with a list in the file.
pub(crate) const EVERY_RULE: [OptionSchema; 3] = [
    OptionSchema {
        name: "severity",
        kind: ValueKind::OneOf(RuleSeverity::NAMES),
        doc: "How the rule's findings are reported; `off` switches the rule off.",
        default: "",
    },
    OptionSchema {
        name: "fix",
        kind: ValueKind::OneOf(FixMode::NAMES),
        doc: "When the rule's fixes may be applied.",
        default: "",
    },
    OptionSchema {
        name: "exclude.paths",
        kind: ValueKind::Globs,
        doc: "Globs of files that the rule does not look at.",
        default: "",
    },
];

/// All rules there are: those that run here, and names that a file written for others may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Catalogue<'a> {
    pub(crate) rules: &'a [RuleSchema],
    /// Full names of findings that no choice of rules concerns, such as those of syntax.
    pub(crate) always_on: &'a [&'a str],
}

/// How a rule is known.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known<'a> {
    Here(&'a RuleSchema),
    Elsewhere,
}

/// What is odd about a pattern of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Oddity {
    /// It can only be a mistake.
    Unknown(String),
    /// It looks like a code, and no tool has it. A file may be written for a later version.
    Unassigned(String),
    /// It means something, though not here.
    Idle(String),
}

impl Catalogue<'static> {
    /// The rules of this program.
    pub(crate) fn shipped() -> Self {
        // Made once for the whole run, and as static as the rules themselves.
        static RULES_KNOWN: LazyLock<Vec<RuleSchema>> = LazyLock::new(|| {
            let rules = RULES.iter().map(|rule| {
                let metadata = rule.metadata();
                let options = metadata.options.iter().map(|option| OptionSchema {
                    name: option.name,
                    kind: match option.kind {
                        OptionKind::Integer => ValueKind::Int,
                        OptionKind::Boolean => ValueKind::Bool,
                        OptionKind::Text => ValueKind::String,
                        OptionKind::TextList => ValueKind::StringList,
                        OptionKind::OneOf(words) => ValueKind::OneOf(words),
                        OptionKind::SecretMounts => ValueKind::SecretMounts,
                    },
                    doc: option.about,
                    default: option.default,
                });
                let options: Vec<OptionSchema> = options.collect();
                RuleSchema { name: metadata.name, equals: metadata.equals, options: options.leak() }
            });
            let shell = shell_codes().map(|code| {
                let name = format!("shellcheck/SC{code:04}").leak();
                RuleSchema { name, equals: &[], options: &[] }
            });
            let ai = AI_DETECTORS.iter().map(|detector| RuleSchema {
                name: detector.name,
                equals: &[],
                options: &[],
            });
            rules.chain(shell).chain(ai).collect()
        });
        static ALWAYS_ON: LazyLock<Vec<&str>> = LazyLock::new(|| {
            let syntax = SYNTAX_RULES.iter().map(|&(name, _)| name);
            let files = FILE_RULES.iter().map(|rule| rule.name);
            syntax.chain(files).chain(META_RULES.iter().map(|&(name, _)| name)).collect()
        });
        Self { rules: &RULES_KNOWN, always_on: &ALWAYS_ON }
    }
}

impl<'a> Catalogue<'a> {
    /// What is odd about a name, `namespace/*` or `*` with which rules are chosen.
    pub(crate) fn oddity(&self, text: &str) -> Option<Oddity> {
        // Which of these exist is known where the configuration is.
        if text.starts_with(OWN_NAMESPACE) {
            return None;
        }
        let pattern = Pattern::new(text);
        if self.rules.iter().any(|rule| {
            pattern.matches(rule.name) || rule.equals.iter().any(|name| pattern.matches(name))
        }) {
            return None;
        }
        if self.always_on.iter().any(|name| pattern.matches(name)) {
            return Some(Oddity::Idle(format!(
                "`{text}` always runs: you can neither select nor ignore it; `probity explain {text}` describes it"
            )));
        }
        let is_namespace = text.strip_suffix("/*").is_some_and(|name| NAMESPACES.contains(&name));
        let is_analyzers = is_powershell(text) || is_powershell(&format!("powershell/{text}"));
        if is_namespace || is_analyzers || is_foreign_code(text) {
            return Some(Oddity::Idle(format!("`{text}` is not implemented here yet")));
        }
        let bare = |name: &'a str| name.split_once('/').map_or(name, |(_, bare)| bare);
        let names = self.names().chain(self.always_on.iter().copied());
        let wildcards: Vec<String> = NAMESPACES.iter().map(|name| format!("{name}/*")).collect();
        let meant = if text.ends_with("/*") {
            did_you_mean(text, wildcards.iter().map(String::as_str))
        } else if text.contains('/') {
            did_you_mean(text, names)
        } else {
            did_you_mean(text, names.map(bare))
        };
        let message = format!("no rule has the name `{text}`{meant}");
        let is_bare_code = NAMESPACES.iter().any(|name| is_code(&format!("{name}/{text}")));
        Some(if is_bare_code || is_code(text) {
            Oddity::Unassigned(message)
        } else {
            Oddity::Unknown(message)
        })
    }

    pub(crate) fn find(&self, name: &str) -> Option<Known<'a>> {
        if let Some(rule) = self.rules.iter().find(|rule| rule.is_called(name)) {
            return Some(Known::Here(rule));
        }
        is_code(name).then_some(Known::Elsewhere)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.rules.iter().map(|rule| rule.name)
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
    let number = name.strip_prefix("hadolint/DL").or_else(|| name.strip_prefix("shellcheck/SC"));
    is_powershell(name) || number.is_some_and(is_number)
}

fn is_powershell(name: &str) -> bool {
    name.strip_prefix("powershell/PS").is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_uppercase())
            && rest.bytes().all(|b| b.is_ascii_alphabetic())
    })
}
