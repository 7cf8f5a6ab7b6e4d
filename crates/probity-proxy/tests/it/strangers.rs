//! Agents that speak of what is not theirs: sessions out of nowhere, and files outside.

use serde_json::{Value, json};

use crate::stage::{Part, Setting, Stage, place};

/// Writes these messages on a prompt, and then repeats every answer to them as an update.
fn saying(messages: Vec<Value>) -> Stage {
    Setting::new().play(move |_, input, output| {
        let mut part = Part::new(input, output);
        while let Some(task) = part.next_task() {
            match task["method"].as_str() {
                Some("session/prompt") => {
                    messages.iter().for_each(|message| part.write(message));
                    part.answer(&task, &json!({"stopReason": "end_turn"}));
                }
                _ => part.update(&json!("0"), &json!({"sessionUpdate": "told", "what": task})),
            }
        }
        0
    })
}

fn update(session: &str) -> Value {
    let params = json!({"sessionId": session, "update": {"sessionUpdate": "made up"}});
    json!({"jsonrpc": "2.0", "method": "session/update", "params": params})
}

#[test]
fn a_session_that_was_never_announced_does_not_come_to_be_at_the_editor() {
    let ask = json!({"jsonrpc": "2.0", "id": 5, "method": "session/request_permission",
        "params": {"sessionId": "mine", "toolCall": {}, "options": []}});
    let mut messages = vec![ask];
    messages.extend((0..1000).map(|number| update(&format!("invented-{number}"))));
    let mut stage = saying(messages);
    let session = stage.session(&place());
    let prompt = stage.prompt(&session, "go");
    assert_eq!(stage.receive()["id"], prompt, "nothing of it comes before the answer");
    // Who asked in its name is told so, and does not wait for ever.
    let told = stage.receive();
    let answer = &told["params"]["update"]["what"];
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(5), &json!(-32001)), "{told}");
    let notes = stage.memory.notes.lock().unwrap();
    let warned = notes.iter().filter(|note| note.contains("never announced")).count();
    assert!((1..=11).contains(&warned), "{warned}: a flood is told in few lines");
}

#[test]
fn a_session_that_an_update_tells_of_is_known_from_then_on() {
    let params = json!({"sessionId": "0", "update": {"sessionUpdate": "subagent_update", "sessionId": "sub"}});
    let announced = json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
    let mut stage = saying(vec![update("sub"), announced, update("sub")]);
    let session = stage.session(&place());
    stage.prompt(&session, "go");
    let told = stage.receive();
    assert_eq!(told["params"]["sessionId"], *session);
    let other = told["params"]["update"]["sessionId"].as_str().unwrap();
    assert!(other != session && other.len() == 36, "{told}");
    assert_eq!(stage.receive()["params"]["sessionId"], other);
}

#[test]
fn files_outside_are_refused_in_every_disguise_and_no_notification_gets_through() {
    let read = |path: &str| json!({"sessionId": "0", "path": path});
    for (id, method, params) in [
        (None, "fs/read_text_file", read("/etc/passwd")),
        (None, "fs/write_text_file", read("/etc/passwd")),
        (None, "fs/write_text_file", json!({"sessionId": "0"})),
        (Some(5), "fs/read_text_file", read("/etc/passwd")),
        (Some(5), "fs/read_text_file", read("/srv/one/../two/x")),
        (Some(5), "fs/read_text_file", json!({"sessionId": "0", "path": null})),
        (Some(5), "fs/read_text_file", json!({"sessionId": "0", "path": ["/etc/passwd"]})),
        (Some(5), "fs/read_text_file", json!({"sessionId": "0"})),
        (Some(5), "fs/delete_file", read("/etc/passwd")),
        (Some(5), "terminal/create", json!({"sessionId": "0", "cwd": "/etc", "command": "sh"})),
    ] {
        let mut message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        if let Some(id) = id {
            message["id"] = json!(id);
        }
        let mut stage = saying(vec![message.clone()]);
        let session = stage.session(&place());
        let prompt = stage.prompt(&session, "go");
        assert_eq!(stage.receive()["id"], prompt, "{message} came through");
        if id.is_some() {
            let told = stage.receive();
            let code = &told["params"]["update"]["what"]["error"]["code"];
            assert_eq!(*code, -32602, "{message}: {told}");
        }
    }
}

