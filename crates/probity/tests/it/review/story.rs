//! A planted bug, an agent that finds it and imagines two more, and the day it is fixed.

use std::{fs, process::Command};

use serde_json::Value;

use super::{CODE, commit, contents, findings, git, recorded, repository, review_in};
use crate::binary::{Run, probity, stable};

#[test]
fn one_claim_is_proven_two_are_not_and_the_fix_is_seen_in_the_history() {
    let repo = repository();
    let place = tempfile::tempdir().unwrap();
    let agent = recorded(place.path(), &findings().to_string());
    let out = place.path().join("review");
    let before = contents(repo.path());
    let in_history = |run: Run| {
        run.env("XDG_STATE_HOME", place.path().join("state").to_str().unwrap())
            .env("XDG_CACHE_HOME", place.path().join("cache").to_str().unwrap())
    };
    let review = |threshold: &str| {
        let run = probity().args(["review", "--agent", &agent, "--threshold", threshold]);
        in_history(run).args(["--output", out.to_str().unwrap()]).dir(repo.path()).run()
    };
    let output = review("9").code(1);
    insta::assert_snapshot!(stable(&output.stdout), @"
    ISS-001 src/numbers.js:4: high: the average is wrong [correctness P3, not reported before]
        proven by averages in [dir]/review/tests/ISS-001_averages.test.js
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
    Score 8.5 of 10: 1 proven issue (1 high), 1 observation, 1 discarded; misses the threshold of 9.
    ");
    assert_eq!(contents(repo.path()), before, "the repository is as it was");

    let page = review_in(&out);
    assert_eq!(page["status"], "ok");
    assert_eq!(page["score"]["value"], 8.5, "{page:#}");
    assert_eq!(page["proven_issues"].as_array().unwrap().len(), 1, "{page:#}");
    let issue = &page["proven_issues"][0];
    assert_eq!((&issue["id"], &issue["line"]), (&"ISS-001".into(), &4.into()));
    assert_eq!(issue["proof"]["level"], "P3", "{issue:#}");
    assert_eq!(issue["proof"]["fix"]["result"], "flips", "{issue:#}");
    let why = page["observations"][0]["reason"].as_str().unwrap();
    assert_eq!(why, "the test fails in all 5 runs, but it fails with the fix as well");
    assert_eq!(page["discarded"].as_array().unwrap().len(), 1, "{page:#}");
    assert_eq!(page["discarded"][0]["reason"], "its test passes: the concern was unfounded");
    assert_eq!(page["observations"].as_array().unwrap().len(), 1, "{page:#}");
    assert_eq!(page["metadata"]["commit"], git(repo.path(), &["rev-parse", "HEAD"]).as_str());
    assert_eq!(page["test_summary"]["total_generated"], 3);
    assert_eq!(page["isolation"]["agent"], "none: a recording starts no process");

    // The failing test is on disk, and fails for whoever runs it where it belongs.
    let name = issue["test_file"].as_str().unwrap().strip_prefix("review/tests/").unwrap();
    let test = fs::read_to_string(out.join("tests").join(name)).unwrap();
    let copy = tempfile::tempdir().unwrap();
    fs::write(copy.path().join("package.json"), "{\"type\":\"module\"}").unwrap();
    let fails = |code: &str| {
        fs::write(copy.path().join("numbers.js"), code).unwrap();
        fs::write(copy.path().join("a.test.js"), &test).unwrap();
        let mut node = Command::new("node");
        !node.args(["--test"]).current_dir(copy.path()).output().unwrap().status.success()
    };
    assert!(fails(CODE), "{test}");
    let mended = CODE.replace(" - 1)", ")").replace("(numbers.length)", "numbers.length");
    assert!(!fails(&mended), "{test}");

    fs::write(repo.path().join("src/numbers.js"), &mended).unwrap();
    commit(repo.path());
    review("9").code(0);
    let page = review_in(&out);
    assert_eq!(page["score"]["value"], 10.0, "{page:#}");
    assert_eq!(page["changes"]["fixed"][0]["title"], "the average is wrong", "{page:#}");
    assert_eq!(page["changes"]["fixed"][0]["how"], "its test passes now");

    let list = in_history(probity().args(["review", "history", "--format", "json"]));
    let list = list.dir(repo.path()).run().code(0);
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    let scores: Vec<f64> = list["reviews"]
        .as_array()
        .unwrap()
        .iter()
        .map(|review| review["score"].as_f64().unwrap())
        .collect();
    assert_eq!(scores, [10.0, 8.5]);
    let shown = in_history(probity().args(["review", "show"])).dir(repo.path()).run().code(0);
    insta::assert_snapshot!(shown.stdout, @"
    OBS-001 src/numbers.js:8: clamp loses numbers (not proven: the test fails in all 5 runs, but it fails with the fix as well)
    DIS-001 discarded: the average is wrong: its test passes: the concern was unfounded
    DIS-002 discarded: clamp mixes up its bounds: its test passes: the concern was unfounded
    fixed: the average is wrong in src/numbers.js: its test passes now
    note: the agent offered no further fixes: replay of agent.ndjson: asking: the agent reports an error: the script has no further answer to session/prompt (-32603)
    Score 10 of 10: nothing proven, 1 observation, 2 discarded; reaches the threshold of 9.
    ");

    // An agent that says nothing does not make a known bug go away.
    fs::write(repo.path().join("src/numbers.js"), CODE).unwrap();
    commit(repo.path());
    review("9").code(1);
    recorded(place.path(), "[]");
    let output = review("9").code(1);
    insta::assert_snapshot!(stable(&output.stdout), @"
    ISS-001 src/numbers.js:4: high: the average is wrong [correctness P3, known]
        proven by averages in [dir]/review/tests/ISS-001_averages.test.js
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
    Score 8.5 of 10: 1 proven issue (1 high), 0 observations, 0 discarded; misses the threshold of 9.
    ");
    assert_eq!(review_in(&out)["changes"]["known"], serde_json::json!(["ISS-001"]));
}

#[test]
fn a_test_with_a_secret_in_it_is_run_again_without_it() {
    let repo = repository();
    let place = tempfile::tempdir().unwrap();
    let secret = format!("ghp_{}", "aB3dE6gH9".repeat(4));
    let mut told = findings();
    let code = told[0]["test_code"].as_str().unwrap();
    let code = code.replace("  assert", &format!("  const token = '{secret}';\n  assert"));
    told[0]["test_code"] = code.into();
    let agent = recorded(place.path(), &told.to_string());
    let out = place.path().join("review");
    let review = || {
        probity()
            .args(["review", "--agent", &agent, "--output", out.to_str().unwrap()])
            .env("XDG_STATE_HOME", place.path().join("state").to_str().unwrap())
            .env("XDG_CACHE_HOME", place.path().join("cache").to_str().unwrap())
            .dir(repo.path())
            .run()
    };
    review().code(1);
    let text = fs::read_to_string(out.join("review.json")).unwrap();
    assert!(!text.contains(&secret), "{text}");
    let page = review_in(&out);
    let kept = page["proven_issues"][0]["test_code"].as_str().unwrap();
    insta::assert_snapshot!(kept, @"
    import test from 'node:test';
    import assert from 'node:assert';
    import { average, clamp } from './numbers.js';

    test('averages', () => {
      const token = '****************************************';
      assert.equal(average([2, 4]), 3);
    });
    ");
    recorded(place.path(), "[]");
    review().code(1);
    assert_eq!(review_in(&out)["changes"]["known"], serde_json::json!(["ISS-001"]));
    let mended = CODE.replace(" - 1)", ")").replace("(numbers.length)", "numbers.length");
    fs::write(repo.path().join("src/numbers.js"), &mended).unwrap();
    commit(repo.path());
    review().code(0);
    let page = review_in(&out);
    assert_eq!(page["changes"]["fixed"][0]["how"], "its test passes now", "{page:#}");
}

#[test]
fn what_could_not_be_judged_or_was_out_of_sight_for_a_while_is_not_forgotten() {
    let repo = repository();
    let place = tempfile::tempdir().unwrap();
    let agent = recorded(place.path(), &findings().to_string());
    let out = place.path().join("review");
    let review = |more: &[&str]| {
        let run = probity().args(["review", "--agent", &agent, "--report-only"]).args(more);
        run.args(["--output", out.to_str().unwrap()])
            .env("XDG_STATE_HOME", place.path().join("state").to_str().unwrap())
            .env("XDG_CACHE_HOME", place.path().join("cache").to_str().unwrap())
            .dir(repo.path())
            .run()
            .code(0);
        review_in(&out)
    };
    fs::write(repo.path().join("src/other.js"), "export const other = 1;\n").unwrap();
    commit(repo.path());
    assert_eq!(review(&[])["proven_issues"].as_array().unwrap().len(), 1);
    recorded(place.path(), "[]");

    fs::write(repo.path().join("src/numbers.js"), format!("{CODE}\nexport const = ;\n")).unwrap();
    commit(repo.path());
    let page = review(&[]);
    assert_eq!(page["changes"]["unclear"][0]["title"], "the average is wrong", "{page:#}");
    assert_eq!(page["changes"]["open"][0]["title"], "the average is wrong", "{page:#}");
    let page = review(&["--paths", "src/other.js"]);
    assert_eq!(page["changes"]["unclear"], serde_json::json!([]), "nobody looked");

    fs::write(repo.path().join("src/numbers.js"), CODE).unwrap();
    commit(repo.path());
    let page = review(&[]);
    assert_eq!(page["changes"]["known"], serde_json::json!(["ISS-001"]), "{page:#}");
}
