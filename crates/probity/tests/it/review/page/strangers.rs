//! Other users of the machine, who reach the address of `review serve` as everybody does.

use std::{
    io::{ErrorKind, Write as _},
    net::TcpStream,
    time::Duration,
};

use serde_json::json;

use super::Server;
use crate::review::{again::Stage, findings};

#[test]
fn a_page_of_the_history_needs_the_token_and_the_first_visit_leaves_it_in_a_cookie() {
    let stage = Stage::new();
    stage.review(&json!([findings()[0]]), &[]);
    let server = Server::start(&stage);
    let (own, token) = (server.address.clone(), server.token.clone());
    assert_eq!(token.len(), 64, "{token}");
    assert_ne!(Server::start(&stage).token, token, "each server has its own");
    let port = own.rsplit(':').next().unwrap();
    let wrong = "0".repeat(64);
    let other = server.cookie(&token).replace("probity-review-", "other-");
    for (path, headers) in [
        ("/", String::new()),
        ("/review?id=1", String::new()),
        ("/?token=", String::new()),
        ("/?token", String::new()),
        (&*format!("/?token={wrong}"), String::new()),
        (&*format!("/?token={}", &token[1..]), String::new()),
        (&*format!("/?name={token}"), String::new()),
        ("/", server.cookie(&wrong)),
        ("/", other),
        ("/nothing", String::new()),
    ] {
        let answer = server.ask_with("GET", path, &own, &headers);
        assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{path}: {answer}");
        assert!(answer.contains("Open the URL that <code>probity review serve</code> printed"));
        assert!(!answer.contains(&token) && !answer.contains("the average is wrong"), "{answer}");
        assert!(!answer.contains("Set-Cookie"), "{path}: {answer}");
    }
    let cookie = format!(
        "\r\nSet-Cookie: probity-review-{port}={token}; Path=/; HttpOnly; SameSite=Strict\r\n"
    );
    for path in ["/?token=", "/review?id=1&token="] {
        let answer = server.ask_with("GET", &format!("{path}{token}"), &own, "");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{path}: {answer}");
        assert!(answer.contains(&cookie), "{path}: {answer}");
        let (_, page) = answer.split_once("\r\n\r\n").unwrap();
        assert!(!page.contains(&token), "no page shows it");
    }
    let first = format!("/review?token={token}&id=1");
    assert!(server.ask_with("GET", &first, &own, "").contains("the average is wrong"));
    assert!(server.ask("GET", "/review?id=1", &own).contains("the average is wrong"));
    // Whoever has the wrong host gets no cookie, whatever else is right.
    let answer = server.ask_with("GET", &format!("/?token={token}"), "evil.example", "");
    assert!(answer.starts_with("HTTP/1.1 403 ") && !answer.contains("Set-Cookie"), "{answer}");
}

/// Whether the other side has neither said anything nor hung up.
fn is_open(stream: &TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    match stream.peek(&mut [0]) {
        Err(error) => matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        Ok(_) => false,
    }
}

#[test]
fn idle_connections_keep_nobody_from_a_page_and_slow_ones_are_cut_off() {
    let stage = Stage::new();
    let server = Server::start(&stage);
    let own = server.address.clone();
    let connect = |_| TcpStream::connect(&own).unwrap();
    let idle: Vec<TcpStream> = (0..5).map(connect).collect();
    assert!(server.ask("GET", "/", &own).starts_with("HTTP/1.1 200 OK"));
    // None of them was waited for: their time is not up yet.
    assert!(idle.iter().all(is_open));
    drop(idle);

    // However many there are, the oldest has to go for the newest.
    let idle: Vec<TcpStream> = (0..100).map(connect).collect();
    assert!(server.ask("GET", "/", &own).starts_with("HTTP/1.1 200 OK"));
    assert!(!is_open(&idle[0]), "the oldest");
    assert!(is_open(&idle[99]), "the newest");
    drop(idle);

    // A letter now and then is no head: the time is that of all of it.
    let mut slow = TcpStream::connect(&own).unwrap();
    let mut letters = 0;
    while is_open(&slow) {
        assert!(slow.write_all(b"G").is_ok() || !is_open(&slow));
        std::thread::sleep(Duration::from_millis(250));
        letters += 1;
        assert!(letters < 100, "a slow connection is never cut off");
    }
}
