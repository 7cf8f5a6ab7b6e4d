//! Three real agents of three codebases behind the proxy, contained by bubblewrap.

use std::fs;

use serde_json::json;

use super::{Driver, Place, driver};
use crate::{
    binary::probity,
    model_server::{ModelServer, fresh_word, reversed},
    real_agents::{ALL, RealAgent, path},
};

/// The proxy with this agent, whose variables and settings the user's configuration lets through.
fn drive(place: &Place, agent: &RealAgent, server: &ModelServer) -> Driver {
    let home = place.path("home");
    let settings = agent.settle(server, &home);
    let names = agent.variables(server).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    let text = format!(
        "[container]\nruntime = 'bwrap'\n[env]\nimport = {names:?}\n[import]\nadditional_paths = {:?}\n",
        settings.map(|path| format!("~/{path}")).as_slice()
    );
    fs::create_dir_all(place.path("config/containai")).unwrap();
    fs::write(place.path("config/containai/config.toml"), text).unwrap();
    let mut run = place.settle(probity()).env("PATH", &path()).env("HOME", home.to_str().unwrap());
    for (name, value) in agent.variables(server) {
        run = run.env(name, &value);
    }
    Driver::start(run.args(["acp", agent.name]))
}

fn whole_turns(agent: &RealAgent) {
    let server = ModelServer::start();
    let place = Place::new("");
    let mut driver = drive(&place, agent, &server);
    let initialize = json!({"protocolVersion": 1, "clientCapabilities": {}});
    driver.call("initialize", &initialize);
    let sessions = [driver.session(&place.path("one")), driver.session(&place.path("two"))];
    assert_ne!(sessions[0], sessions[1]);
    for session in &sessions {
        let word = fresh_word("word");
        let said = driver.say(session, &format!("please reverse({word})"));
        assert!(said.contains(&reversed(1, &word)), "{}: {said}", agent.name);
    }
    driver.say(&sessions[0], "please run(pwd > where.txt)");
    let written = fs::read_to_string(place.path("one/where.txt")).unwrap();
    assert_eq!(written.trim(), "/home/agent/workspace", "{}", agent.name);
    assert!(!place.path("two/where.txt").exists());
    let known = driver.call("initialize", &initialize);
    assert!(known["result"]["agentInfo"]["name"].is_string(), "{known}");
    let output = driver.finish();
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert_eq!(driver::left(place.directory.path()), Vec::<String>::new(), "{}", agent.name);
}

#[test]
fn claude_works_in_two_repositories() {
    whole_turns(&ALL[0]);
}

#[test]
fn gemini_works_in_two_repositories() {
    whole_turns(&ALL[1]);
}

#[test]
fn opencode_works_in_two_repositories() {
    whole_turns(&ALL[2]);
}
