//! What the proxy writes itself is valid by the types of the protocol's own crate.

use agent_client_protocol_schema::v1 as acp;
use serde_json::{Value, json};

use crate::stage::{Part, Setting, place};

fn answering(_: usize, input: std::io::PipeReader, output: std::io::PipeWriter) -> i32 {
    let mut part = Part::new(input, output);
    part.capabilities = json!({
        "loadSession": true,
        "promptCapabilities": {"image": true},
        "sessionCapabilities": {"list": {}},
    });
    while let Some(task) = part.next_task() {
        if task["method"] == "session/prompt" {
            return 1;
        }
    }
    0
}

#[test]
fn the_answer_to_initialize_is_valid_with_and_without_a_known_agent() {
    let setting = Setting::new();
    let memory = std::sync::Arc::clone(&setting.memory);
    let mut stage = setting.play(answering);
    let asked = json!({"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": true}}});
    for known in [false, true] {
        let answer = stage.call("initialize", &asked);
        let typed: acp::InitializeResponse =
            serde_json::from_value(answer["result"].clone()).unwrap();
        assert_eq!(typed.agent_capabilities.load_session, known);
        assert_eq!(typed.agent_capabilities.prompt_capabilities.image, known);
        assert!(typed.agent_capabilities.session_capabilities.close.is_some());
        assert_eq!(answer["result"]["capabilities"]["multiSession"], true);
        assert_eq!(answer["result"]["serverInfo"]["name"], "probity");
        stage.session(&place());
    }
    assert!(memory.capabilities.lock().unwrap().is_some());
    for (version, echoed) in [
        (json!(2), json!(1)),
        (json!(0), json!(1)),
        (json!("1"), json!("1")),
        (Value::Null, json!(1)),
    ] {
        let answer = stage.call("initialize", &json!({"protocolVersion": version}));
        assert_eq!(answer["result"]["protocolVersion"], echoed);
    }
}

#[test]
fn errors_and_own_requests_are_valid() {
    let mut stage = Setting::new().play(answering);
    let session = stage.session(&place());
    let mut errors = vec![
        stage.call("session/new", &json!({"cwd": "/srv/missing", "mcpServers": []})),
        stage.call("session/prompt", &json!({"sessionId": "none", "prompt": []})),
        stage.call("session/new", &json!({})),
    ];
    let prompt = stage.prompt(&session, "die");
    errors.push(stage.answer(prompt));
    for error in errors {
        assert_eq!(error["jsonrpc"], "2.0");
        let typed: acp::Error = serde_json::from_value(error["error"].clone()).unwrap();
        assert!(!typed.message.is_empty());
    }
}

#[test]
fn what_agents_are_told_by_the_proxy_itself_is_valid() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let kept = std::sync::Arc::clone(&seen);
    let mut stage = Setting::new().play(move |number, input, output| {
        let mut part = Part::new(input, output);
        while let Some(task) = part.next() {
            kept.lock().unwrap().push(task.clone());
            let result = match task["method"].as_str() {
                Some("initialize") => {
                    let sessions = json!({"resume": {}, "close": {}});
                    json!({"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": sessions}})
                }
                Some("session/new") => json!({"sessionId": "s"}),
                Some("session/prompt") if number == 0 => return 1,
                _ => json!({}),
            };
            part.answer(&task, &result);
        }
        0
    });
    let session = stage.session(&place());
    for _ in 0..2 {
        let prompt = stage.prompt(&session, "x");
        stage.answer(prompt);
    }
    drop(stage.finish());
    let seen = seen.lock().unwrap();
    let params = |method: &str| {
        let found = seen.iter().find(|message| message["method"] == method);
        found.unwrap_or_else(|| panic!("{method}: {seen:?}"))["params"].clone()
    };
    serde_json::from_value::<acp::InitializeRequest>(params("initialize")).unwrap();
    serde_json::from_value::<acp::ResumeSessionRequest>(params("session/resume")).unwrap();
    serde_json::from_value::<acp::CloseSessionRequest>(params("session/close")).unwrap();
}
