//! Choosing rules, counting them and explaining them.

use crate::binary::{directory, named, probity};

const BAD: &str = "FROM scratch AS Bad\nMAINTAINER me\n";

fn rules_of(output: &str) -> Vec<&str> {
    output.lines().filter_map(|line| line.rsplit('[').next()?.strip_suffix(']')).collect()
}

#[test]
fn lists_of_rules_are_divided_by_commas_and_repeatable() {
    let dir = directory(&[("Dockerfile", BAD)]);
    let run = |args: &[&str]| {
        let output = probity().dir(&dir).args(["check", "--format", "gnu"]).args(args).run();
        assert_eq!(output.stderr, "", "{args:?}");
        output.stdout
    };
    let both = ["buildkit/StageNameCasing", "buildkit/MaintainerDeprecated"];
    for args in [
        &["--select", "StageNameCasing,MaintainerDeprecated"][..],
        &["--select", "StageNameCasing", "--select", "DL3008,MaintainerDeprecated"],
    ] {
        assert_eq!(rules_of(&run(args)), both, "{args:?}");
    }
    assert_eq!(run(&["--ignore", "hadolint/*,buildkit/*,tally/*"]), "");
}

#[test]
fn names_of_no_rule_are_refused_and_names_of_others_are_warned_of() {
    let dir = directory(&[("Dockerfile", BAD)]);
    let mut refusals = Vec::new();
    for flag in ["--select", "--ignore"] {
        for name in [
            "StageNameCasin",
            "buildkit/StageNameCasin",
            "buildkti/*",
            "xyzzy",
            "DL3999",
            "hadolint/DL9999",
            "SC9999",
            "shellcheck/SC2999",
            "DL300",
            "StageNameCasing,",
        ] {
            let output = probity().dir(&dir).args(["check", flag, name]).run().code(2);
            refusals.push(output.stderr);
            assert_eq!(output.stdout, "", "{flag} {name}");
        }
        for name in ["DL3005", "hadolint/DL3039", "powershell/*", "SC2148", "powershell/PSUseBOM"] {
            let output = probity().dir(&dir).args(["check", flag, name]).run();
            assert_ne!(output.code, Some(2), "{flag} {name}: {}", output.stderr);
            refusals.push(output.stderr);
        }
        for name in ["tally/syntax-error", "DL3011", "hadolint/DL3043", "DL3061"] {
            let output = probity().dir(&dir).args(["check", flag, name]).run();
            refusals.push(output.stderr);
        }
    }
    insta::assert_snapshot!(refusals.concat(), @"
    error: --select: no rule has the name `StageNameCasin`; did you mean `StageNameCasing`?
      help: `probity rules` lists the rules
    error: --select: no rule has the name `buildkit/StageNameCasin`; did you mean `buildkit/StageNameCasing`?
      help: `probity rules` lists the rules
    error: --select: no rule has the name `buildkti/*`; did you mean `buildkit/*`?
      help: `probity rules` lists the rules
    error: --select: no rule has the name `xyzzy`
      help: `probity rules` lists the rules
    error: --select: no rule has the name `DL3999`; did you mean `DL3009`?
      help: `probity rules` lists the rules
    error: --select: no rule has the name `hadolint/DL9999`; did you mean `hadolint/DL3009`?
      help: `probity rules` lists the rules
    error: --select: no rule has the name `SC9999`; did you mean `SC2199`?
      help: `probity rules` lists the rules
    error: --select: no rule has the name `shellcheck/SC2999`; did you mean `shellcheck/SC2199`?
      help: `probity rules` lists the rules
    error: --select: no rule has the name `DL300`; did you mean `DL3001`?
      help: `probity rules` lists the rules
    error: --select: no rule has the name ``
      help: `probity rules` lists the rules
    warning: --select: `DL3005` is not implemented here yet
    warning: --select: `hadolint/DL3039` is not implemented here yet
    warning: --select: `powershell/*` is not implemented here yet
    warning: --select: `SC2148` is not implemented here yet
    warning: --select: `powershell/PSUseBOM` is not implemented here yet
    warning: --select: `tally/syntax-error` always runs: you can neither select nor ignore it; `probity explain tally/syntax-error` describes it
    warning: --select: `DL3011` always runs: you can neither select nor ignore it; `probity explain DL3011` describes it
    warning: --select: `hadolint/DL3043` always runs: you can neither select nor ignore it; `probity explain hadolint/DL3043` describes it
    warning: --select: `DL3061` always runs: you can neither select nor ignore it; `probity explain DL3061` describes it
    error: --ignore: no rule has the name `StageNameCasin`; did you mean `StageNameCasing`?
      help: `probity rules` lists the rules
    error: --ignore: no rule has the name `buildkit/StageNameCasin`; did you mean `buildkit/StageNameCasing`?
      help: `probity rules` lists the rules
    error: --ignore: no rule has the name `buildkti/*`; did you mean `buildkit/*`?
      help: `probity rules` lists the rules
    error: --ignore: no rule has the name `xyzzy`
      help: `probity rules` lists the rules
    error: --ignore: no rule has the name `DL3999`; did you mean `DL3009`?
      help: `probity rules` lists the rules
    error: --ignore: no rule has the name `hadolint/DL9999`; did you mean `hadolint/DL3009`?
      help: `probity rules` lists the rules
    error: --ignore: no rule has the name `SC9999`; did you mean `SC2199`?
      help: `probity rules` lists the rules
    error: --ignore: no rule has the name `shellcheck/SC2999`; did you mean `shellcheck/SC2199`?
      help: `probity rules` lists the rules
    error: --ignore: no rule has the name `DL300`; did you mean `DL3001`?
      help: `probity rules` lists the rules
    error: --ignore: no rule has the name ``
      help: `probity rules` lists the rules
    warning: --ignore: `DL3005` is not implemented here yet
    warning: --ignore: `hadolint/DL3039` is not implemented here yet
    warning: --ignore: `powershell/*` is not implemented here yet
    warning: --ignore: `SC2148` is not implemented here yet
    warning: --ignore: `powershell/PSUseBOM` is not implemented here yet
    warning: --ignore: `tally/syntax-error` always runs: you can neither select nor ignore it; `probity explain tally/syntax-error` describes it
    warning: --ignore: `DL3011` always runs: you can neither select nor ignore it; `probity explain DL3011` describes it
    warning: --ignore: `hadolint/DL3043` always runs: you can neither select nor ignore it; `probity explain hadolint/DL3043` describes it
    warning: --ignore: `DL3061` always runs: you can neither select nor ignore it; `probity explain DL3061` describes it
    ");
}

#[test]
fn names_of_no_rule_in_a_file_are_warned_of_with_their_place() {
    let dir = directory(&[
        ("Dockerfile", BAD),
        (
            "tally.toml",
            "[rules]\ninclude = [\n  \"DL3008\",\n  \"buildkit/StageNameCasin\",\n]\n\
             exclude = [\"xyzzy\", \"DL9999\"]\n",
        ),
    ]);
    let output =
        probity().dir(&dir).env("TALLY_RULES_EXCLUDE", "plugh").args(["check"]).run().code(1);
    insta::assert_snapshot!(output.stderr, @"
    warning: TALLY_RULES_EXCLUDE: no rule has the name `plugh`
    warning: tally.toml:4:3: `rules.include`: no rule has the name `buildkit/StageNameCasin`; did you mean `buildkit/StageNameCasing`?
    warning: tally.toml:6:12: `rules.exclude`: no rule has the name `xyzzy`
    ");
    assert!(!output.stderr.contains("DL9999"), "{}", output.stderr);
}

/// Measured with tally 0.45; probity itself lets excluding win.
#[test]
fn under_the_name_tally_a_wide_exclude_spares_what_is_included() {
    let (name, all, any) = ("buildkit/StageNameCasing", "buildkit/*", "*");
    let cases = [
        (name, name, false),
        (all, all, true),
        (name, all, true),
        (all, name, false),
        (any, name, false),
        (any, all, true),
        (name, any, true),
        (any, any, true),
    ];
    for (include, exclude, runs) in cases {
        let config = format!("[rules]\ninclude = [\"{include}\"]\nexclude = [\"{exclude}\"]\n");
        let dir = directory(&[("Dockerfile", BAD), ("tally.toml", &config)]);
        let casing = |tool: &str, args: &[&str]| {
            let output = named(tool).dir(&dir).args(["check", "--format", "gnu"]).args(args).run();
            rules_of(&output.stdout).contains(&name)
        };
        assert_eq!(casing("tally", &[]), runs, "{config}");
        assert!(!casing("tally", &["--ignore", all]), "{config}");
        let one = casing("tally", &["--ignore", "*", "--select", name]);
        assert_eq!(one, exclude != name, "{config}");
        assert!(!casing("probity", &[]), "{config}");
    }
}

#[test]
fn every_rule_that_is_listed_has_a_page_and_so_has_the_example() {
    let list = probity().args(["rules"]).run().code(0).stdout;
    let by_no_name: Vec<&str> = list
        .lines()
        .skip_while(|line| *line != "Always on, for files, syntax and directives:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let by_agents =
        list.lines().skip_while(|line| !line.starts_with("Reported by an AI agent")).skip(1);
    for rule in by_agents.filter_map(|line| line.split_whitespace().next()) {
        let page = probity().args(["explain", rule]).run().code(0).stdout;
        assert!(page.starts_with(&format!("# {rule}\n")), "{page}");
    }
    assert!(by_no_name.contains(&"tally/syntax-error"), "{list}");
    for rule in by_no_name {
        let page = probity().args(["explain", rule]).run().code(0).stdout;
        assert!(page.starts_with(&format!("# {rule}\n")), "{page}");
        assert!(page.contains("Always on.") && page.contains("## What it does"), "{page}");
    }
    let help = probity().args(["explain", "--help"]).run().code(0).stdout;
    let mut examples = 0;
    for line in help.lines().filter_map(|line| line.strip_prefix("  probity explain ")) {
        probity().args(["explain", line]).run().code(0);
        examples += 1;
    }
    assert_eq!(examples, 2, "{help}");
}

#[test]
fn statistics_are_json_where_json_is_asked_for() {
    let dir = directory(&[("Dockerfile", "FROM scratch AS Bad\n")]);
    let run = |format: &str| {
        probity().dir(&dir).args(["check", "--statistics", "--format", format]).run()
    };
    insta::assert_snapshot!(run("text").code(1).stdout, @r"
          1  warning  buildkit/StageNameCasing
          1  finding in 1 of 1 file
    ");
    let counts: serde_json::Value = serde_json::from_str(&run("json").code(1).stdout).unwrap();
    let rule =
        serde_json::json!({"rule": "buildkit/StageNameCasing", "severity": "warning", "count": 1});
    let expected =
        serde_json::json!({"rules": [rule], "findings": 1, "files": 1, "files_scanned": 1});
    assert_eq!(counts, expected);
    let mut printed = Vec::new();
    for format in ["sarif", "gnu", "junit"] {
        let output = run(format).code(2);
        printed.push(format!("{format:?}\n{}", output.stderr));
        assert_eq!(output.stdout, "");
    }
    insta::assert_snapshot!(printed.join("\n"), @r#"
    "sarif"
    error: --statistics cannot be written as sarif
      help: use `--format text` or `--format json`

    "gnu"
    error: --statistics cannot be written as gnu
      help: use `--format text` or `--format json`

    "junit"
    error: --statistics cannot be written as junit
      help: use `--format text` or `--format json`
    "#);
}

#[test]
fn names_are_found_in_whatever_case() {
    let dir = directory(&[
        ("a/DOCKERFILE", BAD),
        ("b/DockerFile", BAD),
        ("c/dockerfile.prod", BAD),
        ("d/prod.DOCKERFILE", BAD),
        ("e/dockerfile.go", "package e\n"),
        ("e/dockerfile.rs", "//! Docs.\n"),
        ("e/dockerfile.json", "{}\n"),
    ]);
    let args = ["check", "--format", "gnu", "--select", "StageNameCasing"];
    let output = probity().dir(&dir).args(args).run().code(1);
    let files: Vec<&str> =
        output.stdout.lines().filter_map(|line| line.split(':').nth(1)).collect();
    assert_eq!(files, ["a/DOCKERFILE", "b/DockerFile", "c/dockerfile.prod", "d/prod.DOCKERFILE"]);
}
