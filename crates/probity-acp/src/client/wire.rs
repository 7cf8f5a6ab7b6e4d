//! The messages that the client writes, and what it reads out of answers.

use serde_json::{Value, json};

use super::error::{AuthMethod, Cause};
use super::turn::Tokens;
use crate::envelope::Id;

pub(super) fn initialize(id: u64, name: &str, version: &str, serves_files: bool) -> String {
    let params = json!({
        "protocolVersion": 1,
        "clientCapabilities": {
            "fs": {"readTextFile": serves_files, "writeTextFile": false},
            "terminal": false,
        },
        "clientInfo": {"name": name, "version": version},
    });
    request(id, "initialize", &params)
}

pub(super) fn new_session(id: u64, cwd: &str) -> String {
    request(id, "session/new", &json!({"cwd": cwd, "mcpServers": []}))
}

pub(super) fn prompt(id: u64, session: &str, text: &str) -> String {
    let prompt = json!([{"type": "text", "text": text}]);
    request(id, "session/prompt", &json!({"sessionId": session, "prompt": prompt}))
}

pub(super) fn close(id: u64, session: &str) -> String {
    request(id, "session/close", &json!({"sessionId": session}))
}

pub(super) fn cancel(session: &str) -> String {
    let params = json!({"sessionId": session});
    json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params}).to_string()
}

fn request(id: u64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

/// A response with the id in the spelling in which it was asked.
pub(crate) fn response_result(id: &Id<'_>, result: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.raw())
}

pub(crate) fn response_error(id: &Id<'_>, code: i64, message: &str) -> String {
    let error = json!({"code": code, "message": message});
    format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.raw())
}

/// What an agent says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentInfo {
    pub name: Option<String>,
    pub version: Option<String>,
    pub auth_methods: Vec<AuthMethod>,
    /// Whether `session/close` is worth sending.
    pub(super) closes_sessions: bool,
}

pub(super) fn read_agent(answer: &Value) -> Result<AgentInfo, Cause> {
    // Some write the number as a string, and some leave it out.
    let version = match answer.get("protocolVersion") {
        None | Some(Value::Null) => "1".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    if version != "1" {
        return Err(Cause::Version { version: shorten(&version) });
    }
    let info = |key: &str| answer.get("agentInfo")?.get(key)?.as_str().map(shorten);
    Ok(AgentInfo {
        name: info("name"),
        version: info("version"),
        auth_methods: read_auth_methods(answer.get("authMethods")),
        closes_sessions: answer
            .pointer("/agentCapabilities/sessionCapabilities/close")
            .is_some_and(|close| !matches!(close, Value::Null | Value::Bool(false))),
    })
}

fn read_auth_methods(methods: Option<&Value>) -> Vec<AuthMethod> {
    let methods = methods.and_then(Value::as_array).into_iter().flatten();
    methods
        .filter_map(|method| {
            let text = |key: &str| method.get(key)?.as_str().map(shorten);
            let id = text("id")?;
            let name = text("name").unwrap_or_else(|| id.clone());
            Some(AuthMethod { name, description: text("description"), id })
        })
        .take(16)
        .collect()
}

/// The code for "log in first".
const AUTH_REQUIRED: i64 = -32000;

/// An error answer as a cause; `known` are the ways to log in that the agent has told before.
pub(super) fn read_error(error: &str, known: &[AuthMethod]) -> Cause {
    let error: Value = serde_json::from_str(error).unwrap_or_default();
    let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
    let mut message = shorten(error.get("message").and_then(Value::as_str).unwrap_or("no message"));
    let data = error.get("data");
    let told = read_auth_methods(data.and_then(|data| data.get("authMethods")));
    if code == AUTH_REQUIRED || !told.is_empty() {
        let methods = if told.is_empty() { known.to_vec() } else { told };
        return Cause::LoginNeeded { message, methods };
    }
    // The message is often only "Internal error", and the reason is in the data.
    match data {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => message = format!("{message} ({})", shorten(text)),
        Some(other) => message = format!("{message} ({})", shorten(&other.to_string())),
    }
    Cause::Refused { code, message }
}

pub(super) fn read_tokens(answer: &Value) -> Option<Tokens> {
    let usage = answer.get("usage")?;
    let count = |key: &str| usage.get(key).and_then(Value::as_u64);
    let (input, output) = (count("inputTokens"), count("outputTokens"));
    let total = count("totalTokens").or_else(|| input?.checked_add(output?))?;
    Some(Tokens { input: input.unwrap_or_default(), output: output.unwrap_or_default(), total })
}

/// The beginning of a text that an agent wrote, on one line, fit to be shown.
pub(super) fn shorten(text: &str) -> String {
    probity_text::one_line(text, 500)
}
