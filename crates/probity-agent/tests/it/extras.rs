//! Structured output and temperature 0: how they are asked for, and endpoints that know neither.

use std::sync::Mutex;

use probity_agent::{ChatKind, ChatOptions, ChatProvider, Part, Refused, Schema};
use serde_json::{Value, json};

use crate::{
    ask::{ask, options},
    server::{Play, Server, anthropic, openai, reply},
};

fn schema() -> Schema {
    Schema { name: "action", schema: json!({"type": "object"}) }
}

fn provider(kind: ChatKind, server: &Server, on_refused: fn(Refused)) -> ChatProvider {
    let options = options(kind, &server.url("/"));
    ChatProvider::new(ChatOptions { extras: Some(on_refused), ..options }).unwrap()
}

/// For endpoints that reject nothing.
fn never(refused: Refused) {
    assert_eq!(refused.to_string(), "");
}

/// The parts of a request that are about its answer.
fn asked(body: &Value) -> Value {
    let keys = ["response_format", "temperature", "tool_choice", "tools"];
    keys.into_iter().filter_map(|key| Some((key, body.get(key)?.clone()))).collect()
}

#[test]
fn each_provider_is_asked_for_the_schema_in_its_own_way() {
    let by_format = json!({
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "action", "schema": {"type": "object"}, "strict": true},
        },
        "temperature": 0,
    });
    let by_tool = json!({
        "temperature": 0,
        "tool_choice": {"name": "action", "type": "tool"},
        "tools": [{"input_schema": {"type": "object"}, "name": "action"}],
    });
    let used = json!([
        {"type": "text", "text": "I will answer."},
        {"type": "tool_use", "id": "x", "name": "action", "input": {"a": 1}},
    ]);
    for (kind, play, wanted) in [
        (ChatKind::OpenAi, openai(r#"{"a":1}"#), &by_format),
        (ChatKind::Ollama, openai(r#"{"a":1}"#), &by_format),
        (ChatKind::Anthropic, anthropic(used, "tool_use"), &by_tool),
    ] {
        let server = Server::new([play]);
        let provider = provider(kind, &server, never);
        let mut agent = provider.conversation("").with_schema(Some(schema()));
        assert_eq!(ask(&mut agent, "hello").unwrap().text, r#"{"a":1}"#, "{kind:?}");
        assert_eq!(asked(&server.bodies()[0]), *wanted, "{kind:?}");
    }
}

#[test]
fn a_rejected_part_is_reported_once_and_left_out_for_the_rest_of_the_run() {
    static REFUSED: Mutex<Vec<Refused>> = Mutex::new(Vec::new());
    let bad = |said: &str| reply(400, "", &json!({"error": {"message": said}}).to_string());
    let server = Server::new([
        bad("Unsupported value: 'temperature' does not support 0 with this model"),
        bad("json_schema is not supported"),
        openai("one"),
        openai("two"),
    ]);
    let provider =
        provider(ChatKind::OpenAi, &server, |refused| REFUSED.lock().unwrap().push(refused));
    let mut first = provider.conversation("").with_schema(Some(schema()));
    let answer = ask(&mut first, "hello").unwrap();
    assert_eq!((answer.text.as_str(), answer.requests), ("one", 3));
    let mut second = provider.conversation("").with_schema(Some(schema()));
    assert_eq!(ask(&mut second, "hello").unwrap().text, "two");

    let plain = json!({"response_format": {"type": "json_object"}});
    let bodies = server.bodies();
    assert_eq!(bodies.len(), 4);
    assert_eq!(bodies[0]["temperature"], 0);
    assert_eq!(bodies[1].get("temperature"), None);
    assert_eq!(bodies[1]["response_format"]["type"], "json_schema");
    assert_eq!([asked(&bodies[2]), asked(&bodies[3])], [plain.clone(), plain]);
    let parts: Vec<Part> = REFUSED.lock().unwrap().iter().map(|refused| refused.part).collect();
    assert_eq!(parts, [Part::Temperature, Part::Schema]);
    assert_eq!(
        REFUSED.lock().unwrap()[1].to_string(),
        "the endpoint rejects structured output; probity continues without it: status 400, \
         json_schema is not supported"
    );
}

#[test]
fn other_errors_are_errors_and_one_answer_settles_what_the_endpoint_knows() {
    let bad = || reply(400, "", r#"{"error":{"message":"the prompt is too long"}}"#);
    let plays: [&[Play]; 2] = [&[openai("one"), bad()], &[reply(401, "", "{}")]];
    for plays in plays {
        let server = Server::new(plays.iter().cloned());
        let provider = provider(ChatKind::OpenAi, &server, never);
        let mut agent = provider.conversation("").with_schema(Some(schema()));
        if plays.len() == 2 {
            ask(&mut agent, "hello").unwrap();
        }
        ask(&mut agent, "hello").unwrap_err();
        assert_eq!(server.bodies().len(), plays.len());
    }
}
