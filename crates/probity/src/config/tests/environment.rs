//! Variables: which key each one sets, and how their texts are read.

use super::{effective, environment, file};
use crate::config::{
    keys::{KEYS, Key, variable},
    kind::Kind,
    value::{Origin, Value},
};

/// A value other than the default, as the file and as a variable writes it.
fn another_value(key: &Key) -> (String, &'static str) {
    let (in_file, in_variable) = match key.kind {
        Kind::Bool if key.default == Some("true") => ("false", "no"),
        Kind::Bool => ("true", "1"),
        Kind::Int | Kind::IntIn(..) => ("3", "3"),
        Kind::String => ("'some text'", "some text"),
        Kind::OneOf(words) => {
            // The last word would be `none` for the sandbox, which a file may not say.
            let word = words.iter().copied().find(|word| Some(*word) != key.default).unwrap();
            return (format!("'{word}'"), word);
        }
        Kind::Duration => ("'1m1s'", "61s"),
        Kind::StringList | Kind::Globs => ("['*', 'DL4001']", "*, DL4001,"),
        Kind::Argv => ("['an agent', '--acp']", "'an agent' --acp"),
        Kind::Table => panic!("no key is a table"),
    };
    (in_file.to_owned(), in_variable)
}

#[test]
fn every_key_is_settable_by_file_and_by_variable_to_the_same_effect() {
    for key in KEYS {
        let (in_file, in_variable) = another_value(key);
        let name = variable(key.path);
        let (from_variable, warnings) = environment(&[(name.as_str(), in_variable)]).unwrap();
        let set = from_variable.settings.get(key.path).unwrap();
        assert_eq!(set.origin, Origin::Env { name }, "{}", key.path);
        assert!(warnings.is_empty(), "{warnings:?}");
        let default = key.default.map(|text| key.kind.parse(text).unwrap());
        assert_ne!(Some(&set.value), default.as_ref(), "{}", key.path);
        let from_file = file(&format!("{} = {in_file}", key.path));
        if key.in_file {
            let (from_file, _) = from_file.unwrap();
            assert_eq!(from_file.settings[key.path].value, set.value, "{}", key.path);
        } else {
            assert!(from_file.unwrap_err().contains("unknown key"), "{}", key.path);
        }
    }
}

#[test]
fn other_names_set_the_same_keys() {
    for (name, text, path, expected) in [
        ("TALLY_FORMAT", "json", "output.format", "\"json\""),
        ("TALLY_RULES_SELECT", "a,b", "rules.include", "[\"a\", \"b\"]"),
        ("TALLY_RULES_IGNORE", "a", "rules.exclude", "[\"a\"]"),
        ("TALLY_FIX_UNSAFE", "yes", "unsafe-fixes", "true"),
        ("TALLY_UNSAFE_FIXES", "0", "unsafe-fixes", "false"),
        ("TALLY_NO_INLINE_DIRECTIVES", "true", "inline-directives.enabled", "false"),
        ("TALLY_SLOW_CHECKS", "off", "slow-checks.mode", "\"off\""),
        ("TALLY_SHELLCHECK", "binary", "shellcheck.mode", "\"binary\""),
        ("TALLY_ACP_COMMAND", "a 'b c'", "ai.command", "[\"a\", \"b c\"]"),
    ] {
        let (layer, _) = environment(&[(name, text)]).unwrap();
        assert_eq!(layer.settings[path].value.to_string(), expected, "{name}");
    }
}

#[test]
fn the_keys_own_variable_beats_its_other_names() {
    let variables = [
        ("TALLY_ACP_COMMAND", "other"),
        ("TALLY_AI_COMMAND", "own"),
        ("TALLY_NO_INLINE_DIRECTIVES", "true"),
        ("TALLY_INLINE_DIRECTIVES_ENABLED", "true"),
    ];
    let (config, _) = effective("", &variables, &[]);
    assert_eq!(config.ai.command, ["own"]);
    assert!(config.inline_directives.enabled);
    assert!(!config.ai.enabled, "a command alone enables nothing");
}

#[test]
fn options_of_rules_have_variables() {
    for (name, text, rule, option, expected) in [
        ("TALLY_RULES_MAX_LINES_MAX", "7", "tally/max-lines", "max", Value::Int(7)),
        ("TALLY_RULES_TALLY_MAX_LINES_MAX", "7", "tally/max-lines", "max", Value::Int(7)),
        (
            "TALLY_RULES_MAX_LINES_SKIP_COMMENTS",
            "no",
            "tally/max-lines",
            "skip-comments",
            Value::Bool(false),
        ),
        (
            "TALLY_RULES_LABELS_PREFER_GROUPED_SEVERITY",
            "off",
            "tally/labels/prefer-grouped",
            "severity",
            Value::Text("off".to_owned()),
        ),
        (
            "TALLY_RULES_HADOLINT_DL3026_TRUSTED_REGISTRIES",
            "a.io,b.io",
            "hadolint/DL3026",
            "trusted-registries",
            Value::List(vec!["a.io".to_owned(), "b.io".to_owned()]),
        ),
    ] {
        let (layer, warnings) = environment(&[(name, text)]).unwrap();
        assert_eq!(layer.rules[rule][option].value, expected, "{name}");
        assert!(warnings.is_empty(), "{warnings:?}");
    }
}

#[test]
fn bad_values_name_their_variable() {
    for (name, text, expected) in [
        ("TALLY_AI_ENABLED", "maybe", "TALLY_AI_ENABLED: `maybe` is not true or false"),
        ("TALLY_AI_MAX_ROUNDS", "0", "TALLY_AI_MAX_ROUNDS: 0 is not a whole number from 1 to 5"),
        ("TALLY_AI_COMMAND", "a 'b", "TALLY_AI_COMMAND: a single quote is not closed"),
        ("TALLY_AI_COMMAND", "  ", "TALLY_AI_COMMAND: the command names no program"),
        (
            "TALLY_SLOW_CHECKS",
            "of",
            "TALLY_SLOW_CHECKS: `of` is not a valid value; did you mean `off`? (valid: auto, on, \
             off)",
        ),
        (
            "TALLY_RULES_MAX_LINES_MAX",
            "many",
            "TALLY_RULES_MAX_LINES_MAX: `many` is not a whole number from zero on",
        ),
    ] {
        assert_eq!(environment(&[(name, text)]).unwrap_err(), expected);
    }
}

#[test]
fn unknown_variables_are_warned_about_and_others_passed_over() {
    let variables =
        [("TALLY_AI_ENABELD", "1"), ("TALLY_QUUX", "1"), ("HOME", "/root"), ("TALLY_FORMAT", "")];
    let (layer, warnings) = environment(&variables).unwrap();
    assert_eq!(
        warnings,
        [
            "unknown environment variable `TALLY_AI_ENABELD`; did you mean `TALLY_AI_ENABLED`?",
            "unknown environment variable `TALLY_QUUX`",
        ]
    );
    assert!(layer.settings.is_empty());
}
