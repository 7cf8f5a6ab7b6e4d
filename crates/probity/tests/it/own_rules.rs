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
    assert!(
        found.contains("Dockerfile:2:5: error: run as root instead of with sudo [own/no-sudo]"),
        "{found}"
    );
    assert!(found.contains("Dockerfile:1:1: warning: name the team"), "{found}");
    assert!(!check(&["--ignore", "own/no-sudo"]).code(1).stdout.contains("no-sudo"));
    assert_eq!(check(&["--select", "own/team-label"]).code(1).stdout.lines().count(), 1);
    assert_eq!(check(&["--select", "team-label"]).code(1).stdout.lines().count(), 1);
    assert!(!check(&["--ignore", "no-sudo"]).code(1).stdout.contains("no-sudo"));
    let typo = check(&["--select", "team-lable"]).code(2);
    assert!(typo.stderr.contains("no rule has the name `team-lable`"), "{}", typo.stderr);
    let typo = check(&["--ignore", "own/no-sudi"]);
    assert!(
        typo.stderr.contains("no [[check.rule]] has the name of `own/no-sudi`"),
        "{}",
        typo.stderr
    );
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
    assert!(
        page.starts_with("# own/no-sudo\n\nrun as root") && page.contains("hides who runs what"),
        "{page}"
    );
    let wrong = RULES.replace("\"RUN true\", ", "\"RUN sudo true\", ");
    fs::create_dir(dir.path().join("other")).unwrap();
    fs::write(dir.path().join("other/probity.toml"), wrong).unwrap();
    let tried = run(&["rules", "test", "--config", "other/probity.toml"]).code(1).stdout;
    assert!(tried.contains("own/no-sudo: 1 of 3 examples wrong\n  the rule reports this good example:\n    RUN sudo true"), "{tried}");
    fs::write(dir.path().join("probity.toml"), "").unwrap();
    assert!(run(&["rules", "test"]).code(2).stderr.contains("defines no rules"));
}

#[test]
fn a_rule_that_cannot_work_is_an_error_of_the_configuration() {
    for (from, to, says) in [
        ("c.name ==", "c.nam ==", "a command has no `nam`; it has name, arguments"),
        (
            "stage.is_final",
            "stage.is_final == 1",
            "`==` cannot be used on true or false and a number",
        ),
        ("name = \"team-label\"", "name = \"no-sudo\"", "two rules have the name `own/no-sudo`"),
        ("severity = \"error\"", "severity = \"fatal\"", "use error, warning, info or style"),
        ("bad =", "bads =", "unknown field `bads`"),
        ("replace = \"sudo \"", "with = \"\"", "`with` needs `replace`"),
    ] {
        let dir =
            directory(&[("probity.toml", &RULES.replacen(from, to, 1)), ("Dockerfile", TEXT)]);
        let error = probity().dir(&dir).args(["check"]).run().code(2).stderr;
        assert!(error.contains(says) && error.contains("probity.toml"), "{error}");
    }
}
