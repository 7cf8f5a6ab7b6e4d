//! The proxy as editors start it: under all its names, with agents that are real processes.

mod client;
mod contained;
mod directories;
pub(crate) mod driver;
mod editors;
mod guide;
mod logins;
mod more_agents;
mod real;
mod setup;

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::binary::{Run, directory, named, probity};
use driver::Driver;

/// Says what it was asked, and asks for permission before that if it is to.
const ECHO: &str = r#"{"on":"session/prompt"}
{"say":"you said: ${prompt}"}
{"answer":{"stopReason":"end_turn"}}
{"on":"session/prompt"}
{"ask":"session/request_permission","id":0,"params":{"sessionId":"${session}","toolCall":{"toolCallId":"t"},"options":[]}}
{"say":"asked for ${prompt}"}
{"answer":{"stopReason":"end_turn"}}
"#;

/// Two repositories, a program that plays a script, and the user's directories.
pub(crate) struct Place {
    pub(crate) directory: TempDir,
}

impl Place {
    pub(crate) fn new(script: &str) -> Self {
        let player = format!(
            "#!/bin/sh\nexec {} agent replay \"$CAI_HOST_WORKSPACE/script.ndjson\"\n",
            env!("CARGO_BIN_EXE_probity")
        );
        let directory = directory(&[
            ("bin/player", &player),
            ("one/.git/HEAD", "ref: refs/heads/main\n"),
            ("one/script.ndjson", script),
            ("one/sub/file", ""),
            ("two/.git/HEAD", "ref: refs/heads/main\n"),
            ("two/script.ndjson", script),
            ("state/x", ""),
        ]);
        let program = directory.path().join("bin/player");
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
        Self { directory }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    /// A run in which the user's directories are this place's own.
    pub(crate) fn settle(&self, run: Run) -> Run {
        let text = |name: &str| self.path(name).to_str().unwrap().to_owned();
        let path = format!("{}:{}", text("bin"), std::env::var("PATH").unwrap());
        run.env("PATH", &path)
            .env("XDG_STATE_HOME", &text("state"))
            .env("XDG_CACHE_HOME", &text("cache"))
            .env("XDG_CONFIG_HOME", &text("config"))
            .dir(self.path("one"))
    }

    /// The same, with `player` as an agent that is started directly.
    fn direct(&self, run: Run) -> Run {
        self.settle(run).env("CAI_ACP_TEST_MODE", "1").env("CAI_ACP_DIRECT_SPAWN", "1")
    }

    fn drive(&self, args: &[&str]) -> Driver {
        Driver::start(self.direct(probity()).args(["acp", "player"]).args(args))
    }
}

#[test]
fn under_every_name_the_proxy_answers_and_ends_with_its_input() {
    let place = Place::new(ECHO);
    for (name, args) in [
        ("probity", &["acp", "player"][..]),
        ("cai", &["--acp", "player"]),
        ("cai", &["acp", "proxy", "player"]),
        ("acp-proxy", &["player"]),
        ("acp-proxy", &["proxy", "player"]),
    ] {
        let mut driver = Driver::start(place.direct(named(name)).args(args));
        let initialized = driver.call("initialize", &json!({"protocolVersion": 1}));
        assert_eq!(initialized["result"]["protocolVersion"], 1, "{name} {args:?}");
        let session = driver.session(&place.path("one/sub"));
        assert_eq!(driver.say(&session, "hello"), "you said: hello");
        let output = driver.finish();
        assert_eq!(output.code, Some(0), "{name} {args:?}: {}", output.stderr);
        assert_eq!(output.stderr, "", "{name} {args:?}");
    }
}

#[test]
fn other_agents_are_refused_and_a_missing_one_still_initializes() {
    let place = Place::new(ECHO);
    for (name, args) in [("cai", &["--acp", "nobody"][..]), ("acp-proxy", &["nobody"])] {
        let output = place.settle(named(name)).args(args).run().code(1);
        assert_eq!(output.stderr, "Unsupported agent: nobody\n");
        assert_eq!(output.stdout, "");
    }
    let mut messages = Vec::new();
    for (name, code) in [("cai", -32000), ("probity", -32603)] {
        let args = if name == "cai" { ["--acp", "none"] } else { ["acp", "none"] };
        let mut driver = Driver::start(place.direct(named(name)).args(args));
        let initialized = driver.call("initialize", &json!({"protocolVersion": "2025-01-01"}));
        assert_eq!(initialized["result"]["protocolVersion"], "2025-01-01");
        let new = json!({"cwd": place.path("one"), "mcpServers": []});
        let failed = driver.call("session/new", &new);
        assert_eq!(failed["error"]["code"], code, "{failed}");
        messages.push(format!("{name}: {}", failed["error"]["message"].as_str().unwrap()));
        assert_eq!(driver.finish().code, Some(0));
    }
    insta::assert_snapshot!(messages.join("\n"), @"
    cai: Failed to create session: the agent none cannot be started: none: program not found
    probity: Failed to create session: the agent none cannot be started: none: program not found
    ");
}

#[test]
fn two_repositories_with_one_question_each_are_answered_crosswise() {
    let place = Place::new(ECHO);
    let mut driver = place.drive(&[]);
    let sessions = [driver.session(&place.path("one")), driver.session(&place.path("two"))];
    for session in &sessions {
        driver.say(session, "warm up");
    }
    let prompts = [driver.prompt(&sessions[0], "first"), driver.prompt(&sessions[1], "second")];
    let mut questions: Vec<Value> = vec![driver.receive(), driver.receive()];
    if questions[0]["params"]["sessionId"] != sessions[0] {
        questions.reverse();
    }
    for (index, text) in [(1, "asked for second"), (0, "asked for first")] {
        let result = json!({"outcome": {"outcome": "cancelled"}});
        driver.send(&json!({"jsonrpc": "2.0", "id": questions[index]["id"], "result": result}));
        let said = driver.receive();
        assert_eq!(said["params"]["sessionId"], sessions[index]);
        assert_eq!(said["params"]["update"]["content"]["text"], text);
        assert_eq!(driver.receive()["id"], prompts[index]);
    }
    assert_eq!(driver.finish().code, Some(0));
}

/// Asks twice, and then says what it hears.
const ASKING: &str = r#"{"on":"session/prompt"}
{"ask":"session/request_permission","id":0,"params":{"sessionId":"${session}","toolCall":{"toolCallId":"t"},"options":[]}}
{"say":"one ${prompt}"}
{"answer":{"stopReason":"end_turn"}}
{"on":"session/prompt"}
{"ask":"session/request_permission","id":0,"params":{"sessionId":"${session}","toolCall":{"toolCallId":"t"},"options":[]}}
{"say":"two ${prompt}"}
{"answer":{"stopReason":"end_turn"}}
{"on":"session/prompt"}
{"say":"three ${prompt}"}
{"answer":{"stopReason":"end_turn"}}
"#;

#[test]
fn two_repositories_are_answered_crosswise_and_the_death_of_one_agent_is_none_of_the_others_business()
 {
    let place = Place::new(ASKING);
    let mut driver = Driver::start(place.direct(named("cai")).args(["--acp", "player"]));
    driver.call("initialize", &json!({"protocolVersion": 1}));
    let sessions = [driver.session(&place.path("one")), driver.session(&place.path("two"))];
    let both = |driver: &mut Driver, text: &str| {
        let prompts = sessions.each_ref().map(|session| driver.prompt(session, text));
        let mut questions: Vec<Value> = vec![driver.receive(), driver.receive()];
        if questions[0]["params"]["sessionId"] != sessions[0] {
            questions.reverse();
        }
        for (question, session) in questions.iter().zip(&sessions) {
            assert_eq!(question["method"], "session/request_permission");
            assert_eq!(question["params"]["sessionId"], **session);
        }
        (prompts, questions)
    };
    let allow = |driver: &mut Driver, question: &Value| {
        let result = json!({"outcome": {"outcome": "cancelled"}});
        driver.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": result}));
    };
    let (prompts, questions) = both(&mut driver, "a");
    for index in [1, 0] {
        allow(&mut driver, &questions[index]);
        let said = driver.receive();
        assert_eq!(said["params"]["sessionId"], sessions[index]);
        assert_eq!(said["params"]["update"]["content"]["text"], "one a");
        assert_eq!(driver.receive()["id"], prompts[index]);
    }
    let (prompts, questions) = both(&mut driver, "b");
    driver.kill_descendant(&place.path("one/script.ndjson"));
    let failed = driver.receive();
    assert_eq!(
        (&failed["id"], &failed["error"]["data"]["exitCode"]),
        (&prompts[0].into(), &137.into())
    );
    // An answer to one who is dead is nobody's, and the other one's is its own.
    allow(&mut driver, &questions[0]);
    allow(&mut driver, &questions[1]);
    assert_eq!(driver.receive()["params"]["update"]["content"]["text"], "two b");
    assert_eq!(driver.receive()["id"], prompts[1]);
    assert_eq!(driver.say(&sessions[1], "c"), "three c");
    let output = driver.finish();
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert_eq!(driver::left(place.directory.path()), Vec::<String>::new());
}

#[test]
fn a_session_is_found_again_by_the_next_proxy_and_its_file_says_nothing() {
    let script = r#"{"on":"initialize"}
{"answer":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}
{"on":"session/prompt"}
{"say":"the answer"}
{"answer":{"stopReason":"end_turn"}}
{"on":"session/load"}
{"update":{"sessionUpdate":"repeated"}}
{"answer":null}
"#;
    let place = Place::new(script);
    let mut first = place.drive(&[]);
    let session = first.session(&place.path("one"));
    first.say(&session, "a secret question");
    first.finish();
    let state = place.path("state");
    let kept = std::process::Command::new("grep")
        .args(["-rl", "-e", "secret question", "-e", "the answer"])
        .arg(&state)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&kept.stdout), "");

