//! AI fixes through the built binary: the agent is a process that plays a script, contained as any
//! other would be.

mod bad_answers;
mod called_off;
mod context;
mod engines;
mod example;
mod gates;
mod objectives;
mod proofs;
mod providers;
mod reports;
mod secrets;
mod smoke;

use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) use self::called_off::left;
use crate::binary::{Output, Run, directory, probity};

pub(crate) const MULTI_STAGE: &str = "tally/prefer-multi-stage-build";

pub(crate) const GO: &str = "\
FROM golang:1.22

WORKDIR /src

COPY . .

RUN --mount=type=cache,target=/go/pkg/mod \\
    --mount=type=cache,target=/root/.cache/go-build \\
    go build -o /usr/local/bin/app ./cmd/app

EXPOSE 8080

ENTRYPOINT [\"/usr/local/bin/app\"]
";

pub(crate) const TWO_STAGES: &str = "\
FROM golang:1.22 AS build

WORKDIR /src

COPY . .

RUN --mount=type=cache,target=/go/pkg/mod \\
    --mount=type=cache,target=/root/.cache/go-build \\
    go build -o /usr/local/bin/app ./cmd/app

FROM debian:12-slim

WORKDIR /src

COPY --from=build /usr/local/bin/app /usr/local/bin/app

EXPOSE 8080

ENTRYPOINT [\"/usr/local/bin/app\"]
";

/// A Dockerfile, and an agent that plays a script.
struct Stage {
    dir: TempDir,
}

/// A turn: says this and ends.
pub(crate) fn turn(say: &str) -> String {
    let lines = [
        json!({"on": "session/prompt"}),
        json!({"say": say}),
        json!({"answer": {"stopReason": "end_turn"}}),
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

/// An answer that makes `new` of `old`: all lines out, all lines in.
pub(crate) fn patch(old: &str, new: &str) -> String {
    let lines = |sign: char, text: &str| -> String {
        text.lines().map(|line| format!("{sign}{line}\n")).collect()
    };
    let (removed, added) = (lines('-', old), lines('+', new));
    let (olds, news) = (old.lines().count(), new.lines().count());
    format!(
        "```diff\n--- a/Dockerfile\n+++ b/Dockerfile\n@@ -1,{olds} +1,{news} @@\n{removed}{added}```\n"
    )
}

impl Stage {
    fn new(text: &str, script: &str) -> Self {
        Self { dir: directory(&[("Dockerfile", text), ("agent.ndjson", script)]) }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn command(&self) -> String {
        let script = self.path().join("agent.ndjson");
        format!("{} agent replay {}", env!("CARGO_BIN_EXE_probity"), script.display())
    }

    /// `check --fix` for one rule, with the agent.
    fn fix(&self, rule: &str) -> Run {
        let command = self.command();
        probity()
            .dir(self.path())
            .args(["check", "--fix", "--select", rule, "--format", "json", "--fail-level", "info"])
            .args(["--fix-unsafe", "--acp-command", &command, "Dockerfile"])
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path().join("Dockerfile")).unwrap()
    }
}

/// What became of the only objective.
fn outcome(output: &Output) -> Value {
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(report["ai_fixes"].as_array().unwrap().len(), 1, "{report}");
    report["ai_fixes"][0].clone()
}
