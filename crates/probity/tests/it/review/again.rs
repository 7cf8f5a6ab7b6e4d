//! One defect from review to review: moved, renamed, lost from sight, fixed, and back again.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{CODE, FIX, commit, findings, git, probity, recorded, repository, review_in};
use crate::binary::{Output, stable};

/// A repository, and a place for what reviews of it leave.
pub(super) struct Stage {
    repo: TempDir,
    pub(super) place: TempDir,
}

impl Stage {
    pub(super) fn new() -> Self {
        Self { repo: repository(), place: tempfile::tempdir().unwrap() }
    }

    pub(super) fn repo(&self) -> &Path {
        self.repo.path()
    }

    /// Reviews with an agent that says this; gives what was printed and what was written.
    pub(super) fn review(&self, answer: &Value, more: &[&str]) -> (Output, Value) {
        let at = |name: &str| self.place.path().join(name).to_str().unwrap().to_owned();
        let agent = recorded(self.place.path(), &answer.to_string());
        let output = probity()
            .args(["review", "--agent", &agent, "--report-only", "--output", &at("out")])
            .args(more)
            .env("XDG_STATE_HOME", &at("state"))
            .env("XDG_CACHE_HOME", &at("cache"))
            .dir(self.repo())
            .run()
            .code(0);
        (output, review_in(&self.place.path().join("out")))
    }
}

fn mended() -> String {
    CODE.replace(" - 1)", ")").replace("(numbers.length)", "numbers.length")
}

