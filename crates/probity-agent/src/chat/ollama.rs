//! A model on this machine, or on another one nearby, behind Ollama's imitation of OpenAI.

use reqwest::header::HeaderValue;

use crate::chat::{openai, shape::Shape};

pub(crate) const SHAPE: Shape = Shape {
    name: "ollama",
    endpoint: "http://localhost:11434/v1/chat/completions",
    model: "llama3.1",
    key_variable: None,
    max_tokens: None,
    longer: None,
    // The server ignores the key, but clients of OpenAI's API have to send one.
    headers: |key| {
        let placeholder = || Some(HeaderValue::from_static("Bearer ollama"));
        openai::bearer(key.map_or_else(placeholder, |key| key.header("Bearer ")))
    },
    body: openai::body,
    reply: openai::reply,
    unknown_model: |model| {
        format!("fetch the model with `ollama pull {model}`, or choose another with `--model`")
    },
};