    let mut second = place.drive(&[]);
    let initialized = second.call("initialize", &json!({"protocolVersion": 1}));
    assert_eq!(initialized["result"]["agentCapabilities"]["loadSession"], true, "from the cache");
    let load = json!({"sessionId": session, "cwd": place.path("one"), "mcpServers": []});
    let id = second.ask("session/load", &load);
    assert_eq!(second.receive()["params"]["sessionId"], session);
    assert_eq!(second.answer(id)["result"], Value::Null);
    second.finish();
}

#[test]
fn a_killed_agent_fails_its_own_prompt_alone_and_leaves_nothing() {
    let script = r#"{"on":"session/prompt"}
{"spawn":["sleep","9731"]}
{"hang":"listening"}
"#;
    let place = Place::new(script);
    fs::write(place.path("two/script.ndjson"), ECHO).unwrap();
    let mut driver = place.drive(&[]);
    let (one, two) = (driver.session(&place.path("one")), driver.session(&place.path("two")));
    let prompt = driver.prompt(&one, "hang");
    driver.kill_descendant(&place.path("one/script.ndjson"));
    let failed = driver.answer(prompt);
    assert_eq!(failed["error"]["code"], -32603, "{failed}");
    assert_eq!(failed["error"]["data"]["exitCode"], 137, "{failed}");
    assert_eq!(driver.say(&two, "still"), "you said: still");
    let output = driver.finish();
    assert_eq!(output.code, Some(0));
    assert_eq!(driver::left(place.directory.path()), Vec::<String>::new());
    assert_eq!(driver::left_named("9731"), Vec::<String>::new());
}

