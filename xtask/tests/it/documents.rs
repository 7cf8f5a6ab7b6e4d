//! Generated documents, made by a script that plays the binary.
#![cfg(unix)]

use std::{fs, process::Command};

use crate::workspace::{Ran, Workspace};

/// Answers as the binary would.
const SCRIPT: &str = r#"#!/bin/sh
case "$1 $2" in
  "config schema") printf '{}\n' ;;
  "config mounts") printf '| a table |\n' ;;
  "config promises") printf '| promises |\n' ;;
  "config variables") printf '# Environment variables\n' ;;
  "man --markdown") printf '# probity\none\ntwo\nwidth %s\n' "${COLUMNS-unset}" ;;
  "rules --write-docs")
    mkdir -p "$3/tally"
    printf 'index\n' >"$3/README.md"
    printf 'rule\n' >"$3/tally/a.md" ;;
  *) echo "unknown: $*" >&2; exit 2 ;;
esac
"#;

/// A page that people write, with a section that the binary writes.
const PAGE: &str = "before\n<!-- begin: mounts -->\nold\n<!-- end: mounts -->\nafter\n";

fn docs(workspace: &Workspace, more: &[&str]) -> Ran {
    let binary = workspace.path().join("fake-probity");
    let mut arguments = vec!["docs", "--binary", binary.to_str().expect("text")];
    arguments.extend(more);
    workspace.xtask(&arguments)
}

/// Another process writes the script: a file that this one had open for writing could be held open
/// by a child of a test on another thread, and then cannot be run.
fn with_script(script: &str) -> Workspace {
    let workspace = Workspace::new();
    workspace.write("docs/threat-model.md", PAGE);
    workspace.write("docs/containment.md", &PAGE.replace("mounts", "promises"));
    workspace.write("script", script);
    let installed = Command::new("install")
        .args(["-m", "755", "script", "fake-probity"])
        .current_dir(workspace.path())
        .status()
        .expect("install runs");
    assert!(installed.success());
    workspace
}

#[test]
fn what_was_written_is_up_to_date() {
    let workspace = with_script(SCRIPT);
    let ran = docs(&workspace, &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(workspace.read("docs/schema/tally.schema.json"), "{}\n");
    assert_eq!(workspace.read("docs/cli.md"), "# probity\none\ntwo\nwidth unset\n");
    assert_eq!(workspace.read("docs/rules/tally/a.md"), "rule\n");
    assert_eq!(
        workspace.read("docs/threat-model.md"),
        "before\n<!-- begin: mounts -->\n\n| a table |\n\n<!-- end: mounts -->\nafter\n"
    );
    let ran = docs(&workspace, &["--check"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "docs: up to date\n"));
}

#[test]
fn check_names_what_is_missing_stale_and_surplus_and_writes_nothing() {
    let workspace = with_script(SCRIPT);
    docs(&workspace, &[]);
    workspace.replace("docs/cli.md", "one\n", "1\n");
    workspace.write("docs/rules/tally/gone.md", "old\n");
    workspace.write("docs/rules/README.md", "other\n");
    fs::remove_file(workspace.path().join("docs/rules/tally/a.md")).expect("removed");
    let ran = docs(&workspace, &["--check"]);
    let expected = "\
stale: docs/cli.md
  @@ line 2 @@
  -1
  +one
stale: docs/rules/README.md
  @@ line 1 @@
  -other
  +index
missing: docs/rules/tally/a.md
surplus: docs/rules/tally/gone.md
docs: 4 not up to date; run `cargo xtask docs` and commit
";
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), expected), "{}", ran.stderr);
    assert!(workspace.read("docs/cli.md").contains("1\n"));

    assert_eq!(docs(&workspace, &[]).code, Some(0));
    assert!(!workspace.path().join("docs/rules/tally/gone.md").exists());
    assert_eq!(docs(&workspace, &["--check"]).code, Some(0));
}

#[test]
fn a_binary_that_fails_is_a_failure_and_changes_nothing_of_that_file() {
    let workspace = with_script("#!/bin/sh\necho partial\necho no such command >&2\nexit 2\n");
    let ran = docs(&workspace, &[]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("no such command"), "{}", ran.stderr);
    assert!(!workspace.path().join("docs/schema").exists());
}

#[test]
fn a_section_needs_its_marks_and_a_text() {
    let silent = SCRIPT.replace("printf '| a table |\\n'", "exit 0");
    assert_ne!(silent, SCRIPT);
    for (script, page) in [(SCRIPT, "no marks\n"), (&silent, PAGE)] {
        let workspace = with_script(script);
        workspace.write("docs/threat-model.md", page);
        let ran = docs(&workspace, &[]);
        assert_eq!(ran.code, Some(2), "{}", ran.stdout);
        assert!(ran.stderr.contains("section mounts has no marks or no text"), "{}", ran.stderr);
        assert_eq!(workspace.read("docs/threat-model.md"), page);
    }
}

#[test]
fn a_binary_that_says_nothing_does_not_empty_the_documents() {
    let silent_rules = SCRIPT.replace("mkdir -p", "exit 0; mkdir -p");
    for (script, path) in
        [("#!/bin/sh\n", "docs/schema/probity.schema.json"), (&silent_rules, "docs/rules")]
    {
        let workspace = with_script(script);
        workspace.write("docs/rules/README.md", "kept\n");
        let ran = docs(&workspace, &[]);
        assert_eq!(ran.code, Some(2), "{}", ran.stdout);
        assert!(ran.stderr.contains(&format!("gives nothing for {path}")), "{}", ran.stderr);
        assert_eq!(workspace.read("docs/rules/README.md"), "kept\n");
    }
}
