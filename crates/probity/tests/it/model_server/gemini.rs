//! Google's `generateContent`, whole and streamed.

use std::io;

use serde_json::{Value, json};

use super::{
    Question, Reply, Responder,
    question::{items, names, texts},
    wait,
};

pub(super) fn serve(path: &str, body: &Value, mut responder: Responder) -> io::Result<()> {
    let parts: Vec<Value> = match question(body).reply() {
        Reply::Say(pieces) => pieces.into_iter().map(|text| json!({"text": text})).collect(),
        Reply::Call { tool, input } => vec![json!({"functionCall": {"name": tool, "args": input}})],
        Reply::Wait => return wait(responder),
    };
    if path.ends_with(":generateContent") {
        return responder.json(200, &page(&parts, true));
    }
    responder.begin_stream()?;
    let last = parts.len().saturating_sub(1);
    for (index, part) in parts.into_iter().enumerate() {
        responder.event(None, &page(&[part], index == last))?;
    }
    Ok(())
}

fn question(body: &Value) -> Question {
    let tools = items(body.get("tools")).iter();
    let mut question = Question {
        tools: tools
            .flat_map(|tool| names(items(tool.get("functionDeclarations")), "name"))
            .collect(),
        ..Question::default()
    };
    for content in items(body.get("contents")) {
        if content.get("role") == Some(&json!("model")) {
            continue;
        }
        let parts = content.get("parts").unwrap_or(&Value::Null);
        question.said.extend(texts(parts));
        let result = items(Some(parts)).iter().rev().find_map(|part| part.get("functionResponse"));
        question.result = result.and_then(|result| Some(result.get("response")?.to_string()));
    }
    question
}

fn page(parts: &[Value], is_last: bool) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if is_last {
        candidate["finishReason"] = json!("STOP");
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
        "modelVersion": "model",
        "responseId": "response-1",
    })
}
