//! Anthropic's messages.

use std::io;

use serde_json::{Value, json};

use super::{
    Question, Reply, Responder,
    question::{items, names, texts},
    wait,
};

pub(super) fn serve(body: &Value, responder: Responder) -> io::Result<()> {
    let reply = question(body).reply();
    let model = body.get("model").cloned().unwrap_or(json!("model"));
    if matches!(reply, Reply::Wait) {
        return wait(responder);
    }
    if body.get("stream") == Some(&json!(true)) {
        stream(reply, &model, responder)
    } else {
        whole(reply, &model, responder)
    }
}

fn question(body: &Value) -> Question {
    let mut question =
        Question { tools: names(items(body.get("tools")), "name"), ..Question::default() };
    for message in items(body.get("messages")) {
        if message.get("role") != Some(&json!("user")) {
            continue;
        }
        let content = message.get("content").unwrap_or(&Value::Null);
        question.said.extend(texts(content));
        let parts = items(Some(content));
        let is_result = |part: &Value| part.get("type") == Some(&json!("tool_result"));
        question.result = parts.iter().rposition(is_result).and_then(|at| {
            // A conversation that was loaded has the next prompt in the same message.
            let later = texts(&json!(parts[at..]));
            if later.iter().any(|text| text.contains("please ")) {
                return None;
            }
            Some(texts(parts[at].get("content").unwrap_or(&Value::Null)).join("\n"))
        });
    }
    question
}

fn whole(reply: Reply, model: &Value, responder: Responder) -> io::Result<()> {
    let (content, stop) = match reply {
        Reply::Say(pieces) => (json!({"type": "text", "text": pieces.concat()}), "end_turn"),
        Reply::Call { tool, input } => (tool_use(&tool, input), "tool_use"),
        Reply::Wait => return wait(responder),
    };
    let usage = json!({"input_tokens": 10, "output_tokens": 5});
    responder.json(
        200,
        &json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": model,
            "content": [content], "stop_reason": stop, "stop_sequence": null, "usage": usage,
        }),
    )
}

fn stream(reply: Reply, model: &Value, mut responder: Responder) -> io::Result<()> {
    responder.begin_stream()?;
    let mut send = |event: Value| {
        let name = event["type"].as_str().unwrap_or_default().to_owned();
        responder.event(Some(&name), &event)
    };
    send(json!({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 10, "output_tokens": 1},
    }}))?;
    let (block, deltas, stop) = match reply {
        Reply::Say(pieces) => (
            json!({"type": "text", "text": ""}),
            pieces.into_iter().map(|text| json!({"type": "text_delta", "text": text})).collect(),
            "end_turn",
        ),
        Reply::Call { tool, input } => (
            tool_use(&tool, json!({})),
            vec![json!({"type": "input_json_delta", "partial_json": input.to_string()})],
            "tool_use",
        ),
        Reply::Wait => (Value::Null, Vec::new(), "end_turn"),
    };
    send(json!({"type": "content_block_start", "index": 0, "content_block": block}))?;
    for delta in deltas {
        send(json!({"type": "content_block_delta", "index": 0, "delta": delta}))?;
    }
    send(json!({"type": "content_block_stop", "index": 0}))?;
    send(
        json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": 5}}),
    )?;
    send(json!({"type": "message_stop"}))
}

fn tool_use(tool: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": "toolu_1", "name": tool, "input": input})
}
