//! What goes over the wire, byte for byte, and what is read from it.

use probity_agent::{Agent as _, Cancel, ChatKind, ChatProvider, Limits, StopReason, Turn, Usage};
use serde_json::json;

use crate::{
    ask::{KEY, LIMITS, agent, ask, options},
    server::{Play, Server, anthropic, openai, reply},
};

const USAGE: Usage =
    Usage { input_tokens: 10, output_tokens: 3, cached_input_tokens: 4, cost: None };

/// The head of a request, with the length of the body that follows.
fn request(lines: &[&str], body: &str) -> String {
    let length = body.len();
    let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
    format!("{lines}host: 127.0.0.1:PORT\r\ncontent-length: {length}\r\n\r\n{body}")
}

#[test]
fn openai_gets_three_keys_and_the_whole_conversation() {
    let server = Server::new([openai("{\"a\": 1}"), openai("done")]);
    let mut agent = agent(ChatKind::OpenAi, &server);
    let first = ask(&mut agent, "one \"ä\"").unwrap();
    assert_eq!((first.text.as_str(), first.stop), ("{\"a\": 1}", StopReason::EndTurn));
    assert_eq!((first.usage, first.requests), (Some(USAGE), 1));
    ask(&mut agent, "two").unwrap();

    let head = [
        "POST /v1/chat HTTP/1.1",
        &format!("authorization: Bearer {KEY}"),
        "content-type: application/json",
        "accept: */*",
    ];
    let one = r#"{"content":"be brief","role":"system"},{"content":"one \"ä\"","role":"user"}"#;
    let two = r#"{"content":"{\"a\": 1}","role":"assistant"},{"content":"two","role":"user"}"#;
    let tail = r#""model":"gpt-4.1-mini","response_format":{"type":"json_object"}}"#;
    assert_eq!(
        server.requests(),
        [
            request(&head, &format!(r#"{{"messages":[{one}],{tail}"#)),
            request(&head, &format!(r#"{{"messages":[{one},{two}],{tail}"#)),
        ]
    );
}

#[test]
fn ollama_gets_the_same_with_its_placeholder_key() {
    let server = Server::new([openai("hi")]);
    ask(&mut agent(ChatKind::Ollama, &server), "hello").unwrap();
    let head = [
        "POST /v1/chat HTTP/1.1",
        "authorization: Bearer ollama",
        "content-type: application/json",
        "accept: */*",
    ];
    let body = r#"{"messages":[{"content":"be brief","role":"system"},{"content":"hello","role":"user"}],"model":"llama3.1","response_format":{"type":"json_object"}}"#;
    assert_eq!(server.requests(), [request(&head, body)]);
}

#[test]
fn anthropic_gets_four_keys_and_its_own_headers() {
    let server = Server::new([anthropic(json!([{"type": "text", "text": "hi"}]), "end_turn")]);
    let answer = ask(&mut agent(ChatKind::Anthropic, &server), "hello").unwrap();
    assert_eq!((answer.text.as_str(), answer.stop), ("hi", StopReason::EndTurn));
    // What came from the cache is counted apart on the wire, and is input all the same.
    assert_eq!(answer.usage, Some(Usage { input_tokens: 14, ..USAGE }));
    let head = [
        "POST /v1/chat HTTP/1.1",
        &format!("x-api-key: {KEY}"),
        "anthropic-version: 2023-06-01",
        "content-type: application/json",
        "accept: */*",
    ];
    let body = r#"{"max_tokens":1200,"messages":[{"content":"hello","role":"user"}],"model":"claude-3-5-haiku-latest","system":"be brief"}"#;
    assert_eq!(server.requests(), [request(&head, body)]);
}

#[test]
fn the_endpoint_is_used_as_it_is_written() {
    for path in ["/", "/v1/", "/a%20b/c?api-version=2024-10-21&x=1", "/openai/deployments/x"] {
        let server = Server::new([openai("hi")]);
        let options = options(ChatKind::OpenAi, &server.url(path));
        ask(&mut ChatProvider::new(options).unwrap().conversation(""), "hello").unwrap();
        let request = server.requests().remove(0);
        assert_eq!(request.lines().next(), Some(&*format!("POST {path} HTTP/1.1")));
        assert_eq!(server.bodies()[0]["messages"], json!([{"content": "hello", "role": "user"}]));
    }
}

#[test]
fn a_limit_of_tokens_is_sent_when_asked_for() {
    for (kind, play) in [
        (ChatKind::OpenAi, openai("hi")),
        (ChatKind::Ollama, openai("hi")),
        (ChatKind::Anthropic, anthropic(json!([{"type": "text", "text": "hi"}]), "end_turn")),
    ] {
        let server = Server::new([play]);
        let mut options = options(kind, &server.url("/"));
        options.max_tokens = Some(77);
        ask(&mut ChatProvider::new(options).unwrap().conversation(""), "hello").unwrap();
        assert_eq!(server.bodies()[0]["max_tokens"], 77, "{kind:?}");
        let head = server.requests().remove(0);
        assert!(head.contains(r#"{"max_tokens":77,"messages":["#), "{head}");
    }
}

#[test]
fn answers_are_found_in_every_form_they_come_in() {
    let message = |message, reason| {
        let body = json!({"choices": [{"message": message, "finish_reason": reason}]});
        reply(200, "", &body.to_string())
    };
    let chunks: String = [r#"{"choices":[{"message":{"c"#, r#"ontent":"hi"}}]}"#, ""]
        .map(|chunk| format!("{:x}\r\n{chunk}\r\n", chunk.len()))
        .concat();
    let chunked = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{chunks}");
    let thinking = json!([
        {"type": "thinking", "thinking": "hm", "signature": "x"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "h"},
        {"type": "text", "text": "i"},
    ]);
    let other = || StopReason::Other("tool_calls".to_owned());
    for (kind, play, stop) in [
        (ChatKind::OpenAi, message(json!({"content": "hi"}), json!("stop")), StopReason::EndTurn),
        (ChatKind::OpenAi, message(json!({"content": "hi"}), json!(null)), StopReason::EndTurn),
        (
            ChatKind::OpenAi,
            message(json!({"content": "hi"}), json!("length")),
            StopReason::MaxTokens,
        ),
        (ChatKind::OpenAi, message(json!({"content": "hi"}), json!("tool_calls")), other()),
        (
            ChatKind::Ollama,
            message(json!({"content": [{"type": "text", "text": "hi"}]}), json!("stop")),
            StopReason::EndTurn,
        ),
        (ChatKind::OpenAi, Play::Bytes(chunked.into_bytes()), StopReason::EndTurn),
        (ChatKind::Anthropic, anthropic(thinking, "end_turn"), StopReason::EndTurn),
        (
            ChatKind::Anthropic,
            anthropic(json!([{"type": "text", "text": "hi"}]), "refusal"),
            StopReason::Refusal,
        ),
    ] {
        let server = Server::new([play.clone()]);
        let answer = ask(&mut agent(kind, &server), "hello").unwrap();
        assert_eq!((answer.text.as_str(), answer.stop), ("hi", stop), "{play:?}");
    }
}

#[test]
fn an_answer_of_anthropic_that_was_cut_off_is_asked_for_once_more_with_more_room() {
    let cut = || anthropic(json!([{"type": "text", "text": "{\"a\":"}]), "max_tokens");
    let thoughts_only = || anthropic(json!([{"type": "thinking", "thinking": "hm"}]), "max_tokens");
    let whole = || anthropic(json!([{"type": "text", "text": "{}"}]), "end_turn");
    for (plays, limit, text, sent) in [
        (vec![cut(), whole()], None, "{}", vec![1_200, 8_192]),
        (vec![thoughts_only(), whole()], None, "{}", vec![1_200, 8_192]),
        (vec![cut(), cut()], None, "{\"a\":", vec![1_200, 8_192]),
        (vec![cut()], Some(8_192), "{\"a\":", vec![8_192]),
        (vec![cut()], Some(16_000), "{\"a\":", vec![16_000]),
    ] {
        let server = Server::new(plays);
        let mut options = options(ChatKind::Anthropic, &server.url("/"));
        options.max_tokens = limit;
        let mut agent = ChatProvider::new(options).unwrap().conversation("");
        let answer = ask(&mut agent, "hello").unwrap();
        assert_eq!(answer.text, text);
        assert_eq!(answer.stop == StopReason::MaxTokens, text != "{}");
        let limits: Vec<u64> =
            server.bodies().iter().map(|body| body["max_tokens"].as_u64().unwrap()).collect();
        assert_eq!(limits, sent);
        assert_eq!(answer.requests as usize, sent.len());
        assert_eq!(answer.usage.unwrap().output_tokens, 3 * sent.len() as u64);
    }
}

#[test]
fn an_answer_has_no_more_room_than_the_turn_has_tokens_left() {
    let cut = || anthropic(json!([{"type": "text", "text": "{\"a\":"}]), "max_tokens");
    for (left, sent) in [
        (None, vec![1_200, 8_192]),
        (Some(0), vec![1]),
        (Some(700), vec![700]),
        (Some(1_200), vec![1_200]),
        // The first answer has used three of them.
        (Some(5_003), vec![1_200, 5_000]),
        (Some(u64::MAX), vec![1_200, 8_192]),
    ] {
        let server = Server::new([cut(), cut()]);
        let mut agent = agent(ChatKind::Anthropic, &server);
        let limits = Limits { output_tokens: left, ..LIMITS };
        let answer = agent.ask(&Turn::new("hello"), &limits, &Cancel::new()).unwrap();
        assert_eq!(answer.stop, StopReason::MaxTokens);
        let limits: Vec<u64> =
            server.bodies().iter().map(|body| body["max_tokens"].as_u64().unwrap()).collect();
        assert_eq!(limits, sent, "{left:?}");
    }
}

#[test]
fn a_turn_that_failed_is_not_part_of_the_conversation() {
    let server = Server::new([reply(400, "", "{}"), openai("hi")]);
    let mut agent = agent(ChatKind::OpenAi, &server);
    ask(&mut agent, "lost").unwrap_err();
    ask(&mut agent, "kept").unwrap();
    let bodies = server.bodies();
    assert_eq!(bodies[1]["messages"][1]["content"], "kept");
    assert_eq!(bodies[1]["messages"].as_array().unwrap().len(), 2);
}
