//! Rules of a configuration, through the binary.

use std::fs;

use crate::binary::{directory, probity};

const RULES: &str = r#"
[[check.rule]]
name = "no-sudo"
message = "run as root instead of with sudo"
description = "sudo needs a terminal and hides who runs what."
severity = "error"
when = 'commands.exists(c, c.name == "sudo")'
replace = "sudo "
bad = ["RUN sudo true"]
good = ["RUN true", "FROM x\nENV A=sudo"]

[[check.rule]]
name = "team-label"
message = "name the team in the label `team`"
when = 'instruction == "FROM" && stage.is_final && !base.startsWith("registry.example.com/")'
"#;

const TEXT: &str = "FROM debian:12\nRUN sudo true\nUSER 1000\n";

#[test]
fn a_rule_of_the_configuration_reports_and_fixes() {
    let dir = directory(&[("probity.toml", RULES), ("Dockerfile", TEXT)]);
    let check = |args: &[&str]| {
        let run = probity().dir(&dir).args(["check", "--format", "gnu", "--ignore", "DL3004"]);
        run.args(args).run()
    };
    let found = check(&[]).code(1).stdout;
    insta::assert_snapshot!(found, @"
    probity:Dockerfile:1:1: warning: name the team in the label `team` [own/team-label]
    probity:Dockerfile:2:5: error: run as root instead of with sudo [own/no-sudo]
    ");
    assert!(!check(&["--ignore", "own/no-sudo"]).code(1).stdout.contains("no-sudo"));
    assert_eq!(check(&["--select", "own/team-label"]).code(1).stdout.lines().count(), 1);
    assert_eq!(check(&["--select", "team-label"]).code(1).stdout.lines().count(), 1);
    assert!(!check(&["--ignore", "no-sudo"]).code(1).stdout.contains("no-sudo"));
    let typo = check(&["--select", "team-lable"]).code(2);
    insta::assert_snapshot!(typo.stderr, @"
    error: --select: no rule has the name `team-lable`
      help: `probity rules` lists the rules
    ");
    let typo = check(&["--ignore", "own/no-sudi"]);
    insta::assert_snapshot!(typo.stderr, @"warning: no [[check.rule]] has the name of `own/no-sudi`");
    check(&["--fix", "--fix-level", "suggestion", "--fix-rule", "own/no-sudo"]);
    let fixed = fs::read_to_string(dir.path().join("Dockerfile")).unwrap();
    assert_eq!(fixed, TEXT.replace("sudo ", ""));
}

#[test]
fn examples_are_tried_and_pages_shown() {
    let dir = directory(&[("probity.toml", RULES)]);
    let run = |args: &[&str]| probity().dir(&dir).args(args).run();
    let tried = run(&["rules", "test"]).code(0).stdout;
    assert_eq!(tried, "own/no-sudo: 3 examples as expected\nown/team-label: no examples\n");
    let page = run(&["explain", "no-sudo"]).code(0).stdout;
    insta::assert_snapshot!(page, @r#"
    # own/no-sudo

    run as root instead of with sudo

    sudo needs a terminal and hides who runs what.

    ## Condition

    ```
    commands.exists(c, c.name == "sudo")
    ```

    ## Fix

    A suggestion: remove `sudo`.

    ## Reported

    ```dockerfile
    RUN sudo true
    ```

    ## Not reported

    ```dockerfile
    RUN true
    ```

    ```dockerfile
    FROM x
    ENV A=sudo
    ```
    "#);
    let wrong = RULES.replace("\"RUN true\", ", "\"RUN sudo true\", ");
    fs::create_dir(dir.path().join("other")).unwrap();
    fs::write(dir.path().join("other/probity.toml"), wrong).unwrap();
    let tried = run(&["rules", "test", "--config", "other/probity.toml"]).code(1).stdout;
    insta::assert_snapshot!(tried, @"
    own/no-sudo: 1 of 3 examples wrong
      the rule reports this good example:
        RUN sudo true
    own/team-label: no examples
    ");
    fs::write(dir.path().join("probity.toml"), "").unwrap();
    insta::assert_snapshot!(run(&["rules", "test"]).code(2).stderr, @r#"
    error: the configuration defines no rules
      help: add a [[check.rule]] with name, message and when to probity.toml, for example when = 'commands.exists(c, c.name == "sudo")'
    "#);
}

#[test]
fn a_rule_that_cannot_work_is_an_error_of_the_configuration() {
    let mut printed = Vec::new();
    for (from, to) in [
        ("c.name ==", "c.nam =="),
        ("stage.is_final", "stage.is_final == 1"),
        ("name = \"team-label\"", "name = \"no-sudo\""),
        ("severity = \"error\"", "severity = \"fatal\""),
        ("bad =", "bads ="),
        ("replace = \"sudo \"", "with = \"\""),
    ] {
        let dir =
            directory(&[("probity.toml", &RULES.replacen(from, to, 1)), ("Dockerfile", TEXT)]);
        let error = probity().dir(&dir).args(["check"]).run().code(2).stderr;
        printed.push(format!("{from:?}\n{error}"));
    }
    insta::assert_snapshot!(printed.join("\n"), @r#"
    "c.name =="
    error: probity.toml:2:1: `check.rule`: `when` of `no-sudo`: a command has no `nam`; it has name, arguments
      2 | [[check.rule]]
        | ^
      help: fix it; then `probity config` shows every key and its value

    "stage.is_final"
    error: probity.toml:12:1: `check.rule`: `when` of `team-label`: `==` cannot be used on true or false and a number
      12 | [[check.rule]]
         | ^
      help: fix it; then `probity config` shows every key and its value

    "name = \"team-label\""
    error: probity.toml:12:1: `check.rule`: two rules have the name `own/no-sudo`
      12 | [[check.rule]]
         | ^
      help: fix it; then `probity config` shows every key and its value

    "severity = \"error\""
    error: probity.toml:2:1: `check.rule`: `severity` is `fatal`; use error, warning, info or style
      2 | [[check.rule]]
        | ^
      help: fix it; then `probity config` shows every key and its value

    "bad ="
    error: probity.toml:2:1: `check.rule`: unknown field `bads`, expected one of `name`, `message`, `description`, `severity`, `when`, `replace`, `with`, `bad`, `good`
      2 | [[check.rule]]
        | ^
      help: fix it; then `probity config` shows every key and its value

    "replace = \"sudo \""
    error: probity.toml:2:1: `check.rule`: `with` needs `replace`
      2 | [[check.rule]]
        | ^
      help: fix it; then `probity config` shows every key and its value
    "#);
}
