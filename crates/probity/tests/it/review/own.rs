//! This repository, reviewed by a recorded agent, and every claim of that review checked.
//!
//! What is reviewed are the crates that need none of the others, in a workspace that has no more:
//! before a claim is tried the packages of a repository are compiled once, and all of ours would take
//! as long as this test suite.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use super::{review_in, root};
use crate::binary::probity;

/// A test of what one of the claims takes for a defect.
const PINNED: &str = "//! What is meant.\n\n#[test]\nfn text_without_secrets_stays() {\n    \
    assert_eq!(probity_secrets::mask_same_length(\"a\", &[]), \"a\");\n}\n";

const LEAVES: [&str; 3] = ["probity-finding", "probity-scope", "probity-secrets"];

#[test]
fn what_is_proven_here_fails_when_it_is_run_and_what_passes_is_not_proven() {
    let place = tempfile::tempdir().unwrap();
    let leaves = leaves();
    super::git(leaves.path(), &["init", "-q", "-b", "main"]);
    super::commit(leaves.path());
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
        .dir(leaves.path());
    for name in ["CARGO_HOME", "RUSTUP_HOME"] {
        if let Ok(value) = std::env::var(name) {
            run = run.env(name, &value);
        }
    }
    run.run().code(0);
    let page = review_in(&out);

    let titles = |list: &str| -> Vec<&str> {
        let list = page[list].as_array().unwrap().iter();
        let mut titles: Vec<&str> =
            list.map(|finding| finding["title"].as_str().unwrap()).collect();
        titles.sort_unstable();
        titles
    };
    let proven = ["A severity in capitals is not read", "Notes with passwords are read"];
    assert_eq!(titles("proven_issues"), proven, "{page:#}");
    let observed = [
        "Masked text is never right",
        "Severities have no order",
        "Spans may be negative",
        "Text is shown if no secret is known",
    ];
    assert_eq!(titles("observations"), observed, "{page:#}");
    let discarded = [
        "A severity is not written as it is read",
        "A test could be better",
        "Keys are read",
        "Not even a finding",
        "Text without secrets is changed",
        "This file does not exist",
    ];
    assert_eq!(titles("discarded"), discarded, "{page:#}");

    let points: f64 = page["score"]["deductions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|deduction| deduction["points"].as_f64().unwrap())
        .sum();
    assert_eq!(page["score"]["value"].as_f64(), Some(10.0 - points));
    assert_eq!(page["score"]["value"], 9.0);
    let observations = page["observations"].as_array().unwrap().iter();
    let mut results: Vec<&str> = observations
        .filter_map(|observation| observation["proof"]["fix"]["result"].as_str())
        .collect();
    results.sort_unstable();
    assert_eq!(results, ["breaks-tests", "does-not-flip", "does-not-flip"], "{page:#}");

    let by_cargo = Checked::new(&cache);
    for issue in page["proven_issues"].as_array().unwrap() {
        assert!(!by_cargo.passes(&out, issue), "{issue:#}");
    }
    let passing = page["discarded"].as_array().unwrap().iter();
    let passing: Vec<&Value> =
        passing.filter(|finding| finding["proof"]["outcome"] == "passed").collect();
    assert_eq!(passing.len(), 3);
    for finding in passing {
        assert!(by_cargo.passes(&out, finding), "{finding:#}");
    }
}

/// This repository with nothing but those crates, without their own tests and what these need: they
/// are not part of the story, and take minutes to compile.
fn leaves() -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    let manifest = fs::read_to_string(root("Cargo.toml")).unwrap();
    // Nor are dependencies made faster, which takes longer than it saves here.
    let mut lines: Vec<&str> = manifest.lines().filter(|line| !line.starts_with("opt-")).collect();
    let members =
        format!("members = [{}]", LEAVES.map(|name| format!("\"crates/{name}\"")).join(", "));
    for line in &mut lines {
        if line.starts_with("members = ") {
            *line = &members;
        } else if line.starts_with("default-members = ") {
            *line = "";
        }
    }
    fs::write(copy.path().join("Cargo.toml"), lines.join("\n")).unwrap();
    fs::copy(root("Cargo.lock"), copy.path().join("Cargo.lock")).unwrap();
    for name in LEAVES {
        let own = copy.path().join("crates").join(name);
        fs::create_dir_all(&own).unwrap();
        copy_tree(&root("crates").join(name).join("src"), &own.join("src"));
        let manifest = fs::read_to_string(root("crates").join(name).join("Cargo.toml")).unwrap();
        let heavy = |line: &&str| line.starts_with("proptest") || line.starts_with("insta");
        let mut kept: Vec<&str> = manifest.lines().filter(|line| !heavy(line)).collect();
        // Otherwise each run of the existing tests compiles the library once more, for those in it.
        kept.extend(["", "[lib]", "test = false", "doctest = false", ""]);
        fs::write(own.join("Cargo.toml"), kept.join("\n")).unwrap();
        fs::create_dir_all(own.join("tests/it")).unwrap();
        let pinned = if name == "probity-secrets" { PINNED } else { "//! Nothing.\n" };
        fs::write(own.join("tests/it/main.rs"), pinned).unwrap();
    }
    copy
}

/// The same crates for cargo alone, without anything of ours.
struct Checked {
    leaves: tempfile::TempDir,
    target: PathBuf,
}

impl Checked {
    fn new(cache: &Path) -> Self {
        Self { leaves: leaves(), target: cache.join("target") }
    }

    /// Runs the test of a finding under a name that no other has.
    fn passes(&self, out: &Path, finding: &Value) -> bool {
        let name = finding["test_file"].as_str().unwrap().strip_prefix("review/tests/").unwrap();
        let text = fs::read_to_string(out.join("tests").join(name)).unwrap();
        let package = finding["file"].as_str().unwrap().split('/').nth(1).unwrap();
        let stem = name.trim_end_matches(".rs").replace('-', "_").to_lowercase();
        let tests = self.leaves.path().join("crates").join(package).join("tests");
        fs::write(tests.join(format!("{stem}.rs")), text).unwrap();
        let output = Command::new("cargo")
            .args(["test", "--offline", "-q", "-p", package, "--test", &stem])
            .current_dir(self.leaves.path())
            .env("CARGO_TARGET_DIR", &self.target)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("running 1 test"), "{output:?}");
        output.status.success()
    }
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
