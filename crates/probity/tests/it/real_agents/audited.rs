//! A real agent as the provider of an audit: it asks for a source in our actions, and quotes it.

use std::fs;

use serde_json::Value;

use super::{CLAUDE, GEMINI, OPENCODE, RealAgent, turns::Place};
use crate::{binary::probity, model_server::ModelServer};

const SKILL: &str =
    "---\nid: datum-1\nname: Datum\nseverity: high\ndescription: d\nprompt_fragment: p\n---\n";
const SOURCE: &str = "validator v {\n  expect InlineDatum(_) = output.datum\n}\n";

fn audits(agent: &RealAgent) {
    let server = ModelServer::start();
    let place = Place::new(agent, &server);
    let project = place.home.path().join("project");
    fs::create_dir_all(project.join("skills/vulnerabilities")).unwrap();
    fs::write(project.join("skills/vulnerabilities/1.md"), SKILL).unwrap();
    fs::write(project.join("v.ak"), SOURCE).unwrap();
    let mut run = probity()
        .args(["audit", "--provider", "acp", "--agent", agent.name, "--sandbox", "bwrap"])
        .args(["--timeout", "5m", "--env", "PROBITY_TEST_PLACE"])
        .dir(&project);
    for (name, value) in place.variables(agent, &server) {
        run = run.env(name.to_str().unwrap(), value.to_str().unwrap());
    }
    run.run().code(0);
    let text = fs::read_to_string(project.join(".tx3/audit/state.json")).unwrap();
    let state: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(state["provider"]["name"], "acp");
    let iteration = &state["iterations"][0];
    assert_eq!(iteration["status"], "completed", "{state:#}");
    assert_eq!(iteration["usage"]["requests"], 1, "{state:#}");
    let finding = &iteration["findings"][0];
    assert_eq!(finding["evidence"][0], "expect InlineDatum(_) = output.datum", "{state:#}");
    assert_eq!((&finding["verified"], &finding["line"]), (&true.into(), &2.into()), "{state:#}");
    assert!(server.was_told("v.ak, between the two marks, its lines numbered"));
    assert_eq!(place.left(), Vec::<String>::new());
}

#[test]
fn claude_audits_contained() {
    audits(&CLAUDE);
}

#[test]
fn gemini_audits_contained() {
    audits(&GEMINI);
}

#[test]
fn opencode_audits_contained() {
    audits(&OPENCODE);
}
