//! Which rules of the linter crate run, and under which number of ShellCheck's.
//!
//! The crate's own numbers are mostly ShellCheck's. Where they are not, the number that ShellCheck
//! has for the same thing stands here, and a rule for something that ShellCheck does not say is left
//! out. What is here was seen by running both over the same texts, which a test goes on doing.

use std::{collections::BTreeMap, sync::LazyLock};

use shuck_linter::{Rule, ShellCheckLevel, code_to_rule, rule_metadata};

use super::{MAP, ShellLevel, own};
use crate::Dialect;

/// Codes that are left out. About files that are not at hand and shells that a Dockerfile tells by
/// other means: 1090, 1091, 2148, 2187. Shebangs, which are first lines of heredocs here: 1114, 1115,
/// 1128, 2096, 2239. Checks that ShellCheck itself makes only when asked: the rest.
const LEFT_OUT: &[u32] = &[
    1090, 1091, 1114, 1115, 1128, 2148, 2187, 2002, 2096, 2230, 2239, 2243, 2244, 2248, 2249, 2250,
    2292, 2310, 2311, 2312,
];

/// Rules that ShellCheck has under another number than the crate thinks.
const RENUMBERED: &[(&str, u32)] = &[
    ("C054", 2287),
    ("C062", 2299),
    ("C065", 1050),
    ("C066", 1054),
    ("C067", 1055),
    ("C068", 1056),
    ("C106", 2179),
    ("C127", 2188),
    ("C139", 2290),
    ("C141", 1062),
    ("C142", 1062),
    ("C143", 1048),
    ("C146", 1058),
    ("C148", 2190),
    ("X015", 3039),
    ("X066", 3029),
];

/// Rules that say what ShellCheck does not, and those whose work [`own`] does as ShellCheck does it.
const NOT_SHELLCHECKS: &[&str] = &[
    // Dangerous removals, also behind a slash and in substitutions.
    "K001", // `find … -o … -delete`, where ShellCheck looks for names on both sides.
    "C103", // Numbers that nothing of ShellCheck's has.
    "C077", "C104", "S025", "S038", "X046", "X048", "X072", "X077",
    // Said by `own` of more places than the crate knows.
    "S033", "X058",
];

/// What a rule is to ShellCheck.
#[derive(Clone, Copy, Debug)]
pub(super) struct Code {
    pub(super) number: u32,
    pub(super) rule: Rule,
    level: ShellLevel,
}

impl Code {
    /// What is only not portable is an error of a shell that is known not to have it.
    pub(super) fn level(self, dialect: Dialect) -> ShellLevel {
        level(self.number, self.level, dialect)
    }
}

pub(super) fn level(number: u32, level: ShellLevel, dialect: Dialect) -> ShellLevel {
    match number {
        3000..4000 if matches!(dialect, Dialect::Dash | Dialect::Ash) => ShellLevel::Error,
        _ => level,
    }
}

/// The rules that run, in the order of their numbers.
pub(super) static CODES: LazyLock<Vec<Code>> = LazyLock::new(|| {
    let is_other = |rule: Rule| {
        NOT_SHELLCHECKS.contains(&rule.code())
            || RENUMBERED.iter().any(|(code, _)| *code == rule.code())
    };
    let own: Vec<(u32, Rule)> = MAP.mappings().filter(|(_, rule)| !is_other(*rule)).collect();
    let renumbered =
        RENUMBERED.iter().filter_map(|(code, number)| Some((*number, code_to_rule(code)?)));
    let all = own.into_iter().chain(renumbered);
    let mut codes: Vec<Code> = all
        .filter(|(number, _)| !LEFT_OUT.contains(number))
        .map(|(number, rule)| Code { number, rule, level: stated(number, rule) })
        .collect();
    codes.sort_unstable_by_key(|code| code.number);
    codes
});

/// The place of each rule in [`CODES`].
pub(super) static BY_RULE: LazyLock<BTreeMap<&'static str, Code>> =
    LazyLock::new(|| CODES.iter().map(|code| (code.rule.code(), *code)).collect());

/// Every code that can be found, in order.
pub fn shell_codes() -> impl Iterator<Item = u32> {
    let rules = CODES.iter().map(|code| code.number);
    let mut all: Vec<u32> = rules.chain(own::CODES.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter()
}

/// What a code is about, in a sentence, where a rule of the crate stands for it.
#[must_use]
pub fn shell_code_about(number: u32) -> Option<&'static str> {
    let code = CODES.iter().find(|code| code.number == number)?;
    rule_metadata(code.rule).map(|metadata| metadata.description)
}

fn stated(number: u32, rule: Rule) -> ShellLevel {
    if number == 2078 {
        return ShellLevel::Error;
    }
    match rule_metadata(rule).and_then(|metadata| metadata.shellcheck_level) {
        Some(ShellCheckLevel::Error) => ShellLevel::Error,
        Some(ShellCheckLevel::Warning) => ShellLevel::Warning,
        Some(ShellCheckLevel::Info) => ShellLevel::Info,
        _ => ShellLevel::Style,
    }
}
