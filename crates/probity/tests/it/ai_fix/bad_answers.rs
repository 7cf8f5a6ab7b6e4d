//! Answers and agents of every bad kind: each its own outcome, the file untouched, the finding told.

use serde_json::json;

use super::{GO, MULTI_STAGE, Stage, TWO_STAGES, outcome, patch, turn};

const ON: &str = "{\"on\":\"session/prompt\"}\n";

#[test]
fn every_bad_answer_has_its_own_outcome_and_the_file_stays_as_it_is() {
    let hunk = "@@ -1,3 +1,3 @@\n FROM golang:1.22\n \n-WORKDIR /srv\n+WORKDIR /app\n";
    let wrong_file = patch(GO, TWO_STAGES).replace("Dockerfile", "Makefile");
    let wrong_text = format!("```diff\n--- a/Dockerfile\n+++ b/Dockerfile\n{hunk}```\n");
    let two = format!("{0}{0}", patch(GO, TWO_STAGES));
    let twice = |say: &str| turn(say) + &turn(say);
    let end = |reason: &str| format!("{ON}{}\n", json!({"answer": {"stopReason": reason}}));
    let flood = format!(
        "{ON}{}\n{}\n",
        json!({"say": "x".repeat(1 << 20), "times": 3}),
        json!({"answer": {"stopReason": "end_turn"}})
    );
    let half = format!("{ON}{}\n{}\n", json!({"half": "{\"jsonrpc\""}), json!({"exit": 0}));
    let fails = format!("{ON}{}\n", json!({"fail": {"code": -1, "message": "no quota"}}));
    let mut outcomes = Vec::new();
    for (what, script) in [
        ("prose", twice("I would use two stages.")),
        ("two blocks", twice(&two)),
        ("empty", twice("")),
        ("wrong file", twice(&wrong_file)),
        ("wrong text", twice(&wrong_text)),
        ("refusal", end("refusal")),
        ("cut off", end("max_tokens")),
        ("3 MiB", flood),
        ("half a line", half),
        ("dead", format!("{ON}{}\n", json!({"exit": 3}))),
        ("error", fails),
    ] {
        let stage = Stage::new(GO, &script);
        let output = stage.fix(MULTI_STAGE).run().code(1);
        let outcome = outcome(&output);
        let text = |key: &str| outcome[key].as_str().unwrap().to_owned();
        outcomes.push(format!("{what}: {}: {}", text("reason"), text("detail")));
        assert_eq!(stage.text(), GO, "{what}");
        assert!(
            output.stdout.contains("\"rule\":\"tally/prefer-multi-stage-build\",\"message\""),
            "{what}"
        );
    }
    insta::assert_snapshot!(outcomes.join("\n"), @"
    prose: malformed-output: answer_prose: the answer is prose without a block
    two blocks: malformed-output: answer_several_blocks: the answer contains 2 blocks instead of one
    empty: malformed-output: answer_empty: the answer is empty
    wrong file: patch-rejected: patch_file_mismatch: the patch is for a/Makefile, not for Dockerfile
    wrong text: patch-rejected: patch_apply_failed: hunk 1 of the patch (its line 3) does not apply: line 3 of the file is not the line that the patch expects there, and its lines occur nowhere else
    refusal: agent-failed: the agent refused
    cut off: agent-failed: the answer is cut off: the agent reached its limit of tokens
    3 MiB: malformed-output: probity: reading the answer: the answer is longer than 2097152 bytes
    half a line: agent-failed: probity: asking: the agent ended with exit code 0
    dead: agent-failed: probity: asking: the agent ended with exit code 3
    error: agent-failed: probity: asking: the agent reports an error: no quota (-1)
    ");
}

#[test]
fn wrong_hunk_numbers_are_put_right_and_said() {
    let answer = patch(GO, TWO_STAGES).replace("@@ -1,", "@@ -2,");
    let stage = Stage::new(GO, &turn(&answer));
    let output = stage.fix(MULTI_STAGE).run().code(0);
    let notes = outcome(&output)["session"]["notes"].to_string();
    insta::assert_snapshot!(notes, @r#"["hunk 1 of the patch belonged to line 1 instead of 2","new image: debian:12-slim"]"#);
    assert_eq!(stage.text(), TWO_STAGES);
}

#[test]
fn an_agent_that_hangs_is_ended_when_its_time_is_up() {
    for hang in ["listening", "deaf"] {
        let stage = Stage::new(GO, &format!("{ON}{}\n", json!({"hang": hang})));
        let output = stage.fix(MULTI_STAGE).args(["--ai-timeout", "2s"]).run().code(1);
        let outcome = outcome(&output);
        assert_eq!(outcome["reason"], "agent-timeout", "{outcome}");
        assert_eq!(stage.text(), GO);
    }
}

#[test]
fn a_program_that_is_missing_or_no_agent_is_an_agent_that_failed() {
    for command in ["no-such-agent-anywhere --acp", "true"] {
        let stage = Stage::new(GO, "");
        let output = stage.fix(MULTI_STAGE).args(["--acp-command", command]).run().code(1);
        assert_eq!(outcome(&output)["reason"], "agent-failed", "{command}");
        assert_eq!(stage.text(), GO);
    }
}
