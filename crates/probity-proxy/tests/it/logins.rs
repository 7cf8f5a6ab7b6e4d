//! Login methods of hostile agents: what an editor gets to see of them, and what `--login` runs.

use probity_proxy::{Logins, TerminalLogin, terminal_login};
use serde_json::{Value, json};

use crate::stage::{Part, Setting, place};

fn logins() -> Logins {
    Logins {
        command: ["/opt/probity", "acp", "player"].map(str::to_owned).into(),
        variables: vec!["PLAYER_KEY".to_owned()],
    }
}

/// What an agent offers, and what is left of it for an editor.
fn rows() -> Vec<(&'static str, Value, Value)> {
    let plain = json!([{"id": "a", "name": "A", "description": "d"}]);
    let terminal = json!([{"id": "a", "name": "A", "type": "terminal", "args": ["--login", "a"]}]);
    let terminal_with = |more: Value| {
        let mut method = json!({"id": "a", "name": "A", "type": "terminal"});
        method.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([method])
    };
    let ours = json!({"terminal-auth": {
        "label": "A", "command": "/opt/probity", "args": ["acp", "player", "--login", "a"], "env": {},
    }});
    let with_ours = json!([{"id": "a", "name": "A", "_meta": ours}]);
    let older = |older: Value| json!([{"id": "a", "name": "A", "_meta": {"terminal-auth": older}}]);
    let key = json!([{"id": "a", "name": "A", "type": "env_var",
        "vars": [{"name": "PLAYER_KEY", "secret": true, "label": "Key"}]}]);
    vec![
        ("a plain one", plain.clone(), plain.clone()),
        (
            "unknown fields",
            json!([{"id": "a", "name": "A", "description": "d", "command": "/evil", "x": 1,
                "args": ["--trace", "/f"], "env": {"LD_PRELOAD": "/evil"}, "link": "file:///evil"}]),
            plain,
        ),
        ("no arguments", terminal_with(json!({})), terminal.clone()),
        (
            "arguments and variables",
            terminal_with(json!({"args": ["--trace", "/f"], "env": {"LD_PRELOAD": "/evil.so"}})),
            terminal.clone(),
        ),
        (
            "other shapes of them",
            terminal_with(
                json!({"args": "--trace=/f", "env": [{"name": "PATH", "value": "/evil"}]}),
            ),
            terminal.clone(),
        ),
        (
            "a program under another key",
            terminal_with(json!({"_meta": {"terminal-auth": {"command": "/evil"}}})),
            terminal,
        ),
        ("an id that is an option", json!([{"id": "--trace", "type": "terminal"}]), json!([])),
        ("an id with a space", json!([{"id": "a --trace=/f", "type": "terminal"}]), json!([])),
        ("an id of many bytes", json!([{"id": "a".repeat(200), "name": "A"}]), json!([])),
        ("an id that is no text", json!([{"id": 7, "name": "A"}]), json!([])),
        ("a kind that nobody knows", json!([{"id": "a", "type": "shell"}]), json!([])),
        ("a kind that is no text", json!([{"id": "a", "type": ["terminal"]}]), json!([])),
        (
            "the older way",
            older(json!({"command": "/usr/bin/rm", "args": ["-rf", "/"], "env": {"A": "b"}})),
            with_ours.clone(),
        ),
        (
            "the older way beside others",
            json!([{"id": "a", "name": "A", "_meta": {
                "terminal-auth": {"command": "/evil"}, "api-key": {"provider": "/evil"}}}]),
            with_ours,
        ),
        ("the older way, misspelt", older(json!("/usr/bin/rm")), json!([{"id": "a", "name": "A"}])),
        (
            "variables",
            json!([{"id": "a", "name": "A", "type": "env_var", "link": "javascript:1",
                "vars": [{"name": "LD_PRELOAD"}, {"name": "PLAYER_KEY", "secret": true,
                "label": "K\u{1b}ey", "default": "/evil"}, {"name": "PATH"}]}]),
            key,
        ),
        (
            "no variable that may be asked for",
            json!([{"id": "a", "type": "env_var", "vars": [{"name": "LD_PRELOAD"}]}]),
            json!([]),
        ),
        ("no list", json!({"id": "a"}), json!([])),
        (
            "long texts",
            json!([{"id": "a", "name": "n".repeat(5000), "description": "d\n".repeat(5000)}]),
            json!([{"id": "a", "name": "n".repeat(200), "description": "d".repeat(2000)}]),
        ),
        (
            "very many",
            Value::from(vec![json!({"id": "a", "name": "A"}); 500]),
            Value::from(vec![json!({"id": "a", "name": "A"}); 16]),
        ),
    ]
}

