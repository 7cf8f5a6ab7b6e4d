//! Flags that set a key: made from the table of settings, and read back into a layer.
//!
//! This is the one place where flags and keys meet.

use clap::{
    Arg, ArgAction, ArgMatches, Command, builder::PossibleValuesParser, parser::ValueSource,
};

use super::check::switch;
use crate::{
    config::{
        ConfigError, Layer, Origin, Value, ValueKind,
        key::{self, Flag, Key},
        table,
    },
    name::Name,
};

/// Adds the flags of these keys, as help describes them under a name.
pub(super) fn with_flags(command: Command, name: Name, is_wanted: fn(&Key) -> bool) -> Command {
    table::keys().filter(|key| is_wanted(key)).fold(command, |command, key| {
        let flag = key.flag.map(|flag| argument(key, flag, name));
        let no_flag = key
            .no_flag
            .map(|(long, help)| Arg::new(long).long(long).help(help).action(ArgAction::SetTrue));
        let arguments = flag.into_iter().chain(no_flag);
        command.args(arguments.map(|argument| argument.help_heading(heading(key))))
    })
}

/// What the flags of these keys say.
pub(super) fn layer(
    matches: &ArgMatches,
    is_wanted: fn(&Key) -> bool,
) -> Result<Layer, ConfigError> {
    let mut layer = Layer::default();
    for key in table::keys().filter(|key| is_wanted(key)) {
        if let Some(flag) = key.flag
            && is_given(matches, key.path)
        {
            let origin = Origin::Flag { name: format!("--{}", flag.long) };
            match key.kind {
                ValueKind::Bool => {
                    let is_on = switch_given(matches, key.path) == Some(true);
                    layer.insert(key, Value::Bool(is_on), origin);
                }
                kind if kind.is_list() => {
                    layer.insert_checked(key, Value::List(texts(matches, key.path)), origin)?;
                }
                _ => {
                    let text = texts(matches, key.path).pop().unwrap_or_default();
                    layer.parse(key, &text, origin)?;
                }
            }
        }
        // Not hiding is no wish to show.
        if let Some((long, _)) = key.no_flag
            && let Some(is_off) = switch_given(matches, long)
            && (is_off || key.flag.is_none())
        {
            let origin = Origin::Flag { name: format!("--{long}") };
            layer.insert(key, Value::Bool(!is_off), origin);
        }
    }
    Ok(layer)
}

/// What the command line says about a switch; nothing where it is not given.
pub(super) fn switch_given(matches: &ArgMatches, id: &str) -> Option<bool> {
    if !is_given(matches, id) {
        return None;
    }
    matches.get_one(id).copied()
}

fn is_given(matches: &ArgMatches, id: &str) -> bool {
    matches!(matches.try_contains_id(id), Ok(true))
        && matches.value_source(id) == Some(ValueSource::CommandLine)
}

fn texts(matches: &ArgMatches, id: &str) -> Vec<String> {
    let raw = matches.get_raw(id).into_iter().flatten();
    raw.map(|text| text.to_string_lossy().into_owned()).collect()
}

fn argument(key: &'static Key, flag: Flag, name: Name) -> Arg {
    let default = key.default_under(name).map_or_else(|| key.default_text(), str::to_owned);
    let help = match (key.kind, default.as_str()) {
        (ValueKind::Bool, _) | (_, "") => key.doc().to_owned(),
        (_, default) => format!("{} [default: {default}]", key.doc()),
    };
    let argument = Arg::new(key.path).long(flag.long).help(help);
    let argument = match flag.short {
        Some(short) => argument.short(short),
        None => argument,
    };
    let argument = match flag.value {
        Some(value) => argument.value_name(value),
        None => argument,
    };
    match key.kind {
        ValueKind::Bool if flag.value.is_some() => argument
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_parser(switch),
        ValueKind::Bool => argument.action(ArgAction::SetTrue),
        ValueKind::OneOf(words) => argument.value_parser(PossibleValuesParser::new(words)),
        ValueKind::Int => argument.allow_negative_numbers(true).value_parser(super::whole::<u64>),
        ValueKind::IntIn(least, most) => {
            let within = move |text: &str| {
                let number =
                    text.parse::<i64>().ok().filter(|number| (least..=most).contains(number));
                number.ok_or_else(|| format!("not a whole number from {least} to {most}"))
            };
            argument.allow_negative_numbers(true).value_parser(within)
        }
        ValueKind::StringList => argument.action(ArgAction::Append).value_delimiter(','),
        kind if kind.is_list() => argument.action(ArgAction::Append),
        _ => argument,
    }
}

