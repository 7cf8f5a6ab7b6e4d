//! Layers of configuration, seen from outside.

use crate::binary::{directory, named, probity};

const BAD: &str = "FROM scratch AS Bad\n";

#[test]
fn the_nearest_file_holds_and_the_hidden_name_wins() {
    let dir = directory(&[
        ("tally.toml", "[rules.buildkit.StageNameCasing]\nseverity = \"error\"\n"),
        ("Dockerfile", BAD),
        ("a/Dockerfile", BAD),
        ("b/.tally.toml", "[rules.buildkit.StageNameCasing]\nseverity = \"info\"\n"),
        ("b/tally.toml", "[rules.buildkit.StageNameCasing]\nseverity = \"style\"\n"),
        ("b/deep/Dockerfile", BAD),
    ]);
    let output = probity().dir(&dir).args(["check", "--format", "gnu"]).run().code(1);
    insta::assert_snapshot!(output.stdout, @r"
    probity:Dockerfile:1:17: error: Stage name 'Bad' should be lowercase [buildkit/StageNameCasing]
    probity:a/Dockerfile:1:17: error: Stage name 'Bad' should be lowercase [buildkit/StageNameCasing]
    probity:b/deep/Dockerfile:1:17: info: Stage name 'Bad' should be lowercase [buildkit/StageNameCasing]
    ");
    let output = probity().dir(&dir).args(["check", "--no-config", "--format", "gnu", "b"]).run();
    insta::assert_snapshot!(output.stdout, @"probity:b/deep/Dockerfile:1:17: warning: Stage name 'Bad' should be lowercase [buildkit/StageNameCasing]");
}

#[test]
fn flags_beat_variables_beat_files_beat_defaults_and_the_origin_is_shown() {
    let dir = directory(&[
        ("Dockerfile", BAD),
        (
            "tally.toml",
            "[output]\nfail-level = \"error\"\nformat = \"json\"\nshow-source = false\n",
        ),
    ]);
    let print = probity()
        .dir(&dir)
        .env("TALLY_OUTPUT_FORMAT", "sarif")
        .env("TALLY_OUTPUT_FAIL_LEVEL", "warning")
        .args(["check", "--print-config", "Dockerfile", "--fail-level", "none"])
        .run()
        .code(0);
    let line = |key: &str| {
        let found = print.stdout.lines().find(|line| line.trim_start().starts_with(key));
        found.unwrap_or_else(|| panic!("{key} is missing in\n{}", print.stdout)).to_owned()
    };
    insta::assert_snapshot!(line("fail-level"), @r#"fail-level = "none"  # from --fail-level"#);
    insta::assert_snapshot!(line("format"), @r#"format = "sarif"  # from TALLY_OUTPUT_FORMAT"#);
    insta::assert_snapshot!(line("show-source"), @"show-source = false  # from tally.toml:4");
    insta::assert_snapshot!(line("path"), @r#"path = "stdout"  # from default"#);
}

#[test]
fn the_printed_configuration_shows_no_value_that_was_allowed_and_empty_lists_as_such() {
    let value = ["q7Zr2LmX", "9tPw4KcV"].concat();
    let config = format!("[rules.tally.secrets-in-code]\nallowed-values = [\"{value}\"]\n");
    let dir = directory(&[("Dockerfile", BAD), ("tally.toml", &config)]);
    let print = probity().dir(&dir).args(["check", "--print-config", "Dockerfile"]).run().code(0);
    assert!(!print.stdout.contains(&value), "{}", print.stdout);
    assert!(print.stdout.contains("allowed-values = [\"****************\"]"), "{}", print.stdout);
    assert!(print.stdout.contains("allowed-kinds = []  # from default"), "{}", print.stdout);
}

#[test]
fn the_fail_level_decides_the_exit_code() {
    let dir = directory(&[("Dockerfile", BAD)]);
    for (level, code) in [("style", 1), ("info", 1), ("warning", 1), ("error", 0), ("none", 0)] {
        probity().dir(&dir).args(["check", "--fail-level", level]).run().code(code);
    }
    probity().dir(&dir).env("TALLY_OUTPUT_FAIL_LEVEL", "error").args(["check"]).run().code(0);
}

#[test]
fn select_restricts_and_ignore_always_wins() {
    let dir = directory(&[("Dockerfile", "FROM scratch as Bad\n\nMAINTAINER me\n")]);
    let rules = |args: &[&str]| -> Vec<String> {
        let args = ["check", "--format", "gnu"].iter().chain(args);
        let stdout = probity().dir(&dir).args(args).run().stdout;
        let rule =
            |line: &str| line.rsplit('[').next().map(|tail| tail.trim_end_matches(']').to_owned());
        stdout.lines().filter_map(rule).collect()
    };
    let casing = "buildkit/StageNameCasing".to_owned();
    assert!(rules(&[]).len() >= 3);
    assert_eq!(rules(&["--select", "buildkit/StageNameCasing"]), std::slice::from_ref(&casing));
    assert_eq!(rules(&["--select", "StageNameCasing"]), std::slice::from_ref(&casing));
    assert_eq!(rules(&["--select", "*", "--ignore", "*"]), [""; 0]);
    assert!(!rules(&["--select", "buildkit/*", "--ignore", "StageNameCasing"]).contains(&casing));
    // Variables of tally mean what the flags of tally meant: they add.
    let output = probity()
        .dir(&dir)
        .env("TALLY_RULES_IGNORE", "buildkit/*")
        .args(["check", "--format", "gnu"])
        .run()
        .code(0);
    assert_eq!(output.stdout, "");
}

#[test]
fn rules_are_excluded_by_path_and_unknown_rules_are_refused() {
    let dir = directory(&[
        ("tally.toml", "[rules.buildkit.StageNameCasing]\nexclude.paths = [\"legacy/**\"]\n"),
        ("legacy/Dockerfile", BAD),
        ("new/Dockerfile", BAD),
        ("typo.toml", "[rules.buildkit.StageNameCasin]\nseverity = \"off\"\n"),
        ("later.toml", "[rules.hadolint.DL9999]\nseverity = \"off\"\n"),
    ]);
    let output = probity().dir(&dir).args(["check", "--format", "gnu"]).run().code(1);
    assert!(
        !output.stdout.contains("legacy") && output.stdout.contains("new"),
        "{}",
        output.stdout
    );
    let output = probity().dir(&dir).args(["check", "--config", "typo.toml"]).run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: typo.toml:1:17: unknown rule `buildkit/StageNameCasin`; did you mean `StageNameCasing`?
      1 | [rules.buildkit.StageNameCasin]
        |                 ^
      help: fix it; then `probity config` shows every key and its value
    ");
    let output = probity().dir(&dir).args(["check", "--config", "later.toml"]).run().code(1);
    insta::assert_snapshot!(output.stderr, @"warning: later.toml:1:17: rule `hadolint/DL9999` is not implemented here yet");
}

#[test]
fn the_schema_accepts_what_the_reader_accepts() {
    let schema = probity().args(["config", "schema", "--for", "tally"]).run().code(0).stdout;
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (text, good) in [
        ("{\"output\": {\"fail-level\": \"error\"}}", true),
        ("{\"output\": {\"fail-level\": \"fatal\"}}", false),
        ("{\"rules\": {\"buildkit\": {\"StageNameCasing\": {\"severity\": \"off\"}}}}", true),
        ("{\"rules\": {\"buildkit\": {\"StageNameCasin\": {\"severity\": \"off\"}}}}", false),
        ("{\"outputs\": {}}", false),
    ] {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(validator.is_valid(&value), good, "{text}");
    }
    let about = schema.to_string();
    assert!(about.contains("third part"), "ai.enabled warns that the file may be sent elsewhere");
}

#[test]
fn tally_keeps_its_size_limit_and_probity_does_not() {
    let large = format!("FROM scratch\n#{}\n", "x".repeat(60_000)).repeat(2);
    let dir = directory(&[("Dockerfile", &large)]);
    let output = named("tally").dir(&dir).args(["lint", "--format", "json"]).run();
    assert!(output.stdout.contains("tally/oversized-file"), "{}", output.stdout);
    let output = probity().dir(&dir).args(["check", "--format", "json"]).run();
    assert!(!output.stdout.contains("tally/oversized-file"));
}
