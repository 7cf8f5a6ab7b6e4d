//! The messages that the proxy writes itself.

use probity_acp::Id;
use serde_json::{Value, json};

pub(crate) const PARSE_ERROR: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;
pub(crate) const INTERNAL: i64 = -32603;
/// A request that was withdrawn.
pub(crate) const CANCELLED: i64 = -32800;
/// Free in ACP, and what older clients of this kind of proxy expect.
pub(crate) const SESSION_NOT_FOUND: i64 = -32001;

/// What went wrong, without the request it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
}

impl Refusal {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(crate) fn with_data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }

    pub(crate) fn no_session(id: &str) -> Self {
        Self::new(SESSION_NOT_FOUND, format!("Session not found: {id}"))
            .with_data(json!({"sessionId": id}))
    }

    /// The answer to this request.
    pub(crate) fn to(&self, id: &Id<'_>) -> String {
        let mut error = json!({"code": self.code, "message": self.message});
        if let (Some(data), Some(members)) = (&self.data, error.as_object_mut()) {
            members.insert("data".to_owned(), data.clone());
        }
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
    }
}

/// `result` is raw JSON.
pub(crate) fn result(id: &Id<'_>, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// `params` is raw JSON.
pub(crate) fn request(number: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{params}}}"#)
}

/// `params` is raw JSON.
pub(crate) fn notification(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
}
