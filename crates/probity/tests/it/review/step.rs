//! The CI step: told by its environment, judged by its exit code, and never a green no-op.

use std::{fs, path::Path};

use serde_json::json;

use super::{commit, findings, git, named, probity, recorded, repository, review_in};
use crate::{
    binary::{Output, Run, directory, stable},
    sarif::valid,
};

/// A step beside a repository, as the task has them.
fn step(place: &Path, variables: &[(&str, &str)]) -> Output {
    let cache = place.join("cache");
    let run = named("ci-agent-review").dir(place).env("XDG_CACHE_HOME", cache.to_str().unwrap());
    variables.iter().fold(run, |run: Run, (name, value)| run.env(name, value)).run()
}

/// A place with a repository in `repo`, and the agent that is recorded there.
fn place(answer: &str) -> (tempfile::TempDir, String) {
    let repo = repository();
    let place = tempfile::tempdir().unwrap();
    git(place.path(), &["clone", "-q", repo.path().to_str().unwrap(), "repo"]);
    let agent = recorded(place.path(), answer);
    (place, agent)
}

#[test]
fn the_environment_says_everything_and_a_gate_can_say_it_later() {
    let (place, agent) = place(&findings().to_string());
    let here = place.path();
    let base = [("AGENT_CLI", agent.as_str())];
    let with = |more: &[(&str, &str)]| step(here, &[&base[..], more].concat());
    with(&[]).code(0);
    let page = review_in(&here.join("review"));
    assert_eq!((page["score"]["threshold"].as_f64(), page["changes"].is_null()), (Some(7.0), true));
    assert_eq!(
        page["metadata"]["commit"],
        git(&here.join("repo"), &["rev-parse", "HEAD"]).as_str()
    );
    for name in ["review.md", "review.sarif", "review.junit.xml", "review.gitlab.json"] {
        assert!(fs::read_to_string(here.join("review").join(name)).unwrap().contains("average"));
    }
    let sarif = fs::read_to_string(here.join("review/review.sarif")).unwrap();
    assert_eq!(valid(&sarif)["runs"][0]["results"].as_array().map(Vec::len), Some(2));
    with(&[("SCORE_THRESHOLD", "9"), ("OUTPUT_DIR", "out")]).code(1);
    let report_only = [("SCORE_THRESHOLD", "9"), ("REVIEW_REPORT_ONLY", "true")];
    with(&report_only).code(0);
    // Whoever says nothing means what the review was held to.
    for (threshold, critical, code) in
        [("9", "false", 1), ("8.5", "false", 0), ("0", "false", 0), ("", "", 1), ("8.5", "true", 0)]
    {
        let gate = named("ci-agent-review").args(["gate"]).dir(here);
        let gate = gate.env("SCORE_THRESHOLD", threshold).env("FAIL_ON_CRITICAL", critical);
        gate.run().code(code);
        let file = here.join("review/review.json");
        let args = ["review", "gate", file.to_str().unwrap()];
        let gate = probity().args(args).env("SCORE_THRESHOLD", threshold);
        gate.env("FAIL_ON_CRITICAL", critical).run().code(code);
    }
    // Strict weighs the one issue 2.5, and paths leave nothing to review.
    with(&[("REVIEW_PROFILE", "strict")]).code(0);
    assert_eq!(review_in(&here.join("review"))["score"]["value"], 7.5);
    with(&[("REVIEW_PATHS", "docs/**,\n cmd")]).code(2);
    let page = review_in(&here.join("review"));
    assert_eq!(page["metadata"]["files_reviewed"], 0);
    assert_eq!(page["error"]["message"], "no file matches docs/**, cmd");
    // The optional input of the task.
    fs::create_dir(here.join("review-config")).unwrap();
    fs::write(here.join("review-config/review.yml"), "severity_weights: { high: 10 }\n").unwrap();
    with(&[]).code(1);
    assert_eq!(review_in(&here.join("review"))["score"]["value"], 0.0);
}

