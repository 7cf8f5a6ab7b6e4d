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
    for (file, says) in [
        ("key.toml", &["key.toml:2:3", "fail-lvl", "did you mean `fail-level`?"][..]),
        ("value.toml", &["value.toml:2:14", "fatal", "warning"]),
        ("broken.toml", &["broken.toml:1"]),
        ("latin1.toml", &["latin1.toml:1:6", "UTF-8"]),
        ("dir.toml", &["dir.toml", "directory"]),
        ("dangling.toml", &["dangling.toml", "No such file"]),
    ] {
        let output = probity().dir(&dir).args(["check", "--config", file]).run().code(2);
        for word in says {
            assert!(output.stderr.contains(word), "{file} lacks `{word}`: {}", output.stderr);
        }
        assert_eq!(output.stdout, "", "{file}");
    }
}

#[test]
fn a_path_that_does_not_exist_is_named_and_the_others_are_reported() {
    let dir = directory(&[("Dockerfile", "FROM scratch AS Bad\n")]);
    let output =
        probity().dir(&dir).args(["check", "--format", "gnu", "Dockerfile", "gone"]).run().code(2);
    assert!(output.stderr.contains("`gone` does not exist"), "{}", output.stderr);
    assert!(output.stdout.contains("StageNameCasing"), "{}", output.stdout);
}

#[test]
fn nothing_to_check_is_exit_code_three() {
    let dir = directory(&[("main.rs", "")]);
    let output = probity().dir(&dir).args(["check"]).run().code(3);
    assert!(output.stderr.contains("no Dockerfile or Containerfile found"), "{}", output.stderr);
}

#[test]
fn a_report_that_cannot_be_written_is_a_failure_and_leaves_nothing() {
    let dir = directory(&[("Dockerfile", CLEAN), ("old.json", "precious")]);
    for (to, says) in [("no/such/dir/out.json", "no/such/dir"), (".", "directory")] {
        let output =
            probity().dir(&dir).args(["check", "--format", "json", "-o", to]).run().code(2);
        assert!(output.stderr.contains(says), "{}", output.stderr);
    }
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
