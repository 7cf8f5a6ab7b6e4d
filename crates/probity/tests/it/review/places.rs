//! Where a review takes its findings from and leaves its files, and what is said of both.

use std::{fs, os::unix::fs::symlink};

use serde_json::json;

use super::{findings, git, probity, repository, review_in};
use crate::binary::{Run, named};

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
    assert_eq!(said, "fail: 1 proven issue is critical\n");
    gate(&[]).env("FAIL_ON_CRITICAL", "false").run().code(0);
    review(&["--fail-on", "high"]);
    let said = gate(&[]).run().code(1).stdout;
    assert_eq!(said, "fail: 1 proven issue is high or above\n");
    gate(&["--fail-on", "none"]).run().code(0);
}

/// Nobody said anything about it.
#[test]
fn one_proven_high_issue_fails_a_review_that_has_the_score() {
    let repo = repository();
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    fs::write(at("told"), findings().to_string()).unwrap();
    let review = |more: &[&str]| {
        let run = crate::binary::probity().args(["review", "--no-history"]).args(more);
        let run = run.args(["--agent", &format!("replay:{}", at("told")), "-o", &at("out")]);
        run.dir(repo.path()).env("XDG_CACHE_HOME", &at("cache")).run()
    };
    let output = review(&[]).code(1);
    let end = "reaches the threshold of 7, but 1 proven issue is high or above.\n";
    assert!(output.stdout.ends_with(end), "{}", output.stdout);
    review(&["--fail-on", "critical"]).code(0);
    // The base has to exist, whatever it is for.
    for more in [&["--base", "nowhere"][..], &["--whole", "--base", "nowhere"]] {
        let output = review(more).code(2);
        assert!(output.stderr.contains("no branch or commit `nowhere`"), "{}", output.stderr);
    }
    git(repo.path(), &["checkout", "-q", "-b", "topic"]);
    fs::write(repo.path().join("notes.txt"), "new\n").unwrap();
    git(repo.path(), &["add", "."]);
    git(repo.path(), &["commit", "-q", "-m", "notes"]);
    let notes = |more: &[&str]| {
        review(more);
        let page = review_in(&place.path().join("out"));
        (page["metadata"]["files_reviewed"].clone(), page["notes"].to_string())
    };
    let (files, told) = notes(&[]);
    assert_eq!(files, 0);
    assert!(told.contains("only the change since main is reviewed"), "{told}");
    // Asked on another machine than proven, too.
    let agent = format!("replay:{}", at("told"));
    let ask = ["review", "ask", "--no-history", "--agent", &agent, "--output", &at("asked")];
    crate::binary::probity().args(ask).dir(repo.path()).run().code(0);
    let asked = fs::read_to_string(format!("{}/claims.json", at("asked"))).unwrap();
    assert!(asked.contains("only the change since main is reviewed"), "{asked}");
    let (files, told) = notes(&["--whole"]);
    assert_ne!(files, 0);
    assert!(!told.contains("only the change"), "{told}");
}

/// A machine with git and node, and nothing that sandboxes.
struct Bare {
    repo: tempfile::TempDir,
    place: tempfile::TempDir,
}

impl Bare {
    fn new() -> Self {
        let (repo, place) = (repository(), tempfile::tempdir().unwrap());
        let bare = Self { repo, place };
        fs::create_dir(bare.at("bin")).unwrap();
        let path = std::env::var_os("PATH").unwrap();
        for name in ["git", "node"] {
            let mut places = std::env::split_paths(&path).map(|directory| directory.join(name));
            let program = places.find(|program| program.is_file()).unwrap();
            symlink(program.canonicalize().unwrap(), bare.place.path().join("bin").join(name))
                .unwrap();
        }
        fs::write(bare.at("told"), findings().to_string()).unwrap();
        bare
    }

    fn at(&self, name: &str) -> String {
        self.place.path().join(name).to_str().unwrap().to_owned()
    }

    fn run(&self, name: &str, arguments: &[&str]) -> Run {
        let run = named(name).args(arguments).dir(self.repo.path());
        let run = run.env("PATH", &self.at("bin")).env("XDG_STATE_HOME", &self.at("state"));
        run.env("XDG_CACHE_HOME", &self.at("cache")).env("PROBITY_REVIEW__FAIL_ON", "none")
    }

    fn agent(&self) -> String {
        format!("replay:{}", self.at("told"))
    }
}

