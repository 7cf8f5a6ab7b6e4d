//! When a question is asked again, after how long, and when no more.

use std::time::{Duration, Instant};

use probity_agent::{Cause, ChatKind, ChatProvider, Retry};

use crate::{
    ask::{LIMITS, QUICK, ask, once, options},
    server::{Play, Server, openai, reply},
};

/// Waits that a test would notice, unless the server asked for another.
const SLOW: Retry =
    Retry { first_wait: Duration::from_secs(600), longest_wait: Duration::from_secs(600), ..QUICK };

fn once_with(
    retry: Retry,
    server: &Server,
) -> Result<probity_agent::Answer, probity_agent::AgentError> {
    let options =
        probity_agent::ChatOptions { retry, ..options(ChatKind::OpenAi, &server.url("/")) };
    ask(&mut ChatProvider::new(options).unwrap().conversation(""), "hello")
}

#[test]
fn trouble_that_passes_is_sat_out() {
    let half_head = b"HTTP/1.1 200 OK\r\ncontent-le";
    let half_body = b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{\"choices\":[";
    let half_chunk = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\n{\"choices\"";
    let empty = r#"{"choices":[{"message":{"content":""},"finish_reason":null}]}"#;
    let null = r#"{"choices":[{"message":{"content":null}}]}"#;
    let statuses = [408, 409, 429, 500, 502, 503, 504, 520, 529];
    let plays = statuses.map(|status| reply(status, "", "{}"));
    let broken = [
        Play::Bytes(Vec::new()),
        Play::Bytes(half_head.to_vec()),
        Play::Bytes(half_body.to_vec()),
        Play::Bytes(half_chunk.to_vec()),
        reply(200, "", empty),
        reply(200, "", null),
    ];
    for play in plays.into_iter().chain(broken) {
        let server = Server::new([play.clone(), openai("hi")]);
        let answer = once(&server).unwrap_or_else(|error| panic!("{play:?}: {error}"));
        assert_eq!((answer.text.as_str(), answer.requests), ("hi", 2), "{play:?}");
        let requests = server.requests();
        assert_eq!(requests.len(), 2, "{play:?}");
        assert_eq!(requests[0], requests[1], "the same question, byte for byte");
    }
}

#[test]
fn what_will_not_pass_is_not_asked_again() {
    for status in [300, 302, 307, 400, 401, 402, 403, 404, 405, 413, 422] {
        let server = Server::new([reply(status, "retry-after: 0\r\n", "{}"), openai("hi")]);
        let error = once(&server).unwrap_err();
        assert!(matches!(error.cause, Cause::Status { status: s, .. } if s == status), "{error}");
        assert_eq!(server.requests().len(), 1, "{status}");
    }
}

#[test]
fn after_the_last_try_the_last_trouble_is_told() {
    let server = Server::new([reply(500, "", "{}"), reply(503, "", r#"{"error":"overloaded"}"#)]);
    let error = once(&server).unwrap_err();
    assert_eq!(error.to_string(), "openai: asking: HTTP 503: overloaded");
    assert_eq!(
        error.way_out(),
        "asked 3 times; the provider reports an internal error; try again later"
    );
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_server_that_is_not_there_is_tried_and_named() {
    let server = Server::new([openai("hi")]);
    let url = server.url("/v1?key=hidden");
    drop(server);
    // The listening socket closes a moment after the thread that held it was told to stop.
    std::thread::sleep(Duration::from_millis(50));
    let provider = ChatProvider::new(options(ChatKind::Ollama, &url)).unwrap();
    let error = ask(&mut provider.conversation(""), "hello").unwrap_err();
    assert!(matches!(&error.cause, Cause::Connection(why) if why.contains("refused")), "{error}");
    assert!(
        error.way_out().starts_with("asked 3 times; check that http://127.0.0.1:"),
        "{error:?}"
    );
    assert!(!format!("{error:?}").contains("hidden"), "{error:?}");
}

#[test]
fn the_wait_that_the_server_asks_for_is_kept() {
    let ask_for = |header: &str| Server::new([reply(429, header, "{}"), openai("hi")]);
    // Longer than our own, which is a millisecond or two.
    let server = ask_for("retry-after-ms: 150\r\n");
    let start = Instant::now();
    once(&server).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(150), "{:?}", start.elapsed());

    // Shorter than our own, in each of the forms.
    for header in [
        "retry-after: 0\r\n",
        "retry-after: 0.01\r\n",
        "retry-after-ms: 5\r\n",
        "retry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
    ] {
        let server = ask_for(header);
        let start = Instant::now();
        let answer = once_with(SLOW, &server).unwrap();
        assert_eq!(answer.requests, 2);
        assert!(start.elapsed() < LIMITS.total / 2, "{header}");
    }
}

#[test]
fn a_server_that_asks_for_too_long_a_wait_is_given_up_at_once() {
    for header in [
        // There would be time for this one, but the wait has a limit of its own.
        "retry-after: 5\r\n",
        "retry-after: 3600\r\n",
        "retry-after: Fri, 31 Dec 9999 23:59:59 GMT\r\n",
    ] {
        let server = Server::new([reply(429, header, r#"{"error":{"message":"slow down"}}"#)]);
        let error = once(&server).unwrap_err();
        assert_eq!(error.to_string(), "openai: asking: HTTP 429: slow down");
        assert!(error.way_out().starts_with("the provider asks to wait "), "{error:?}");
        assert_eq!(server.requests().len(), 1, "{header}");
    }
}

#[test]
fn a_wait_that_would_outlast_the_turn_is_not_begun() {
    let server = Server::new([reply(500, "", "{}")]);
    let start = Instant::now();
    let error = once_with(SLOW, &server).unwrap_err();
    assert_eq!(error.to_string(), "openai: asking: HTTP 500: {}");
    assert!(error.way_out().ends_with("; or allow more time"), "{error:?}");
    assert!(start.elapsed() < LIMITS.total / 2);
}
