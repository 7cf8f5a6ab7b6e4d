//! Flags: switches with values, repetition, and refusals.

use std::fs;

use crate::binary::{directory, named, probity};

const BAD: &str = "FROM scratch AS Bad\n";

#[test]
fn tally_switches_take_values() {
    let dir = directory(&[("Dockerfile", BAD)]);
    let lint = |args: &[&str]| {
        let ignored = ["lint", "--ignore", "DL3057"];
        named("tally").dir(&dir).env("TALLY_FIX", "true").args(ignored).args(args).run().code(1)
    };
    let shown = lint(&["--fix=false"]).stdout;
    insta::assert_snapshot!(shown, @"
    warning[buildkit/StageNameCasing]: Stage name 'Bad' should be lowercase
     --> Dockerfile:1:17
      |
    1 | FROM scratch AS Bad
      |                 ^^^
      |
      = docs: https://docs.docker.com/go/dockerfile/rule/stage-name-casing/
      = help: Rename the stage to `bad` (safe fix, --fix)

    1 finding in 1 of 1 file: 1 warning.
    Fixable: 1 with `--fix`.
    ");
    for args in [
        &["--fix=false", "--show-source=false"][..],
        &["--fix=0", "--hide-source=true", "--no-color=true", "--skip-comments=false"],
        &["--fix=F", "--hide-source", "--show-source", "--ai-redact-secrets"],
        &["--fix=false", "--show-source", "--hide-source", "--no-config=false"],
    ] {
        let output = lint(args);
        assert!(!output.stdout.contains("FROM scratch"), "{args:?}: {}", output.stdout);
        assert_eq!(fs::read_to_string(dir.path().join("Dockerfile")).unwrap(), BAD, "{args:?}");
    }
}

#[test]
fn a_denied_switch_beats_the_file_and_the_variables() {
    let dir = directory(&[("Dockerfile", "# tally ignore=StageNameCasing\nFROM scratch AS Bad\n")]);
    let lint = |args: &[&str]| {
        let run = named("tally").dir(&dir).env("TALLY_INLINE_DIRECTIVES_REQUIRE_REASON", "true");
        run.args(["lint", "--format", "json", "--ignore", "DL3057"]).args(args).run().stdout
    };
    assert!(lint(&[]).contains("missing-directive-reason"), "{}", lint(&[]));
    let denied = lint(&["--require-reason=false"]);
    assert!(denied.starts_with('{') && !denied.contains("missing-directive-reason"), "{denied}");
}

#[test]
fn of_a_flag_that_is_repeated_the_last_one_holds() {
    let dir = directory(&[("Dockerfile", BAD)]);
    for (name, command) in [("probity", "check"), ("tally", "lint")] {
        let args = [command, "--format", "sarif", "--no-config", "--no-config", "--format", "gnu"];
        let output = named(name).dir(&dir).args(args).run().code(1);
        assert!(output.stdout.starts_with("probity:Dockerfile:1:"), "{name}: {}", output.stdout);
    }
    let output = probity().dir(&dir).args(["check", "--hide-source", "--show-source"]).run();
    assert!(!output.stdout.contains("FROM scratch"), "hiding wins: {}", output.stdout);
    let mut printed = Vec::new();
    for args in [["--config", "x", "--no-config"], ["--no-config", "--config", "x"]] {
        let output = probity().dir(&dir).args(["check"]).args(args).run().code(2);
        printed.push(format!("{args:?}\n{}", output.stderr));
    }
    insta::assert_snapshot!(printed.join("\n"), @r#"
    ["--config", "x", "--no-config"]
    error: --config and --no-config cannot be used together
      help: give one of them

    ["--no-config", "--config", "x"]
    error: --config and --no-config cannot be used together
      help: give one of them
    "#);
}

#[test]
fn tally_alone_prints_its_help() {
    let output = named("tally").run().code(0);
    insta::assert_snapshot!(output.stdout, @r"
    Lint Dockerfiles and Containerfiles

    Usage: tally [COMMAND]

    Commands:
      lint        Lint Dockerfiles [alias: check]
      analyze     Lint Dockerfiles and ask an AI agent for problems that no rule finds; needs --ai
      lsp         Serve an editor over the Language Server Protocol
      version     Print the version
      completion  Print a completion script
      help        Print this message or the help of the given subcommand(s)

    Options:
      -v, --version  Print the version
      -h, --help     Print help (see more with '--help')

    Examples:
      tally lint .
      tally lint --format sarif --output report.sarif Dockerfile
      cat Dockerfile | tally lint -
    ");
    assert_eq!(output.stderr, "");
}

#[test]
fn standard_input_obeys_exclude_and_its_name_needs_it() {
    let dir = directory(&[("Dockerfile", BAD)]);
    let run = |args: &[&str]| probity().dir(&dir).args(["check"]).args(args).input(BAD).run();
    run(&["-", "--stdin-filename", "vendor/Dockerfile"]).code(1);
    let output =
        run(&["-", "--stdin-filename", "vendor/Dockerfile", "--exclude", "vendor"]).code(3);
    assert_eq!(output.stdout, "");
    let mut printed = Vec::new();
    for paths in [&[][..], &["Dockerfile"]] {
        let output = run(&[paths, &["--stdin-filename", "x"]].concat()).code(2);
        printed.push(format!("{paths:?}\n{}", output.stderr));
    }
    insta::assert_snapshot!(printed.join("\n"), @r#"
    []
    error: --stdin-filename names standard input, but no path is `-`
      help: add `-` to the paths

    ["Dockerfile"]
    error: --stdin-filename names standard input, but no path is `-`
      help: add `-` to the paths
    "#);
}

#[test]
fn the_short_variable_of_max_lines_is_understood() {
    let dir = directory(&[("Dockerfile", "FROM scratch\nUSER a\nUSER b\n")]);
    let run = |name: &str, value: &str| {
        let args = ["check", "--format", "gnu", "--select", "tally/max-lines"];
        probity().dir(&dir).env(name, value).args(args).run()
    };
    let mut printed = Vec::new();
    for name in ["TALLY_RULES_MAX_LINES", "TALLY_RULES_MAX_LINES_MAX"] {
        let output = run(name, "2").code(1);
        printed.push(format!("{name:?}\n{}", output.stdout));
        assert_eq!(output.stderr, "", "{name}");
        run(name, "3").code(0);
    }
    insta::assert_snapshot!(printed.join("\n"), @r#"
    "TALLY_RULES_MAX_LINES"
    probity:Dockerfile:3:1: warning: the file has 3 lines, and 2 are allowed [tally/max-lines]

    "TALLY_RULES_MAX_LINES_MAX"
    probity:Dockerfile:3:1: warning: the file has 3 lines, and 2 are allowed [tally/max-lines]
    "#);
}
