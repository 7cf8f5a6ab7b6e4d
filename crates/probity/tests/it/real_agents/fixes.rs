//! An AI fix by a real agent: its model forgets something, is told so, and the second proposal is
//! taken.

use std::fs;

use serde_json::Value;

use super::{ALL, RealAgent, turns::Place};
use crate::{binary::probity, model_server::ModelServer};

const OLD: &str = "\
# forgets the entrypoint
FROM golang:1.22

WORKDIR /src

COPY . .

RUN go build -o /usr/local/bin/app ./cmd/app

EXPOSE 8080

ENTRYPOINT [\"/usr/local/bin/app\"]
";

const NEW: &str = "\
# forgets the entrypoint
FROM golang:1.22 AS build

WORKDIR /src

COPY . .

RUN go build -o /usr/local/bin/app ./cmd/app

FROM debian:12-slim

WORKDIR /src

COPY --from=build /usr/local/bin/app /usr/local/bin/app

EXPOSE 8080

ENTRYPOINT [\"/usr/local/bin/app\"]
";

fn fixes(agent: &RealAgent) {
    let server = ModelServer::start();
    let place = Place::new(agent, &server);
    let workspace = place.home.path().join("workspace");
    fs::create_dir(&workspace).unwrap();
    fs::write(workspace.join("Dockerfile"), OLD).unwrap();
    let mut run = probity()
        .args(["check", "--fix", "--fix-unsafe", "--fix-ai", "--ai", "--ai-timeout", "5m"])
        .args(["--select", "tally/prefer-multi-stage-build", "--format", "json", "Dockerfile"])
        .env("TALLY_AI_AGENT", agent.name)
        .dir(&workspace);
    for (name, value) in place.variables(agent, &server) {
        run = run.env(name.to_str().unwrap(), value.to_str().unwrap());
    }
    let output = run.run();
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    let fix = &report["ai_fixes"][0];
    assert_eq!(fix["outcome"], "applied", "{}: {fix:#}\n{}", agent.name, output.stderr);
    assert_eq!(fix["session"]["rounds"], 2, "{fix:#}");
    assert_eq!(fix["session"]["containedBy"], "bubblewrap", "{fix:#}");
    assert_eq!(fs::read_to_string(workspace.join("Dockerfile")).unwrap(), NEW);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    // The model heard of the file by the agent's own wire, and nothing of where it is.
    let asked = server.requests();
    let told = asked.iter().filter(|request| request.body.to_string().contains("Objective"));
    assert!(told.clone().count() >= 2, "{}", agent.name);
    for request in told {
        assert!(request.path.contains(agent.wire), "{}: {}", agent.name, request.path);
        let path = workspace.display().to_string();
        assert!(!request.body.to_string().contains(&path), "{}", agent.name);
    }
    assert_eq!(place.left(), Vec::<String>::new(), "{}", agent.name);
}

#[test]
fn claude_fixes_a_dockerfile_in_two_rounds() {
    fixes(&ALL[0]);
}

#[test]
fn gemini_fixes_a_dockerfile_in_two_rounds() {
    fixes(&ALL[1]);
}

#[test]
fn opencode_fixes_a_dockerfile_in_two_rounds() {
    fixes(&ALL[2]);
}
