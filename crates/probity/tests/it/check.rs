//! `check` over trees of files: each file on its own, the order stable, the exit code right.

use std::{fs, os::unix::fs::symlink};

use crate::binary::{directory, probity};

const BAD: &str = "FROM scratch AS Bad\n";

fn gnu(dir: &tempfile::TempDir, args: &[&str]) -> (String, Option<i32>) {
    let output = probity().dir(dir).args(["check", "--format", "gnu"]).args(args).run();
    (output.stdout, output.code)
}

#[test]
fn a_byte_that_is_not_utf_8_is_one_finding_and_no_fix_touches_the_file() {
    let dir = directory(&[]);
    let file = dir.path().join("Dockerfile");
    // Two stray bytes, and findings before and after them of which one has a safe fix.
    let bytes = b"FROM scratch AS Bad\n# gr\xfcn, caf\xe9\nMAINTAINER me\nLABEL a b\n";
    fs::write(&file, bytes).unwrap();
    let (stdout, code) = gnu(&dir, &["--preset", "recommended"]);
    insta::assert_snapshot!(stdout, @r#"
    probity:Dockerfile:2:5: error: byte 0xfc is not UTF-8, the first of 2 places; save the file as UTF-8; until then no fix is applied to it [tally/foreign-encoding]
    probity:Dockerfile:1:17: warning: Stage name 'Bad' should be lowercase [buildkit/StageNameCasing]
    probity:Dockerfile:3:1: warning: Maintainer instruction is deprecated in favor of using label [buildkit/MaintainerDeprecated]
    probity:Dockerfile:4:7: warning: "LABEL key=value" should be used instead of legacy "LABEL key value" format [buildkit/LegacyKeyValueFormat]
    "#);
    assert_eq!(code, Some(1));
    for args in [&["--fix"][..], &["--fix", "--fix-unsafe"], &["--diff"]] {
        let output = probity().dir(&dir).args(["check"]).args(args).run().code(1);
        assert!(!output.stdout.contains("+++"), "{args:?}: {}", output.stdout);
        assert_eq!(fs::read(&file).unwrap(), bytes, "{args:?}");
    }
    let output = probity().dir(&dir).args(["check", "--format", "json"]).run().code(1);
    let report: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert!(!report.to_string().contains("\"edits\""), "{report}");
    // As UTF-8 the same file has fixes.
    fs::write(&file, "FROM scratch AS Bad\n# grün, café\nMAINTAINER me\nLABEL a b\n").unwrap();
    probity().dir(&dir).args(["check", "--fix"]).run();
    insta::assert_snapshot!(fs::read_to_string(&file).unwrap(), @"
    FROM scratch AS bad
    # grün, café
    MAINTAINER me
    LABEL a=b
    ");
}

#[test]
fn one_broken_file_never_hides_the_others() {
    let dir = directory(&[
        ("a/Dockerfile", BAD),
        ("b/Dockerfile", "FORM alpine\n"),
        ("c/Dockerfile", ""),
        ("g/Dockerfile", "RUN <<EOF\nx\n"),
        ("z/Dockerfile", BAD),
    ]);
    fs::create_dir(dir.path().join("d")).unwrap();
    fs::write(dir.path().join("d/Dockerfile"), b"FROM a\n\0\n").unwrap();
    fs::write(dir.path().join("d/Containerfile"), b"FROM a:1\n# caf\xe9\n").unwrap();
    fs::create_dir_all(dir.path().join("e/Dockerfile")).unwrap();
    symlink("gone", dir.path().join("d/Dockerfile.link")).unwrap();
    symlink("../d", dir.path().join("e/loop")).unwrap();
    let (stdout, code) = gnu(&dir, &[]);
    let lines: Vec<String> = stdout
        .lines()
        .map(|line| line.trim_start_matches("probity:").to_owned())
        .map(|line| {
            let (place, rest) = line.split_once(": ").unwrap();
            format!("{place} {}", rest.rsplit('[').next().unwrap().trim_end_matches(']'))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    a/Dockerfile:1:17 buildkit/StageNameCasing
    b/Dockerfile:1:1 tally/unknown-instruction
    c/Dockerfile tally/require-stages
    d/Containerfile:2:6 tally/foreign-encoding
    d/Dockerfile tally/binary-file
    d/Dockerfile.link tally/missing-file
    g/Dockerfile:1:5 tally/syntax-error
    z/Dockerfile:1:17 buildkit/StageNameCasing
    ");
    assert_eq!(code, Some(1));
    // The same in every format: no format dies of a broken file.
    for format in [
        "text",
        "json",
        "sarif",
        "github-actions",
        "markdown",
        "checkstyle",
        "codeclimate",
        "gitlab",
        "junit",
        "sonarqube",
    ] {
        let output = probity().dir(&dir).args(["check", "--format", format]).run().code(1);
        for path in
            ["a/Dockerfile", "b/Dockerfile", "c/Dockerfile", "d/Containerfile", "z/Dockerfile"]
        {
            assert!(output.stdout.contains(path), "{format} lacks {path}");
        }
    }
}

#[test]
fn nothing_but_syntax_findings_is_exit_code_four() {
    let dir = directory(&[("Dockerfile", "FORM alpine\n"), ("ok/Dockerfile", "FROM scratch\n")]);
    assert_eq!(gnu(&dir, &[]).1, Some(4));
    fs::write(dir.path().join("ok/Dockerfile"), BAD).unwrap();
    assert_eq!(gnu(&dir, &[]).1, Some(1));
}

#[test]
fn standard_input_goes_by_the_name_it_is_given() {
    let dir = directory(&[(
        "sub/tally.toml",
        "[rules.buildkit.StageNameCasing]\nseverity = \"error\"\n",
    )]);
    let run = |args: &[&str]| {
        probity()
            .dir(&dir)
            .args(["check", "--format", "gnu", "-"])
            .args(args)
            .input(BAD)
            .run()
            .stdout
    };
    insta::assert_snapshot!(run(&[]), @"probity:<stdin>:1:17: warning: Stage name 'Bad' should be lowercase [buildkit/StageNameCasing]");
    let named = run(&["--stdin-filename", "sub/Dockerfile"]);
    insta::assert_snapshot!(named, @"probity:sub/Dockerfile:1:17: error: Stage name 'Bad' should be lowercase [buildkit/StageNameCasing]");
}

#[test]
fn the_order_does_not_depend_on_the_number_of_jobs() {
    let files: Vec<(String, &str)> =
        (0..700).map(|n| (format!("d{:03}/Dockerfile", n * 9 % 700), BAD)).collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let dir = directory(&files);
    let (one, _) = gnu(&dir, &["--jobs", "1"]);
    let (many, _) = gnu(&dir, &["--jobs", "8"]);
    assert_eq!(one, many);
    let mut sorted: Vec<&str> = one.lines().collect();
    sorted.sort_unstable();
    assert_eq!(one.lines().collect::<Vec<_>>(), sorted);
    assert_eq!(sorted.len(), 700);
}

#[test]
fn statistics_count_by_rule() {
    let dir = directory(&[
        ("Dockerfile", BAD),
        ("a/Dockerfile", BAD),
        ("b/Dockerfile", "FROM scratch\n"),
    ]);
    let output = probity().dir(&dir).args(["check", "--statistics"]).run().code(1);
    insta::assert_snapshot!(output.stdout, @r"
          2  warning  buildkit/StageNameCasing
          2  findings in 2 of 3 files
    ");
}

#[test]
fn directives_of_three_tools_are_understood() {
    for (text, hits) in [
        ("FROM scratch AS Bad\n", 1),
        ("# tally ignore=buildkit/StageNameCasing;reason=old\nFROM scratch AS Bad\n", 0),
        ("# tally ignore=StageNameCasing\nFROM scratch AS Bad\n", 0),
        ("# hadolint ignore=DL3006,StageNameCasing # why\nFROM scratch AS Bad\n", 0),
        ("#check=skip=StageNameCasing\nFROM scratch AS Bad\n", 0),
        ("#check=skip=all\nFROM scratch AS Bad\n", 0),
        ("#check=skip=Other\nFROM scratch AS Bad\n", 1),
        // Only for the next instruction, stacked or not.
        ("# tally ignore=StageNameCasing\nFROM scratch AS Bad\nFROM scratch AS Worse\n", 1),
        ("# tally ignore=Other\n# tally ignore=StageNameCasing\n\nFROM scratch AS Bad\n", 0),
        ("# tally global ignore=StageNameCasing\nFROM a AS B\nFROM a AS C\n", 0),
        ("# hadolint stage ignore=StageNameCasing\nFROM a AS B\nFROM a AS C\n", 1),
        (
            "# check=skip=StageNameCasing\nFROM a AS B\n# check=skip=StageNameCasing\nFROM a AS C\n",
            0,
        ),
        ("FROM a AS B\n# check=skip=StageNameCasing\nFROM a AS C\n", 1),
        ("# just a comment about tally ignore=StageNameCasing\nFROM scratch AS Bad\n", 1),
    ] {
        let dir = directory(&[("Dockerfile", text)]);
        let (stdout, _) = gnu(&dir, &["--select", "StageNameCasing"]);
        assert_eq!(stdout.lines().count(), hits, "{text}{stdout}");
    }
    let dir = directory(&[("Dockerfile", "# tally ignore=StageNameCasing\nFROM scratch AS Bad\n")]);
    assert_eq!(gnu(&dir, &["--no-inline-directives"]).0.lines().count(), 1);
}

#[test]
fn directives_that_do_not_work_are_findings_when_asked_for() {
    let text = "# tally ignore=StageNameCasing\nFROM scratch AS ok\n\n# tally ignroe=X\nUSER 1\n";
    let dir = directory(&[("Dockerfile", text)]);
    let (quiet, _) = gnu(&dir, &[]);
    insta::assert_snapshot!(quiet, @"probity:Dockerfile:4:1: warning: unknown directive `ignroe`, expected ignore or shell [tally/invalid-ignore-directive]");
    assert_eq!(quiet.lines().count(), 1);
    let (loud, _) = gnu(&dir, &["--warn-unused-directives", "--require-reason"]);
    insta::assert_snapshot!(loud, @"
    probity:Dockerfile:1:1: warning: add the reason after the rules: `;reason=…` [tally/missing-directive-reason]
    probity:Dockerfile:1:1: warning: this directive suppresses nothing; remove it [tally/unused-ignore-directive]
    probity:Dockerfile:4:1: warning: unknown directive `ignroe`, expected ignore or shell [tally/invalid-ignore-directive]
    ");
}

#[test]
fn explain_and_rules_show_the_pages() {
    let page = probity().args(["explain", "StageNameCasing"]).run().code(0).stdout;
    for heading in ["# buildkit/StageNameCasing", "## What it does", "## Examples"] {
        assert!(page.contains(heading), "{page}");
    }
    let list = probity().args(["rules"]).run().code(0).stdout;
    assert!(list.contains("buildkit/StageNameCasing") && list.contains("tally/syntax-error"));
    let json = probity().args(["rules", "--format", "json"]).run().code(0).stdout;
    let rules: serde_json::Value = serde_json::from_str(&json).unwrap();
    let rules = rules.as_array().unwrap();
    assert!(rules.iter().all(|rule| rule["summary"].is_string()));
    assert!(rules.iter().any(|rule| rule["name"] == "ai/wasted-cache" && rule["category"] == "ai"));
}

#[test]
fn text_options_of_rules_arrive_as_they_are_written() {
    let config = "[rules.tally.newline-between-instructions]\nmode = \"never\"\n";
    let dir = directory(&[("Dockerfile", "FROM scratch\nUSER a\n"), (".tally.toml", config)]);
    let output = probity().dir(&dir).args(["check", "--format", "gnu"]).run();
    assert!(!output.stdout.contains("expected blank line"), "{}", output.stdout);
}

#[test]
fn a_filter_that_cannot_read_its_input_fails() {
    let output =
        probity().args(["check", "--fix", "-"]).input(b"FROM a\n\xff".to_vec()).run().code(2);
    assert_eq!(output.stdout, "");
}

#[test]
fn the_shell_of_run_is_checked_unless_it_is_not_wanted() {
    let dir = directory(&[("Dockerfile", "FROM alpine:3.20\n\nRUN cp $from to\n")]);
    let codes = |args: &[&str]| gnu(&dir, args).0;
    let found = codes(&["--preset", "strict"]);
    insta::assert_snapshot!(found, @"
    probity:Dockerfile:3:8: info: quote parameter expansions to avoid word splitting and globbing [shellcheck/SC2086]
    probity:Dockerfile:3:8: warning: variable `from` is referenced before assignment [shellcheck/SC2154]
    ");
    let found = codes(&[]);
    insta::assert_snapshot!(found, @"probity:Dockerfile:3:8: warning: variable `from` is referenced before assignment [shellcheck/SC2154]");
    assert_eq!(codes(&["--shellcheck", "off"]), "");
    assert!(!codes(&["--preset", "all", "--ignore", "SC2086"]).contains("SC2086"));
    insta::assert_snapshot!(codes(&["--select", "shellcheck/SC2086"]), @"probity:Dockerfile:3:8: info: quote parameter expansions to avoid word splitting and globbing [shellcheck/SC2086]");
    let config = directory(&[
        ("Dockerfile", "FROM alpine:3.20\n\nRUN cp $from to\n"),
        ("tally.toml", "[rules.shellcheck.SC2086]\nseverity = \"error\"\n"),
    ]);
    insta::assert_snapshot!(gnu(&config, &[]).0, @"
    probity:Dockerfile:3:8: error: quote parameter expansions to avoid word splitting and globbing [shellcheck/SC2086]
    probity:Dockerfile:3:8: warning: variable `from` is referenced before assignment [shellcheck/SC2154]
    ");
}