#[test]
fn what_cannot_be_read_is_said_before_anything_is_asked() {
    let (place, agent) = place("[]");
    let here = place.path();
    fs::write(here.join("bad.yml"), "include: []\nexlude: []\n").unwrap();
    let mut refusals = Vec::new();
    for variable in [
        ("SCORE_THRESHOLD", "eleven"),
        ("FAIL_ON_CRITICAL", "maybe"),
        ("REVIEW_PROFILE", "lax"),
        ("REVIEW_CONFIG", "none.yml"),
        ("REVIEW_CONFIG", "bad.yml"),
        ("REVIEW_PATHS", "a["),
        ("REPO_DIR", "nowhere"),
        ("OUTPUT_DIR", "repo"),
        ("AGENT_CLI", "no agent"),
    ] {
        let base = [("AGENT_CLI", agent.as_str())];
        let output = step(here, &[&base[..], &[variable]].concat()).code(2);
        refusals.push(format!("{variable:?}\n{}", output.stderr));
        if here.join("review/review.json").exists() {
            let page = review_in(&here.join("review"));
            assert_eq!((&page["status"], &page["score"]["pass"]), (&json!("error"), &json!(false)));
        }
        assert!(!here.join("repo/review.json").exists(), "{variable:?}");
    }
    insta::assert_snapshot!(refusals.join("\n"), @r#"
    ("SCORE_THRESHOLD", "eleven")
    error: SCORE_THRESHOLD cannot be read: expected a number from 0 to 10

    ("FAIL_ON_CRITICAL", "maybe")
    error: FAIL_ON_CRITICAL cannot be read: expected true or false

    ("REVIEW_PROFILE", "lax")
    error: unknown profile `lax`, expected one of default, security, strict
      help: choose one with --profile; `probity review --help` describes it

    ("REVIEW_CONFIG", "none.yml")
    error: cannot read none.yml
      cause: No such file or directory (os error 2)
      help: name a review.yml that exists

    ("REVIEW_CONFIG", "bad.yml")
    error: bad.yml is not valid
      cause: 2:1: unknown field `exlude`, expected one of version, severity_weights, categories, include, exclude, proof
      help: `probity review --help` lists the settings that a review.yml can have

    ("REVIEW_PATHS", "a[")
    error: the paths to review cannot be read
      cause: `a[` is not a glob: unclosed character class; missing ']'
      help: paths are globs such as src/** or cmd/*.go

    ("REPO_DIR", "nowhere")
    error: there is no repository in nowhere
      help: name its directory with --repo, or REPO_DIR

    ("OUTPUT_DIR", "repo")
    error: repo is the repository itself, which is never written to
      help: name a directory for the output with --output

    ("AGENT_CLI", "no agent")
    error: there is no such agent
      cause: `no agent` has a ' ' and is not the name of an agent; a command is written acp:COMMAND or cmd:COMMAND
      help: `probity agent list` names the agents that are known
    "#);
}

#[test]
fn a_review_that_passed_does_not_outlive_a_run_that_failed_and_a_forged_one_opens_no_gate() {
    let (place, agent) = place("[]");
    let here = place.path();
    let base = [("AGENT_CLI", agent.as_str())];
    let gate = || named("ci-agent-review").args(["gate"]).dir(here).run();
    for mistake in [("REVIEW_CONFIG", "none.yml"), ("SCORE_THRESHOLD", "x"), ("REPO_DIR", "no")] {
        step(here, &base).code(0);
        gate().code(0);
        step(here, &[&base[..], &[mistake]].concat()).code(2);
        gate().code(2);
    }
    step(here, &base).code(0);
    let file = here.join("review/review.json");
    let page = review_in(&here.join("review"));
    let mut refusals = Vec::new();
    for (field, value) in [("value", json!(99)), ("value", json!(9)), ("pass", json!(false))] {
        let mut forged = page.clone();
        forged["score"][field] = value;
        fs::write(&file, forged.to_string()).unwrap();
        refusals.push(gate().code(2).stderr);
    }
    insta::assert_snapshot!(refusals.join("\n"), @"
    error: review/review.json contradicts itself
      cause: score: 99 is more than 10
      help: run `probity review` again, which writes a new review.json

    error: review/review.json contradicts itself
      cause: score: 9 is not 10 minus 0
      help: run `probity review` again, which writes a new review.json

    error: review/review.json contradicts itself
      cause: score: pass is false, which its value contradicts
      help: run `probity review` again, which writes a new review.json
    ");
}

/// Scores that leave out what an issue costs.
#[test]
fn a_review_with_an_issue_that_costs_nothing_opens_no_gate() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("review.json");
    let page = json!({
        "schema_version": "1.0.0",
        "metadata": {
            "repo": "r", "commit": "c", "branch": "b", "timestamp": "2026-01-01T00:00:00Z",
            "duration_seconds": 1, "agent_cli": "claude", "agent_model": "", "files_reviewed": 1,
            "tests_generated": 1, "tests_failing": 1,
        },
        "score": {
            "value": 7, "max": 10, "pass": true, "threshold": 7,
            "deductions": [{ "issue_id": "ISS-001", "severity": "critical", "points": 3 }],
        },
        "proven_issues": [{
            "id": "ISS-001", "severity": "critical", "title": "t", "description": "d",
            "file": "a.go", "line": 1, "category": "security", "test_file": "a_test.go",
            "test_name": "TestA", "test_code": "", "test_output": "",
        }],
        "observations": [],
        "test_summary": { "total_generated": 1, "passing": 0, "failing": 1, "error": 0 },
        "summary": "One issue.",
    });
    let other = json!([{ "issue_id": "ISS-002", "severity": "critical", "points": 3 }]);
    let milder = json!([{ "issue_id": "ISS-001", "severity": "low", "points": 3 }]);
    let more = json!([
        { "issue_id": "ISS-001", "severity": "critical", "points": 3 },
        { "issue_id": "ISS-002", "severity": "low", "points": 0 },
    ]);
    let none_at_all = [("value", json!(10)), ("deductions", json!([]))];
    let another_scale = [("value", json!(100)), ("max", json!(100)), ("deductions", json!([]))];
    let mut refusals = Vec::new();
    for (name, changes, code) in [
        ("as it was", &[][..], 0),
        ("no deductions", &none_at_all[..], 2),
        ("another scale", &another_scale[..], 2),
        ("another issue", &[("deductions", other)][..], 2),
        ("a milder one", &[("deductions", milder)][..], 2),
        ("one more", &[("deductions", more)][..], 2),
    ] {
        let mut forged = page.clone();
        for (field, value) in changes {
            forged["score"][*field] = value.clone();
        }
        fs::write(&file, forged.to_string()).unwrap();
        let output = probity().dir(&place).args(["review", "gate", "review.json"]).run().code(code);
        refusals.push(format!("{name}: {}", output.stderr));
    }
    insta::assert_snapshot!(refusals.join("\n"), @"
    as it was: 
    no deductions: error: review.json contradicts itself
      cause: score: the proven issue ISS-001 (critical) does not have exactly one deduction
      help: run `probity review` again, which writes a new review.json

    another scale: error: review.json contradicts itself
      cause: score: max is 100, not 10
      help: run `probity review` again, which writes a new review.json

    another issue: error: review.json contradicts itself
      cause: score: the proven issue ISS-001 (critical) does not have exactly one deduction
      help: run `probity review` again, which writes a new review.json

    a milder one: error: review.json contradicts itself
      cause: score: the proven issue ISS-001 (critical) does not have exactly one deduction
      help: run `probity review` again, which writes a new review.json

    one more: error: review.json contradicts itself
      cause: score: a deduction belongs to no proven issue
      help: run `probity review` again, which writes a new review.json
    ");
}

#[test]
fn an_agent_that_fails_is_an_error_and_never_a_score() {
    let (place, _) = place("[]");
    let here = place.path();
    let scripts = directory(&[
        ("dies.sh", "echo cannot reach the model >&2; exit 3\n"),
        ("prose.sh", "echo 'Everything looks fine to me.'\n"),
        ("half.sh", "echo '[{\"title\": \"x\", \"file\": '\n"),
        ("mute.sh", "exit 0\n"),
    ]);
    let command = |name: &str| format!("cmd:sh {}", scripts.path().join(name).display());
    let (mut reasons, mut gates, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
    for agent in [
        command("dies.sh"),
        command("prose.sh"),
        command("half.sh"),
        command("mute.sh"),
        "claude".to_owned(),
        "cmd:no-such-agent".to_owned(),
        "replay:gone.ndjson".to_owned(),
    ] {
        let path = "/usr/bin:/bin";
        let output = step(here, &[("AGENT_CLI", &agent), ("PATH", path)]).code(2);
        let page = review_in(&here.join("review"));
        assert_eq!((&page["status"], &page["error"]["kind"]), (&json!("error"), &json!("agent")));
        reasons.push(format!("{agent}\n{}", page["error"]["message"].as_str().unwrap()));
        assert_eq!(output.stdout, "");
        assert!(!output.stderr.contains("Score"), "{}", output.stderr);
        assert!(output.stderr.contains("no review: "), "{}", output.stderr);
        // The gate does not pass what was not reviewed, whatever its threshold.
        let gate = named("ci-agent-review").args(["gate"]).dir(here).env("SCORE_THRESHOLD", "0");
        gates.push(gate.run().code(2).stderr);
        let only = [("AGENT_CLI", agent.as_str()), ("REVIEW_REPORT_ONLY", "1"), ("PATH", path)];
        let said = step(here, &only).code(0).stderr;
        let (_, warning) = said.rsplit_once("warning: ").unwrap();
        warnings.push(format!("warning: {warning}"));
    }
    insta::assert_snapshot!(stable(&reasons.join("\n")), @"
    cmd:sh [dir]/dies.sh
    sh: asking: the agent ended with exit code 3: cannot reach the model
    cmd:sh [dir]/prose.sh
    the answer has no list of findings in it: Everything looks fine to me.
    cmd:sh [dir]/half.sh
    the answer was cut off: it ends in the middle of its JSON
    cmd:sh [dir]/mute.sh
    sh: reading the answer: there is no answer in what the agent wrote
    claude
    claude is not installed: neither `claude` nor `claude-agent-acp` is in your PATH
    cmd:no-such-agent
    `no-such-agent` is not a program in your PATH
    replay:gone.ndjson
    replay of gone.ndjson: preparing: cannot play gone.ndjson: No such file or directory (os error 2)
    ");
    insta::assert_snapshot!(gates.join("\n"), @"
    error: there was no review: sh: asking: the agent ended with exit code 3: cannot reach the model
      help: a gate cannot pass what was not reviewed: run the review again

    error: there was no review: the answer has no list of findings in it: Everything looks fine to me.
      help: a gate cannot pass what was not reviewed: run the review again

    error: there was no review: the answer was cut off: it ends in the middle of its JSON
      help: a gate cannot pass what was not reviewed: run the review again

    error: there was no review: sh: reading the answer: there is no answer in what the agent wrote
      help: a gate cannot pass what was not reviewed: run the review again

    error: there was no review: claude is not installed: neither `claude` nor `claude-agent-acp` is in your PATH
      help: a gate cannot pass what was not reviewed: run the review again

    error: there was no review: `no-such-agent` is not a program in your PATH
      help: a gate cannot pass what was not reviewed: run the review again

    error: there was no review: replay of gone.ndjson: preparing: cannot play gone.ndjson: No such file or directory (os error 2)
      help: a gate cannot pass what was not reviewed: run the review again
    ");
    insta::assert_snapshot!(warnings.join("\n"), @"
    warning: the exit code is 0 because of --report-only (REVIEW_REPORT_ONLY); a gate exits with 2

    warning: the exit code is 0 because of --report-only (REVIEW_REPORT_ONLY); a gate exits with 2

    warning: the exit code is 0 because of --report-only (REVIEW_REPORT_ONLY); a gate exits with 2

    warning: the exit code is 0 because of --report-only (REVIEW_REPORT_ONLY); a gate exits with 2

    warning: the exit code is 0 because of --report-only (REVIEW_REPORT_ONLY); a gate exits with 2

    warning: the exit code is 0 because of --report-only (REVIEW_REPORT_ONLY); a gate exits with 2

    warning: the exit code is 0 because of --report-only (REVIEW_REPORT_ONLY); a gate exits with 2
    ");
    let slow = "cmd:sleep 60";
    let run = probity().args(["review", "--repo", "repo", "--agent", slow, "--timeout", "1s"]);
    run.args(["--no-history"]).dir(here).run().code(2);
    assert_eq!(review_in(&here.join("review"))["error"]["kind"], "timeout");
}

#[test]
fn the_path_of_a_known_program_works_as_that_agent() {
    let (place, _) = place("[]");
    let here = place.path();
    // What its envelope holds is found only if it is read as that of this agent.
    let answer = json!([{
        "title": "unclear name", "file": "src/numbers.js", "line": 1,
        "severity_hint": "low", "category": "maintainability",
    }]);
    let envelope = json!({ "type": "result", "is_error": false, "result": answer.to_string() });
    let program = here.join("opt/claude");
    fs::create_dir(here.join("opt")).unwrap();
    let script = format!("#!/bin/sh\ncat >/dev/null\ncat <<'END'\n{envelope}\nEND\n");
    fs::write(&program, script).unwrap();
    crate::agent::executable(&program);
    for named in [program.to_str().unwrap(), "./opt/claude"] {
        step(here, &[("AGENT_CLI", named)]).code(0);
        let page = review_in(&here.join("review"));
        assert_eq!(page["metadata"]["agent_cli"], "claude", "{page:#}");
        assert_eq!(page["observations"][0]["title"], "unclear name", "{page:#}");
    }
    step(here, &[("AGENT_CLI", "./opt/other")]).code(2);
    let page = review_in(&here.join("review"));
    let message = page["error"]["message"].as_str().unwrap();
    assert_eq!(stable(message), "there is no agent `[dir]/opt/other`");
}

#[test]
fn only_the_change_is_reviewed_in_diff_mode_and_a_shallow_clone_is_explained() {
    let (place, agent) = place(&findings().to_string());
    let here = place.path();
    let repo = here.join("repo");
    git(&repo, &["checkout", "-q", "-b", "topic"]);
    fs::write(repo.join("src/other.js"), "export const one = 1;\n").unwrap();
    commit(&repo);
    let diff = [("AGENT_CLI", agent.as_str()), ("REVIEW_DIFF_ONLY", "true"), ("BASE_REF", "main")];
    step(here, &diff).code(0);
    let page = review_in(&here.join("review"));
    assert_eq!(page["metadata"]["files_reviewed"], 1, "{page:#}");
    assert_eq!(page["discarded"].as_array().unwrap().len(), 3);
    assert_eq!(page["discarded"][0]["reason"], "its file is not part of the change");
    assert!(page["metadata"]["merge_base"].as_str().unwrap().len() == 40);
    let shallow = here.join("shallow");
    let from = format!("file://{}", repo.display());
    git(here, &["clone", "-q", "--depth=1", "--no-single-branch", "-b", "topic", &from, "shallow"]);
    let output = step(here, &[&diff[..], &[("REPO_DIR", shallow.to_str().unwrap())]].concat());
    insta::assert_snapshot!(output.code(2).stderr, @"
    no review: `main` and the reviewed commit have no common ancestor in this clone
    help: this clone is shallow: fetch the history first (`git fetch --unshallow`, `fetch-depth: 0`, GIT_DEPTH: 0, or no `depth` on the Concourse get step)
    ");
    assert_eq!(review_in(&here.join("review"))["error"]["kind"], "repository");
}

#[test]
fn keys_stay_out_of_everything_and_the_agent_gets_its_own_alone() {
    let (place, _) = place("[]");
    let here = place.path();
    // It answers with what it can see.
    let script = "env > seen; printf '[{\"title\":\"%s\",\"file\":\"src/numbers.js\",\"line\":1,\
                  \"severity_hint\":\"low\",\"category\":\"testing\",\"description\":\"%s\"}]' \
                  \"$MY_AGENT_KEY\" \"$(tr '\\n' ' ' < seen | tr -d '\"')\"\n";
    fs::write(here.join("agent.sh"), script).unwrap();
    let run = probity().args(["review", "--repo", "repo", "--agent", "cmd:sh ./agent.sh"]);
    let run = run.args(["--env", "MY_AGENT_KEY", "--output", "out"]).dir(here);
    let output = run
        .env("MY_AGENT_KEY", "not-for-reports-9")
        .env("OTHER_TOKEN", "of-nobodys-business")
        .env("DATABASE_URL", "postgres://me:hunter22@localhost/db?host=/nowhere")
        .run()
        .code(0);
    let page = review_in(&here.join("out"));
    let observation = &page["observations"][0];
    assert_eq!(observation["title"], "[key]", "{page:#}");
    insta::assert_snapshot!(page["notes"].to_string(), @r#"["the history cannot be used: cannot connect: No such file or directory (os error 2)"]"#);
    let mut everything = output.stdout + &output.stderr;
    for (_, bytes) in super::contents(&here.join("out")) {
        everything.push_str(&String::from_utf8_lossy(&bytes));
    }
    for secret in ["not-for-reports-9", "of-nobodys-business", "hunter22"] {
        assert!(!everything.contains(secret), "{secret}");
    }
    let seen = observation["description"].as_str().unwrap();
    assert!(seen.contains("MY_AGENT_KEY=[key]") && !seen.contains("DATABASE_URL"), "{seen}");
    assert!(!here.join("repo/seen").exists(), "the agent works in a copy");
}

#[test]
fn github_gets_annotations_and_a_summary() {
    let (place, agent) = place(&findings().to_string());
    let here = place.path();
    let variables = [
        ("AGENT_CLI", agent.as_str()),
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_STEP_SUMMARY", "summary.md"),
    ];
    let output = step(here, &variables).code(0);
    let first = output.stdout.lines().next().unwrap();
    insta::assert_snapshot!(first, @"::error file=src/numbers.js,line=4,endLine=4,title=ISS-001 high correctness::the average is wrong%0Abecause%0AP3: The test fails in all 5 runs and passes in all 5 runs with the fix; no existing test covers the changed files.%0Aproven by averages in review/tests/ISS-001_averages.test.js%0Aaverages: AssertionError [ERR_ASSERTION]: 6 == 3");
    let summary = fs::read_to_string(here.join("summary.md")).unwrap();
    insta::assert_snapshot!(summary, @r"
    ## Review: 8.5 of 10, passes

    Score 8.5 of 10: 1 proven issue \(1 high\), 1 observation, 1 discarded; reaches the threshold of 7.

    ### `ISS-001` the average is wrong

    **high**, correctness, at `src/numbers.js:4`, proven (P3) by `averages` in `review/tests/ISS-001_averages.test.js`

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

    > the agent offered no further fixes: replay of `agent.ndjson:` asking: the agent reports an error: the script has no further answer to session/prompt \(-32603\)
    ");
}
