//! OpenAI's chat completions, and every server that imitates them.

use reqwest::header::{AUTHORIZATION, HeaderMap};
use serde::Serialize;
use serde_json::Value;

use crate::{
    StopReason, Usage,
    chat::shape::{Message, Reply, Request, Role, Schema, Shape, Unreadable, count, to_bytes},
};

pub(crate) const SHAPE: Shape = Shape {
    name: "openai",
    endpoint: "https://api.openai.com/v1/chat/completions",
    model: "gpt-4.1-mini",
    key_variable: Some("OPENAI_API_KEY"),
    max_tokens: None,
    longer: None,
    headers: |key| bearer(key.and_then(|key| key.header("Bearer "))),
    body,
    reply,
    unknown_model: |model| {
        format!("check the endpoint, and that it serves `{model}`; choose another with `--model`")
    },
};

/// Keys in alphabetical order, and no others: servers that imitate the API refuse what they do not
/// know.
#[derive(Serialize)]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    messages: Vec<&'a Message>,
    model: &'a str,
    response_format: ResponseFormat<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<u8>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponseFormat<'a> {
    JsonObject,
    JsonSchema { json_schema: NamedSchema<'a> },
}

#[derive(Serialize)]
struct NamedSchema<'a> {
    name: &'a str,
    schema: &'a Value,
    strict: bool,
}

impl<'a> ResponseFormat<'a> {
    fn of(schema: Option<&'a Schema>) -> Self {
        match schema {
            Some(Schema { name, schema }) => {
                Self::JsonSchema { json_schema: NamedSchema { name, schema, strict: true } }
            }
            None => Self::JsonObject,
        }
    }
}

pub(crate) fn bearer(value: Option<reqwest::header::HeaderValue>) -> HeaderMap {
    value.into_iter().map(|value| (AUTHORIZATION, value)).collect()
}

pub(crate) fn body(request: &Request<'_>) -> Vec<u8> {
    let system = Message { content: request.system.to_owned(), role: Role::System };
    let first = (!request.system.is_empty()).then_some(&system);
    to_bytes(&Body {
        max_tokens: request.max_tokens,
        messages: first.into_iter().chain(request.messages).collect(),
        model: request.model,
        response_format: ResponseFormat::of(request.schema),
        temperature: request.is_deterministic.then_some(0),
    })
}

pub(crate) fn reply(value: &Value) -> Result<Reply, Unreadable> {
    let choice = value.pointer("/choices/0").ok_or(Unreadable::Unexpected)?;
    let message = choice.get("message").ok_or(Unreadable::Unexpected)?;
    let text = match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        // Some servers answer in parts, as the API allows in a question.
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text")?.as_str()).collect()
        }
        Some(Value::Null) | None => String::new(),
        Some(_) => return Err(Unreadable::Unexpected),
    };
    let reason = choice.get("finish_reason").and_then(Value::as_str);
    if text.trim().is_empty() {
        let refusal = message.get("refusal").and_then(Value::as_str);
        return Err(match (refusal, reason) {
            (Some(why), _) => Unreadable::Refused(why.to_owned()),
            (None, Some("content_filter")) => Unreadable::Refused("content filter".to_owned()),
            (None, _) => Unreadable::Empty,
        });
    }
    let stop = match reason {
        Some("stop") | None => StopReason::EndTurn,
        Some("length") => StopReason::MaxTokens,
        Some("content_filter") => StopReason::Refusal,
        Some(other) => StopReason::Other(other.to_owned()),
    };
    Ok(Reply { text, stop, usage: value.get("usage").filter(|u| u.is_object()).map(usage) })
}

fn usage(usage: &Value) -> Usage {
    Usage {
        input_tokens: count(usage, "/prompt_tokens"),
        output_tokens: count(usage, "/completion_tokens"),
        cached_input_tokens: count(usage, "/prompt_tokens_details/cached_tokens"),
        cost: None,
    }
}