#[test]
fn an_agent_that_never_ends_is_ended_when_the_editor_goes_and_when_a_signal_comes() {
    let script = r#"{"ignore":"TERM"}
{"on":"session/prompt"}
{"spawn":["sleep","9732"]}
{"hang":"deaf"}
"#;
    for by_signal in [false, true] {
        let place = Place::new(script);
        let mut driver = place.drive(&[]);
        let session = driver.session(&place.path("one"));
        driver.prompt(&session, "hang");
        driver.await_descendant("9732");
        let output = if by_signal { driver.terminate() } else { driver.finish() };
        assert_eq!(output.code, Some(0), "{}", output.stderr);
        assert_eq!(driver::left(place.directory.path()), Vec::<String>::new());
        assert_eq!(driver::left_named("9732"), Vec::<String>::new());
    }
}

#[test]
fn noise_goes_to_the_log_and_figures_come_with_v() {
    let script = format!("{{\"noise\":\"Loaded cached credentials.\"}}\n{ECHO}");
    let place = Place::new(&script);
    let mut driver = place.drive(&["-v"]);
    let session = driver.session(&place.path("one"));
    driver.say(&session, "hello");
    let output = driver.finish();
    for line in ["info: limits: none", "info: player wrote no message: Loaded cached credentials."]
    {
        assert!(output.stderr.lines().any(|said| said == line), "{line}: {}", output.stderr);
    }
    let figures = output.stderr.lines().find(|line| line.contains("1 prompts")).unwrap();
    for word in [" s of CPU", " MiB of memory", " messages (", " bytes) from it"] {
        assert!(figures.contains(word), "{figures}");
    }
    assert!(!figures.contains(" 0 MiB"), "{figures}");
    for line in output.stdout.lines() {
        assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
    }
}

#[test]
fn a_trace_has_no_secrets_and_can_be_played_again() {
    let place = Place::new(ECHO);
    let trace = place.path("talk.ndjson");
    let mut driver = place.drive(&["--trace", trace.to_str().unwrap()]);
    driver.call("initialize", &json!({"protocolVersion": 1}));
    let session = driver.session(&place.path("one"));
    let key = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    driver.say(&session, &format!("my key is {key}"));
    driver.finish();
    let text = fs::read_to_string(&trace).unwrap();
    assert!(text.contains("session/prompt") && !text.contains(&key), "{text}");

    let agent = format!("replay:{}", trace.display());
    let output = place.settle(probity()).args(["agent", "ask", &agent, "anything"]).run().code(0);
    insta::assert_snapshot!(output.stdout, @"you said: my key is ****************************************");
}
