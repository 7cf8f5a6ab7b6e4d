//! `review fix`: proven fixes in the working tree, or a reason why not.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{CODE, FIX, commit, findings, git, recorded, repository, review_in};
use crate::binary::{Run, probity};

/// A repository that was reviewed, with two defects in two functions and a finding without a fix.
struct Stage {
    repo: TempDir,
    place: TempDir,
}

const MORE: &str = "
export function first(numbers) {
  return numbers[1];
}

export function last(numbers) {
  return numbers[numbers.length];
}
";

const FIRST: &str = "\
--- a/src/numbers.js
+++ b/src/numbers.js
@@ -11,3 +11,3 @@
 export function first(numbers) {
-  return numbers[1];
+  return numbers[0];
 }
";

fn claim(title: &str, line: u64, name: &str, body: &str, fix: Option<&str>) -> Value {
    let code = format!(
        "import test from 'node:test';\nimport assert from 'node:assert';\n\
         import * as numbers from './numbers.js';\n\ntest('{name}', () => {{\n  {body}\n}});\n"
    );
    let mut finding = json!({
        "title": title, "description": "because", "file": "src/numbers.js", "line": line,
        "severity_hint": "high", "category": "correctness", "test_code": code,
        "test_file": format!("src/{name}.test.js"), "test_name": name,
    });
    if let Some(fix) = fix {
        finding["fix_patch"] = json!(fix);
    }
    finding
}

impl Stage {
    /// Reviewed with these findings.
    fn new(told: &Value) -> Self {
        let repo = repository();
        fs::write(repo.path().join("src/numbers.js"), format!("{CODE}{MORE}")).unwrap();
        fs::write(repo.path().join(".gitignore"), "/review\n").unwrap();
        commit(repo.path());
        let stage = Self { repo, place: tempfile::tempdir().unwrap() };
        let agent = recorded(stage.place.path(), &told.to_string());
        stage.run(&["--agent", &agent, "--report-only", "--no-history"]).run().code(0);
        stage
    }

    fn two() -> Self {
        let told = json!([
            findings()[0],
            claim(
                "first is second",
                12,
                "firsts",
                "assert.equal(numbers.first([5, 6]), 5);",
                Some(FIRST)
            ),
            claim("last is none", 16, "lasts", "assert.equal(numbers.last([5, 6]), 6);", None),
        ]);
        let stage = Self::new(&told);
        let page = review_in(&stage.repo.path().join("review"));
        assert_eq!(page["proven_issues"].as_array().unwrap().len(), 3, "{page:#}");
        stage
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let run = probity().args(["review"]).args(arguments).dir(self.repo.path());
        run.env("XDG_STATE_HOME", self.place.path().join("state").to_str().unwrap())
            .env("XDG_CACHE_HOME", self.place.path().join("cache").to_str().unwrap())
            .env("GIT_AUTHOR_NAME", "Ann")
            .env("GIT_AUTHOR_EMAIL", "ann@example.org")
            .env("GIT_COMMITTER_NAME", "Ann")
            .env("GIT_COMMITTER_EMAIL", "ann@example.org")
    }

    fn code(&self) -> String {
        fs::read_to_string(self.repo.path().join("src/numbers.js")).unwrap()
    }

    fn git(&self, arguments: &[&str]) -> String {
        git(self.repo.path(), arguments)
    }
}

fn fixed(code: &str) -> String {
    code.replace("(numbers.length - 1)", "numbers.length").replace("numbers[1]", "numbers[0]")
}

#[test]
fn proven_fixes_are_applied_and_others_are_told() {
    let stage = Stage::two();
    let before = stage.code();
    let shown = stage.run(&["fix", "--dry-run"]).run().code(0);
    assert!(shown.stdout.starts_with("--- a/src/numbers.js\n+++ b/src/numbers.js\n@@"));
    assert!(shown.stdout.contains("-  return numbers[1];\n+  return numbers[0];\n"));
    assert_eq!(stage.code(), before, "a dry run writes nothing");

    let output = stage.run(&["fix"]).run().code(0);
    assert_eq!(stage.code(), fixed(&before));
    assert_eq!(
        output.stdout,
        "ISS-003: skipped: no proven fix: the agent offered none, or it contains a secret\n\
         ISS-001: fixed src/numbers.js, and its test passes\n\
         ISS-002: fixed src/numbers.js, and its test passes\n\
         2 of 2 fixes applied\n"
    );
    assert_eq!(stage.git(&["status", "--porcelain"]), "M src/numbers.js", "no test, no commit");
}

