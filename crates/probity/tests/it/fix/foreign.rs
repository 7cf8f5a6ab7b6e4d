//! Foreign readers of our diffs: `patch` and `git apply` must come to the text that --fix writes.

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use crate::binary::{directory, probity};

/// Applies a diff in a directory with a program that did not come from us.
pub(super) fn apply(dir: &Path, program: &[&str], diff: &str) {
    let (name, args) = program.split_first().unwrap();
    let mut child = Command::new(name)
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(diff.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "{program:?} does not take\n{diff}");
}

pub(super) const PROGRAMS: [&[&str]; 2] =
    [&["patch", "--binary", "-s", "-p1"], &["git", "apply", "--whitespace=nowarn", "-"]];

#[test]
fn patch_and_git_come_to_the_same_text() {
    for text in [
        "FROM a as B\n\n\n\nRUN c  \\\n\n  d\nENV A b\nCMD e",
        "FROM a as B\r\nUSER c \r\n",
        "\u{feff}\n\nfrom a\nEXPOSE 1:2/UDP\n\n",
        "FROM a\rAS b\nUSER c ",
        "FROM a\n\n\n",
    ] {
        let path = "some dir/Dockerfile";
        let written = directory(&[(path, text)]);
        probity().dir(&written).args(["check", "--fix", "--fix-unsafe", "--preset", "all"]).run();
        let written = fs::read(written.path().join(path)).unwrap();
        let dir = directory(&[(path, text)]);
        let args = ["check", "--diff", "--fix-unsafe", "--preset", "all"];
        let diff = probity().dir(&dir).args(args).run().code(1).stdout;
        for program in PROGRAMS {
            let dir = directory(&[(path, text)]);
            apply(dir.path(), program, &diff);
            let applied = fs::read(dir.path().join(path)).unwrap();
            assert_eq!(applied, written, "{program:?} of\n{diff}");
        }
    }
}
