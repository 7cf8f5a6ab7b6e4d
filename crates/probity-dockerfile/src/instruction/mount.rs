//! The options of `RUN --mount` and `RUN --device`.

use super::words::is_literal;
use crate::{ErrorKind, Flag, FlagOption, Word, error::Report, nearest::did_you_mean};

const TYPES: [&str; 5] = ["bind", "cache", "tmpfs", "secret", "ssh"];
const SHARING: [&str; 3] = ["shared", "private", "locked"];
const KEYS: [&str; 19] = [
    "type",
    "from",
    "source",
    "src",
    "target",
    "dst",
    "destination",
    "readonly",
    "ro",
    "readwrite",
    "rw",
    "required",
    "size",
    "id",
    "sharing",
    "mode",
    "uid",
    "gid",
    "env",
];

/// Reports what BuildKit refuses in the value of `--mount`.
pub(super) fn check(flag: &Flag, report: &mut Report<'_>) {
    if flag.options.is_empty() {
        let message = "a mount needs options, such as type=cache,target=/path";
        report.error(ErrorKind::InvalidMount, flag.span, message);
        return;
    }
    check_quotes(flag, report);
    // What a variable will say is not known here, and with it which options go together.
    let kind = flag.option("type");
    let kind = match kind {
        None => Some("bind".to_owned()),
        Some(kind) => is_literal(&kind.text).then(|| kind.text.to_lowercase()),
    };
    for option in &flag.options {
        check_option(option, kind.as_deref(), report);
    }
    if let Some(kind) = kind {
        check_together(flag, &kind, report);
    }
}

/// Reports double quotes, escaped so that they survived, that do not go around a whole field.
fn check_quotes(flag: &Flag, report: &mut Report<'_>) {
    #[derive(Clone, Copy)]
    enum At {
        FieldStart,
        Plain,
        Quoted,
        /// Behind a quote that ends the field, or is the first of two that stand for one.
        Closed,
    }
    let Some(value) = &flag.value else { return };
    let last = value.text.chars().try_fold(At::FieldStart, |at, c| match (at, c) {
        (At::FieldStart | At::Plain | At::Closed, ',') => Some(At::FieldStart),
        (At::FieldStart | At::Closed, '"') => Some(At::Quoted),
        (At::Plain, '"') | (At::Closed, _) => None,
        (At::Quoted, '"') => Some(At::Closed),
        (At::Quoted, _) => Some(At::Quoted),
        (At::FieldStart | At::Plain, _) => Some(At::Plain),
    });
    if matches!(last, None | Some(At::Quoted)) {
        let message = "quotes must go around a whole field of a mount";
        report.error(ErrorKind::InvalidMount, value.span, message);
    }
}

fn check_option(option: &FlagOption, kind: Option<&str>, report: &mut Report<'_>) {
    let key = option.key.text.as_str();
    let mut wrong = |span, message: String, help: Option<String>| {
        report.error_with_help(ErrorKind::InvalidMount, span, message, help);
    };
    let secret_or_ssh = kind.is_none_or(|kind| matches!(kind, "secret" | "ssh"));
    let Some(value) = &option.value else {
        match key {
            "readonly" | "ro" | "readwrite" | "rw" => {}
            "required" if secret_or_ssh => {}
            "required" => wrong(option.span, misplaced(key, kind), None),
            _ => wrong(option.span, format!("{key:?} must be a key=value pair"), None),
        }
        return;
    };
    if key == "from" && value.text.find('$').is_some_and(|at| at + 1 < value.text.len()) {
        let help = "define a stage with a different name instead".to_owned();
        let message = "'from' does not support variable expansion".to_owned();
        wrong(value.span, message, Some(help));
        return;
    }
    if !KEYS.contains(&key) {
        wrong(option.key.span, format!("unexpected key {key:?}"), did_you_mean(key, &KEYS));
        return;
    }
    let fits = match key {
        "required" => secret_or_ssh,
        "size" => kind.is_none_or(|kind| kind == "tmpfs"),
        "env" => kind.is_none_or(|kind| kind == "secret"),
        _ => true,
    };
    if !fits {
        wrong(option.key.span, misplaced(key, kind), None);
    } else if is_literal(&value.text)
        && let Some((message, help)) = wrong_value(key, value)
    {
        wrong(value.span, message, help);
    }
}

