//! Proxies and private certificate authorities, as the environment names them.
//!
//! The environment belongs to a process, so these tests ask from another one: this binary, started
//! again for the same test with the endpoint in a variable.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::Command,
    sync::{Arc, Mutex},
    thread,
};

use probity_agent::{ChatKind, ChatProvider};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};

use crate::{
    ask::{ask, options},
    server::{Server, openai, read_request},
};

const ENDPOINT: &str = "PROBITY_TEST_ENDPOINT";

/// In the process that was started again: asks, and says how it went.
fn asked_here() -> bool {
    let Ok(endpoint) = std::env::var(ENDPOINT) else { return false };
    let mut agent =
        ChatProvider::new(options(ChatKind::OpenAi, &endpoint)).unwrap().conversation("");
    let said = match ask(&mut agent, "hello") {
        Ok(answer) => format!("<<{} after {}>>", answer.text, answer.requests),
        Err(error) => format!("<<{error}; {}>>", error.way_out()),
    };
    std::io::stdout().write_all(said.as_bytes()).unwrap();
    true
}

/// Starts this test again with that environment and no other, and returns what it said.
fn ask_elsewhere(test: &str, endpoint: &str, environment: &[(&str, &str)]) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env_clear()
        .env(ENDPOINT, endpoint)
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let said = text.split_once("<<").and_then(|(_, said)| said.split_once(">>"));
    assert!(said.is_some(), "{test} said {text}");
    said.unwrap().0.to_owned()
}

fn pem(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/tls")).join(name)
}

/// A proxy that tunnels every request to one server that speaks TLS as `api.example.test`.
fn tunnel() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&seen);
    let chain = vec![CertificateDer::from_pem_file(pem("server.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(pem("server-key.pem")).unwrap();
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let config = Arc::new(config);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream: TcpStream = stream.unwrap();
            let Some(connect) = read_request(&mut stream) else { continue };
            heard.lock().unwrap().push(String::from_utf8(connect).unwrap());
            stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").unwrap();
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut inside = StreamOwned::new(connection, stream);
            // A client that does not trust us ends the handshake here.
            let Some(request) = read_request(&mut inside) else { continue };
            heard.lock().unwrap().push(String::from_utf8(request).unwrap());
            let body = r#"{"choices":[{"message":{"content":"hi"}}]}"#;
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
            inside.write_all(format!("{head}{body}").as_bytes()).unwrap();
            inside.conn.send_close_notify();
            inside.flush().unwrap();
            drop(inside.read(&mut [0]));
        }
    });
    (address, seen)
}

#[test]
fn a_private_authority_and_a_proxy_are_taken_from_the_environment() {
    if asked_here() {
        return;
    }
    let (proxy, seen) = tunnel();
    let authority = pem("authority.pem");
    let test = "network::a_private_authority_and_a_proxy_are_taken_from_the_environment";
    let environment = [("HTTPS_PROXY", &*proxy), ("SSL_CERT_FILE", authority.to_str().unwrap())];
    let said = ask_elsewhere(test, "https://api.example.test/v1", &environment);
    assert_eq!(said, "hi after 1");
    let seen = seen.lock().unwrap();
    assert!(seen[0].starts_with("CONNECT api.example.test:443 HTTP/1.1\r\n"), "{seen:?}");
    assert!(!seen[0].contains("sk-test"), "the key is inside the tunnel alone");
    assert!(seen[1].starts_with("POST /v1 HTTP/1.1\r\nauthorization: Bearer sk-test"), "{seen:?}");
}

#[test]
fn an_authority_that_nobody_vouches_for_is_refused_at_once() {
    if asked_here() {
        return;
    }
    let (proxy, seen) = tunnel();
    let test = "network::an_authority_that_nobody_vouches_for_is_refused_at_once";
    let said = ask_elsewhere(test, "https://api.example.test/v1", &[("HTTPS_PROXY", &*proxy)]);
    assert!(said.contains("invalid peer certificate: UnknownIssuer"), "{said}");
    assert!(
        said.ends_with("; a private certificate authority is named by SSL_CERT_FILE"),
        "{said}"
    );
    assert_eq!(seen.lock().unwrap().len(), 1, "one try, and no request inside");
}

#[test]
fn a_server_on_this_machine_is_asked_without_the_proxy() {
    if asked_here() {
        return;
    }
    let proxy = Server::new([openai("from the proxy")]);
    let server = Server::new([openai("from here")]);
    let test = "network::a_server_on_this_machine_is_asked_without_the_proxy";
    let url = proxy.url("");
    let environment = [("HTTP_PROXY", &*url), ("ALL_PROXY", &*url)];
    assert_eq!(ask_elsewhere(test, &server.url("/"), &environment), "from here after 1");
    let said = ask_elsewhere(test, "http://api.example.test/v1", &environment);
    assert_eq!(said, "from the proxy after 1", "others are");
}

#[test]
fn plain_http_works_on_a_machine_without_certificates() {
    if asked_here() {
        return;
    }
    let server = Server::new([openai("hi")]);
    let empty = pem("no-such-file.pem");
    let test = "network::plain_http_works_on_a_machine_without_certificates";
    let environment = [("SSL_CERT_FILE", empty.to_str().unwrap())];
    assert_eq!(ask_elsewhere(test, &server.url("/"), &environment), "hi after 1");
}