#[test]
fn a_known_issue_goes_where_its_code_goes() {
    let stage = Stage::new();
    let (output, page) = stage.review(&findings(), &[]);
    insta::assert_snapshot!(stable(&output.stdout), @"
    ISS-001 src/numbers.js:4: high: the average is wrong [correctness P3, not reported before]
        proven by averages in [dir]/out/tests/ISS-001_averages.test.js
        P3: The test fails in all 5 runs and passes in all 5 runs with the fix; no existing test covers the changed files.
        | averages: AssertionError [ERR_ASSERTION]: 6 == 3
        fix:
        --- a/src/numbers.js
        +++ b/src/numbers.js
        @@ -1,5 +1,5 @@
         export function average(numbers) {
           let sum = 0;
           for (const number of numbers) sum += number;
        -  return sum / (numbers.length - 1);
        +  return sum / numbers.length;
         }
    OBS-001 src/numbers.js:8: clamp loses numbers (not proven: the test fails in all 5 runs, but it fails with the fix as well)
    DIS-001 discarded: clamp mixes up its bounds: its test passes: the concern was unfounded
    P3: the test passes with a fix that breaks nothing, or before the change
    note: the agent offered no further fixes: replay of agent.ndjson: asking: the agent reports an error: the script has no further answer to session/prompt (-32603)
    Score 8.5 of 10: 1 proven issue (1 high), 1 observation, 1 discarded; reaches the threshold of 7.
    ");
    let print = page["proven_issues"][0]["fingerprint"].clone();

    fs::write(stage.repo().join("src/numbers.js"), format!("// Sums.\n\n{CODE}")).unwrap();
    commit(stage.repo());
    let (_, page) = stage.review(&json!([]), &[]);
    assert_eq!(page["changes"]["known"], json!(["ISS-001"]), "{page:#}");
    assert_eq!(page["proven_issues"][0]["line"], 6, "the line of that text");
    assert_eq!(page["proven_issues"][0]["fingerprint"], print);

    git(stage.repo(), &["mv", "src", "lib"]);
    commit(stage.repo());
    let (_, page) = stage.review(&json!([]), &[]);
    assert_eq!(page["changes"]["known"], json!(["ISS-001"]), "{page:#}");
    let issue = &page["proven_issues"][0];
    assert_eq!((&issue["file"], &issue["line"]), (&json!("lib/numbers.js"), &json!(6)));
    // The identity is the one that a claim of today would get.
    let mut told = findings();
    told[0]["file"] = json!("lib/numbers.js");
    told[0]["line"] = json!(6);
    let code = told[0]["test_code"].as_str().unwrap().replace("[2, 4]), 3", "[4, 8]), 6");
    (told[0]["test_code"], told[0]["test_file"]) = (json!(code), json!("lib/a.test.js"));
    told[0]["fix_patch"] = json!(FIX.replace("/src/", "/lib/"));
    let (_, page) = stage.review(&json!([told[0]]), &[]);
    assert_eq!(page["changes"]["known"], json!(["ISS-001"]), "{page:#}");
    assert_eq!(page["proven_issues"].as_array().unwrap().len(), 1, "{page:#}");
}

#[test]
fn what_nobody_can_try_stays_open_until_somebody_can() {
    let stage = Stage::new();
    fs::write(stage.repo().join("src/other.js"), "export const other = 1;\n").unwrap();
    commit(stage.repo());
    stage.review(&findings(), &[]);
    git(stage.repo(), &["rm", "-q", "src/numbers.js"]);
    commit(stage.repo());
    insta::allow_duplicates! {
        for time in ["once", "twice"] {
            let (output, page) = stage.review(&json!([]), &[]);
            insta::assert_snapshot!(output.stdout, @"
            unclear: the average is wrong in src/numbers.js: its file is gone; it stays open until its test can be run
            Score 10 of 10: nothing proven, 0 observations, 0 discarded, 1 from earlier reviews undecided; reaches the threshold of 7.
            ");
            assert_eq!(page["changes"]["open"][0]["title"], "the average is wrong", "{time}");
            insta::assert_snapshot!(page["summary"].as_str().unwrap(), @"Score 10 of 10: nothing proven, 0 observations, 0 discarded, 1 from earlier reviews undecided; reaches the threshold of 7.");
        }
    }
    git(stage.repo(), &["revert", "-n", "HEAD"]);
    commit(stage.repo());
    let (_, page) = stage.review(&json!([]), &[]);
    assert_eq!(page["changes"]["known"], json!(["ISS-001"]), "{page:#}");
}

#[test]
fn a_fixed_issue_that_comes_back_is_no_new_one() {
    let stage = Stage::new();
    stage.review(&findings(), &[]);
    fs::write(stage.repo().join("src/numbers.js"), mended()).unwrap();
    commit(stage.repo());
    let (_, page) = stage.review(&json!([]), &[]);
    assert_eq!(page["changes"]["fixed"][0]["title"], "the average is wrong", "{page:#}");
    assert_eq!(page["changes"]["closed"].as_array().unwrap().len(), 1, "{page:#}");
    // Nothing has changed, and nothing is run or told again.
    let (_, page) = stage.review(&json!([]), &[]);
    assert_eq!(page["changes"]["fixed"], json!([]), "{page:#}");
    assert_eq!(page["test_summary"]["total_generated"], 0, "{page:#}");

    git(stage.repo(), &["revert", "-n", "HEAD"]);
    commit(stage.repo());
    let (output, page) = stage.review(&json!([]), &[]);
    assert_eq!(page["score"]["value"], 8.5, "{page:#}");
    assert_eq!(page["changes"]["known"], json!(["ISS-001"]), "{page:#}");
    assert_eq!(page["changes"]["reopened"], json!(["ISS-001"]), "{page:#}");
    insta::assert_snapshot!(stable(&output.stdout), @"
    ISS-001 src/numbers.js:4: high: the average is wrong [correctness P3, known: fixed before, and back again]
        proven by averages in [dir]/out/tests/ISS-001_averages.test.js
        P3: The test fails in all 5 runs and passes in all 5 runs with the fix; no existing test covers the changed files.
        | averages: AssertionError [ERR_ASSERTION]: 6 == 3
        fix:
        --- a/src/numbers.js
        +++ b/src/numbers.js
        @@ -1,5 +1,5 @@
         export function average(numbers) {
           let sum = 0;
           for (const number of numbers) sum += number;
        -  return sum / (numbers.length - 1);
        +  return sum / numbers.length;
         }
    P3: the test passes with a fix that breaks nothing, or before the change
    Score 8.5 of 10: 1 proven issue (1 high), 0 observations, 0 discarded; reaches the threshold of 7.
    ");
    // Whoever names it now names a known one.
    let (_, page) = stage.review(&findings(), &[]);
    assert_eq!(page["changes"]["new"], json!([]), "{page:#}");
    assert_eq!(page["changes"]["reopened"], Value::Null, "{page:#}");
}

#[test]
fn a_change_tells_what_it_brings_from_what_was_there() {
    let stage = Stage::new();
    git(stage.repo(), &["checkout", "-q", "-b", "topic"]);
    fs::write(stage.repo().join("src/numbers.js"), format!("{CODE}// more\n")).unwrap();
    fs::write(stage.repo().join("src/more.js"), CODE).unwrap();
    commit(stage.repo());
    let mut told = findings();
    told[1] = told[0].clone();
    for (key, value) in [("title", "new one"), ("file", "src/more.js"), ("test_name", "news")] {
        told[1][key] = json!(value);
    }
    let code = told[0]["test_code"].as_str().unwrap();
    let code = code.replace("./numbers.js", "./more.js").replace("averages", "news");
    (told[1]["test_code"], told[1]["test_file"]) = (json!(code), json!("src/news.test.js"));
    told[1]["fix_patch"] = json!(FIX.replace("numbers.js", "more.js"));
    let answer = json!([told[0], told[1]]);
    let (output, page) = stage.review(&answer, &["--diff-only", "--base", "main"]);
    let introduced: Vec<&Value> = page["proven_issues"]
        .as_array()
        .unwrap()
        .iter()
        .map(|issue| &issue["introduced"])
        .collect();
    assert_eq!(introduced, [&json!(false), &json!(true)], "{page:#}");
    insta::assert_snapshot!(stable(&output.stdout), @"
    ISS-001 src/numbers.js:4: high: the average is wrong [correctness P3, older]
        proven by averages in [dir]/out/tests/ISS-001_averages.test.js
        P3: The test fails in all 5 runs and passes in all 5 runs with the fix; no existing test covers the changed files.
        | averages: AssertionError [ERR_ASSERTION]: 6 == 3
        fix:
        --- a/src/numbers.js
        +++ b/src/numbers.js
        @@ -1,5 +1,5 @@
         export function average(numbers) {
           let sum = 0;
           for (const number of numbers) sum += number;
        -  return sum / (numbers.length - 1);
        +  return sum / numbers.length;
         }
    ISS-002 src/more.js:4: high: new one [correctness P3, new]
        proven by news in [dir]/out/tests/ISS-002_news.test.js
        P3: The test fails in all 5 runs and passes in all 5 runs with the fix; no existing test covers the changed files.
        | news: AssertionError [ERR_ASSERTION]: 6 == 3
        fix:
        --- a/src/more.js
        +++ b/src/more.js
        @@ -1,5 +1,5 @@
         export function average(numbers) {
           let sum = 0;
           for (const number of numbers) sum += number;
        -  return sum / (numbers.length - 1);
        +  return sum / numbers.length;
         }
    P3: the test passes with a fix that breaks nothing, or before the change
    Score 7 of 10: 2 proven issues (2 high), 0 observations, 0 discarded; reaches the threshold of 7.
    ");
}

#[test]
fn the_fix_of_a_second_finding_with_the_same_test_is_tried_as_well() {
    let stage = Stage::new();
    let told = findings();
    let mut first = told[0].clone();
    first["fix_patch"] =
        json!(FIX.replace("+  return sum / numbers.length;", "+  return sum / 7;"));
    let mut second = told[0].clone();
    second["title"] = json!("averages are off");
    let (_, page) = stage.review(&json!([first, second]), &["--no-history"]);
    let issues = page["proven_issues"].as_array().unwrap();
    let seen: Vec<_> = issues.iter().map(|issue| (&issue["title"], &issue["fix_patch"])).collect();
    assert_eq!(seen, [(&json!("the average is wrong"), &json!(FIX))], "{page:#}");
    assert_eq!(page["discarded"][0]["title"], "averages are off", "{page:#}");
}

#[test]
fn one_place_weighs_once_and_one_file_may_hold_two_tests() {
    let stage = Stage::new();
    let told = findings();
    let mut second = told[0].clone();
    second["title"] = json!("averages are off");
    second["severity_hint"] = json!("critical");
    second["test_name"] = json!("other");
    let code = second["test_code"].as_str().unwrap().replace("averages", "other");
    (second["test_code"], second["test_file"]) = (json!(code), json!("src/other.test.js"));
    let (_, page) = stage.review(&json!([told[0], second]), &["--no-history"]);
    // The gravest of them stands for both.
    assert_eq!(page["score"]["value"], 7.0, "{page:#}");
    assert_eq!(page["discarded"][0]["title"], "the average is wrong", "{page:#}");
    assert_eq!(
        page["test_summary"],
        json!({ "total_generated": 2, "passing": 0, "failing": 2, "error": 0 })
    );

    let both = told[0]["test_code"].as_str().unwrap();
    let both =
        format!("{both}\ntest('more', () => {{\n  assert.equal(average([1, 2, 3]), 2);\n}});\n");
    let with = |name: &str, line: u64| {
        let mut finding = told[0].clone();
        (finding["test_code"], finding["test_name"]) = (json!(both), json!(name));
        (finding["line"], finding["title"]) = (json!(line), json!(format!("{name} is wrong")));
        finding
    };
    let (_, page) = stage.review(&json!([with("averages", 4), with("more", 3)]), &["--no-history"]);
    assert_eq!(page["proven_issues"].as_array().unwrap().len(), 2, "{page:#}");
}

#[test]
fn since_last_reviews_what_was_added_and_proves_older_issues_again() {
    let stage = Stage::new();
    let (_, page) = stage.review(&json!([]), &["--since", "last"]);
    insta::assert_snapshot!(page["notes"].to_string(), @r#"["this branch has no earlier review to start from, so --since last changes nothing"]"#);
    stage.review(&json!([findings()[0]]), &[]);
    fs::write(stage.repo().join("src/other.js"), "export const one = 1;\n").unwrap();
    commit(stage.repo());
    // What the agent says about a file that was reviewed before is not under review.
    let (_, page) = stage.review(&json!([findings()[1]]), &["--since", "last"]);
    assert_eq!(page["metadata"]["files_reviewed"], 1, "{page:#}");
    assert_eq!(page["changes"]["known"], json!(["ISS-001"]), "{page:#}");
    assert_eq!(page["discarded"][0]["reason"], "its file is not part of the change", "{page:#}");
    // Nothing was added: the agent is not asked, and the older issue is fixed all the same.
    fs::write(stage.repo().join("README.md"), "x\n").unwrap();
    commit(stage.repo());
    let (_, page) = stage.review(&json!("not asked"), &["--since", "last"]);
    assert_eq!(page["metadata"]["files_reviewed"], 0, "{page:#}");
    assert_eq!(page["changes"]["known"], json!(["ISS-001"]), "{page:#}");
}

/// Where a repository comes from is what it says itself.
#[test]
fn another_repository_with_the_same_origin_changes_nothing() {
    let stage = Stage::new();
    let origin = "https://git.example.org/team/app.git";
    git(stage.repo(), &["remote", "add", "origin", origin]);
    stage.review(&findings(), &[]);
    let other = Stage { repo: repository(), place: stage.place };
    fs::write(other.repo().join("src/numbers.js"), mended()).unwrap();
    git(other.repo(), &["commit", "-q", "-a", "--amend", "-m", "another first commit"]);
    git(other.repo(), &["remote", "add", "origin", origin]);
    let (output, page) = other.review(&json!([]), &[]);
    assert!(!output.stdout.contains("the average is wrong"), "{}", output.stdout);
    assert_eq!(page["metadata"]["repo"], "git.example.org/team/app", "{page:#}");
    let stage = Stage { repo: stage.repo, place: other.place };
    let (_, page) = stage.review(&json!([]), &[]);
    assert_eq!(page["changes"]["known"], json!(["ISS-001"]), "{page:#}");
}