fn misplaced(key: &str, kind: Option<&str>) -> String {
    format!("unexpected key {key:?} for mount type {:?}", kind.unwrap_or_default())
}

fn wrong_value(key: &str, value: &Word) -> Option<(String, Option<String>)> {
    let text = value.text.as_str();
    let among = |known: &[&str], what: &str| {
        let found = known.iter().any(|known| text.eq_ignore_ascii_case(known));
        (!found).then(|| (format!("unsupported {what} {text:?}"), did_you_mean(text, known)))
    };
    let valid = match key {
        "type" => return among(&TYPES, "mount type"),
        "sharing" => return among(&SHARING, "sharing value"),
        "readonly" | "ro" | "readwrite" | "rw" | "required" => is_bool(text),
        "mode" => u32::from_str_radix(text, 8).is_ok() && !text.starts_with('+'),
        "uid" | "gid" => text.parse::<u32>().is_ok() && !text.starts_with('+'),
        "size" => is_size(text),
        _ => true,
    };
    (!valid).then(|| (format!("invalid value for {key}: {text:?}"), None))
}

fn check_together(flag: &Flag, kind: &str, report: &mut Report<'_>) {
    let mut wrong = |option: &FlagOption, message: String| {
        report.error(ErrorKind::InvalidMount, option.span, message);
    };
    let given = |keys: &[&str]| {
        let mut options = flag.options.iter();
        options.find(|option| {
            let has_value = option.value.as_ref().is_some_and(|value| !value.text.is_empty());
            has_value && keys.contains(&option.key.text.as_str())
        })
    };
    for key in ["mode", "uid", "gid"] {
        if let Some(option) = given(&[key])
            && !matches!(kind, "secret" | "ssh" | "cache")
        {
            wrong(option, format!("{key} is not allowed for mounts of type {kind}"));
        }
    }
    if let Some(option) = given(&["sharing"])
        && kind != "cache"
    {
        wrong(option, format!("sharing is not allowed for mounts of type {kind}"));
    }
    if kind != "secret" {
        return;
    }
    if let Some(option) = given(&["from"]) {
        wrong(option, "a secret mount should not have a from".to_owned());
    }
    match (given(&["source", "src"]), given(&["id"])) {
        (Some(_), Some(option)) => wrong(option, "both source and id can't be set".to_owned()),
        (None, None) if given(&["target", "dst", "destination", "env"]).is_none() => {
            let message = "invalid secret mount, one of id, source, target is required";
            report.error(ErrorKind::InvalidMount, flag.span, message);
        }
        _ => {}
    }
}

/// Reports what BuildKit refuses in the value of `--device`.
pub(super) fn check_device(flag: &Flag, report: &mut Report<'_>) {
    if flag.options.is_empty() {
        report.error(ErrorKind::InvalidFlagValue, flag.span, "a device needs a name");
    }
    let mut name: Option<&str> = None;
    for option in &flag.options {
        let key = option.key.text.as_str();
        let problem = match (&option.value, key) {
            (None, "required") => None,
            (Some(value), "required") => (!is_bool(&value.text))
                .then(|| format!("invalid value for required: {:?}", value.text)),
            (Some(_), "name") if name.is_some() => Some("the device has a name already".to_owned()),
            (Some(value), "name") => {
                name = Some(value.text.as_str()).filter(|name| !name.is_empty());
                None
            }
            _ if name.is_none() => {
                name = Some(key);
                None
            }
            (Some(_), key) => Some(format!("unexpected key {key:?}")),
            (None, key) => Some(format!("{key:?} must be a key=value pair")),
        };
        if let Some(message) = problem {
            report.error(ErrorKind::InvalidFlagValue, option.span, message);
        }
    }
}

/// What Go reads as a boolean.
fn is_bool(text: &str) -> bool {
    matches!(
        text,
        "1" | "t" | "T" | "true" | "TRUE" | "True" | "0" | "f" | "F" | "false" | "FALSE" | "False"
    )
}

/// A number with a unit such as `64m` or `1.5GiB`.
fn is_size(text: &str) -> bool {
    let number_end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(number_end);
    let unit = unit.trim_start_matches(' ').to_ascii_lowercase();
    let unit = unit.strip_suffix('b').unwrap_or(&unit);
    let unit = unit.strip_suffix('i').unwrap_or(unit);
    number.parse::<f64>().is_ok() && matches!(unit, "" | "k" | "m" | "g" | "t" | "p")
}
