//! Which flags an instruction takes, and what their values may be.

use super::Request;
use crate::{ErrorKind, Flag, Keyword, error::Report, nearest::did_you_mean};

/// How often a flag may stand, and whether it needs a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    /// Nothing, `true` or `false`.
    Bool,
    /// A value, once.
    One,
    /// A value, any number of times.
    Many,
}

/// The flags that BuildKit knows.
fn known(keyword: Keyword) -> &'static [(&'static str, Takes)] {
    match keyword {
        Keyword::From => &[("platform", Takes::One)],
        Keyword::Copy => &[
            ("chown", Takes::One),
            ("from", Takes::One),
            ("chmod", Takes::One),
            ("link", Takes::Bool),
            ("parents", Takes::Bool),
            ("exclude", Takes::Many),
        ],
        Keyword::Add => &[
            ("chown", Takes::One),
            ("chmod", Takes::One),
            ("link", Takes::Bool),
            ("keep-git-dir", Takes::Bool),
            ("checksum", Takes::One),
            ("unpack", Takes::Bool),
            ("exclude", Takes::Many),
        ],
        Keyword::Run => &[
            ("mount", Takes::Many),
            ("network", Takes::One),
            ("security", Takes::One),
            ("device", Takes::Many),
        ],
        Keyword::Healthcheck => &[
            ("interval", Takes::One),
            ("timeout", Takes::One),
            ("start-period", Takes::One),
            ("start-interval", Takes::One),
            ("retries", Takes::One),
        ],
        _ => &[],
    }
}

/// Reports unknown and repeated flags, and values that are missing or cannot be.
pub(super) fn check(request: &Request<'_>, report: &mut Report<'_>) {
    let known = known(request.keyword);
    let mut seen: Vec<&str> = Vec::new();
    for flag in request.flags.iter() {
        let name = flag.name.text.as_str();
        let Some(&(known_name, takes)) = known.iter().find(|(known, _)| *known == name) else {
            unknown(flag, known, report);
            continue;
        };
        if takes != Takes::Many && seen.contains(&known_name) {
            let message = format!("duplicate flag specified: --{name}");
            report.error(ErrorKind::DuplicateFlag, flag.span, message);
            continue;
        }
        seen.push(known_name);
        check_value(flag, takes, report);
        // Repeated flags would make the search above slow.
        if takes == Takes::Many {
            seen.pop();
        }
    }
}

fn check_value(flag: &Flag, takes: Takes, report: &mut Report<'_>) {
    let name = flag.name.text.as_str();
    let missing = match (&flag.value, takes) {
        (None, Takes::Bool) => false,
        (None, Takes::One | Takes::Many) => true,
        (Some(value), Takes::Bool) => value.text.is_empty(),
        (Some(_), Takes::One | Takes::Many) => false,
    };
    if missing {
        let message = format!("missing a value on flag: --{name}");
        report.error(ErrorKind::MissingFlagValue, flag.span, message);
        return;
    }
    if takes == Takes::Bool
        && let Some(value) = &flag.value
        && !["true", "false"].iter().any(|word| value.text.eq_ignore_ascii_case(word))
    {
        let message = format!("expecting boolean value for flag --{name}, not: {}", value.text);
        report.error(ErrorKind::InvalidFlagValue, value.span, message);
    }
}

fn unknown(flag: &Flag, known: &[(&'static str, Takes)], report: &mut Report<'_>) {
    let names: Vec<String> = known.iter().map(|(name, _)| format!("--{name}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let written = format!("--{}", flag.name.text);
    let help = did_you_mean(&written, &names);
    let message = format!("unknown flag: {written}");
    report.error_with_help(ErrorKind::UnknownFlag, flag.span, message, help);
}
