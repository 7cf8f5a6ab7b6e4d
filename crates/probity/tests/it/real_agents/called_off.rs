//! Permissions that are denied and turns that take too long, with agents as they are.

use serde_json::Value;

use super::{ALL, RealAgent, turns::Place};
use crate::model_server::ModelServer;

/// The model tells the agent to run a command; the agent asks, and is denied.
fn is_denied(agent: &RealAgent) {
    for sandbox in ["bwrap", "none"] {
        let server = ModelServer::start();
        let place = Place::new(agent, &server, sandbox);
        let prompt = "please run(touch made-by-agent)";
        let output = place.ask(agent, &server, sandbox, prompt).run().code(0);
        let page: Value = serde_json::from_str(&output.stdout).unwrap();
        let denied = page["denied"].as_array().unwrap();
        assert!(
            denied.iter().any(|what| what.as_str().unwrap().contains("session/request_permission")),
            "{} {sandbox}: {page:#}\n{}",
            agent.name,
            output.stderr
        );
        assert!(!place.home.path().join("made-by-agent").exists(), "{} {sandbox}", agent.name);
        assert_eq!(place.left(), Vec::<String>::new(), "{} {sandbox}", agent.name);
    }
}

/// The model says nothing; the agent is asked to stop, does, and is gone with all it started.
fn is_called_off(agent: &RealAgent) {
    let server = ModelServer::start();
    let place = Place::new(agent, &server, "none");
    let recording = place.state.path().join("recording.ndjson");
    let command = format!(
        "acp:{} agent record --output {} -- {}",
        env!("CARGO_BIN_EXE_probity"),
        recording.display(),
        agent.command.join(" ")
    );
    let output = place
        .ask_as(&command, agent, &server, "none", "please wait()")
        .args(["--timeout", "20s"])
        .run()
        .code(2);
    assert!(output.stderr.contains("asking: no answer within 20 s"), "{}", output.stderr);
    assert!(server.was_told("please wait()"), "{}: {:?}", agent.name, server.requests());
    let partial = recording.with_extension("ndjson.partial");
    let recorded =
        [&recording, &partial].into_iter().find_map(|file| std::fs::read_to_string(file).ok());
    let recorded = recorded.unwrap();
    assert_eq!(recorded.matches("session/cancel").count(), 1, "{}: {recorded}", agent.name);
    assert!(recorded.contains(r#""stopReason":"cancelled""#), "{}: {recorded}", agent.name);
    assert_eq!(place.left(), Vec::<String>::new(), "{}", agent.name);
}

#[test]
fn claude_is_denied_a_command() {
    is_denied(&ALL[0]);
}

#[test]
fn gemini_is_denied_a_command() {
    is_denied(&ALL[1]);
}

#[test]
fn opencode_is_denied_a_command() {
    is_denied(&ALL[2]);
}

#[test]
fn claude_stops_when_it_is_asked_to() {
    is_called_off(&ALL[0]);
}

#[test]
fn gemini_stops_when_it_is_asked_to() {
    is_called_off(&ALL[1]);
}

#[test]
fn opencode_stops_when_it_is_asked_to() {
    is_called_off(&ALL[2]);
}
