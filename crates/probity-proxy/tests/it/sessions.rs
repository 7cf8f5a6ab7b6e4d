//! Sessions: made, announced before anything is said about them, found again, listed, deleted.

use std::sync::{Arc, atomic::Ordering};

use probity_proxy::Sharing;
use serde_json::{Value, json};

use crate::stage::{Memory, Part, Setting, other_place, place};

fn able() -> Value {
    let sessions = json!({"list": {}, "resume": {}, "close": {}, "delete": {}, "fork": {}});
    json!({"loadSession": true, "sessionCapabilities": sessions})
}

/// Knows one session of an earlier run, "old", and everything that can be done with sessions.
fn knowing(_: usize, input: std::io::PipeReader, output: std::io::PipeWriter) -> i32 {
    let mut part = Part::new(input, output);
    part.capabilities = able();
    while let Some(task) = part.next_task() {
        let session = task["params"]["sessionId"].clone();
        let result = match task["method"].as_str() {
            Some("session/load") => {
                part.update(&session, &json!({"sessionUpdate": "repeated"}));
                json!({"sessionId": session})
            }
            Some("session/list") => {
                let listed =
                    |id: &str| json!({"sessionId": id, "cwd": "/home/agent/workspace/sub"});
                json!({"sessions": [listed("0"), listed("old")], "nextCursor": "n"})
            }
            Some("session/fork") => json!({"sessionId": "forked"}),
            Some("session/prompt") => json!({"stopReason": "end_turn", "by": session}),
            Some(_) if task.get("id").is_some() => json!({}),
            _ => continue,
        };
        part.answer(&task, &result);
    }
    0
}

