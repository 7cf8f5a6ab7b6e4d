//! What tells one chat API from another, as data.

use reqwest::header::HeaderMap;
use serde::Serialize;
use serde_json::Value;

use crate::{StopReason, Usage, chat::ApiKey};

/// One API: its defaults, and how a request and a reply look.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) endpoint: &'static str,
    pub(crate) model: &'static str,
    pub(crate) key_variable: Option<&'static str>,
    /// Sent when the user gave no limit; for an API that insists on one.
    pub(crate) max_tokens: Option<u32>,
    /// The limit of the second try, after an answer that was cut off at a lower one.
    pub(crate) longer: Option<u32>,
    /// The headers beside those that every JSON request has.
    pub(crate) headers: fn(Option<&ApiKey>) -> HeaderMap,
    pub(crate) body: fn(&Request<'_>) -> Vec<u8>,
    pub(crate) reply: fn(&Value) -> Result<Reply, Unreadable>,
    /// What to do when the server does not know the model.
    pub(crate) unknown_model: fn(&str) -> String,
}

pub(crate) struct Request<'a> {
    pub(crate) model: &'a str,
    pub(crate) system: &'a str,
    pub(crate) messages: &'a [Message],
    pub(crate) max_tokens: Option<u32>,
    /// Sampling at temperature 0, so that the same question gets the same answer.
    pub(crate) is_deterministic: bool,
    /// What the answer has to look like.
    pub(crate) schema: Option<&'a Schema>,
}

/// The JSON Schema of an answer, which providers call by a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    pub name: &'static str,
    pub schema: Value,
}

/// The order of the fields is the order on the wire.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Message {
    pub(crate) content: String,
    pub(crate) role: Role,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    System,
    User,
    Assistant,
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) stop: StopReason,
    pub(crate) usage: Option<Usage>,
}

/// Why a reply that is JSON is still no answer.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// Not what this API answers.
    Unexpected,
    /// The right form with nothing in it, as a server under load sends it; worth another try.
    Empty,
    Refused(String),
}

/// Serializing strings and numbers into memory cannot fail; a failure would be an empty body,
/// which every server refuses.
pub(crate) fn to_bytes(body: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(body).unwrap_or_default()
}

/// A count of tokens, or none of them.
pub(crate) fn count(usage: &Value, pointer: &str) -> u64 {
    usage.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}
