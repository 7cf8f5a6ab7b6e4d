//! Paths: told to the agent under one name, to the editor under another, and kept in the workspace.

use std::{
    fs,
    os::unix::fs::symlink,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

use crate::stage::{Part, Setting};

/// Asks the editor for whatever its prompt says, and answers with the editor's answer.
fn relaying(_: usize, input: std::io::PipeReader, output: std::io::PipeWriter) -> i32 {
    let mut part = Part::new(input, output);
    while let Some(task) = part.next_task() {
        if task["method"] != "session/prompt" {
            continue;
        }
        let mut asked: Value =
            serde_json::from_str(task["params"]["prompt"][0]["text"].as_str().unwrap()).unwrap();
        asked["params"]["sessionId"] = task["params"]["sessionId"].clone();
        asked["id"] = json!(0);
        part.write(&asked);
        let answer = part.next().unwrap();
        part.answer(&task, &json!({"stopReason": "end_turn", "answer": answer}));
    }
    0
}

#[test]
fn the_editor_touches_nothing_outside_the_workspace_for_an_agent() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap().join("repo");
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("file"), "").unwrap();
    symlink("/etc", root.join("out")).unwrap();
    let host = |name: &str| root.join(name).to_str().unwrap().to_owned();
    for (method, key, path, reaches) in [
        ("fs/read_text_file", "path", "/home/agent/workspace/file", Some(host("file"))),
        ("fs/write_text_file", "path", "/home/agent/workspace/new/deep", Some(host("new/deep"))),
        ("fs/read_text_file", "path", &host("file"), Some(host("file"))),
        ("fs/read_text_file", "path", "/home/agent/workspace/out/passwd", None),
        ("fs/write_text_file", "path", "/home/agent/workspace/../x", None),
        ("fs/read_text_file", "path", "/etc/passwd", None),
        (
            "terminal/create",
            "cwd",
            "/home/agent/workspace",
            Some(host("").trim_end_matches('/').to_owned()),
        ),
        ("terminal/create", "cwd", "/tmp", None),
    ] {
        let mut stage = Setting::new().play(relaying);
        let session = stage.session(&root);
        let asked = json!({"method": method, "params": {key: path, "command": "true"}});
        let prompt = stage.prompt(&session, &asked.to_string());
        let answer = match &reaches {
            Some(host) => {
                let question = stage.receive();
                assert_eq!(question["method"], method);
                assert_eq!(question["params"][key], **host, "{path}");
                stage.send(&json!({"id": question["id"], "result": {"content": "c"}}));
                stage.answer(prompt)
            }
            None => stage.receive(),
        };
        let relayed = &answer["result"]["answer"];
        assert_eq!(relayed.get("error").is_some(), reaches.is_none(), "{method} {path}: {answer}");
    }
}

#[test]
fn a_second_key_does_not_smuggle_a_path_past_the_check() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    let mut stage = Setting::new().play(|_, input, output| {
        let mut part = Part::new(input, output);
        while let Some(task) = part.next_task() {
            part.write_raw(r#"{"id":0,"method":"fs/read_text_file","params":{"path":"/etc/passwd","sessionId":"0","p\u0061th":"/home/agent/workspace/x"}}"#);
            let answer = part.next().unwrap();
            part.answer(&task, &json!({"answer": answer}));
        }
        0
    });
    let session = stage.session(&root);
    let prompt = stage.prompt(&session, "");
    assert_eq!(stage.answer(prompt)["result"]["answer"]["error"]["code"], -32602);
}

#[test]
fn files_and_terminals_of_the_editor_are_not_for_contained_agents() {
    let files = |offered: bool| json!({"readTextFile": offered, "writeTextFile": offered});
    let requests = [
        ("terminal/create", json!({"sessionId": "0", "command": "rm"})),
        ("fs/read_text_file", json!({"sessionId": "0", "path": "/srv/one/a"})),
        ("fs/write_text_file", json!({"sessionId": "0", "path": "/srv/one/a", "content": ""})),
        ("fs/later", json!({"sessionId": "0", "path": "/srv/one/a"})),
    ];
    for (may_terminals, may_files) in [(false, false), (true, false), (false, true)] {
        let seen = Arc::new(Mutex::new(Value::Null));
        let (kept, asked) = (Arc::clone(&seen), requests.clone());
        let setting = Setting { terminals: may_terminals, files: may_files, ..Setting::new() };
        let mut stage = setting.play(move |_, input, output| {
            let mut part = Part::new(input, output);
            let first = part.next().unwrap();
            *kept.lock().unwrap() = first["params"].clone();
            part.answer(&first, &json!({"protocolVersion": 1}));
            for (method, params) in &asked {
                let Some(task) = part.next_task() else { break };
                part.write(&json!({"id": 0, "method": method, "params": params}));
                let answer = part.next().unwrap();
                part.answer(&task, &json!({"answer": answer}));
            }
            0
        });
        let able = json!({"fs": files(true), "terminal": true});
        stage.call("initialize", &json!({"protocolVersion": 1, "clientCapabilities": able}));
        let session = stage.session(std::path::Path::new("/srv/one"));
        for (method, _) in &requests {
            let passes = if method.starts_with("fs/") { may_files } else { may_terminals };
            stage.prompt(&session, "");
            let message = stage.receive();
            if passes {
                assert_eq!(message["method"], *method);
                stage.send(&json!({"id": message["id"], "result": {}}));
                stage.receive();
            } else {
                assert_eq!(message["result"]["answer"]["error"]["code"], -32601, "{method}");
            }
        }
        let told = json!({"fs": files(may_files), "terminal": may_terminals});
        assert_eq!(seen.lock().unwrap()["clientCapabilities"], told);
    }
}
