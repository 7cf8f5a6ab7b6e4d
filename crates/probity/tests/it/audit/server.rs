//! A model behind a real HTTP server on loopback: it plays what it is told and keeps every byte that
//! it was sent.

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

use serde_json::{Value, json};

/// What a request gets.
pub(crate) enum Play {
    /// This text as the model's answer.
    Says(String),
    /// These bytes, and the end of the connection.
    Bytes(Vec<u8>),
    /// A status with headers and a body.
    Status(u16, &'static str, String),
    /// The same after a while.
    After(Duration, Box<Play>),
    /// Nothing, until the client hangs up.
    Silence,
}

/// Decides by the number of the request, from 0, and its body.
type Director = dyn Fn(usize, &Value) -> Play + Send + Sync;

pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
}

impl Server {
    pub(crate) fn new(director: impl Fn(usize, &Value) -> Play + Send + Sync + 'static) -> Self {
        let director: Arc<Director> = Arc::new(director);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let server = Self { address, requests: Arc::clone(&requests), stop: Arc::clone(&stop) };
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (director, requests) = (Arc::clone(&director), Arc::clone(&requests));
                thread::spawn(move || serve(stream.unwrap(), &*director, &requests));
            }
        });
        server
    }

    /// Says the lines one after the other, the last one for ever, in each conversation anew.
    pub(crate) fn saying(lines: &[&str]) -> Self {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        Self::new(move |_, body| Play::Says(lines[turn(body).min(lines.len() - 1)].clone()))
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1/chat/completions", self.address)
    }

    /// Every request so far, with the port, which differs each time, written as `PORT`.
    pub(crate) fn requests(&self) -> Vec<String> {
        let port = format!(":{}", self.address.port());
        self.requests
            .lock()
            .unwrap()
            .iter()
            .map(|request| request.replace(&port, ":PORT"))
            .collect()
    }

    pub(crate) fn bodies(&self) -> Vec<Value> {
        let body =
            |it: &String| serde_json::from_str(it.split_once("\r\n\r\n").unwrap().1).unwrap();
        self.requests().iter().map(body).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for the next connection.
        drop(TcpStream::connect(self.address));
    }
}

/// How many answers the conversation of this request has had.
pub(crate) fn turn(body: &Value) -> usize {
    let messages = body["messages"].as_array().unwrap();
    messages.iter().filter(|message| message["role"] == "assistant").count()
}

/// The skill that a conversation is about.
pub(crate) fn skill(body: &Value) -> String {
    let messages = body["messages"].as_array().unwrap();
    let first = messages.iter().find(|message| message["role"] == "user").unwrap();
    let text = first["content"].as_str().unwrap();
    text.lines().find_map(|line| line.strip_prefix("Skill ID: ")).unwrap().to_owned()
}

/// The last thing that the model was told.
pub(crate) fn told(body: &Value) -> &str {
    body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap()
}

fn serve(mut stream: TcpStream, director: &Director, requests: &Mutex<Vec<String>>) {
    let Some(request) = read_request(&mut stream) else { return };
    let text = String::from_utf8(request).unwrap();
    let body: Value = serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap();
    let number = {
        let mut requests = requests.lock().unwrap();
        requests.push(text);
        requests.len() - 1
    };
    play(&mut stream, director(number, &body), body.get("system").is_some());
}

fn play(stream: &mut TcpStream, play_this: Play, is_anthropic: bool) {
    let send = |stream: &mut TcpStream, status: u16, headers: &str, body: &str| {
        let length = body.len();
        // The client may hang up at any time; that it did is seen by the test, not here.
        drop(
            stream.write_all(
                format!(
                    "HTTP/1.1 {status} Words\r\n{headers}content-type: application/json\r\n\
                 content-length: {length}\r\nconnection: close\r\n\r\n{body}"
                )
                .as_bytes(),
            ),
        );
    };
    match play_this {
        Play::Says(text) if is_anthropic => {
            let body = json!({
                "content": [{"type": "text", "text": text}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 100, "output_tokens": 10}
            });
            send(stream, 200, "", &body.to_string());
        }
        Play::Says(text) => {
            let body = json!({
                "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 10}
            });
            send(stream, 200, "", &body.to_string());
        }
        Play::Bytes(bytes) => drop(stream.write_all(&bytes)),
        Play::Status(status, headers, body) => send(stream, status, headers, &body),
        Play::After(time, then) => {
            thread::sleep(time);
            play(stream, *then, is_anthropic);
        }
        Play::Silence => drop(stream.read(&mut [0])),
    }
}

fn read_request(stream: &mut impl Read) -> Option<Vec<u8>> {
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
