//! What is said about AI fixes: figures, denials, traces, previews, and many files at once.

use std::fs;

use serde_json::{Value, json};

use super::{GO, MULTI_STAGE, Stage, TWO_STAGES, outcome, patch, turn};
use crate::binary::{directory, probity, stable};

#[test]
fn what_the_agent_tried_and_was_denied_is_listed() {
    let ask = json!({"ask": "fs/read_text_file", "params": {"sessionId": "${session}", "path": "/etc/passwd"}});
    let script = turn(&patch(GO, TWO_STAGES)).replacen("\n", &format!("\n{ask}\n"), 1);
    let stage = Stage::new(GO, &script);
    let output = stage.fix(MULTI_STAGE).run().code(0);
    let denied = outcome(&output)["session"]["denied"].to_string();
    insta::assert_snapshot!(denied, @r#"["fs/read_text_file /etc/passwd"]"#);
    insta::assert_snapshot!(stable(&output.stderr), @"
    Fixed 1 issue in 1 file
    note: AI fix tally/prefer-multi-stage-build (Dockerfile:9): applied; asked probity, sandbox: bubblewrap; proof: [proof]
    note:   before: 1 stage
    note:   └── stage 0 FROM golang:1.22
    note:   after: 2 stages
    note:   └── stage 1 FROM debian:12-slim
    note:       └── COPY build FROM golang:1.22
    note: AI fix of Dockerfile: new image: debian:12-slim
    note: AI fix of Dockerfile: the agent was denied: fs/read_text_file /etc/passwd
    ");
}

#[test]
fn figures_are_in_json_and_told_on_demand_and_nothing_of_the_texts_is() {
    let stage = Stage::new(GO, &turn(&patch(GO, TWO_STAGES)));
    let output = stage.fix(MULTI_STAGE).args(["-v"]).run().code(0);
    let session = outcome(&output)["session"].clone();
    assert!(session["promptBytes"].as_u64() > Some(1_000), "{session}");
    assert_eq!(session["answerBytes"], patch(GO, TWO_STAGES).len());
    let figures = output.stderr.split("; ").find(|part| part.starts_with("1 round, ")).unwrap();
    let expected = format!(
        "1 round, {} bytes sent, {} received, {} ms, 0 secrets",
        session["promptBytes"], session["answerBytes"], session["milliseconds"]
    );
    assert_eq!(figures, expected, "{}", output.stderr);
    assert!(!output.stderr.contains("go build"), "{}", output.stderr);
}

#[test]
fn a_trace_holds_both_sides_of_every_round() {
    let bad = TWO_STAGES.replace("EXPOSE 8080\n\n", "");
    let stage = Stage::new(GO, &(turn(&patch(GO, &bad)) + &turn(&patch(&bad, TWO_STAGES))));
    stage.fix(MULTI_STAGE).args(["--ai-trace", "trace.ndjson"]).run().code(0);
    let trace = fs::read_to_string(stage.path().join("trace.ndjson")).unwrap();
    let lines: Vec<Value> = trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds = ["prompt", "answer", "refused", "prompt", "answer"];
    assert_eq!(lines.len(), kinds.len(), "{trace}");
    for (line, kind) in lines.iter().zip(kinds) {
        assert!(!line[kind].is_null(), "{line}");
    }
    assert_eq!(lines[2]["refused"][0]["rule"], "runtime-invariants");
}

#[test]
fn a_dry_run_shows_what_would_be_sent_and_to_whom_and_starts_nothing() {
    let stage = Stage::new(GO, &turn("NO_CHANGE"));
    let output = stage.fix(MULTI_STAGE).args(["--ai-dry-run"]).run().code(1);
    for part in
        ["bytes would be sent to probity, sandbox: bubblewrap", "Objective 1 ", "go build -o"]
    {
        assert!(output.stderr.contains(part), "{part}: {}", output.stderr);
    }
    assert_eq!(outcome(&output)["reason"], "ai-disabled");
    assert_eq!(stage.text(), GO);
}

#[test]
fn a_diff_shows_the_proposal_and_writes_nothing() {
    let stage = Stage::new(GO, &turn(&patch(GO, TWO_STAGES)));
    let command = stage.command();
    let args = [
        "check",
        "--fail-level",
        "info",
        "--diff",
        "--fix-unsafe",
        "--acp-command",
        &command,
        "Dockerfile",
    ];
    let output = probity().dir(stage.path()).args(args).run().code(1);
    insta::assert_snapshot!(output.stdout, @r#"
    --- a/Dockerfile
    +++ b/Dockerfile
    @@ -1,4 +1,4 @@
    -FROM golang:1.22
    +FROM golang:1.22 AS build
     
     WORKDIR /src
     
    @@ -8,6 +8,12 @@
         --mount=type=cache,target=/root/.cache/go-build \
         go build -o /usr/local/bin/app ./cmd/app
     
    +FROM debian:12-slim
    +
    +WORKDIR /src
    +
    +COPY --from=build /usr/local/bin/app /usr/local/bin/app
    +
     EXPOSE 8080
     
     ENTRYPOINT ["/usr/local/bin/app"]
    "#);
    assert_eq!(stage.text(), GO);
}

#[test]
fn files_are_fixed_at_the_same_time_and_reported_in_order() {
    let files: Vec<String> = (0..3).map(|index| format!("{index}/Dockerfile")).collect();
    let slow = turn(&patch(GO, TWO_STAGES)).replacen("\n", "\n{\"sleep\":1500}\n", 1);
    let mut all: Vec<(&str, &str)> = files.iter().map(|file| (file.as_str(), GO)).collect();
    all.push(("agent.ndjson", &slow));
    let dir = directory(&all);
    let script = dir.path().join("agent.ndjson");
    let command = format!("{} agent replay {}", env!("CARGO_BIN_EXE_probity"), script.display());
    let args = [
        "check",
        "--fail-level",
        "info",
        "--fix",
        "--fix-ai",
        "--format",
        "json",
        "--ai-trace",
        "t",
        ".",
    ];
    // The image runs as root before and after, which is not what is asked for here.
    let rest = ["--ignore", "probity/missing-user", "--acp-command", &command];
    let output = probity().dir(&dir).args(args).args(rest).run().code(0);
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    let told: Vec<&str> = report["ai_fixes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|fix| fix["file"].as_str())
        .collect();
    assert_eq!(told, files);
    for file in &files {
        assert_eq!(fs::read_to_string(dir.path().join(file)).unwrap(), TWO_STAGES);
    }
    // All were asked before the first had answered.
    let trace = fs::read_to_string(dir.path().join("t")).unwrap();
    let first: Vec<bool> = trace.lines().take(3).map(|line| line.contains("\"prompt\":")).collect();
    assert_eq!(first, [true; 3], "{trace}");
}
