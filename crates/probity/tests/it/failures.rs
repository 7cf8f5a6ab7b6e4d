//! Bad input: a clear error each, the right exit code, and nothing lost.

use std::{fs, io::Read as _, os::unix::fs::symlink, process::Stdio};

use crate::binary::{directory, probity};

const CLEAN: &str = "FROM scratch\n";

#[test]
fn configurations_that_cannot_be_used_say_where_and_why() {
    let dir = directory(&[
        ("Dockerfile", CLEAN),
        ("key.toml", "[output]\n  fail-lvl = \"error\"\n"),
        ("value.toml", "[output]\nfail-level = \"fatal\"\n"),
        ("broken.toml", "[output\n"),
    ]);
    fs::write(dir.path().join("latin1.toml"), b"# caf\xe9\n").unwrap();
    fs::create_dir(dir.path().join("dir.toml")).unwrap();
    symlink("nowhere", dir.path().join("dangling.toml")).unwrap();
    let mut refusals = Vec::new();
    for file in
        ["key.toml", "value.toml", "broken.toml", "latin1.toml", "dir.toml", "dangling.toml"]
    {
        let output = probity().dir(&dir).args(["check", "--config", file]).run().code(2);
        refusals.push(output.stderr);
        assert_eq!(output.stdout, "", "{file}");
    }
    insta::assert_snapshot!(refusals.join("\n"), @r#"
    error: key.toml:2:3: unknown key `fail-lvl` in [output]; did you mean `fail-level`? (valid keys: format, path, show-source, fail-level)
      2 |   fail-lvl = "error"
        |   ^
      help: fix it; then `probity config` shows every key and its value

    error: value.toml:2:14: `output.fail-level`: `fatal` is not a valid value (valid: error, warning, info, style, none)
      2 | fail-level = "fatal"
        |              ^
      help: fix it; then `probity config` shows every key and its value

    error: broken.toml:1:8: not valid TOML: unclosed table, expected `]`
      1 | [output
        |        ^
      help: fix it; then `probity config` shows every key and its value

    error: latin1.toml:1:6: not valid UTF-8
      help: fix it; then `probity config` shows every key and its value

    error: dir.toml: is a directory, not a configuration file
      help: pass an existing file with --config, or remove the flag

    error: dangling.toml: cannot read the configuration: No such file or directory (os error 2)
      help: pass an existing file with --config, or remove the flag
    "#);
}

#[test]
fn a_path_that_does_not_exist_is_named_and_the_others_are_reported() {
    let dir = directory(&[("Dockerfile", "FROM scratch AS Bad\n")]);
    let output =
        probity().dir(&dir).args(["check", "--format", "gnu", "Dockerfile", "gone"]).run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: `gone` does not exist
      help: pass an existing file; without a path, probity checks every Dockerfile below this directory
    ");
    insta::assert_snapshot!(output.stdout, @"probity:Dockerfile:1:17: warning: Stage name 'Bad' should be lowercase [buildkit/StageNameCasing]");
}

#[test]
fn nothing_to_check_is_exit_code_three() {
    let dir = directory(&[("main.rs", "")]);
    let output = probity().dir(&dir).args(["check"]).run().code(3);
    insta::assert_snapshot!(output.stderr, @"
    error: no Dockerfile or Containerfile found
      help: name a file, or name the directory if it is hidden or ignored
    ");
}

#[test]
fn a_report_that_cannot_be_written_is_a_failure_and_leaves_nothing() {
    let dir = directory(&[("Dockerfile", CLEAN), ("old.json", "precious")]);
    let mut printed = Vec::new();
    for to in ["no/such/dir/out.json", "."] {
        let output =
            probity().dir(&dir).args(["check", "--format", "json", "-o", to]).run().code(2);
        printed.push(format!("{to:?}\n{}", output.stderr));
    }
    insta::assert_snapshot!(printed.join("\n"), @r#"
    "no/such/dir/out.json"
    error: cannot write the report to no/such/dir/out.json
      cause: No such file or directory (os error 2)
      help: name another file with --output, or make its directory first

    "."
    error: cannot write the report to .: it is a directory
      help: name another file with --output, or make its directory first
    "#);
    // A full disk: every write to this device fails.
    let output = probity().dir(&dir).args(["check", "-o", "/dev/full", "--format", "json"]).run();
    assert_eq!(output.code, Some(2), "{}", output.stderr);
    // Through a link the target is replaced and the link stays.
    symlink("old.json", dir.path().join("link.json")).unwrap();
    probity().dir(&dir).args(["check", "--format", "json", "-o", "link.json"]).run().code(0);
    assert!(fs::symlink_metadata(dir.path().join("link.json")).unwrap().is_symlink());
    assert!(fs::read_to_string(dir.path().join("old.json")).unwrap().starts_with('{'));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let many = "FROM a AS Bad\n".repeat(20_000);
    let dir = directory(&[("Dockerfile", &many)]);
    for args in [&["check", "--format", "gnu"][..], &["check", "--format", "json"], &["man"]] {
        let mut command = probity().dir(&dir).args(args).into_command();
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = [0; 1];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{args:?}");
    }
}

#[test]
fn ctrl_c_leaves_no_half_report() {
    let dir = directory(&[("old.json", "precious")]);
    // Standard input stays open, so the run waits for it until the signal comes.
    let mut command = probity()
        .dir(&dir)
        .args(["check", "-", "--format", "json", "-o", "old.json"])
        .into_command();
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), None, "it ends by the signal");
    assert_eq!(fs::read_to_string(dir.path().join("old.json")).unwrap(), "precious");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file stays");
}
