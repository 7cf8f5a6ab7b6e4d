//! Agents in bubblewrap, started by the code of `exec`.

use std::fs;

use serde_json::json;

use super::{Driver, ECHO, Place, driver};
use crate::binary::{named, probity};

/// A name for the workspace's script that no other test has, since processes are found by it.
fn script(place: &Place) -> String {
    let own = place.directory.path().file_name().unwrap().to_str().unwrap();
    format!("/home/agent/workspace/{own}.ndjson")
}

/// `mine` plays the workspace's own script, contained.
pub(super) fn configured(place: &Place, more: &str) {
    let program = env!("CARGO_BIN_EXE_probity");
    let script = script(place);
    for repository in ["one", "two"] {
        let name = script.rsplit('/').next().unwrap();
        let directory = place.path(repository);
        fs::copy(directory.join("script.ndjson"), directory.join(name)).unwrap();
    }
    let text = format!(
        "{more}[container]\nruntime = 'bwrap'\n[agents.mine]\n\
         command = ['{program}', 'agent', 'replay', '{script}']\n"
    );
    fs::create_dir_all(place.path("config/containai")).unwrap();
    fs::write(place.path("config/containai/config.toml"), text).unwrap();
}

pub(super) fn drive(place: &Place) -> Driver {
    Driver::start(place.settle(probity()).args(["acp", "mine"]))
}

#[test]
fn a_configured_agent_works_contained_and_one_death_is_no_concern_of_the_other() {
    let place = Place::new(ECHO);
    configured(&place, "");
    let mut driver = drive(&place);
    let (one, two) = (driver.session(&place.path("one/sub")), driver.session(&place.path("two")));
    assert_eq!(driver.say(&one, "hello"), "you said: hello");
    assert_eq!(driver.say(&two, "hello"), "you said: hello");
    let prompt = driver.prompt(&one, "ask");
    let question = driver.receive();
    assert_eq!(question["method"], "session/request_permission");
    // Both play a script of the same name inside; the first that is found is one of them.
    driver.kill_descendant(std::path::Path::new(&script(&place)));
    let other = driver.prompt(&two, "ask");
    let mut failed = 0;
    for _ in 0..2 {
        let message = driver.receive();
        if message.get("error").is_some() {
            assert!(message["id"] == prompt || message["id"] == other);
            failed += 1;
        } else {
            assert_eq!(message["method"], "session/request_permission");
        }
    }
    assert_eq!(failed, 1);
    let output = driver.finish();
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert_eq!(driver::left(place.directory.path()), Vec::<String>::new());
    assert_eq!(driver::left_named(&script(&place)), Vec::<String>::new());
}

#[test]
fn a_contained_agent_cannot_use_the_editor_to_get_out() {
    let script = r#"{"on":"session/prompt"}
{"ask":"terminal/create","params":{"sessionId":"${session}","command":"id"}}
{"ask":"fs/write_text_file","params":{"sessionId":"${session}","path":"/home/agent/workspace/.git/hooks/pre-commit","content":"id"}}
{"ask":"fs/read_text_file","params":{"sessionId":"${session}","path":"/etc/passwd"}}
{"ask":"fs/read_text_file","params":{"sessionId":"${session}","path":"/home/agent/workspace/sub/file"}}
{"answer":{"stopReason":"end_turn"}}
"#;
    for (files, passes) in [("none", false), ("editor", true)] {
        let place = Place::new(script);
        fs::create_dir_all(place.path("one/.git/hooks")).unwrap();
        configured(&place, "");
        let run = place.settle(probity()).env("PROBITY_CONTAINMENT__ACP_FS", files);
        let mut driver = Driver::start(run.args(["acp", "mine"]));
        let able = json!({"fs": {"readTextFile": true, "writeTextFile": true}, "terminal": true});
        driver.call("initialize", &json!({"protocolVersion": 1, "clientCapabilities": able}));
        let session = driver.session(&place.path("one"));
        let prompt = driver.prompt(&session, "go");
        if passes {
            let question = driver.receive();
            assert_eq!(question["method"], "fs/read_text_file", "others are refused: {question}");
            assert_eq!(question["params"]["path"], place.path("one/sub/file").to_str().unwrap());
            let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"content": ""}});
            driver.send(&answer);
        }
        let ended = driver.receive();
        assert_eq!(
            (&ended["id"], &ended["result"]["stopReason"]),
            (&json!(prompt), &json!("end_turn"))
        );
        driver.finish();
    }
}

#[test]
fn one_process_can_serve_a_workspace() {
    let place = Place::new(ECHO);
    configured(&place, "[acp]\nprocess = 'workspace'\n");
    let mut driver = drive(&place);
    let first = driver.session(&place.path("one"));
    let second = driver.session(&place.path("one/sub"));
    assert_ne!(first, second);
    let script = script(&place);
    let inside = || {
        let lines = driver::left_named(&script);
        lines.into_iter().filter(|line| !line.contains("bwrap")).count()
    };
    assert_eq!(inside(), 1);
    driver.finish();
}