#[test]
fn ids_survive_the_proxy_and_lead_back_to_the_agents_session() {
    let memory = Arc::<Memory>::default();
    let setting = || Setting { memory: Arc::clone(&memory), ..Setting::new() };
    let mut first = setting().play(knowing);
    let session = first.session(&place());
    assert_eq!(session.len(), 36);
    let list = first.call("session/list", &json!({"cwd": place()}));
    let listed = list["result"]["sessions"].as_array().unwrap().clone();
    assert_eq!(listed[0]["sessionId"], session);
    assert_eq!(listed[0]["cwd"], "/srv/one/sub");
    assert_eq!(list["result"]["nextCursor"], "n");
    let old = listed[1]["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(old.len(), 36);
    drop(first.finish());

    let mut second = setting().play(knowing);
    let id =
        second.ask("session/load", &json!({"sessionId": old, "cwd": place(), "mcpServers": []}));
    let repeated = second.receive();
    assert_eq!(repeated["params"]["sessionId"], old);
    let loaded = second.answer(id);
    assert_eq!(loaded["result"]["sessionId"], old, "some agents repeat the id");
    let prompt = second.prompt(&old, "go on");
    assert_eq!(second.answer(prompt)["result"]["by"], "old");
    let elsewhere = json!({"sessionId": session, "cwd": other_place(), "mcpServers": []});
    assert_eq!(second.call("session/load", &elsewhere)["error"]["code"], -32602);
    let params = json!({"sessionId": session, "cwd": place()});
    assert!(second.call("session/resume", &params).get("result").is_some());

    let gone = second.call("session/delete", &json!({"sessionId": old}));
    assert_eq!(gone["result"], json!({}));
    let params = json!({"sessionId": old, "cwd": place(), "mcpServers": []});
    assert_eq!(second.call("session/load", &params)["error"]["code"], -32001);
    assert!(memory.sessions.lock().unwrap().iter().all(|record| record.id != old));
}

#[test]
fn equal_ids_of_two_agents_are_two_sessions_and_a_fork_is_a_third() {
    let mut stage = Setting::new().play(knowing);
    let (one, two) = (stage.session(&place()), stage.session(&place()));
    assert_eq!(stage.starts.load(Ordering::SeqCst), 2, "each has a process of its own");
    let fork =
        stage.call("session/fork", &json!({"sessionId": one}))["result"]["sessionId"].clone();
    let fork = fork.as_str().unwrap().to_owned();
    for (session, by) in [(&one, "0"), (&two, "0"), (&fork, "forked")] {
        let prompt = stage.prompt(session, "who");
        assert_eq!(stage.answer(prompt)["result"]["by"], by);
    }
    assert_eq!(stage.starts.load(Ordering::SeqCst), 2);
    let answer = stage.call("session/close", &json!({"sessionId": one}));
    assert_eq!(answer["result"], json!({}));
    let prompt = stage.prompt(&fork, "still there");
    assert_eq!(stage.answer(prompt)["result"]["by"], "forked");
    let prompt = stage.prompt(&one, "gone");
    assert_eq!(stage.answer(prompt)["error"]["code"], -32001);
}

#[test]
fn one_process_serves_a_workspace_if_that_is_wanted() {
    let mut setting = Setting::new();
    setting.options.sharing = Sharing::Workspace;
    let mut stage = setting.play(knowing);
    let sessions =
        [stage.session(&place()), stage.session(&place()), stage.session(&other_place())];
    assert_eq!(stage.starts.load(Ordering::SeqCst), 2);
    for (session, by) in sessions.iter().zip(["0", "1", "0"]) {
        let prompt = stage.prompt(session, "who");
        assert_eq!(stage.answer(prompt)["result"]["by"], by);
    }
}

#[test]
fn what_is_said_before_a_session_is_announced_comes_after_it() {
    let mut stage = Setting::new().play(|_, input, output| {
        let mut part = Part::new(input, output);
        while let Some(task) = part.next() {
            match task["method"].as_str() {
                Some("initialize") => part.answer(&task, &json!({"protocolVersion": 1})),
                Some("session/new") => {
                    for n in 0..3 {
                        part.update(&json!("s"), &json!({"sessionUpdate": "early", "n": n}));
                    }
                    part.update(&json!("other"), &json!({"sessionUpdate": "early", "n": 3}));
                    part.answer(&task, &json!({"sessionId": "s"}));
                    part.update(&json!("s"), &json!({"sessionUpdate": "late", "n": 4}));
                }
                _ => {}
            }
        }
        0
    });
    let id = stage.ask("session/new", &json!({"cwd": place(), "mcpServers": []}));
    let created = stage.receive();
    assert_eq!(created["id"], id);
    let session = &created["result"]["sessionId"];
    // The third is about a session that never came.
    for n in [0, 1, 2, 4] {
        let update = stage.receive();
        assert_eq!(update["params"]["update"]["n"], n);
        assert_eq!(update["params"]["sessionId"], *session);
    }
    let notes = stage.memory.notes.lock().unwrap();
    let warning = "warning: player speaks of a session that it never announced: other \
                   (message 1 of this kind, dropped)";
    assert!(notes.iter().any(|note| note == warning), "{notes:?}");
}

#[test]
fn extensions_are_routed_by_session_and_else_to_the_agent_in_use() {
    let mut stage = Setting::new().play(|number, input, output| {
        let mut part = Part::new(input, output);
        while let Some(task) = part.next_task() {
            if task.get("id").is_some() {
                part.answer(&task, &json!({"agent": number, "asked": task["method"]}));
            }
        }
        0
    });
    assert_eq!(stage.call("_x/y", &json!({}))["error"]["code"], -32601);
    let (one, _two) = (stage.session(&place()), stage.session(&other_place()));
    let by_session = stage.call("_x/y", &json!({"sessionId": one}));
    assert_eq!(by_session["result"], json!({"agent": 0, "asked": "_x/y"}));
    let by_agent = stage.call("unknown/method", &json!({"a": 1}));
    assert_eq!(by_agent["result"], json!({"agent": 1, "asked": "unknown/method"}));
    assert_eq!(stage.call("_x/y", &json!({"sessionId": "none"}))["error"]["code"], -32001);
}

#[test]
fn an_agent_that_wants_a_login_stays_for_it() {
    let mut stage = Setting::new().play(|_, input, output| {
        let mut part = Part::new(input, output);
        let mut logged_in = false;
        while let Some(task) = part.next() {
            match task["method"].as_str() {
                Some("initialize") => part.answer(&task, &json!({"protocolVersion": 1})),
                Some("authenticate") => {
                    logged_in = true;
                    part.answer(&task, &json!({}));
                }
                Some("session/new") if logged_in => part.answer(&task, &json!({"sessionId": "s"})),
                Some("session/new") => {
                    let meta = json!({"terminal-auth": {"command": "/usr/bin/rm"}});
                    let data = json!({"authMethods": [{"id": "m", "_meta": meta}]});
                    let error = json!({"code": -32000, "message": "log in", "data": data});
                    part.write(&json!({"id": task["id"], "error": error}));
                }
                _ => {}
            }
        }
        0
    });
    let new = json!({"cwd": place(), "mcpServers": []});
    let refused = stage.call("session/new", &new);
    assert_eq!(refused["error"]["code"], -32000);
    assert!(!refused.to_string().contains("/usr/bin/rm"), "{refused}");
    assert_eq!(stage.call("authenticate", &json!({"methodId": "m"}))["result"], json!({}));
    assert!(stage.call("session/new", &new)["result"]["sessionId"].is_string());
    assert_eq!(stage.starts.load(Ordering::SeqCst), 1);
}
