//! Every method of the protocol's newest schema passes, and a method that is new is named.
//!
//! The schema is the one in the npm library that `script/tools` installs.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

use crate::stage::{Part, Setting, place};

/// What this proxy was tried with, by who handles it.
const KNOWN: &[(&str, &[&str])] = &[
    (
        "agent",
        &[
            "auth/status",
            "authenticate",
            "initialize",
            "logout",
            "mcp/message",
            "providers/disable",
            "providers/list",
            "providers/set",
            "session/archive",
            "session/cancel",
            "session/close",
            "session/delete",
            "session/fork",
            "session/list",
            "session/load",
            "session/new",
            "session/prompt",
            "session/resume",
            "session/set_config_option",
            "session/set_mode",
            "session/set_title",
            "session/status",
            "session/unarchive",
        ],
    ),
    (
        "client",
        &[
            "auth/status_update",
            "elicitation/complete",
            "elicitation/create",
            "fs/read_text_file",
            "fs/write_text_file",
            "mcp/message",
            "session/request_permission",
            "session/update",
            "terminal/create",
            "terminal/kill",
            "terminal/output",
            "terminal/release",
            "terminal/wait_for_exit",
        ],
    ),
    // Withdraws a request, whichever side sent it.
    ("protocol", &["$/cancel_request"]),
    // Between proxies of a chain, which this one is no part of.
    ("proxy", &["proxy/initialize", "proxy/successor"]),
];

/// Each method of the schema: who handles it, what it is called, and whether it is a notification.
fn schema() -> BTreeSet<(String, String, bool)> {
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/sdk");
    let path = sdk.join("node_modules/@agentclientprotocol/sdk/schema/v1/schema.unstable.json");
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}: run script/tools once", path.display()));
    let schema: Value = serde_json::from_str(&text).unwrap();
    let kinds = schema["$defs"].as_object().unwrap().iter();
    let messages = kinds.filter_map(|(name, kind)| {
        let (side, method) = (kind.get("x-side")?.as_str()?, kind.get("x-method")?.as_str()?);
        let is_notification = name.ends_with("Notification");
        let is_message = is_notification || name.ends_with("Request");
        is_message.then(|| (side.to_owned(), method.to_owned(), is_notification))
    });
    messages.collect()
}

#[test]
fn the_schema_names_no_method_that_is_not_known_here() {
    let named: BTreeSet<(String, String)> =
        schema().into_iter().map(|(side, method, _)| (side, method)).collect();
    let known: BTreeSet<(String, String)> = KNOWN
        .iter()
        .flat_map(|(side, methods)| methods.iter().map(|&method| (*side, method)))
        .map(|(side, method)| (side.to_owned(), method.to_owned()))
        .collect();
    let news: Vec<_> = named.difference(&known).collect();
    assert!(news.is_empty(), "new in the schema: try them and add them to the list: {news:?}");
    let gone: Vec<_> = known.difference(&named).collect();
    assert!(gone.is_empty(), "gone from the schema: {gone:?}");
}

/// Parameters with something in them that no version of the protocol has.
fn params(session: Option<&str>, method: &str) -> Value {
    let mut params = json!({
        "later": {"method": method, "number": 1.50, "list": [null, true, "ä"]},
        "path": "/home/agent/workspace/x",
        "cwd": "/home/agent/workspace",
        "mcpServers": [],
    });
    if let Some(session) = session {
        params["sessionId"] = session.into();
    }
    params
}

#[test]
fn every_method_reaches_the_agent_with_all_that_is_in_it() {
    for (side, method, is_notification) in schema() {
        if side != "agent" || method == "initialize" {
            continue;
        }
        let seen = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&seen);
        let mut stage = Setting::new().play(move |_, input, output| {
            let mut part = Part::new(input, output);
            while let Some(message) = part.next() {
                let result = match message["method"].as_str() {
                    Some("initialize") => {
                        let sessions = json!({"close": {}, "resume": {}, "delete": {}, "fork": {}});
                        let able = json!({"loadSession": true, "sessionCapabilities": sessions});
                        json!({"protocolVersion": 1, "agentCapabilities": able})
                    }
                    Some("session/new" | "session/fork") => json!({"sessionId": "s"}),
                    _ => json!({"sessions": []}),
                };
                kept.lock().unwrap().push(message.clone());
                if message.get("id").is_some() {
                    part.answer(&message, &result);
                }
            }
            0
        });
        let session = stage.session(&place());
        let belongs = !matches!(
            method.split('/').next(),
            Some("auth" | "authenticate" | "logout" | "providers")
        );
        let belongs = belongs && !matches!(method.as_str(), "session/new" | "session/list");
        let mut sent = params(belongs.then_some(session.as_str()), &method);
        if method == "session/close" {
            // Has no directory, and nobody looks for one in it.
            sent["cwd"] = "/home/agent/workspace".into();
        } else {
            sent["cwd"] = place().to_str().unwrap().into();
        }
        if is_notification {
            stage.send(&json!({"jsonrpc": "2.0", "method": method, "params": sent}));
        } else {
            let answer = stage.call(&method, &sent);
            assert!(answer.get("error").is_none(), "{method}: {answer}");
        }
        drop(stage.finish());
        let seen = seen.lock().unwrap();
        let mut got = seen.iter().rev().filter(|message| message["method"] == method);
        let got = got.find(|message| message["params"]["later"]["method"] == method);
        let got = got.unwrap_or_else(|| panic!("{method} is lost: {seen:?}"));
        let expected = params(belongs.then_some("s"), &method);
        assert_eq!(got["params"], expected, "{method}");
    }
}

#[test]
fn every_method_reaches_the_editor_with_all_that_is_in_it() {
    for (side, method, is_notification) in schema() {
        if side != "client" {
            continue;
        }
        let called = method.clone();
        let mut stage = Setting::new().play(move |_, input, output| {
            let mut part = Part::new(input, output);
            while let Some(task) = part.next_task() {
                if task["method"] != "session/prompt" {
                    continue;
                }
                let session = task["params"]["sessionId"].as_str().unwrap().to_owned();
                let mut message = json!({
                    "jsonrpc": "2.0", "method": called, "params": params(Some(&session), &called),
                });
                if !is_notification {
                    message["id"] = 7.into();
                }
                part.write(&message);
                if !is_notification {
                    let answer = part.next().unwrap();
                    assert_eq!(answer["result"]["later"], json!(called), "{called}: {answer}");
                }
                part.answer(&task, &json!({"stopReason": "end_turn"}));
            }
            0
        });
        let session = stage.session(&place());
        let prompt = stage.prompt(&session, "go");
        let got = stage.receive();
        assert_eq!(got["method"], method, "{got}");
        let mut expected = params(Some(&session), &method);
        for field in ["path", "cwd"] {
            // The editor knows files by their names on the host; other messages have none there.
            if got["params"][field] != expected[field] {
                let host = if field == "path" { place().join("x") } else { place() };
                expected[field] = host.to_str().unwrap().into();
            }
        }
        assert_eq!(got["params"], expected, "{method}");
        if !is_notification {
            let result = json!({"later": method});
            stage.send(&json!({"jsonrpc": "2.0", "id": got["id"], "result": result}));
        }
        assert_eq!(stage.answer(prompt)["result"]["stopReason"], "end_turn", "{method}");
    }
}