#[test]
fn each_fix_is_a_commit_with_its_test_on_the_branch_that_is_named() {
    let stage = Stage::two();
    let (before, head) = (stage.code(), stage.git(&["rev-parse", "HEAD"]));
    // Whoever wrote the hooks, they do not run.
    let marker = stage.place.path().join("marker");
    for hook in ["pre-commit", "commit-msg", "post-commit", "reference-transaction"] {
        let path = stage.repo.path().join(".git/hooks").join(hook);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\ntouch {}\n", marker.display())).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    stage.git(&["config", "filter.evil.clean", &format!("touch {}; cat", marker.display())]);
    stage.git(&["config", "core.fsmonitor", &format!("touch {}", marker.display())]);
    let output = stage.run(&["fix", "--branch", "fix/review"]).run().code(0);
    assert!(!marker.exists(), "a program of the repository ran");
    stage.git(&["config", "--unset", "core.fsmonitor"]);
    fs::remove_dir_all(stage.repo.path().join(".git/hooks")).unwrap();
    assert!(output.stdout.contains("ISS-001: fixed src/numbers.js, and its test passes; commit "));
    assert_eq!(stage.git(&["branch", "--show-current"]), "fix/review");
    assert_eq!(stage.git(&["rev-parse", "main"]), head, "main is where it was");
    assert_eq!(stage.code(), fixed(&before));
    assert_eq!(stage.git(&["status", "--porcelain"]), "", "{}", output.stdout);
    assert_eq!(stage.git(&["fsck", "--strict"]), "");
    let log = stage.git(&["log", "--format=%s|%an|%ce", "main.."]);
    assert_eq!(
        log,
        "fix: first is second|Ann|ann@example.org\nfix: the average is wrong|Ann|ann@example.org"
    );
    let files = stage.git(&["show", "--name-only", "--format=", "HEAD~"]);
    assert_eq!(files, "src/numbers.js\nsrc/zz_probity_ISS001.test.js");
    assert!(stage.git(&["log", "-1", "--format=%b"]).contains("passes in all 5 runs with the fix"));
    // The tests are where the runner of the repository finds them.
    let tests = std::process::Command::new("node")
        .args(["--test"])
        .current_dir(stage.repo.path().join("src"))
        .output()
        .unwrap();
    let tests = String::from_utf8_lossy(&tests.stdout).into_owned();
    assert!(tests.contains("pass 2") && tests.contains("fail 0"), "{tests}");
}

#[test]
fn a_repository_in_another_state_is_left_alone() {
    let stage = Stage::two();
    let before = stage.code();
    let refused = |arguments: &[&str], words: &str, help: &str| {
        let output = stage.run(&["fix"]).args(arguments).run().code(2);
        assert!(output.stderr.contains(words), "{arguments:?}: {}", output.stderr);
        assert!(output.stderr.contains(help), "{arguments:?}: {}", output.stderr);
        assert_eq!(stage.code(), before);
    };
    refused(&["ISS-009"], "the review has no issue ISS-009", "lists the issues");
    refused(&["ISS-003"], "ISS-003 has no proven fix", "fix it by hand");
    refused(&["--report", "nowhere.json"], "cannot read nowhere.json", "`--report FILE`");
    for name in ["a..b", "-x", "main"] {
        let branch = format!("--branch={name}");
        refused(&[&branch], &format!("`{name}`"), "name a branch");
    }
    fs::write(stage.repo.path().join("package.json"), "{ \"type\": \"module\" }\n").unwrap();
    refused(&[], "changes that no commit has: package.json", "--allow-dirty");
    refused(&["--commit"], "changes that no commit has: package.json", "git stash");
    stage.git(&["checkout", "-q", "--", "package.json"]);
    stage.git(&["checkout", "-q", "--detach"]);
    refused(&["--commit"], "HEAD is detached", "--branch");
    stage.git(&["checkout", "-q", "main"]);
    fs::write(stage.repo.path().join(".gitattributes"), "*.js filter=lfs\n").unwrap();
    commit(stage.repo.path());
    refused(&["--commit", "ISS-001"], "has a filter", "without --commit");
    let anonymous = stage.run(&["fix", "--commit"]).env("GIT_AUTHOR_NAME", "");
    let anonymous = anonymous.env("HOME", "/nonexistent").env("XDG_CONFIG_HOME", "/nonexistent");
    let output = anonymous.env("GIT_CONFIG_GLOBAL", "/dev/null").run().code(2);
    assert!(output.stderr.contains("git config --global user.name"), "{}", output.stderr);
    // With changes that the user knows of, only the fix is added.
    fs::write(stage.repo.path().join("package.json"), "{ \"type\": \"module\" }\n").unwrap();
    stage.run(&["fix", "iss-001", "--allow-dirty"]).run().code(0);
    assert!(stage.code().contains("return sum / numbers.length;"));
}

#[test]
fn a_fix_for_other_code_is_refused_with_its_line() {
    let stage = Stage::two();
    let path = stage.repo.path().join("src/numbers.js");
    fs::write(&path, stage.code().replace("numbers[1]", "numbers.at(1)")).unwrap();
    commit(stage.repo.path());
    let output = stage.run(&["fix"]).run().code(1);
    let said = "ISS-002: not fixed: src/numbers.js:11: the code has changed since the review";
    assert!(output.stdout.contains(said), "{}", output.stdout);
    assert!(output.stdout.contains("ISS-001: fixed"), "{}", output.stdout);
    assert!(output.stdout.ends_with("1 of 2 fixes applied\n"), "{}", output.stdout);
    // The code around it may have moved.
    let stage = Stage::two();
    let path = stage.repo.path().join("src/numbers.js");
    fs::write(&path, format!("// Sums.\n\n{}", stage.code())).unwrap();
    commit(stage.repo.path());
    stage.run(&["fix"]).run().code(0);
    // Somebody fixed it meanwhile in another way, so its test passes without the fix.
    let stage = Stage::two();
    let path = stage.repo.path().join("src/numbers.js");
    let early = "export function average(numbers) {\n  if (numbers.length > 1) return 3;";
    let code = stage.code().replace("export function average(numbers) {", early);
    fs::write(&path, code).unwrap();
    commit(stage.repo.path());
    let output = stage.run(&["fix", "ISS-001"]).run().code(1);
    assert!(output.stdout.contains("ISS-001: not fixed:"), "{}", output.stdout);
}

#[test]
fn fixes_that_overlap_or_undo_each_other_are_told() {
    let other = FIX.replace("sum / numbers.length;", "sum / Math.max(numbers.length, 1);");
    let told = json!([
        findings()[0],
        claim(
            "one number has none",
            4,
            "ones",
            "assert.equal(numbers.average([4]), 4);",
            Some(&other)
        ),
    ]);
    let stage = Stage::new(&told);
    let page = review_in(&stage.repo.path().join("review"));
    assert_eq!(page["proven_issues"].as_array().unwrap().len(), 2, "{page:#}");
    let output = stage.run(&["fix", "--commit"]).run().code(1);
    let said = "ISS-002: not fixed: its fix overlaps that of ISS-001";
    assert!(output.stdout.contains(said), "{}", output.stdout);
    assert_eq!(stage.git(&["rev-list", "--count", "HEAD"]), "3");
    assert_eq!(stage.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_report_of_another_repository_is_refused() {
    let stage = Stage::two();
    let other = repository();
    fs::write(other.path().join("src/numbers.js"), "export const average = 1;\n").unwrap();
    commit(other.path());
    let report = stage.repo.path().join("review/review.json");
    let run = stage.run(&["fix", "--report", report.to_str().unwrap(), "--repo"]);
    let output = run.args([other.path().to_str().unwrap()]).run().code(1);
    assert!(output.stdout.ends_with("0 of 2 fixes applied\n"), "{}", output.stdout);
    assert_eq!(git(Path::new(other.path()), &["status", "--porcelain"]), "");
}

#[test]
fn without_a_review_the_help_names_the_command_and_the_flag() {
    let repo = repository();
    let output = probity().args(["review", "fix"]).dir(repo.path()).run().code(2);
    assert_eq!(
        output.stderr,
        "error: cannot read review/review.json\n  cause: No such file or directory (os error 2)\n  \
         help: run `probity review` first, or name the review.json that it wrote with `--report FILE`\n"
    );
}
