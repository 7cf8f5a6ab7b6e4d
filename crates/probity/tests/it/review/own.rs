//! This repository, reviewed by a recorded agent, and every claim of that review checked.
//!
//! What is reviewed is its leaf crate, in a workspace that has no other: before a claim is tried the
//! packages of a repository are compiled once, and all of ours would take as long as this test suite.

use std::{fs, path::Path, process::Command};

use serde_json::Value;

use super::{review_in, root};
use crate::binary::probity;

#[test]
fn what_is_proven_here_fails_when_it_is_run_and_what_passes_is_not_proven() {
    let place = tempfile::tempdir().unwrap();
    let leaf = leaf();
    super::git(leaf.path(), &["init", "-q", "-b", "main"]);
    super::commit(leaf.path());
    let out = place.path().join("review");
    let agent = format!("replay:{}", root("ci/self-review.ndjson").display());
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("self-review");
    fs::create_dir_all(&cache).unwrap();
    // Only what cargo needs to find its own; the rest of the environment is not the test's.
    let home = std::env::var("HOME").unwrap();
    let mut run = probity()
        .args(["review", "--agent", &agent, "--no-history", "--output", out.to_str().unwrap()])
        .env("HOME", &home)
        .env("XDG_CACHE_HOME", cache.to_str().unwrap())
        .dir(leaf.path());
    for name in ["CARGO_HOME", "RUSTUP_HOME"] {
        if let Ok(value) = std::env::var(name) {
            run = run.env(name, &value);
        }
    }
    run.run().code(0);
    let page = review_in(&out);

    let titles = |list: &str| -> Vec<&str> {
        page[list].as_array().unwrap().iter().map(|it| it["title"].as_str().unwrap()).collect()
    };
    assert_eq!(titles("proven_issues"), ["A severity in capitals is not read"], "{page:#}");
    assert_eq!(
        titles("observations"),
        ["Severities have no order", "Spans may be negative"],
        "{page:#}"
    );
    let mut discarded = titles("discarded");
    discarded.sort_unstable();
    assert_eq!(
        discarded,
        [
            "A severity is not written as it is read",
            "A test could be better",
            "Not even a finding",
            "This file does not exist"
        ]
    );

    let points: f64 = page["score"]["deductions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|deduction| deduction["points"].as_f64().unwrap())
        .sum();
    assert_eq!(page["score"]["value"].as_f64(), Some(10.0 - points));
    assert_eq!(page["score"]["value"], 9.5);

    for issue in page["proven_issues"].as_array().unwrap() {
        assert!(!passes(&test_text(&out, issue), &cache), "{issue:#}");
    }
    let passing = page["discarded"].as_array().unwrap().iter();
    let passing: Vec<&Value> = passing.filter(|it| it["proof"]["outcome"] == "passed").collect();
    assert_eq!(passing.len(), 1);
    assert!(passes(&test_text(&out, passing[0]), &cache), "{:#}", passing[0]);
}

fn test_text(out: &Path, finding: &Value) -> String {
    let name = finding["test_file"].as_str().unwrap().strip_prefix("review/tests/").unwrap();
    fs::read_to_string(out.join("tests").join(name)).unwrap()
}

/// This repository with nothing but its leaf crate.
fn leaf() -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    let manifest = fs::read_to_string(root("Cargo.toml")).unwrap();
    let mut lines: Vec<&str> = manifest.lines().collect();
    for line in &mut lines {
        if line.starts_with("members = ") {
            *line = "members = [\"crates/probity-finding\"]";
        } else if line.starts_with("default-members = ") {
            *line = "";
        }
    }
    fs::write(copy.path().join("Cargo.toml"), lines.join("\n")).unwrap();
    fs::copy(root("Cargo.lock"), copy.path().join("Cargo.lock")).unwrap();
    let finding = copy.path().join("crates/probity-finding");
    copy_tree(&root("crates/probity-finding"), &finding);
    // Its own tests and what they need are not part of the story, and take a minute to compile.
    let manifest = fs::read_to_string(finding.join("Cargo.toml")).unwrap();
    let manifest = manifest.split("[dev-dependencies]").next().unwrap();
    fs::write(finding.join("Cargo.toml"), manifest).unwrap();
    fs::remove_dir_all(finding.join("tests")).unwrap();
    fs::create_dir_all(finding.join("tests/it")).unwrap();
    fs::write(finding.join("tests/it/main.rs"), "//! Nothing.\n").unwrap();
    copy
}

/// Runs a test of the leaf crate by cargo alone, without anything of ours.
fn passes(test: &str, cache: &Path) -> bool {
    let copy = leaf();
    let finding = copy.path().join("crates/probity-finding");
    let tests = finding.join("tests");
    fs::remove_dir_all(&tests).unwrap();
    fs::create_dir(&tests).unwrap();
    fs::write(tests.join("claim.rs"), test).unwrap();
    let output = Command::new("cargo")
        .args(["test", "--offline", "-q", "-p", "probity-finding", "--test", "claim"])
        .current_dir(copy.path())
        .env("CARGO_TARGET_DIR", cache.join(format!("target-{}", test.len())))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("running 1 test"), "{output:?}");
    output.status.success()
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let into = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_tree(&path, &into);
        } else {
            fs::copy(&path, into).unwrap();
        }
    }
}
