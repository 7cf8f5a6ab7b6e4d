//! Where answers and reports go, and where a configuration comes from.

use std::{
    fs,
    os::unix::fs::symlink,
    process::{Command, Stdio},
};

use crate::binary::{directory, named, probity};

const BAD: &str = "FROM scratch AS Bad\n";

#[test]
fn a_report_never_overwrites_what_is_checked() {
    let dir = directory(&[("Dockerfile", BAD), ("b/Dockerfile", BAD)]);
    symlink("../Dockerfile", dir.path().join("b/report")).unwrap();
    let mut printed = Vec::new();
    for to in ["Dockerfile", "./b/../Dockerfile", "b/Dockerfile", "b/report"] {
        let output = probity().dir(&dir).args(["check", "-o", to]).run().code(2);
        printed.push(format!("{to:?}\n{}", output.stderr));
        for file in ["Dockerfile", "b/Dockerfile"] {
            assert_eq!(fs::read_to_string(dir.path().join(file)).unwrap(), BAD, "{to}");
        }
    }
    insta::assert_snapshot!(printed.join("\n"), @r#"
    "Dockerfile"
    error: Dockerfile is one of the files to check, and the report would overwrite it
      help: name another file with --output

    "./b/../Dockerfile"
    error: ./b/../Dockerfile is one of the files to check, and the report would overwrite it
      help: name another file with --output

    "b/Dockerfile"
    error: b/Dockerfile is one of the files to check, and the report would overwrite it
      help: name another file with --output

    "b/report"
    error: b/report is one of the files to check, and the report would overwrite it
      help: name another file with --output
    "#);
    probity().dir(&dir).args(["check", "b/Dockerfile", "-o", "fresh"]).run().code(1);
}

#[test]
fn a_dash_is_standard_output_and_nothing_is_no_place() {
    let dir = directory(&[("Dockerfile", BAD)]);
    let run = |to: &str| probity().dir(&dir).args(["check", "--format", "gnu", "-o", to]).run();
    insta::assert_snapshot!(run("-").code(1).stdout, @"probity:Dockerfile:1:17: warning: Stage name 'Bad' should be lowercase [buildkit/StageNameCasing]");
    assert!(!dir.path().join("-").exists());
    insta::assert_snapshot!(run("").code(2).stderr, @"
    error: the path of the report is empty
      help: name a file, or `-` for standard output
    ");
}

#[test]
fn an_answer_that_cannot_be_written_is_a_failure() {
    for (name, args) in [
        ("probity", &["--help"][..]),
        ("probity", &[]),
        ("probity", &["--version"]),
        ("probity", &["check", "--help"]),
        ("probity", &["rules"]),
        ("probity", &["rules", "--format", "json"]),
        ("probity", &["explain", "DL3008"]),
        ("probity", &["completions", "bash"]),
        ("probity", &["man"]),
        ("probity", &["names", "list"]),
        ("probity", &["config", "schema"]),
        ("tally", &[]),
        ("tally", &["version"]),
        ("hadolint", &["--help"]),
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = named(name).args(args).into_command();
        let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{name} {args:?}: {stderr}");
        assert!(stderr.starts_with("error: "), "{name} {args:?}: {stderr}");
    }
}

#[test]
fn a_configuration_from_a_fifo_is_refused_and_an_open_pipe_is_read() {
    let dir = directory(&[("Dockerfile", BAD)]);
    let made = Command::new("mkfifo").arg(dir.path().join("pipe.toml")).status().unwrap();
    assert!(made.success());
    let output = probity().dir(&dir).args(["check", "--config", "pipe.toml"]).run().code(2);
    insta::assert_snapshot!(output.stderr, @"error: pipe.toml: is a FIFO, and its writer may never come");
    let config = "[rules]\nexclude = [\"*\"]\n";
    let args = ["check", "--config", "/dev/stdin"];
    probity().dir(&dir).args(args).input(config).run().code(0);
}
