//! Variables: which key each one sets, and how their texts are read.

use super::{effective, environment};
use crate::config::value::Value;

#[test]
fn other_names_set_the_same_keys() {
    for (name, text, path, expected) in [
        ("TALLY_FORMAT", "json", "check.output.format", "\"json\""),
        ("TALLY_RULES_SELECT", "a,b", "check.rules.include", "[\"a\", \"b\"]"),
        ("TALLY_RULES_IGNORE", "a", "check.rules.exclude", "[\"a\"]"),
        ("TALLY_FIX_UNSAFE", "yes", "check.unsafe-fixes", "true"),
        ("TALLY_UNSAFE_FIXES", "0", "check.unsafe-fixes", "false"),
        ("TALLY_NO_INLINE_DIRECTIVES", "true", "check.inline-directives.enabled", "false"),
        ("TALLY_SLOW_CHECKS", "off", "check.slow-checks.mode", "\"off\""),
        ("TALLY_SHELLCHECK", "binary", "check.shellcheck.mode", "\"binary\""),
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
    assert_eq!(config.ai.command, Some(vec!["own".to_owned()]));
    assert!(config.check.inline_directives.enabled);
    assert!(!config.ai.enabled, "a command alone enables nothing");
}

#[test]
fn options_of_rules_have_variables() {
    for (name, text, rule, option, expected) in [
        ("TALLY_RULES_MAX_LINES_MAX", "7", "tally/max-lines", "max", Value::Int(7)),
        ("TALLY_RULES_TALLY_MAX_LINES_MAX", "7", "tally/max-lines", "max", Value::Int(7)),
        ("PROBITY_CHECK__RULES_MAX_LINES_MAX", "7", "tally/max-lines", "max", Value::Int(7)),
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
        ("TALLY_AI_COMMAND", "a 'b", "TALLY_AI_COMMAND: the quote ' at byte 2 is not closed"),
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
    let variables = [
        ("TALLY_AI_ENABELD", "1"),
        ("TALLY_QUUX", "1"),
        ("HOME", "/root"),
        ("TALLY_FORMAT", ""),
        ("PROBITY_AI__TIMEUOT", "1s"),
        ("PROBITY_CONTAINMNT_MEMORY", "1g"),
        ("PROBITY_CONTAINMENT_MEMORY", "1g"),
        ("PROBITY_REVEIW__THRESHOLD", "9"),
        ("PROBITY_LOG", "debug"),
        ("PROBITY_SESSION", "x"),
        ("SCORE_THRESHOLD", "5"),
    ];
    let (layer, warnings) = environment(&variables).unwrap();
    assert_eq!(
        warnings,
        [
            "unknown environment variable `PROBITY_AI__TIMEUOT`; did you mean \
             `PROBITY_AI__TIMEOUT`?",
            "unknown environment variable `PROBITY_CONTAINMENT_MEMORY`; did you mean \
             `PROBITY_CONTAINMENT__MEMORY`?",
            "unknown environment variable `PROBITY_CONTAINMNT_MEMORY`; did you mean \
             `PROBITY_CONTAINMENT__MEMORY`?",
            "unknown environment variable `PROBITY_REVEIW__THRESHOLD`; did you mean \
             `PROBITY_REVIEW__THRESHOLD`?",
            "unknown environment variable `TALLY_AI_ENABELD`; did you mean `TALLY_AI_ENABLED`?",
            "unknown environment variable `TALLY_QUUX`",
        ]
    );
    assert!(layer.settings.is_empty());
}