#[test]
fn a_kept_answer_offers_only_rebuilt_logins() {
    for (row, offered, expected) in rows() {
        let mut setting = Setting::new();
        setting.options.logins = logins();
        let answer = json!({"protocolVersion": 1, "authMethods": offered});
        *setting.memory.capabilities.lock().unwrap() = Some(answer.to_string());
        let mut stage = setting.play(|_, _, _| 0);
        let answer = stage.call("initialize", &json!({"protocolVersion": 1}));
        assert_eq!(answer["result"]["authMethods"], expected, "{row}");
    }
}

#[test]
fn errors_and_other_answers_offer_only_rebuilt_logins() {
    let rows = rows();
    let offers: Vec<Value> = rows.iter().map(|(_, offered, _)| offered.clone()).collect();
    let mut setting = Setting::new();
    setting.options.logins = logins();
    let mut stage = setting.play(move |_, input, output| {
        let mut part = Part::new(input, output);
        let mut offers = offers.iter();
        while let Some(task) = part.next_task() {
            let (id, Some(offer)) = (&task["id"], offers.next()) else { break };
            // The same key twice, and once spelled with an escape.
            part.write_raw(&format!(
                r#"{{"id":{id},"error":{{"code":-32000,"message":"log in","data":{{"authMethods":{offer},"auth\u004dethods":{offer}}}}}}}"#
            ));
            let task = part.next_task().unwrap();
            part.answer(&task, &json!({"authMethods": offer}));
        }
        0
    });
    let session = stage.session(&place());
    for (row, _, expected) in rows {
        let prompt = stage.prompt(&session, "go");
        let error = stage.raw();
        let list = expected.to_string();
        assert_eq!(error.matches(&list).count(), 2, "{row}: {error}");
        assert!(!error.contains("evil") && !error.contains("/f"), "{row}: {error}");
        assert!(error.contains(&format!("\"id\":{prompt}")), "{row}: {error}");
        let answer = stage.call("_other", &json!({"sessionId": session}));
        assert_eq!(answer["result"]["authMethods"], expected, "{row}");
    }
}

#[test]
fn a_login_is_looked_up_by_its_id_and_bounded() {
    let login = |program: Option<&str>, arguments: &[&str], variables: &[(&str, &str)]| {
        let owned = |text: &&str| (*text).to_owned();
        Some(TerminalLogin {
            program: program.map(str::to_owned),
            arguments: arguments.iter().map(owned).collect(),
            variables: variables.iter().map(|(name, value)| (owned(name), owned(value))).collect(),
        })
    };
    for (method, expected) in [
        (json!({"id": "a", "type": "terminal"}), login(None, &[], &[])),
        (
            json!({"id": "a", "type": "terminal", "args": ["x", "-y"],
                "env": {"A": "1", "B C": "2", "D=": "3", "": "4", "E": 5}}),
            login(None, &["x", "-y"], &[("A", "1")]),
        ),
        (
            json!({"id": "a", "_meta": {"terminal-auth": {"command": "p", "args": ["x"]}}}),
            login(Some("p"), &["x"], &[]),
        ),
        (json!({"id": "a"}), None),
        (json!({"id": "b", "type": "terminal"}), None),
        (json!({"id": "a", "type": "env_var", "vars": []}), None),
        (json!({"id": "a", "type": "terminal", "args": [1]}), None),
        (json!({"id": "a", "type": "terminal", "args": ["x".repeat(10_000)]}), None),
        (json!({"id": "a", "type": "terminal", "args": ["\u{0}"]}), None),
    ] {
        let answer = json!({"authMethods": [method]}).to_string();
        assert_eq!(terminal_login(&answer, "a"), expected, "{answer}");
    }
    assert_eq!(terminal_login("not json", "a"), None);
}
