//! A real HTTP server on loopback: it plays what it is told, one part a connection, and keeps every
//! byte that it was sent.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// What a connection gets for its request.
#[derive(Clone, Debug)]
pub(crate) enum Play {
    /// These bytes, then the end of the connection.
    Bytes(Vec<u8>),
    /// Nothing, until the client hangs up.
    Silence,
    /// The bytes, and then one more byte at every such interval, until the client hangs up.
    Drip(Vec<u8>, Duration),
    /// The bytes, and then as many more as the client takes.
    Flood(Vec<u8>),
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
}

impl Server {
    /// Plays the parts in order, and the last one for ever.
    pub(crate) fn new(parts: impl IntoIterator<Item = Play>) -> Self {
        let parts: Vec<Play> = parts.into_iter().collect();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let server = Self { address, requests: Arc::clone(&requests), stop: Arc::clone(&stop) };
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let part = parts[number.min(parts.len() - 1)].clone();
                let requests = Arc::clone(&requests);
                thread::spawn(move || serve(stream.unwrap(), &part, &requests));
            }
        });
        server
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Every request so far, with the port, which differs each time, written as `PORT`.
    pub(crate) fn requests(&self) -> Vec<String> {
        let port = format!(":{}", self.address.port());
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|request| request.replace(&port, ":PORT")).collect()
    }

    /// The bodies of all requests, as JSON.
    pub(crate) fn bodies(&self) -> Vec<serde_json::Value> {
        let body = |request: &String| request.split_once("\r\n\r\n").unwrap().1.to_owned();
        self.requests().iter().map(|r| serde_json::from_str(&body(r)).unwrap()).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for the next connection.
        drop(TcpStream::connect(self.address));
    }
}

/// A reply with a JSON body.
pub(crate) fn reply(status: u16, headers: &str, body: &str) -> Play {
    let length = body.len();
    Play::Bytes(
        format!(
            "HTTP/1.1 {status} Words\r\n{headers}content-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        )
        .into_bytes(),
    )
}

/// What an OpenAI-compatible server answers.
pub(crate) fn openai(text: &str) -> Play {
    let body = serde_json::json!({
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 10,
            "completion_tokens": 3,
            "prompt_tokens_details": {"cached_tokens": 4}
        }
    });
    reply(200, "", &body.to_string())
}

/// What Anthropic answers.
pub(crate) fn anthropic(blocks: serde_json::Value, stop_reason: &str) -> Play {
    let body = serde_json::json!({
        "content": blocks,
        "stop_reason": stop_reason,
        "usage": {"input_tokens": 10, "output_tokens": 3, "cache_read_input_tokens": 4}
    });
    reply(200, "", &body.to_string())
}

fn serve(mut stream: TcpStream, part: &Play, requests: &Mutex<Vec<String>>) {
    let Some(request) = read_request(&mut stream) else { return };
    requests.lock().unwrap().push(String::from_utf8(request).unwrap());
    // The client may hang up at any time; that it did is seen by the test, not here.
    match part {
        Play::Bytes(bytes) => drop(stream.write_all(bytes)),
        Play::Silence => drop(stream.read(&mut [0])),
        Play::Drip(bytes, interval) => {
            let mut alive = stream.write_all(bytes).is_ok();
            while alive {
                thread::sleep(*interval);
                alive = stream.write_all(b" ").is_ok();
            }
        }
        Play::Flood(bytes) => {
            let mut alive = stream.write_all(bytes).is_ok();
            while alive {
                alive = stream.write_all(&[b' '; 65_536]).is_ok();
            }
        }
    }
}

/// Head and body; nothing if the peer only knocked.
pub(crate) fn read_request(stream: &mut impl Read) -> Option<Vec<u8>> {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        if !matches!(stream.read(&mut byte), Ok(1)) {
            return None;
        }
        request.push(byte[0]);
    }
    let head = String::from_utf8(request.clone()).unwrap();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    request.extend(body);
    Some(request)
}
