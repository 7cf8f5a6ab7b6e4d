//! `init`: files to begin with, nothing overwritten, and what they say is valid.

use std::fs;

use crate::binary::{directory, probity};

#[test]
fn files_are_written_once_and_probity_reads_its_own() {
    let place = directory(&[("Dockerfile", "FROM debian:12\nRUN sudo true\n")]);
    let init = |args: &[&str]| probity().dir(place.path()).args(["init", "--yes"]).args(args).run();
    let said = init(&["--hook", "--workflow"]).code(0).stdout;
    assert_eq!(
        said,
        "Wrote probity.toml\nWrote .pre-commit-config.yaml\nWrote .github/workflows/probity.yml\n\
         Next: probity check\n"
    );
    probity().dir(place.path()).args(["check"]).run().code(1);
    let before = fs::read_to_string(place.path().join("probity.toml")).unwrap();
    fs::remove_file(place.path().join(".pre-commit-config.yaml")).unwrap();
    let again = init(&["--hook"]).code(2);
    insta::assert_snapshot!(again.stderr, @"
    error: probity.toml exists already
      help: edit it, or remove it first; `probity config` shows the effective settings
    ");
    assert_eq!(fs::read_to_string(place.path().join("probity.toml")).unwrap(), before);
    assert!(!place.path().join(".pre-commit-config.yaml").exists(), "nothing is half done");
}

#[test]
fn an_existing_hook_file_is_left_alone_and_the_lines_to_add_are_shown() {
    let place = directory(&[(".pre-commit-config.yaml", "repos: []\n")]);
    let output = probity().dir(place.path()).args(["init", "--yes", "--hook"]).run().code(2);
    let told = output.stderr.replace(env!("CARGO_PKG_VERSION"), "[version]");
    insta::assert_snapshot!(told, @"
    error: .pre-commit-config.yaml exists already
      help: add this to it:
        
        # Replace OWNER by the account that you install probity from.
        repos:
          - repo: https://github.com/OWNER/probity
            rev: v[version]
            hooks:
              - id: probity-check
    ");
    assert!(!place.path().join("probity.toml").exists());
}