/// What an agent wrote would run with the user's rights then.
#[test]
fn without_a_sandbox_no_test_runs_unless_the_user_says_so() {
    let bare = Bare::new();
    let agent = bare.agent();
    let review = ["review", "--agent", &agent];
    let run = |more: &[&str]| bare.run("probity", &[&review[..], more].concat()).without_landlock();
    let output = run(&[]).run().code(2);
    insta::assert_snapshot!(output.stderr, @"
    error: no sandbox is available for the tests
        bubblewrap: bwrap is not installed (the package is bubblewrap)
        landlock: the kernel has no Landlock, or a filter around this process forbids it
      help: install bubblewrap, or allow what the reasons name; `--sandbox none` runs the tests without a sandbox, with all your rights
    ");
    let page = review_in(&bare.repo.path().join("review"));
    assert_eq!(page["status"], "error", "{page:#}");
    // An older kernel's Landlock keeps no signal inside.
    let output = run(&[]).env("PROBITY_SANDBOX_TEST_LANDLOCK", "4").run().code(2);
    let why = "landlock: the kernel's Landlock is version 4, which keeps no signal inside; version 6 does \
               (Linux 6.12)";
    assert!(output.stderr.contains(why), "{}", output.stderr);
    run(&["--sandbox", "bwrap"]).run().code(2);
    // A repository does not decide it.
    fs::write(bare.repo.path().join("probity.toml"), "[review]\nsandbox = \"none\"\n").unwrap();
    run(&[]).run().code(2);
    let none = [run(&["--sandbox", "none"]), run(&[]).env("PROBITY_REVIEW__SANDBOX", "none")];
    for run in none {
        let output = run.run().code(0);
        let warning =
            "warning: tests run without a sandbox, with all your rights: you asked for none";
        assert!(output.stderr.lines().any(|line| line == warning), "{}", output.stderr);
    }
    let page = review_in(&bare.repo.path().join("review"));
    insta::assert_snapshot!(page["isolation"]["tests"].as_str().unwrap(), @"none: a separate copy, with access to the network and the files of this machine");
}

/// Every command that starts something, on that machine: its exit code, and what tells of the refusal.
#[test]
fn without_a_sandbox_every_command_refuses_to_start_anything() {
    let bare = Bare::new();
    let agent = bare.agent();
    let run = |name: &str, arguments: &[&str]| bare.run(name, arguments).without_landlock();
    // An agent that only reads its file needs no sandbox; the tests of its claims do.
    run("probity", &["review", "ask", "--agent", &agent]).run().code(0);
    let command = "acp:node";
    let told = format!("{}/audit.ndjson", bare.place.path().display());
    fs::write(&told, "").unwrap();
    for (name, arguments, code) in [
        ("probity", &["exec", "--", "true"][..], 11),
        ("probity", &["agent", "ask", command, "why"], 2),
        ("probity", &["review", "--agent", command], 2),
        ("probity", &["review", "prove"], 2),
        ("ci-agent-review", &[], 2),
        (
            "probity",
            &["audit", "--provider", "acp", "--agent", "node --acp", "--include", "src/*.js"],
            1,
        ),
        (
            "probity",
            &[
                "audit",
                "--prove",
                "--provider",
                "replay",
                "--agent",
                &told,
                "--include",
                "src/*.js",
            ],
            1,
        ),
    ] {
        let output = run(name, arguments).env("AGENT_CLI", &agent).env("REPO_DIR", ".").run();
        let is_told = output.stderr.contains("no sandbox is available for the")
            && output.stderr.contains("landlock: the kernel has no Landlock")
            && output.stderr.contains("--sandbox none");
        assert!(is_told, "{arguments:?}: {} {}", output.stdout, output.stderr);
        assert_eq!(output.code, Some(code), "{arguments:?}: {}", output.stderr);
    }
    let step = run("ci-agent-review", &[]).env("AGENT_CLI", &agent).env("REPO_DIR", ".");
    step.env("REVIEW_SANDBOX", "none").env("OUTPUT_DIR", &bare.at("out")).run().code(0);
}

/// As in a container, where bubblewrap cannot start.
#[test]
fn with_landlock_alone_a_review_proves_what_it_proves_elsewhere() {
    let bare = Bare::new();
    let output = bare.run("probity", &["review", "--agent", &bare.agent()]).run().code(0);
    assert_eq!(output.stderr.matches("without a sandbox").count(), 0, "{}", output.stderr);
    let page = review_in(&bare.repo.path().join("review"));
    let list = |key: &str| page[key].as_array().unwrap().len();
    let counts = (list("proven_issues"), list("observations"), list("discarded"));
    assert_eq!(counts, (1, 1, 1), "{page:#}");
    insta::assert_snapshot!(page["isolation"]["tests"].as_str().unwrap(), @"landlock: a separate copy, no network and no loopback, no other files of this machine");
}
