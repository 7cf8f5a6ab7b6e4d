//! Every mistake is an error that names its place, and what was probably meant.

use super::{effective, file};

#[test]
fn mistakes_are_named_with_their_place() {
    for (text, expected) in [
        (
            "[output]\nformat = \"json\"\n  fail-lvl = \"error\"\n",
            "tally.toml:3:3: unknown key `fail-lvl` in [output]; did you mean `fail-level`? \
             (valid keys: format, path, show-source, fail-level)",
        ),
        (
            "[outptu]\n",
            "tally.toml:1:2: unknown key `outptu` at the top; did you mean `output`? (valid keys: \
             unsafe-fixes, output, rules, inline-directives, file-validation, slow-checks, \
             shellcheck, ai)",
        ),
        (
            "output.format = 'json'\nfail-fast = true\n",
            "tally.toml:2:1: unknown key `fail-fast` at the top; did you mean \
             `slow-checks.fail-fast`? (valid keys: unsafe-fixes, output, rules, \
             inline-directives, file-validation, slow-checks, shellcheck, ai)",
        ),
        (
            "\"output.format\" = 'json'\n",
            "tally.toml:1:1: unknown key `output.format` at the top (valid keys: unsafe-fixes, \
             output, rules, inline-directives, file-validation, slow-checks, shellcheck, ai)",
        ),
        (
            "[output]\nformat = \"jsn\"\n",
            "tally.toml:2:10: `output.format`: `jsn` is not a valid value; did you mean `json`? \
             (valid: text, json, sarif, github-actions, markdown, checkstyle, codeclimate, gitlab, \
             junit, gnu, sonarqube)",
        ),
        (
            "[output]\nshow-source = 'yes'\n",
            "tally.toml:2:15: `output.show-source` must be true or false, not a string",
        ),
        ("output = 3\n", "tally.toml:1:10: `output` must be a table, not an integer"),
        ("[output]\nformat = 'json'\nformat = 'text'\n", "tally.toml:3:1: duplicate key `format`"),
        ("[output\nformat = 1", "tally.toml:1:8: not valid TOML: unclosed table, expected `]`"),
        (
            "ai.max-rounds = 6",
            "tally.toml:1:17: `ai.max-rounds`: 6 is not a whole number from 1 to 5",
        ),
        (
            "ai.max-input-bytes = -1",
            "tally.toml:1:22: `ai.max-input-bytes`: -1 is not a whole number from zero on",
        ),
        (
            "ai.max-input-bytes = 99999999999999999999",
            "tally.toml:1:22: `ai.max-input-bytes`: 99999999999999999999 is not a whole number \
             from zero on",
        ),
        (
            "ai.timeout = 'soon'",
            "tally.toml:1:14: `ai.timeout`: `soon` is not a duration such as \"90s\" or \"1m30s\"",
        ),
        (
            "ai.timeout = 90",
            "tally.toml:1:14: `ai.timeout` must be a duration such as \"90s\" or \"1m30s\", not an \
             integer",
        ),
        (
            "ai.command = ['x', 3]",
            "tally.toml:1:20: `ai.command[1]` must be a string, not an integer",
        ),
        ("ai.command = []", "tally.toml:1:14: `ai.command`: the command names no program"),
        (
            "ai.command = 'gemini --acp'",
            "tally.toml:1:14: `ai.command` must be a list of strings: a program and its arguments, \
             not a string",
        ),
        ("[ai.agents.mine]\ntimeout = '5s'", "tally.toml:1:12: [ai.agents.mine] has no `command`"),
        (
            "[ai.agents.mine]\ncommand = ['x']\ncomand = ['y']",
            "tally.toml:3:1: unknown key `comand` in [ai.agents.mine]; did you mean `command`? \
             (valid keys: command, timeout, max-input-bytes, autofix-output)",
        ),
        (
            "[rules.tally.max-linse]\nmax = 3",
            "tally.toml:1:14: unknown rule `tally/max-linse`; did you mean `max-lines`?",
        ),
        (
            "[rules.tally.labels.prefer-groupd]",
            "tally.toml:1:21: unknown rule `tally/labels/prefer-groupd`; did you mean \
             `labels/prefer-grouped`?",
        ),
        (
            "[rules.buildkit.stagenamecasing]",
            "tally.toml:1:17: unknown rule `buildkit/stagenamecasing`; did you mean \
             `StageNameCasing`?",
        ),
        ("[rules.hadolint.DL30]", "tally.toml:1:17: unknown rule `hadolint/DL30`"),
        (
            "[rules.tally.max-lines]\nmx = 3",
            "tally.toml:2:1: unknown option `mx` of rule `tally/max-lines`; did you mean `max`? \
             (valid options: severity, fix, exclude, max, skip-blank-lines, skip-comments)",
        ),
        (
            "[rules.tally.max-lines]\nexclude.path = []",
            "tally.toml:2:9: unknown key `path` in [rules.tally.max-lines.exclude]; did you mean \
             `paths`? (valid keys: paths)",
        ),
        (
            "rules.tally.max-lines = 50",
            "tally.toml:1:25: `rules.tally.max-lines` must be a table, not an integer",
        ),
        (
            "[rules.hadolint.DL3000]\nseverity = 'warn'",
            "tally.toml:2:12: `rules.hadolint.DL3000.severity`: `warn` is not a valid value \
             (valid: off, error, warning, info, style)",
        ),
        (
            "[rules.tally.max-lines]\nexclude.paths = ['a[']",
            "tally.toml:2:17: `rules.tally.max-lines.exclude.paths`: error parsing glob 'a[': \
             unclosed character class; missing ']'",
        ),
        (
            "\u{feff}# é\n[output]\n\"é\" = 1",
            "tally.toml:3:1: unknown key `é` in [output] (valid keys: format, path, show-source, \
             fail-level)",
        ),
    ] {
        assert_eq!(file(text).expect_err(text), expected, "{text}");
    }
}