/// Offers a login in a terminal that runs a script of its own choice, and is a shell for that.
fn login_agent(place: &Place, script: &str) {
    let method = json!({"id": "web", "name": "Web", "type": "terminal",
        "args": ["-c", script, "login"], "env": {"GIVEN": "by the agent"}});
    let older = json!({"id": "older", "name": "Older", "_meta": {"terminal-auth": {
        "command": "sh", "args": ["-c", script, "login"], "env": {"GIVEN": "by the agent"}}}});
    let answer = json!({"protocolVersion": 1, "authMethods": [method, older]});
    let agent = format!(
        "if [ \"$1\" = -c ]; then exec sh \"$@\"; fi\nread -r line\n\
         echo '{}'\ncat > /dev/null\n",
        json!({"jsonrpc": "2.0", "id": 0, "result": answer})
    );
    for repository in ["one", "two"] {
        fs::write(place.path(repository).join("agent.sh"), &agent).unwrap();
    }
    let agent = |name: &str| {
        format!("[agents.{name}]\ncommand = ['sh', '/home/agent/workspace/agent.sh']\n")
    };
    let text = format!("[container]\nruntime = 'bwrap'\n{}{}", agent("a"), agent("b"));
    fs::create_dir_all(place.path("config/containai")).unwrap();
    fs::write(place.path("config/containai/config.toml"), text).unwrap();
}

#[test]
fn a_login_runs_inside_with_what_the_agent_said_for_its_id() {
    let place = Place::new(ECHO);
    login_agent(&place, "echo in $HOME; echo $0, $GIVEN");
    for id in ["web", "older"] {
        let login = place.settle(probity()).args(["acp", "a", "--login", id]).run().code(0);
        let expected = "in /home/agent\nlogin, by the agent\n";
        assert_eq!(login.stdout, expected, "{id}: {}", login.stderr);
    }
    let unknown = place.settle(probity()).args(["acp", "a", "--login", "other"]).run().code(2);
    insta::assert_snapshot!(unknown.stderr, @"
    error: the agent has no terminal login `other`
      help: its terminal logins are `web`, `older`
    ");
    // Nothing that an editor adds becomes an argument of the agent.
    place.settle(probity()).args(["acp", "a", "-c", "echo no"]).run().code(2);
}

#[test]
fn the_agent_that_nobody_names_is_the_configurations() {
    let place = Place::new(ECHO);
    let text = "[agent]\ndefault = 'mine'\n";
    configured(&place, text);
    for (name, args) in [("cai", &["--acp"][..]), ("probity", &["acp"]), ("acp-proxy", &[])] {
        let mut driver = Driver::start(place.settle(named(name)).args(args));
        let session = driver.session(&place.path("one"));
        assert_eq!(driver.say(&session, "hello"), "you said: hello", "{name}");
        driver.finish();
    }
    // A repository may name one of those that there are, and the user's word goes first.
    fs::create_dir_all(place.path("one/.containai")).unwrap();
    fs::write(place.path("one/.containai/config.toml"), "[agent]\ndefault = 'nobody'\n").unwrap();
    let mut driver = Driver::start(place.settle(named("cai")).args(["--acp"]));
    driver.session(&place.path("one"));
    driver.finish();
    configured(&place, "");
    let output = place.settle(named("cai")).args(["--acp"]).run().code(1);
    assert_eq!(output.stderr, "Unsupported agent: nobody\n");
}

#[test]
fn each_agent_has_a_home_of_its_own_in_a_workspace_and_a_login_goes_there() {
    let place = Place::new(ECHO);
    let login = |agent: &str, directory: &str, script: &str| {
        login_agent(&place, script);
        // The cached answer names the script of before.
        fs::remove_dir_all(place.path("cache")).ok();
        let run = place.settle(probity()).dir(place.path(directory));
        run.args(["acp", agent, "--login", "web"]).run().code(0).stdout
    };
    login("a", "one", "echo secret > ~/login");
    assert_eq!(login("a", "one", "cat ~/login"), "secret\n");
    for (agent, directory) in [("b", "one"), ("a", "two")] {
        assert_eq!(login(agent, directory, "cat ~/login || echo none"), "none\n");
    }
}

#[test]
fn a_commondir_that_an_agent_makes_is_gone_while_it_still_runs() {
    let script =
        format!("{{\"spawn\":[\"sh\",\"-c\",\"echo x > .git/commondir; sleep 1\"]}}\n{ECHO}");
    let place = Place::new(&script);
    configured(&place, "");
    let mut driver = drive(&place);
    let session = driver.session(&place.path("one"));
    driver.say(&session, "hello");
    let file = place.path("one/.git/commondir");
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    // It may not have been made yet; what is asked for is that it does not stay.
    std::thread::sleep(std::time::Duration::from_millis(500));
    while file.exists() {
        assert!(std::time::Instant::now() < until, "git on the host would follow it");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let output = driver.finish();
    insta::assert_snapshot!(output.stderr, @"warning: a commondir was made in the git directory, which would lead git astray: removed");
}
