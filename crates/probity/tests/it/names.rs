//! Links under other names: made, listed and removed, and never in anybody's way.

use std::{fs, process::Command};

use crate::binary::{directory, named, probity, stable};

#[test]
fn a_link_speaks_the_tools_language() {
    let dir = directory(&[]);
    probity().args(["names", "install", "--dir"]).args([dir.path()]).run().code(0);
    let output = Command::new(dir.path().join("tally")).arg("--help").output().unwrap();
    let by_name = named("tally").args(["--help"]).run().code(0).stdout;
    assert_eq!(String::from_utf8(output.stdout).unwrap(), by_name);

    let list = probity().args(["names", "list", "--dir"]).args([dir.path()]).run().code(0).stdout;
    assert_eq!(list.matches(" installed").count(), 6, "{list}");
    probity().args(["names", "install", "--dir"]).args([dir.path()]).run().code(0);
    probity().args(["names", "remove", "--dir"]).args([dir.path()]).run().code(0);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_foreign_file_is_never_touched_and_does_not_stop_the_others() {
    let dir = directory(&[("tally", "mine")]);
    let output = probity().args(["names", "install", "--dir"]).args([dir.path()]).run().code(2);
    insta::assert_snapshot!(stable(&output.stderr), @"
    error: [dir]/tally is another tool's file and stays as it is
      help: move it away first, or choose another directory with --dir
    ");
    assert_eq!(fs::read_to_string(dir.path().join("tally")).unwrap(), "mine");
    assert!(dir.path().join("cai").exists(), "the other names are installed");

    let output = probity().args(["names", "remove", "--dir"]).args([dir.path()]).run().code(2);
    insta::assert_snapshot!(stable(&output.stderr), @"
    error: [dir]/tally is another tool's file and stays as it is
      help: move it away first, or choose another directory with --dir
    ");
    assert_eq!(fs::read_to_string(dir.path().join("tally")).unwrap(), "mine");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn one_name_at_a_time_and_bad_requests_are_explained() {
    let dir = directory(&[]);
    probity().args(["names", "install", "hadolint", "--dir"]).args([dir.path()]).run().code(0);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    let output = probity().args(["names", "install", "eslint"]).run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: `eslint` is not a name that probity answers to
      help: the names are tally, hadolint, trix, cai, acp-proxy, ci-agent-review
    ");
    let output = probity().args(["names", "install", "--dir", "/no/such/dir"]).run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: /no/such/dir is not a directory
      help: make it first, or choose another with --dir
    ");
}
