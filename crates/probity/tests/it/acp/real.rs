//! Real agents of five codebases behind the proxy, in bubblewrap, from their first start
//! to their last, with the protocol's own libraries as editors.
//!
//! By default each agent has a whole life in one editor and a turn in the other. `script/nightly` sets
//! `PROBITY_WHOLE_CORPUS`, with which it has a whole life in both.

use std::fs;

use serde_json::{Value, json};

use super::{Driver, Place, driver, editors::Editor};
use crate::{
    agent::misbehaving::wait_until,
    binary::probity,
    model_server::{ModelServer, fresh_word, reversed},
    real_agents::{CLAUDE, CODEX, GEMINI, OPENCODE, QWEN, RealAgent, path},
    whole_corpus::is_whole,
};

/// What is to be expected of an agent.
struct Expected {
    agent: RealAgent,
    /// The login that needs nobody but the variables.
    login: Option<&'static str>,
    /// Permissions for one command: codex is told that it is sandboxed, and does not ask.
    permissions: u64,
    /// Whether a session can be loaded by a later process.
    loads: bool,
}

/// The proxy with this agent, whose variables the user's configuration lets through.
fn drive(place: &Place, editor: Editor, agent: &RealAgent, server: &ModelServer) -> Driver {
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
    editor.start(run.args(["acp", agent.name]))
}

/// The agent's own answer. On a busy machine an agent may need longer than the proxy waits for it;
/// what it says is kept for the next question.
fn initialize(driver: &mut Driver, name: &str) -> Value {
    let client = json!({"auth": {"terminal": true}});
    let asked = json!({"protocolVersion": 1, "clientCapabilities": client});
    let mut answer = Value::Null;
    for _ in 0..6 {
        answer = driver.call("initialize", &asked)["result"].clone();
        if answer["agentInfo"]["name"] != name {
            break;
        }
    }
    answer
}

#[track_caller]
fn prompt(driver: &mut Driver, session: &str, text: &str) -> Value {
    let id = driver.prompt(session, text);
    let answer = driver.answer(id);
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    answer
}

/// How long an agent lives by default.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Life {
    Whole,
    Turn,
}

/// Has the model reverse a word, which it says with the number of the turn.
#[track_caller]
fn reverse(driver: &mut Driver, session: &str, turn: usize) {
    let word = fresh_word("word");
    let answer = prompt(driver, session, &format!("please reverse({word})"));
    let said = answer["said"].as_str().unwrap();
    assert!(said.contains(&reversed(turn, &word)), "{answer}");
}

fn live(expected: &Expected, editor: Editor, life: Life) {
    let Expected { agent, login, permissions, loads } = expected;
    let name = agent.name;
    let server = ModelServer::start();
    let place = Place::new("");
    let mut driver = drive(&place, editor, agent, &server);
    let known = initialize(&mut driver, name);
    // Nobody has started this agent before.
    assert_ne!(known["agentInfo"]["name"], name, "{known}");
    assert_eq!(known["agentCapabilities"]["loadSession"], true, "{name}: {known}");
    if let Some(method) = login {
        let offered = known["authMethods"].as_array().unwrap();
        assert!(offered.iter().any(|offer| offer["id"] == *method), "{name}: {known}");
        let logged_in = driver.call("authenticate", &json!({"methodId": method}));
        assert!(logged_in.get("error").is_none(), "{name}: {logged_in}");
    }
    let first = driver.session(&place.path("one"));
    reverse(&mut driver, &first, 1);
    if life == Life::Turn && !is_whole() {
        let output = driver.finish();
        assert_eq!(output.code, Some(0), "{name}: {}", output.stderr);
        assert_eq!(driver::left(place.directory.path()), Vec::<String>::new(), "{name}");
        return;
    }
    let sessions = [first, driver.session(&place.path("two"))];
    assert_ne!(sessions[0], sessions[1]);
    reverse(&mut driver, &sessions[1], 1);
    let ran = prompt(&mut driver, &sessions[0], "please run(pwd > where.txt)");
    let written = fs::read_to_string(place.path("one/where.txt"));
    assert_eq!(written.unwrap().trim(), "/home/agent/workspace", "{name}: {ran}");
    assert!(!place.path("two/where.txt").exists());
    assert_eq!(ran["permissions"], *permissions, "{name}: {ran}");
    let waiting = driver.prompt(&sessions[1], "please wait()");
    wait_until(|| server.was_told("please wait()"));
    let cancel = json!({"sessionId": sessions[1]});
    driver.send(&json!({"id": 0, "method": "session/cancel", "params": cancel}));
    let cancelled = driver.answer(waiting);
    assert_eq!(cancelled["result"]["stopReason"], "cancelled", "{name}: {cancelled}");
    let output = driver.finish();
    assert_eq!(output.code, Some(0), "{name}: {}", output.stderr);

    let mut driver = drive(&place, editor, agent, &server);
    assert_eq!(initialize(&mut driver, name), known, "{name}: remembered");
    let load = json!({"sessionId": sessions[0], "cwd": place.path("one"), "mcpServers": []});
    let loaded = driver.call("session/load", &load);
    let is_loaded = loaded.get("error").is_none();
    assert!(is_loaded || !loads, "{name}: {loaded}");
    let session = if is_loaded { sessions[0].clone() } else { driver.session(&place.path("one")) };
    // The second of this conversation, which only who has loaded it can know.
    reverse(&mut driver, &session, if is_loaded { 2 } else { 1 });
    let closed = driver.call("session/close", &json!({"sessionId": session}));
    assert!(closed.get("error").is_none(), "{name}: {closed}");
    let output = driver.finish();
    assert_eq!(output.code, Some(0), "{name}: {}", output.stderr);
    assert_eq!(driver::left(place.directory.path()), Vec::<String>::new(), "{name}");
}

const LIVES: [Expected; 5] = [
    Expected { agent: CLAUDE, login: None, permissions: 1, loads: true },
    Expected { agent: CODEX, login: Some("api-key"), permissions: 0, loads: true },
    Expected { agent: GEMINI, login: Some("gemini-api-key"), permissions: 1, loads: false },
    Expected { agent: OPENCODE, login: None, permissions: 1, loads: true },
    Expected { agent: QWEN, login: Some("openai"), permissions: 1, loads: true },
];

macro_rules! lives {
    ($($test:ident: $agent:literal, $editor:ident, $life:ident;)*) => {
        $(
            #[test]
            fn $test() {
                live(&LIVES[$agent], Editor::$editor, Life::$life);
            }
        )*
    };
}

lives! {
    claude_in_an_editor_of_python: 0, Python, Whole;
    claude_in_an_editor_of_typescript: 0, TypeScript, Turn;
    codex_in_an_editor_of_python: 1, Python, Turn;
    codex_in_an_editor_of_typescript: 1, TypeScript, Whole;
    gemini_in_an_editor_of_python: 2, Python, Whole;
    gemini_in_an_editor_of_typescript: 2, TypeScript, Turn;
    opencode_in_an_editor_of_python: 3, Python, Turn;
    opencode_in_an_editor_of_typescript: 3, TypeScript, Whole;
    qwen_in_an_editor_of_python: 4, Python, Whole;
    qwen_in_an_editor_of_typescript: 4, TypeScript, Turn;
}