#[test]
fn a_method_or_a_path_that_comes_twice_has_to_be_harmless_both_times() {
    for line in [
        r#"{"id":5,"method":"fs/read_text_file","params":{"sessionId":"0","path":"/etc/passwd"},"method":"session/update"}"#,
        r#"{"id":5,"m\u0065thod":"fs\/read_text_file","method":"_x","params":{"sessionId":"0","path":"/etc/passwd"}}"#,
        r#"{"id":5,"method":"fs/read_text_file","params":{"sessionId":"0","path":"/etc/passwd","path":"/srv/one/a"}}"#,
        r#"{"id":5,"method":"fs/read_text_file","params":{"path":"/etc/passwd"},"params":{"sessionId":"0","path":"/srv/one/a"}}"#,
        r#"{"method":"fs/write_text_file","params":{"sessionId":"0","path":"/etc/passwd"},"method":"session/update"}"#,
    ] {
        let mut stage = Setting::new().play(move |_, input, output| {
            let mut part = Part::new(input, output);
            while let Some(task) = part.next_task() {
                if task["method"] == "session/prompt" {
                    part.write_raw(line);
                    part.answer(&task, &json!({"stopReason": "end_turn"}));
                }
            }
            0
        });
        let session = stage.session(&place());
        let prompt = stage.prompt(&session, "go");
        assert_eq!(stage.receive()["id"], prompt, "{line} came through");
    }
}

#[test]
fn ids_that_are_novels_and_lists_without_end_are_not_kept() {
    let long = "x".repeat(100_000);
    for (method, result) in [
        ("session/new", json!({"sessionId": long})),
        ("session/list", json!({"sessions": [{"sessionId": long, "cwd": "/srv/one"}]})),
        (
            "session/list",
            json!({"sessions": (0..5000).map(|number| json!({"sessionId": number.to_string()})).collect::<Vec<_>>()}),
        ),
    ] {
        let mut stage = Setting::new().play(move |_, input, output| {
            let mut part = Part::new(input, output);
            while let Some(task) = part.next() {
                match task["method"].as_str() {
                    Some("initialize") => part.answer(&task, &json!({"protocolVersion": 1})),
                    _ => part.answer(&task, &result),
                }
            }
            0
        });
        let answer = stage.call(method, &json!({"cwd": place(), "mcpServers": []}));
        assert_eq!(answer["error"]["code"], -32603, "{method}");
        assert!(stage.memory.sessions.lock().unwrap().is_empty(), "{method}");
    }
}

#[test]
fn questions_that_nobody_answers_are_refused_at_some_point() {
    let ask = |number: usize| {
        json!({"jsonrpc": "2.0", "id": number, "method": "session/request_permission",
            "params": {"sessionId": "0", "toolCall": {}, "options": []}})
    };
    let mut stage = Setting::new().play(move |_, input, output| {
        let mut part = Part::new(input, output);
        while let Some(task) = part.next_task() {
            if task["method"] == "session/prompt" {
                (0..5000).for_each(|number| part.write(&ask(number)));
                part.answer(&task, &json!({"stopReason": "end_turn"}));
            }
        }
        0
    });
    let session = stage.session(&place());
    let prompt = stage.prompt(&session, "go");
    let mut asked = 0;
    loop {
        let message = stage.receive();
        if message.get("method").is_none() {
            assert_eq!(message["id"], prompt);
            break;
        }
        asked += 1;
    }
    assert_eq!(asked, 4096);
}
