//! `review fix`: proven fixes in the working tree, or a reason why not.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{CODE, FIX, commit, findings, git, probity, recorded, repository, review_in};
use crate::binary::Run;

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
    insta::assert_snapshot!(shown.stdout, @"
    --- a/src/numbers.js
    +++ b/src/numbers.js
    @@ -1,7 +1,7 @@
     export function average(numbers) {
       let sum = 0;
       for (const number of numbers) sum += number;
    -  return sum / (numbers.length - 1);
    +  return sum / numbers.length;
     }
     
     export function clamp(value, low, high) {
    --- a/src/numbers.js
    +++ b/src/numbers.js
    @@ -9,7 +9,7 @@
     }
     
     export function first(numbers) {
    -  return numbers[1];
    +  return numbers[0];
     }
     
     export function last(numbers) {
    ");
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
    let short = |name: &str| stage.git(&["rev-parse", "--short=10", name]);
    let told = output.stdout.replace(&short("HEAD~"), "[first]");
    insta::assert_snapshot!(told.replace(&short("HEAD"), "[second]"), @"
    ISS-003: skipped: no proven fix: the agent offered none, or it contains a secret
    ISS-001: fixed src/numbers.js, and its test passes; commit [first] on fix/review with src/zz_probity_ISS001.test.js
    ISS-002: fixed src/numbers.js, and its test passes; commit [second] on fix/review with src/zz_probity_ISS002.test.js
    2 of 2 fixes applied
    ");
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
    insta::assert_snapshot!(stage.git(&["log", "-1", "--format=%b"]), @"
    src/numbers.js:12: because

    The test fails in all 5 runs and passes in all 5 runs with the fix; no existing test covers the changed files.
    Test: firsts in src/zz_probity_ISS002.test.js
    ");
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
    let mut refusals = Vec::new();
    let mut refused = |arguments: &[&str]| {
        let output = stage.run(&["fix"]).args(arguments).run().code(2);
        refusals.push(format!("{arguments:?}\n{}", output.stderr));
        assert_eq!(stage.code(), before);
    };
    refused(&["ISS-009"]);
    refused(&["ISS-003"]);
    refused(&["--report", "nowhere.json"]);
    for name in ["a..b", "-x", "main"] {
        refused(&[&format!("--branch={name}")]);
    }
    fs::write(stage.repo.path().join("package.json"), "{ \"type\": \"module\" }\n").unwrap();
    refused(&[]);
    refused(&["--commit"]);
    stage.git(&["checkout", "-q", "--", "package.json"]);
    stage.git(&["checkout", "-q", "--detach"]);
    refused(&["--commit"]);
    stage.git(&["checkout", "-q", "main"]);
    fs::write(stage.repo.path().join(".gitattributes"), "*.js filter=lfs\n").unwrap();
    commit(stage.repo.path());
    refused(&["--commit", "ISS-001"]);
    insta::assert_snapshot!(refusals.join("\n"), @r#"
    ["ISS-009"]
    error: review/review.json: the review has no issue ISS-009
      help: `probity review report FILE --format text` lists the issues

    ["ISS-003"]
    error: review/review.json: ISS-003 has no proven fix: the agent offered none, or it contains a secret
      help: fix it by hand; its test is in the directory `tests` of the review

    ["--report", "nowhere.json"]
    error: cannot read nowhere.json
      cause: No such file or directory (os error 2)
      help: run `probity review` first, or name the review.json that it wrote with `--report FILE`

    ["--branch=a..b"]
    error: no commit can be made: `a..b` cannot be the name of a branch
      help: name a branch as git allows it, such as fix/average

    ["--branch=-x"]
    error: no commit can be made: `-x` cannot be the name of a branch
      help: name a branch as git allows it, such as fix/average

    ["--branch=main"]
    error: no commit can be made: the branch `main` exists
      help: name a branch that does not exist

    []
    error: no fix was applied: the working tree has changes that no commit has: package.json
      help: commit them or run `git stash`, or use --allow-dirty

    ["--commit"]
    error: no commit can be made: the working tree has changes that no commit has: package.json
      help: commit them or run `git stash`

    ["--commit"]
    error: no commit can be made: HEAD is detached, so a commit would be on no branch
      help: name a new branch with --branch, or check out a branch

    ["--commit", "ISS-001"]
    error: no commit can be made: src/numbers.js has a filter in .gitattributes, and probity does not run filters
      help: run the command without --commit, and commit yourself
    "#);
    let anonymous = stage.run(&["fix", "--commit"]).env("GIT_AUTHOR_NAME", "");
    let anonymous = anonymous.env("HOME", "/nonexistent").env("XDG_CONFIG_HOME", "/nonexistent");
    let output = anonymous.env("GIT_CONFIG_GLOBAL", "/dev/null").run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: no commit can be made: git does not know your name or email address
      help: run `git config --global user.name NAME` and `git config --global user.email ADDRESS`
    ");
    // With changes that the user knows of, only the fix is added.
    fs::write(stage.repo.path().join("package.json"), "{ \"type\": \"module\" }\n").unwrap();
    stage.run(&["fix", "iss-001", "--allow-dirty"]).run().code(0);
    assert_eq!(stage.code(), before.replace("(numbers.length - 1)", "numbers.length"));
}

#[test]
fn a_fix_for_other_code_is_refused_with_its_line() {
    let stage = Stage::two();
    let path = stage.repo.path().join("src/numbers.js");
    fs::write(&path, stage.code().replace("numbers[1]", "numbers.at(1)")).unwrap();
    commit(stage.repo.path());
    let output = stage.run(&["fix"]).run().code(1);
    insta::assert_snapshot!(output.stdout, @"
    ISS-003: skipped: no proven fix: the agent offered none, or it contains a secret
    ISS-001: fixed src/numbers.js, and its test passes
    ISS-002: not fixed: src/numbers.js:11: the code has changed since the review: hunk 1 of the patch (its line 3) does not apply: line 12 of the file is not the line that the patch expects there, and its lines occur nowhere else; help: review the code as it is now
    1 of 2 fixes applied
    ");
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
    insta::assert_snapshot!(output.stdout, @"
    ISS-001: not fixed: src/numbers.js:1: the code has changed since the review: hunk 1 of the patch (its line 3) does not apply: line 2 of the file is not the line that the patch expects there, and its lines occur nowhere else; help: review the code as it is now
    0 of 1 fix applied
    ");
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
    let commit = stage.git(&["rev-parse", "--short=10", "HEAD"]);
    insta::assert_snapshot!(output.stdout.replace(&commit, "[commit]"), @"
    ISS-001: fixed src/numbers.js, and its test passes; commit [commit] on main with src/zz_probity_ISS001.test.js
    ISS-002: not fixed: its fix overlaps that of ISS-001, which was applied before it; help: commit the fixes that were applied, and review again
    1 of 2 fixes applied
    ");
    assert_eq!(stage.git(&["rev-list", "--count", "HEAD"]), "3");
    assert_eq!(stage.git(&["status", "--porcelain"]), "");
}

/// What a link leads to is another file than the one that a person was shown.
#[test]
fn a_fix_is_not_written_through_a_link_and_nothing_into_a_git_directory() {
    for link in ["src", "src/numbers.js"] {
        let stage = Stage::two();
        let at = |path: &str| stage.repo.path().join(path);
        let before = stage.code();
        fs::rename(at(link), at("elsewhere")).unwrap();
        let up = if link == "src" { "elsewhere" } else { "../elsewhere" };
        std::os::unix::fs::symlink(up, at(link)).unwrap();
        commit(stage.repo.path());
        let head = stage.git(&["rev-parse", "HEAD"]);
        for more in [&["--dry-run"][..], &[], &["--commit"]] {
            let output = stage.run(&["fix", "ISS-001"]).args(more).run().code(1);
            let told = format!("{}{}", output.stdout, output.stderr);
            let why = "src/numbers.js is a link or is reached through one, which may lead anywhere";
            assert!(told.contains(why), "{link} {more:?}: {told}");
            assert_eq!(stage.code(), before, "{link} {more:?}");
            assert!(at(link).symlink_metadata().unwrap().is_symlink(), "{link} {more:?}");
        }
        assert_eq!(stage.git(&["rev-parse", "HEAD"]), head);
        assert_eq!(stage.git(&["status", "--porcelain"]), "");
    }
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
    insta::assert_snapshot!(output.stdout, @"
    ISS-003: skipped: no proven fix: the agent offered none, or it contains a secret
    ISS-001: not fixed: src/numbers.js:1: the code has changed since the review: hunk 1 of the patch (its line 3) does not apply: line 1 of the file is not the line that the patch expects there, and its lines occur nowhere else; help: review the code as it is now
    ISS-002: not fixed: src/numbers.js:11: the code has changed since the review: hunk 1 of the patch (its line 3) does not apply: line 1 of the file is not the line that the patch expects there, and its lines occur nowhere else; help: review the code as it is now
    0 of 2 fixes applied
    ");
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

/// An archive can bring a git directory with links, and git writes through all of them.
#[test]
fn a_commit_writes_through_no_link_of_the_git_directory() {
    let stage = Stage::two();
    let git = stage.repo.path().join(".git");
    let outside = stage.place.path().join("outside");
    for part in ["index", "refs/heads", "objects/pack", "logs"] {
        fs::rename(git.join(part), &outside).unwrap();
        std::os::unix::fs::symlink(&outside, git.join(part)).unwrap();
        let before = listing(&outside);
        for arguments in [&["fix", "--commit"][..], &["fix", "--commit", "--branch=new"]] {
            let output = stage.run(arguments).run().code(2);
            assert!(output.stderr.contains("clone the repository anew"), "{}", output.stderr);
        }
        assert_eq!(listing(&outside), before, "{part}");
        fs::remove_file(git.join(part)).unwrap();
        fs::rename(&outside, git.join(part)).unwrap();
    }
    stage.run(&["fix", "--commit"]).run().code(0);
}

/// Names and texts of a file, or of all files of a directory and its directories.
fn listing(path: &Path) -> Vec<(String, Vec<u8>)> {
    if path.is_file() {
        return vec![(path.display().to_string(), fs::read(path).unwrap())];
    }
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = entries.flat_map(|path| listing(&path)).collect();
    found.sort();
    found
}

#[test]
fn a_review_that_somebody_committed_decides_nothing() {
    let stage = Stage::two();
    for arguments in [&["gate"][..], &["report", "review/review.json"]] {
        assert_ne!(stage.run(arguments).run().code, Some(2), "{arguments:?}");
    }
    stage.git(&["add", "--force", "review"]);
    stage.git(&["commit", "-q", "-m", "x"]);
    for arguments in [&["gate"][..], &["fix"], &["report", "review/review.json"]] {
        let output = stage.run(arguments).run().code(2);
        assert!(output.stderr.contains("git tracks review/review.json"), "{}", output.stderr);
    }
}
