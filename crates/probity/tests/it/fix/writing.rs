//! Writing files: what is kept, what is refused, and what happens when the disk says no.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
    process::Command,
};

use super::{check, text_of};
use crate::binary::{directory, probity};

const BAD: &str = "FROM scratch AS Bad\n";
const GOOD: &str = "FROM scratch AS bad\n";

#[test]
fn bytes_that_no_fix_is_about_stay() {
    for (before, after) in [
        (
            "\u{feff}FROM a AS B\r\n# \u{e9}\r\nFROM b\r\n",
            "\u{feff}FROM a AS b\r\n# \u{e9}\r\nFROM b\r\n",
        ),
        ("FROM a AS B\r\nFROM b\n", "FROM a AS b\r\nFROM b\n"),
        ("FROM a AS B", "FROM a AS b"),
    ] {
        let (dir, _) = check(before, &["--fix", "--ignore", "eol-last"]);
        assert_eq!(text_of(&dir), after, "{before:?}");
    }
}

#[test]
fn mode_and_links_are_kept_and_a_file_with_two_names_is_fixed_once() {
    let dir = directory(&[("real/Dockerfile", BAD)]);
    let real = dir.path().join("real/Dockerfile");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real/Dockerfile", dir.path().join("Dockerfile")).unwrap();
    let args = ["check", "--fix", "Dockerfile", "real/Dockerfile"];
    probity().dir(&dir).args(args).run().code(0);
    assert!(fs::symlink_metadata(dir.path().join("Dockerfile")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), GOOD);
    assert_eq!(fs::metadata(&real).unwrap().mode() & 0o7777, 0o640);
    assert_eq!(fs::read_dir(dir.path().join("real")).unwrap().count(), 1);
}

#[test]
fn a_file_with_hard_links_is_refused_and_the_others_are_done() {
    let dir = directory(&[("a/Dockerfile", BAD), ("b/Dockerfile", BAD)]);
    fs::hard_link(dir.path().join("a/Dockerfile"), dir.path().join("a/backup")).unwrap();
    let output = probity().dir(&dir).args(["check", "--fix", "--format", "gnu"]).run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: cannot write a/Dockerfile: it has 2 names (hard links), and replacing it would part them; see `--diff`
    Fixed 1 issue in 1 file
    ");
    insta::assert_snapshot!(output.stdout, @"probity:a/Dockerfile:1:17: warning: Stage name 'Bad' should be lowercase [buildkit/StageNameCasing]");
    assert!(!output.stdout.contains("b/Dockerfile"), "{}", output.stdout);
    assert_eq!(fs::read_to_string(dir.path().join("a/Dockerfile")).unwrap(), BAD);
    assert_eq!(fs::read_to_string(dir.path().join("b/Dockerfile")).unwrap(), GOOD);
}

#[test]
fn a_full_disk_leaves_every_file_as_it_was_and_nothing_beside_it() {
    let big = format!("{BAD}{}", "# a comment that fills the disk\n".repeat(200));
    let dir = directory(&[("big/Dockerfile", &big), ("small/Dockerfile", BAD)]);
    // A limit on the size of files fails writes the way a full disk does, without a disk.
    let script = "trap '' XFSZ; ulimit -f 2; exec \"$0\" check --fix --format gnu";
    let output = Command::new("bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_probity")])
        .current_dir(&dir)
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    insta::assert_snapshot!(stderr, @"
    error: cannot write big/Dockerfile: File too large (os error 27)
    Fixed 1 issue in 1 file
    ");
    assert_eq!(fs::read_to_string(dir.path().join("big/Dockerfile")).unwrap(), big);
    assert_eq!(fs::read_to_string(dir.path().join("small/Dockerfile")).unwrap(), GOOD);
    assert_eq!(fs::read_dir(dir.path().join("big")).unwrap().count(), 1);
}

#[test]
fn a_directory_or_file_that_is_read_only_is_named_and_left() {
    let dir = directory(&[
        ("closed/Dockerfile", BAD),
        ("open/Dockerfile", BAD),
        ("open/Containerfile", BAD),
    ]);
    let set = |path: &str, mode| {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(dir.path().join(path), permissions).unwrap();
    };
    for (path, mode) in [("", 0o755), ("closed", 0o555), ("open", 0o777)] {
        set(path, mode);
    }
    for (path, mode) in
        [("closed/Dockerfile", 0o666), ("open/Dockerfile", 0o444), ("open/Containerfile", 0o666)]
    {
        set(path, mode);
    }
    // Nothing is read-only to root, so that root becomes somebody else.
    let mut command = if rustix::process::geteuid().is_root() {
        let binary = dir.path().join("probity");
        fs::copy(env!("CARGO_BIN_EXE_probity"), &binary).unwrap();
        set("probity", 0o755);
        for path in ["open", "open/Containerfile", "open/Dockerfile", "closed/Dockerfile"] {
            std::os::unix::fs::chown(dir.path().join(path), Some(65534), Some(65534)).unwrap();
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(binary);
        command
    } else {
        Command::new(env!("CARGO_BIN_EXE_probity"))
    };
    let output = command.args(["check", "--fix"]).current_dir(&dir).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    set("closed", 0o755);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    for path in ["closed/Dockerfile", "open/Dockerfile"] {
        assert_eq!(fs::read_to_string(dir.path().join(path)).unwrap(), BAD);
    }
    insta::assert_snapshot!(stderr, @"
    error: cannot write closed/Dockerfile: Permission denied (os error 13)
    error: cannot write open/Dockerfile: Permission denied (os error 13)
    Fixed 1 issue in 1 file
    ");
    assert_eq!(fs::read_to_string(dir.path().join("open/Containerfile")).unwrap(), GOOD);
}