#[test]
fn all_mistakes_of_a_file_are_told_in_its_order() {
    let text = "unsafe-fixes = 1\n[output]\nzzz = 1\n[ai]\nenabled = 'no'\n";
    let error = file(text).unwrap_err();
    let places: Vec<&str> = error.lines().map(|line| &line[..14]).collect();
    assert_eq!(places, ["tally.toml:1:1", "tally.toml:3:1", "tally.toml:5:1"]);
}

#[test]
fn what_is_odd_but_harmless_is_a_warning() {
    for (text, expected) in [
        (
            "[rules.hadolint.DL9999]\nanything = 1",
            "tally.toml:1:17: rule `hadolint/DL9999` is not implemented here yet",
        ),
        (
            "rules.shellcheck.SC2086.severity = 'off'",
            "tally.toml:1:18: rule `shellcheck/SC2086` is not implemented here yet",
        ),
        (
            "[ai]\nsandbox = 'none'",
            "tally.toml:2:1: `ai.sandbox = \"none\"` is ignored in a file: only `--ai-sandbox` and \
             `TALLY_AI_SANDBOX` can take an agent out of its sandbox",
        ),
        (
            "[ai]\nendpoint = 'https://attacker.example/v1'",
            "tally.toml:2:1: `ai.endpoint` is ignored in this file: a repository must not choose \
             which API key goes to which server; set it with `--ai-endpoint`, PROBITY_AI__ENDPOINT \
             or in your own probity.toml",
        ),
        (
            "[ai]\napi-key-env = 'AWS_SECRET_ACCESS_KEY'",
            "tally.toml:2:1: `ai.api-key-env` is ignored in this file: a repository must not \
             choose which API key goes to which server; set it with `--ai-api-key-env`, \
             PROBITY_AI__API_KEY_ENV or in your own probity.toml",
        ),
    ] {
        let (layer, warnings) = file(text).unwrap();
        assert_eq!(warnings, [expected], "{text}");
        assert!(layer.settings.is_empty(), "{text}");
    }
}

#[test]
fn deep_nesting_is_an_error_and_no_crash() {
    let text = format!("x = {}", "[".repeat(100_000));
    let error = file(&text).unwrap_err();
    insta::assert_snapshot!(error, @"tally.toml:1:85: not valid TOML: cannot recurse further; max recursion depth met");
}

#[test]
fn a_name_that_is_nearly_a_known_agents_is_warned_about() {
    for (name, meant) in [("cluade", Some("claude")), ("claude", None), ("my-own-agent", None)] {
        let (_, warnings) = effective(&format!("[ai]\nagent = '{name}'\n"), &[], &[]);
        let said: Vec<bool> = warnings
            .iter()
            .map(|warning| {
                warning.ends_with(&format!("did you mean `{}`?", meant.unwrap_or_default()))
            })
            .collect();
        assert_eq!(
            said,
            meant.map(|_| true).into_iter().collect::<Vec<_>>(),
            "{name}: {warnings:?}"
        );
    }
}