/// Where help lists the flag.
fn heading(key: &Key) -> Option<&'static str> {
    let table = key.path.rsplit_once('.').map_or("", |(table, _)| table);
    match table {
        "check.output" => Some("Output"),
        "check" if key.path == key::check::preset.key.path => Some("Rules"),
        "check" if key.path.contains("fix") => Some("Fixes"),
        "check" => Some("Files"),
        "ai" => Some("AI fixes"),
        "audit" if !key.is_in_trix => Some("More options"),
        "audit" | "review" => None,
        _ => Some("Rules"),
    }
}

#[cfg(test)]
mod tests {
    use clap::ArgMatches;

    use super::*;
    use crate::cli::probity::command;

    /// Flags that are about one run, and that no file could say.
    const RUN_ONLY: &[(&str, &[&str])] = &[
        (
            "check",
            &[
                "paths",
                "pin",
                "update_pins",
                "config",
                "no_config",
                "print_config",
                "list_rules",
                "max_lines",
                "skip_blank_lines",
                "skip_comments",
                "stdin_filename",
                "target",
                "service",
                "jobs",
                "show_secrets",
                "changed",
                "write_baseline",
                "watch",
                "statistics",
                "diff",
                "fix_ai",
                "ai_trace",
                "ai_dry_run",
                "ai_detect",
                "ai_allow_fs",
            ],
        ),
        (
            "audit",
            &[
                "ai_logs",
                "resume",
                "baseline",
                "no_ignores",
                "refute",
                "prove",
                "changed",
                "no_cache",
            ],
        ),
        ("review", &["repo", "reports", "since"]),
        ("review ask", &["repo", "parts", "out", "since"]),
        ("review prove", &["claims", "shard", "out", "repo"]),
        ("review merge", &["parts", "repo", "reports"]),
        ("review fix", &["issues", "report", "repo", "dry_run", "commit", "branch", "allow_dirty"]),
    ];

    #[test]
    fn every_flag_sets_a_key_or_is_about_one_run() {
        let command = command();
        for (name, run_only) in RUN_ONLY {
            let mut names = name.split(' ');
            let command = names.try_fold(&command, |command, name| command.find_subcommand(name));
            let command = command.unwrap();
            let ids: Vec<&str> = command.get_arguments().map(|arg| arg.get_id().as_str()).collect();
            for id in &ids {
                let is_key = table::keys()
                    .any(|key| key.path == *id || key.no_flag.is_some_and(|(long, _)| long == *id));
                let is_listed = run_only.contains(id)
                    || ["help", "verbose", "quiet", "color", "no_color"].contains(id);
                assert!(is_key != is_listed, "`{name}` has `{id}`: give it a key, or list it here");
            }
            for id in *run_only {
                assert!(ids.contains(id), "`{name}` has no flag `{id}` any more");
            }
        }
    }

    fn parsed(arguments: &[String]) -> ArgMatches {
        let arguments = std::iter::once("probity").chain(arguments.iter().map(String::as_str));
        let matches = command().try_get_matches_from(arguments).unwrap();
        matches.subcommand().unwrap().1.clone()
    }

    #[test]
    fn every_flag_reaches_its_key_and_no_other() {
        for key in table::keys() {
            let name = match key.section() {
                "ai" => "check",
                "containment" => continue,
                section => section,
            };
            let value = match key.kind {
                ValueKind::Bool => None,
                ValueKind::OneOf(words) => words.last().map(|word| (*word).to_owned()),
                ValueKind::Duration => Some("3s".to_owned()),
                ValueKind::Argv => Some("agent --acp".to_owned()),
                ValueKind::Variables => Some("NAME".to_owned()),
                ValueKind::Assignments => Some("NAME=a,b".to_owned()),
                _ => Some("3".to_owned()),
            };
            let flags = key.flag.map(|flag| (flag.long, true));
            let flags = flags.into_iter().chain(key.no_flag.map(|(long, _)| (long, false)));
            for (long, is_on) in flags {
                let mut arguments = vec![name.to_owned(), format!("--{long}")];
                arguments.extend(value.clone());
                let layer = layer(&parsed(&arguments), |_| true).unwrap();
                let expected = match &value {
                    Some(text) => key.kind.parse(text).unwrap(),
                    None => Value::Bool(is_on),
                };
                let set: Vec<_> = layer.settings.iter().collect();
                assert_eq!(set.len(), 1, "{arguments:?}: {set:?}");
                assert_eq!(*set[0].0, key.path, "{arguments:?}");
                assert_eq!(set[0].1.value, expected, "{arguments:?}");
                assert_eq!(set[0].1.origin.to_string(), format!("--{long}"));
            }
        }
        let nothing = layer(&parsed(&["check".to_owned()]), |_| true).unwrap();
        assert_eq!(nothing, Layer::default(), "a flag that was not given says nothing");
    }
}
