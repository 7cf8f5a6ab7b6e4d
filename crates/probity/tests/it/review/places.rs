//! Where a review takes its findings from and leaves its files, and what is said of both.

use std::{fs, os::unix::fs::symlink};

use serde_json::json;

use super::{findings, git, probity, repository, review_in};
use crate::binary::Run;

#[test]
fn a_file_of_findings_is_an_agent_and_what_is_left_is_not_in_the_way() {
    let repo = repository();
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    let run =
        |run: Run| run.env("XDG_STATE_HOME", &at("state")).env("XDG_CACHE_HOME", &at("cache"));
    let mut printed = Vec::new();
    for (name, told) in [("bare", findings()), ("wrapped", json!({ "findings": findings() }))] {
        fs::write(at(name), format!("{told:#}\n")).unwrap();
        let agent = format!("replay:{}", at(name));
        let output = run(probity().args(["review", "--agent", &agent])).dir(repo.path()).run();
        let output = output.code(0);
        printed.push(format!("{name}\n{}", output.stdout));
        let page = review_in(&repo.path().join("review"));
        assert_eq!(page["proven_issues"].as_array().unwrap().len(), 1, "{name}: {page:#}");
    }
    insta::assert_snapshot!(printed.join("\n"), @"
    bare
    ISS-001 src/numbers.js:4: high: the average is wrong [correctness P3, not reported before]
        proven by averages in review/tests/ISS-001_averages.test.js
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
    Score 8.5 of 10: 1 proven issue (1 high), 1 observation, 1 discarded; reaches the threshold of 7.

    wrapped
    ISS-001 src/numbers.js:4: high: the average is wrong [correctness P3, known]
        proven by averages in review/tests/ISS-001_averages.test.js
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
    Score 8.5 of 10: 1 proven issue (1 high), 1 observation, 1 discarded; reaches the threshold of 7.
    ");
    assert_eq!(git(repo.path(), &["status", "--porcelain"]), "", "git does not see it");

    // Elsewhere the tests have another path, which only people are told.
    let agent = format!("replay:{}", at("bare"));
    let review = ["review", "--agent", &agent, "--repo", repo.path().to_str().unwrap()];
    let output = run(probity().args(review).args(["-o", "o/deep"])).dir(place.path()).run().code(0);
    let shown = "o/deep/tests/ISS-001_averages.test.js";
    insta::assert_snapshot!(output.stdout, @"
    ISS-001 src/numbers.js:4: high: the average is wrong [correctness P3, known]
        proven by averages in o/deep/tests/ISS-001_averages.test.js
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
    Score 8.5 of 10: 1 proven issue (1 high), 1 observation, 1 discarded; reaches the threshold of 7.
    ");
    assert!(place.path().join(shown).is_file());
    let page = review_in(&place.path().join("o/deep"));
    assert_eq!(page["proven_issues"][0]["test_file"], "review/tests/ISS-001_averages.test.js");
    let report = ["review", "report", "o/deep/review.json", "--format"];
    let reports = ["text", "markdown"]
        .map(|format| probity().args(report).args([format]).dir(place.path()).run().code(0).stdout);
    insta::assert_snapshot!(reports.join("\n"), @r"
    ISS-001 src/numbers.js:4: high: the average is wrong [correctness P3, known]
        proven by averages in o/deep/tests/ISS-001_averages.test.js
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
    Score 8.5 of 10: 1 proven issue (1 high), 1 observation, 1 discarded; reaches the threshold of 7.

    ## Review: 8.5 of 10, passes

    Score 8.5 of 10: 1 proven issue \(1 high\), 1 observation, 1 discarded; reaches the threshold of 7.

    ### `ISS-001` the average is wrong

    **high**, correctness, known, at `src/numbers.js:4`, proven (P3) by `averages` in `o/deep/tests/ISS-001_averages.test.js`

    P3: The test fails in all 5 runs and passes in all 5 runs with the fix; no existing test covers the changed files.

    because

    ```text
    averages: AssertionError [ERR_ASSERTION]: 6 == 3
    ```

    ```diff
    --- a/src/numbers.js
    +++ b/src/numbers.js
    @@ -1,5 +1,5 @@
     export function average(numbers) {
       let sum = 0;
       for (const number of numbers) sum += number;
    -  return sum / (numbers.length - 1);
    +  return sum / numbers.length;
     }
    ```

    - `P3`: the test passes with a fix that breaks nothing, or before the change

    ### Observations

    Not proven, and without any weight.

    | | Where | What | Why not proven |
    | --- | --- | --- | --- |
    | OBS-001 | `src/numbers.js:8` | clamp loses numbers | the test fails in all 5 runs, but it fails with the fix as well |

    <details><summary>1 discarded</summary>

    - DIS-001 clamp mixes up its bounds: its test passes: the concern was unfounded

    </details>
    ");
    assert!(!place.path().join("o/deep/.gitignore").exists(), "that is no repository");

    let list = |more: &[&str]| {
        run(probity().args(["review", "history"]).args(more)).dir(place.path()).run().code(0).stdout
    };
    let elsewhere = list(&[]);
    let name = place.path().file_name().unwrap().to_str().unwrap();
    insta::assert_snapshot!(elsewhere.replace(name, "[name]"), @"no review of this repository ([name]) is in the history; `--repo DIR` names another repository, and `--all` lists the reviews of all repositories");
    assert_eq!(list(&["--all"]).lines().count(), 3);
}

#[test]
fn a_gate_knows_what_the_review_was_held_to() {
    let repo = repository();
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    let mut told = findings();
    told[0]["severity_hint"] = json!("critical");
    fs::write(at("told"), told.to_string()).unwrap();
    let review = |more: &[&str]| {
        let agent = format!("replay:{}", at("told"));
        probity()
            .args(["review", "--no-history", "--report-only", "--agent", &agent])
            .args(["-o", &at("out"), "--repo", repo.path().to_str().unwrap()])
            .args(more)
            .env("XDG_CACHE_HOME", &at("cache"))
            .run()
            .code(0);
    };
    let gate = |more: &[&str]| {
        let file = format!("{}/review.json", at("out"));
        probity().args(["review", "gate", &file]).args(more)
    };
    review(&["--threshold", "9"]);
    gate(&[]).run().code(1);
    gate(&["--threshold", "7"]).run().code(0);
    gate(&[]).env("SCORE_THRESHOLD", "7").run().code(0);
    gate(&["--threshold", "8"]).env("SCORE_THRESHOLD", "7").run().code(1);
    review(&["--fail-on-critical"]);
    let said = gate(&[]).run().code(1).stdout;
    assert_eq!(said, "fail: 1 critical issue is proven\n");
    gate(&[]).env("FAIL_ON_CRITICAL", "false").run().code(0);
}

/// What an agent wrote runs with the user's rights then.
#[test]
fn tests_without_bubblewrap_are_announced_and_refused_if_a_sandbox_is_wanted() {
    let repo = repository();
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(at("bin")).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    for name in ["git", "node"] {
        let mut places = std::env::split_paths(&path).map(|directory| directory.join(name));
        let program = places.find(|program| program.is_file()).unwrap();
        symlink(program.canonicalize().unwrap(), place.path().join("bin").join(name)).unwrap();
    }
    fs::write(at("told"), findings().to_string()).unwrap();
    let agent = format!("replay:{}", at("told"));
    let run = |more: &[&str]| {
        let run = probity().args(["review", "--agent", &agent]).args(more).dir(repo.path());
        run.env("PATH", &at("bin")).env("XDG_STATE_HOME", &at("state")).run()
    };
    let output = run(&[]).code(0);
    let warning = output.stderr.lines().next().unwrap();
    insta::assert_snapshot!(warning, @"warning: tests run without a sandbox: bubblewrap does not work on this machine; see `probity doctor`");
    let page = review_in(&repo.path().join("review"));
    insta::assert_snapshot!(page["isolation"]["tests"].as_str().unwrap(), @"none: a separate copy, with access to the network and the files of this machine");
    let output = run(&["--sandbox", "bwrap"]).code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: the tests of a review run in bubblewrap, which does not work on this machine
      help: see `probity doctor`; `--sandbox none` runs the agent and the tests without a sandbox
    ");
}
