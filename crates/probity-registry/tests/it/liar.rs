//! A server whose every answer a test decides.

use std::{
    io::{BufRead as _, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// The head of a request: its first line, then its headers in lower case.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) line: String,
    headers: Vec<String>,
}

impl Head {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let prefix = format!("{name}: ");
        self.headers.iter().find_map(|line| line.strip_prefix(&prefix))
    }
}

/// A server on this machine, over plain http.
pub(crate) struct Liar {
    pub(crate) host: String,
    seen: Arc<Mutex<Vec<Head>>>,
}

impl Liar {
    /// Writes what `answer` wants to each request; a connection carries one request.
    pub(crate) fn start(answer: impl Fn(&Head, &mut dyn Write) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (heard, answer) = (Arc::clone(&seen), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (heard, answer) = (Arc::clone(&heard), Arc::clone(&answer));
                thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    let head = read_head(&stream);
                    heard.lock().unwrap().push(head.clone());
                    answer(&head, &mut stream);
                });
            }
        });
        Self { host, seen }
    }

    pub(crate) fn seen(&self) -> Vec<Head> {
        self.seen.lock().unwrap().clone()
    }
}

fn read_head(stream: &TcpStream) -> Head {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let line = lines.next().unwrap_or_default();
    let headers = lines.take_while(|line| !line.is_empty()).map(|line| {
        let (name, value) = line.split_once(':').unwrap();
        format!("{}: {}", name.to_lowercase(), value.trim())
    });
    Head { line, headers: headers.collect() }
}

/// A whole answer. A client that has hung up is no failure of the server.
pub(crate) fn reply(out: &mut dyn Write, status: &str, headers: &[(&str, &str)], body: &[u8]) {
    let mut text = format!("HTTP/1.1 {status}\r\nconnection: close\r\n");
    text.push_str(&format!("content-length: {}\r\n", body.len()));
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    drop(out.write_all(text.as_bytes()).and_then(|()| out.write_all(body)));
}
