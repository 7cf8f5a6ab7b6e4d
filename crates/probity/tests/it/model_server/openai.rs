//! OpenAI's chat completions and responses, which are two wires of one provider.

use std::io;

use serde_json::{Value, json};

use super::{
    Question, Reply, Responder,
    question::{items, names, texts},
    wait,
};

pub(super) fn serve_chat(body: &Value, mut responder: Responder) -> io::Result<()> {
    let (deltas, finish) = match chat_question(body).reply() {
        Reply::Say(pieces) => {
            (pieces.into_iter().map(|text| json!({"content": text})).collect(), "stop")
        }
        Reply::Call { tool, input } => {
            let call = json!({
                "index": 0, "id": "call_1", "type": "function",
                "function": {"name": tool, "arguments": input.to_string()},
            });
            (vec![json!({"tool_calls": [call]})], "tool_calls")
        }
        Reply::Wait => return wait(responder),
    };
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15});
    if body.get("stream") != Some(&json!(true)) {
        let text: String = names(&deltas, "content").concat();
        let message = json!({"role": "assistant", "content": text});
        let choice = json!({"index": 0, "message": message, "finish_reason": finish});
        let page = json!({"id": "chat_1", "object": "chat.completion", "created": 1, "model": "model", "choices": [choice], "usage": usage});
        return responder.json(200, &page);
    }
    responder.begin_stream()?;
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        json!({"id": "chat_1", "object": "chat.completion.chunk", "created": 1, "model": "model", "choices": [choice]})
    };
    responder.event(None, &chunk(json!({"role": "assistant"}), Value::Null))?;
    for delta in deltas {
        responder.event(None, &chunk(delta, Value::Null))?;
    }
    let mut last = chunk(json!({}), json!(finish));
    last["usage"] = usage;
    responder.event(None, &last)?;
    responder.done()
}

fn chat_question(body: &Value) -> Question {
    let functions: Vec<&Value> =
        items(body.get("tools")).iter().filter_map(|tool| tool.get("function")).collect();
    let mut question = Question { tools: names(functions, "name"), ..Question::default() };
    for message in items(body.get("messages")) {
        let content = message.get("content").unwrap_or(&Value::Null);
        match message.get("role").and_then(Value::as_str) {
            Some("user") => {
                question.said.extend(texts(content));
                question.result = None;
            }
            Some("tool") => question.result = Some(texts(content).join("\n")),
            _ => {}
        }
    }
    question
}

pub(super) fn serve_responses(body: &Value, mut responder: Responder) -> io::Result<()> {
    let (item, pieces) = match responses_question(body).reply() {
        Reply::Say(pieces) => {
            let content =
                json!([{"type": "output_text", "text": pieces.concat(), "annotations": []}]);
            let item = json!({"type": "message", "id": "item_1", "role": "assistant", "status": "completed", "content": content});
            (item, pieces)
        }
        Reply::Call { tool, input } => {
            let item = json!({
                "type": "function_call", "id": "item_1", "call_id": "call_1", "status": "completed",
                "name": tool, "arguments": input.to_string(),
            });
            (item, Vec::new())
        }
        Reply::Wait => return wait(responder),
    };
    let usage = json!({
        "input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
        "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
    });
    let whole = json!({"id": "resp_1", "object": "response", "created_at": 1, "model": "model", "status": "completed", "output": [item], "usage": usage});
    if body.get("stream") != Some(&json!(true)) {
        return responder.json(200, &whole);
    }
    responder.begin_stream()?;
    let mut number = 0;
    let mut send = |mut event: Value| {
        event["sequence_number"] = json!(number);
        number += 1;
        let name = event["type"].as_str().unwrap_or_default().to_owned();
        responder.event(Some(&name), &event)
    };
    let mut begun = whole.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    send(json!({"type": "response.created", "response": begun}))?;
    let mut empty = item.clone();
    empty["status"] = json!("in_progress");
    if !pieces.is_empty() {
        empty["content"] = json!([]);
    }
    send(json!({"type": "response.output_item.added", "output_index": 0, "item": empty}))?;
    for piece in pieces {
        send(
            json!({"type": "response.output_text.delta", "item_id": "item_1", "output_index": 0, "content_index": 0, "delta": piece}),
        )?;
    }
    send(json!({"type": "response.output_item.done", "output_index": 0, "item": item}))?;
    send(json!({"type": "response.completed", "response": whole}))
}

fn responses_question(body: &Value) -> Question {
    let tools = names(items(body.get("tools")), "name");
    // Only the one agent that speaks this wire wants them.
    let mut question = Question { tools, shell_takes_words: true, ..Question::default() };
    match body.get("input") {
        Some(Value::String(text)) => question.said.push(text.clone()),
        input => {
            for item in items(input) {
                let kind = item.get("type").and_then(Value::as_str).unwrap_or("message");
                if kind == "function_call_output" {
                    question.result = Some(match item.get("output") {
                        Some(Value::String(text)) => text.clone(),
                        other => other.map(Value::to_string).unwrap_or_default(),
                    });
                } else if kind == "message" && item.get("role") == Some(&json!("user")) {
                    question.said.extend(texts(item.get("content").unwrap_or(&Value::Null)));
                    question.result = None;
                }
            }
        }
    }
    question
}
