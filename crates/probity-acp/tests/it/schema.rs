//! Every message that the client writes is what the protocol's own types accept.

use std::time::Duration;

use agent_client_protocol_schema::v1::{
    CancelNotification, CloseSessionRequest, InitializeRequest, NewSessionRequest, PromptRequest,
    RequestPermissionResponse,
};
use probity_acp::{Limits, Side};
use serde_json::Value;

use crate::agent::{connect, limits};

const ASKS: &str = r#"
{"on":"session/prompt"}
{"ask":"session/request_permission","params":{"options":[{"optionId":"r","kind":"reject_once"}]}}
{"ask":"session/request_permission","params":{}}
{"ask":"fs/read_text_file","params":{}}
{"answer":{"stopReason":"end_turn"}}
"#;

const HANGS: &str = r#"
{"on":"session/prompt"}
{"await":"session/cancel"}
{"answer":{"stopReason":"cancelled"}}
"#;

fn sent(script: &str, limits: Limits) -> Vec<Value> {
    let mut connected = connect(script, limits).unwrap();
    let session = connected.client.open_session("/work").unwrap();
    let turn = connected.client.prompt(&session, "first \u{1f600}\n");
    assert_eq!(turn.is_ok(), script == ASKS);
    connected.client.close().unwrap();
    connected.thread.join().unwrap().unwrap();
    connected.messages.from(Side::Client)
}

#[test]
fn every_message_we_send_is_valid() {
    let mut messages = sent(ASKS, limits());
    messages.extend(sent(HANGS, Limits { prompt: Duration::from_millis(100), ..limits() }));
    let mut seen = Vec::new();
    for message in messages {
        assert_eq!(message["jsonrpc"], "2.0");
        let part = |key: &str| message.get(key).cloned();
        match (part("method"), part("result"), part("error")) {
            (Some(Value::String(method)), None, None) => {
                check_params(&method, message["params"].clone());
                assert_eq!(part("id").is_some(), method != "session/cancel");
                seen.push(method);
            }
            (None, Some(result), None) => {
                serde_json::from_value::<RequestPermissionResponse>(result).unwrap();
                seen.push("permission".to_owned());
            }
            (None, None, Some(error)) => {
                serde_json::from_value::<agent_client_protocol_schema::v1::Error>(error).unwrap();
                seen.push("error".to_owned());
            }
            _ => panic!("{message}"),
        }
    }
    assert_eq!(
        seen,
        [
            "initialize",
            "session/new",
            "session/prompt",
            "permission",
            "permission",
            "error",
            "session/close",
            "initialize",
            "session/new",
            "session/prompt",
            "session/cancel",
            "session/close",
        ]
    );
}

fn check_params(method: &str, params: Value) {
    match method {
        "initialize" => {
            let request: InitializeRequest = serde_json::from_value(params).unwrap();
            let capabilities = request.client_capabilities;
            assert!(!capabilities.fs.read_text_file && !capabilities.fs.write_text_file);
            assert!(!capabilities.terminal);
            assert_eq!(serde_json::to_value(request.protocol_version).unwrap(), 1);
        }
        "session/new" => {
            let request: NewSessionRequest = serde_json::from_value(params).unwrap();
            assert!(request.mcp_servers.is_empty());
        }
        "session/prompt" => drop(serde_json::from_value::<PromptRequest>(params).unwrap()),
        "session/cancel" => drop(serde_json::from_value::<CancelNotification>(params).unwrap()),
        "session/close" => drop(serde_json::from_value::<CloseSessionRequest>(params).unwrap()),
        other => assert_eq!(other, "a method with a check"),
    }
}
