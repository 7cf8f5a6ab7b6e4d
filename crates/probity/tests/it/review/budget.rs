//! `--budget`: an agent that reports its cost is stopped, and the review says so.

use std::fs;

use serde_json::{Value, json};

use super::{findings, probity, repository, review_in};
use crate::binary::Output;

/// A turn of an agent that reports this cost of its session before it does the rest.
fn turn(dollars: f64, rest: &[Value]) -> String {
    let cost = json!({ "amount": dollars, "currency": "USD" });
    let update = json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost });
    let mut lines = vec![json!({ "on": "session/prompt" }), json!({ "update": update })];
    lines.extend_from_slice(rest);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn review(script: &str) -> (Output, Value) {
    let (repo, place) = (repository(), tempfile::tempdir().unwrap());
    let (file, out) = (place.path().join("agent.ndjson"), place.path().join("out"));
    fs::write(&file, script).unwrap();
    let output = probity()
        .args(["review", "--no-history", "--budget", "0.5"])
        .args(["--agent", &format!("replay:{}", file.display())])
        .args(["--output", out.to_str().unwrap()])
        .env("XDG_CACHE_HOME", place.path().join("cache").to_str().unwrap())
        .dir(repo.path())
        .run();
    (output, review_in(&out))
}

#[test]
fn an_agent_that_passes_the_budget_while_it_looks_for_defects_is_stopped() {
    // The agent ends its turn only after probity cancels it.
    let stops =
        [json!({ "await": "session/cancel" }), json!({ "answer": { "stopReason": "cancelled" } })];
    let (output, review) = review(&turn(0.75, &stops));
    let output = output.code(2);
    insta::assert_snapshot!(output.stderr, @"
    no review: replay of agent.ndjson: asking: the agent was stopped because it exceeded its budget: this answer has cost 0.75 US dollars
    help: raise the budget, or ask for less
    cost: 0 input and 0 output tokens, 0.75 US dollars
    ");
    assert_eq!(review["status"], "error");
    assert_eq!(review["cost"]["usd"], 0.75);
    assert_eq!(review["cost"]["budget_usd"], 0.5);
}

#[test]
fn an_agent_that_passes_the_budget_while_it_writes_better_fixes_loses_only_those() {
    let mut claims = findings();
    claims.as_array_mut().unwrap().truncate(1);
    claims[0]["fix_patch"] = Value::Null;
    let answer =
        [json!({ "say": claims.to_string() }), json!({ "answer": { "stopReason": "end_turn" } })];
    let stops =
        [json!({ "await": "session/cancel" }), json!({ "answer": { "stopReason": "cancelled" } })];
    let script = turn(0.25, &answer) + &turn(0.75, &stops);
    let (_, review) = review(&script);
    let notes: Vec<&str> =
        review["notes"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    insta::assert_snapshot!(notes.join("\n"), @"the agent offered no further fixes: replay of agent.ndjson: asking: the agent was stopped because it exceeded its budget: this answer has cost 0.50 US dollars");
    assert_eq!((&review["status"], &review["cost"]["usd"]), (&json!("ok"), &json!(0.75)));
}
