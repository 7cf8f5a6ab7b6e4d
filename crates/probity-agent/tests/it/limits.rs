//! Every limit, with what happens when it is reached.

use std::{
    thread,
    time::{Duration, Instant},
};

use probity_agent::{Agent as _, AgentError, Answer, Cancel, Cause, ChatKind, Limits, Turn};

use crate::{
    ask::{LIMITS, QUICK, agent, options},
    server::{Play, Server, openai, reply},
};

const SHORT: Duration = Duration::from_millis(200);

fn within(limits: Limits, server: &Server) -> Result<Answer, AgentError> {
    agent(ChatKind::OpenAi, server).ask(&Turn::new("hello"), &limits, &Cancel::new())
}

fn ok_head() -> Vec<u8> {
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"choices\":[".to_vec()
}

#[test]
fn a_turn_ends_when_its_time_is_over() {
    for play in [
        Play::Silence,
        Play::Drip(b"HTTP/1.1 200 OK\r\nx: ".to_vec(), Duration::from_millis(10)),
        Play::Drip(ok_head(), Duration::from_millis(10)),
    ] {
        let server = Server::new([play.clone()]);
        let start = Instant::now();
        let error = within(Limits { total: SHORT, ..LIMITS }, &server).unwrap_err();
        assert_eq!(error.to_string(), "openai: asking: no answer within 0.2 s", "{play:?}");
        assert!(error.is_timeout());
        assert!(start.elapsed() >= SHORT && start.elapsed() < LIMITS.total / 2, "{play:?}");
        assert_eq!(server.requests().len(), 1, "{play:?}");
    }
}

#[test]
fn one_attempt_that_hangs_does_not_cost_the_turn() {
    let server = Server::new([Play::Silence, openai("hi")]);
    let answer = within(Limits { attempt: SHORT, ..LIMITS }, &server).unwrap();
    assert_eq!((answer.text.as_str(), answer.requests), ("hi", 2));

    let server = Server::new([Play::Silence]);
    let error = within(Limits { attempt: SHORT / 4, ..LIMITS }, &server).unwrap_err();
    assert_eq!(error.cause, Cause::TimedOut(SHORT / 4));
    assert_eq!(server.requests().len() as u32, QUICK.requests);
}

#[test]
fn an_answer_has_a_longest_length() {
    let limits = Limits { answer_bytes: 100, ..LIMITS };
    let text = "x".repeat(100);
    assert_eq!(within(limits, &Server::new([openai(&text)])).unwrap().text, text);

    let server = Server::new([openai(&format!("{text}x"))]);
    let error = within(limits, &server).unwrap_err();
    assert_eq!(
        error.to_string(),
        "openai: reading the answer: the answer is longer than 100 bytes"
    );
    assert_eq!(server.requests().len(), 1, "asking again would bring the same");
}

#[test]
fn a_body_without_end_is_not_read_to_its_end() {
    for head in [ok_head(), b"HTTP/1.1 200 OK\r\ncontent-length: 999999999999\r\n\r\n".to_vec()] {
        let server = Server::new([Play::Flood(head)]);
        let error = within(Limits { answer_bytes: 1_000, ..LIMITS }, &server).unwrap_err();
        assert_eq!(error.cause, Cause::AnswerTooLarge { limit: 1_000 });
    }
}

#[test]
fn an_error_without_end_is_shown_by_its_beginning() {
    let head = b"HTTP/1.1 400 Bad\r\n\r\nfirst words".to_vec();
    let server = Server::new([Play::Flood(head)]);
    let error = within(LIMITS, &server).unwrap_err();
    assert_eq!(error.to_string(), "openai: asking: HTTP 400: first words");

    let server = Server::new([reply(400, "", &"y".repeat(100_000))]);
    let error = within(LIMITS, &server).unwrap_err();
    assert_eq!(error.to_string(), format!("openai: asking: HTTP 400: {}…", "y".repeat(2_000)));
}

#[test]
fn a_prompt_that_is_too_long_is_not_sent() {
    let server = Server::new([openai("hi")]);
    let error = within(Limits { prompt_bytes: 4, ..LIMITS }, &server).unwrap_err();
    assert_eq!(error.to_string(), "openai: preparing: the prompt has 5 bytes, the limit is 4");
    assert_eq!(server.requests().len(), 0);
    within(Limits { prompt_bytes: 5, ..LIMITS }, &server).unwrap();
}

#[test]
fn every_wait_ends_when_it_is_called_off() {
    let patient = probity_agent::Retry { longest_asked: LIMITS.total, ..QUICK };
    for play in [
        Play::Silence,
        Play::Drip(ok_head(), Duration::from_millis(5)),
        // Here it waits between two requests.
        reply(429, "retry-after: 100\r\n", "{}"),
    ] {
        let server = Server::new([play.clone()]);
        let mut options = options(ChatKind::OpenAi, &server.url("/"));
        options.retry = patient;
        let mut agent = probity_agent::ChatProvider::new(options).unwrap().conversation("");
        let cancel = Cancel::new();
        let start = Instant::now();
        let error = thread::scope(|scope| {
            let asking = scope.spawn(|| agent.ask(&Turn::new("hello"), &LIMITS, &cancel));
            while server.requests().is_empty() {
                thread::sleep(Duration::from_millis(2));
            }
            thread::sleep(Duration::from_millis(30));
            cancel.cancel();
            asking.join().unwrap().unwrap_err()
        });
        assert!(error.is_cancelled(), "{play:?}: {error}");
        assert!(start.elapsed() < LIMITS.total / 2, "{play:?}");
        let before = server.requests().len();
        agent.ask(&Turn::new("hello"), &LIMITS, &cancel).unwrap_err();
        assert_eq!(server.requests().len(), before, "nothing is sent once it is called off");
    }
}

#[test]
fn conversations_go_on_side_by_side() {
    let server = Server::new([Play::Silence, Play::Silence, openai("hi")]);
    let limits = Limits { total: Duration::from_secs(15), attempt: SHORT, ..LIMITS };
    thread::scope(|scope| {
        let asking: Vec<_> =
            (0..2).map(|_| scope.spawn(|| within(limits, &server).unwrap().requests)).collect();
        for asking in asking {
            assert_eq!(asking.join().unwrap(), 2, "each met the silence once");
        }
    });
}
