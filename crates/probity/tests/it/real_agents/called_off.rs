//! Permissions that are denied and turns that take too long, with agents as they are.

use std::{
    process::Stdio,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use probity_agent::{AcpAgent, AcpTap, Agent as _, AgentError, Cancel, Limits, Seat, Side, Turn};
use probity_sandbox::{Backend, Network, Spec};
use serde_json::Value;

use super::{ALL, RealAgent, turns::Place};
use crate::{agent::misbehaving::wait_until, model_server::ModelServer};

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

/// The model says nothing; the agent is asked to stop, does, and is gone with all it started.
fn is_called_off(agent: &RealAgent) {
    let server = ModelServer::start();
    let place = Place::new(agent, &server);
    let mut spec = Spec::new(Vec::<String>::new(), place.home.path());
    spec.env = place.variables(agent, &server);
    spec.network = Network::Open;
    let seat = Seat { backend: Backend::None, spec, stderr: None };
    let argv: Vec<String> = agent.command.iter().map(|&word| word.to_owned()).collect();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ear = Arc::clone(&heard);
    let tap: AcpTap =
        Arc::new(move |side, frame| ear.lock().unwrap().push((side, frame.to_owned())));
    let mut asked = AcpAgent::command(agent.name, &argv, seat, "", Some(tap));
    let cancel = Cancel::new();
    let (turn, limits) = (Turn::new("please wait()"), Limits::within(Duration::from_secs(120)));
    let answer = thread::scope(|threads| {
        let asking = threads.spawn(|| asked.ask(&turn, &limits, &cancel));
        wait_until(|| asking.is_finished() || server.was_told("please wait()"));
        cancel.cancel();
        asking.join().unwrap()
    });
    assert!(answer.as_ref().is_err_and(AgentError::is_cancelled), "{answer:?}");
    let heard = heard.lock().unwrap();
    let said = |side: Side, word: &str| {
        heard.iter().filter(|(from, frame)| *from == side && frame.contains(word)).count()
    };
    assert_eq!(said(Side::Client, "session/cancel"), 1, "{}: {:?}", agent.name, heard.last());
    let stopped = r#""stopReason":"cancelled""#;
    assert_eq!(said(Side::Agent, stopped), 1, "{}: {:?}", agent.name, heard.last());
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
        // Ourselves, and the agent.
        assert!(place.left().len() >= 2, "{} {sandbox}: {:?}", agent.name, place.left());
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
