//! Permissions that are denied and turns that take too long, with agents as they are.

use std::{process::Stdio, thread, time::Duration};

use probity_acp::{Client, ClientName, Limits, StopReason};
use probity_sandbox::{Backend, Network, Spec, spawn};
use serde_json::Value;

use super::{ALL, RealAgent, turns::Place};
use crate::{
    agent::misbehaving::wait_until,
    model_server::{ModelServer, fresh_word, reversed},
};

/// The model tells the agent to run a command; the agent asks, and is denied.
fn is_denied(agent: &RealAgent) {
    for sandbox in ["bwrap", "none"] {
        let server = ModelServer::start();
        let place = Place::new(agent, &server);
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
        assert!(
            !place.home.path().join("workspace/made-by-agent").exists(),
            "{} {sandbox}",
            agent.name
        );
        assert_eq!(place.left(), Vec::<String>::new(), "{} {sandbox}", agent.name);
    }
}

/// The model says nothing; the agent is asked to stop, does, answers the next question, and is gone
/// with all it started.
fn is_called_off(agent: &RealAgent) {
    let server = ModelServer::start();
    let place = Place::new(agent, &server);
    let mut spec = Spec::new(agent.command, place.home.path());
    spec.env = place.variables(agent, &server);
    spec.network = Network::Open;
    let mut child = spawn(&Backend::None, &spec).unwrap();
    let (output, input) = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let who = ClientName { name: "probity", version: "0" };
    // No agent takes that long, but a busy machine may.
    let limits = Limits::within(Duration::from_secs(180));
    let mut client = Client::connect(output, input, who, limits, None).unwrap();
    let session = client.open_session(place.home.path().to_str().unwrap()).unwrap();
    let canceller = client.canceller();
    let turn = thread::scope(|threads| {
        let asking = threads.spawn(|| client.prompt(&session, "please wait()"));
        wait_until(|| asking.is_finished() || server.was_told("please wait()"));
        assert!(canceller.cancel(), "{} did not wait", agent.name);
        asking.join().unwrap()
    });
    assert_eq!(turn.unwrap().stop, StopReason::Cancelled, "{}", agent.name);
    let word = fresh_word("word");
    let next = client.prompt(&session, &format!("please reverse({word})")).unwrap();
    assert!(next.text.contains(&reversed(1, &word)), "{}: {}", agent.name, next.text);
    child.kill();
    assert_eq!(place.left(), Vec::<String>::new(), "{}", agent.name);
}

/// The user gives up waiting; that the agent was seen at work shows that its end would be missed.
fn is_gone_after_ctrl_c(agent: &RealAgent) {
    for sandbox in ["bwrap", "none"] {
        let server = ModelServer::start();
        let place = Place::new(agent, &server);
        let run = place.ask(agent, &server, sandbox, "please wait()");
        let mut child = run.into_command().stderr(Stdio::null()).spawn().unwrap();
        wait_until(|| server.was_told("please wait()"));
        // The agent; we hide our own variables, which the mark is in.
        assert!(!place.left().is_empty(), "{} {sandbox}", agent.name);
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().code(), None, "it ends by the signal");
        wait_until(|| place.left().is_empty());
    }
}

#[test]
fn claude_is_gone_after_ctrl_c() {
    is_gone_after_ctrl_c(&ALL[0]);
}

#[test]
fn gemini_is_gone_after_ctrl_c() {
    is_gone_after_ctrl_c(&ALL[1]);
}

#[test]
fn opencode_is_gone_after_ctrl_c() {
    is_gone_after_ctrl_c(&ALL[2]);
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
