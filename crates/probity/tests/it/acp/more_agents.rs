//! Two more real agents of the table behind the proxy, sandboxed by bubblewrap: each is installed as
//! its row says, and gets from the user's configuration only what its row names.

use std::fs;

use serde_json::json;

use super::{Driver, Place, driver};
use crate::{
    binary::{probity, tools},
    model_server::{ModelServer, fresh_word, reversed},
};

/// An agent, and how it is pointed at a model of ours.
struct More {
    name: &'static str,
    variables: fn(&ModelServer) -> Vec<(&'static str, String)>,
}

const COPILOT: More = More {
    name: "copilot",
    variables: |server| {
        vec![
            ("COPILOT_MODEL", "gpt-4o".to_owned()),
            ("COPILOT_OFFLINE", "true".to_owned()),
            ("COPILOT_PROVIDER_BASE_URL", server.url("/v1")),
        ]
    },
};

const GOOSE: More = More {
    name: "goose",
    variables: |server| {
        vec![
            ("GOOSE_MODEL", "model".to_owned()),
            ("GOOSE_PROVIDER", "openai".to_owned()),
            ("OPENAI_API_KEY", "no-real-key".to_owned()),
            ("OPENAI_HOST", server.url("")),
            // No key of an agent, so that it is passed as it is listed.
            ("GOOSE_TELEMETRY_OFF", "1".to_owned()),
        ]
    },
};

fn works_in_two_repositories(agent: &More) {
    let name = agent.name;
    let programs = tools().join("more-agents/node_modules/.bin");
    assert!(programs.join(name).exists(), "{name} is missing: run script/tools once");
    let server = ModelServer::start();
    let variables = (agent.variables)(&server);
    let place = Place::new("");
    let names: Vec<&str> = variables.iter().map(|(name, _)| *name).collect();
    let settings = format!("[containment]\nruntime = 'bwrap'\nenv = {names:?}\n");
    fs::create_dir_all(place.path("config/probity")).unwrap();
    fs::create_dir_all(place.path("home")).unwrap();
    fs::write(place.path("config/probity/probity.toml"), settings).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let home = place.path("home");
    let mut run = place.settle(probity()).env("PATH", &path).env("HOME", home.to_str().unwrap());
    for (variable, value) in &variables {
        run = run.env(variable, value);
    }
    let mut driver = Driver::start(run.args(["acp", name]));
    driver.call("initialize", &json!({"protocolVersion": 1, "clientCapabilities": {}}));
    let sessions = [driver.session(&place.path("one")), driver.session(&place.path("two"))];
    for session in &sessions {
        let word = fresh_word("word");
        let said = driver.say(session, &format!("please reverse({word})"));
        assert!(said.contains(&reversed(1, &word)), "{name}: {said}");
    }
    let said = driver.say(&sessions[0], "please run(pwd > where.txt)");
    let written = fs::read_to_string(place.path("one/where.txt"));
    assert_eq!(written.unwrap_or(said).trim(), "/home/agent/workspace", "{name}");
    assert!(!place.path("two/where.txt").exists());
    let output = driver.finish();
    assert_eq!(output.code, Some(0), "{name}: {}", output.stderr);
    assert_eq!(driver::left(place.directory.path()), Vec::<String>::new(), "{name}");
}

#[test]
fn copilot_works_in_two_repositories() {
    works_in_two_repositories(&COPILOT);
}

#[test]
fn goose_works_in_two_repositories() {
    works_in_two_repositories(&GOOSE);
}
