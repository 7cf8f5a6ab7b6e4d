//! A model on loopback, for real agents: it speaks the wire of four providers, says something that
//! follows from what it was asked, and keeps every request.
//!
//! What the user says last and carries one of these words decides:
//!
//! | in the prompt | the model |
//! |---|---|
//! | `reverse(WORD)` | says which turn this is and the word backwards, which no canned answer could |
//! | `run(COMMAND)` | calls the agent's shell tool, and says what came back |
//! | `Skill ID: ` | asks for the first source of an audit, and then quotes what it was shown of it |
//! | `wait()` | says nothing until the agent hangs up |
//! | a Dockerfile with an objective | answers with a patch of it |

mod anthropic;
mod dockerfile;
mod gemini;
mod http;
mod openai;
mod question;

use std::{
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use serde_json::{Value, json};

use self::{
    http::{Received, Responder},
    question::Question,
};

/// A request that an agent sent.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) body: Value,
}

pub(crate) struct ModelServer {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    stop: Arc<AtomicBool>,
}

impl ModelServer {
    pub(crate) fn start() -> Self {
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
                let requests = Arc::clone(&requests);
                thread::spawn(move || {
                    // A client that hangs up in the middle is what some tests are about.
                    stream.and_then(|stream| serve(stream, &requests)).ok();
                });
            }
        });
        server
    }

    /// Where the server is, with this path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Every request so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Whether the model was told this by an agent at work. Agents also ask for titles and the like,
    /// but then they offer no tools.
    pub(crate) fn was_told(&self, text: &str) -> bool {
        self.requests().iter().any(|request| {
            let has_tools = !question::items(request.body.get("tools")).is_empty();
            has_tools && request.body.to_string().contains(text)
        })
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for the next connection.
        drop(TcpStream::connect(self.address));
    }
}

/// What `reverse(word)` makes the model say in the given turn of a conversation.
pub(crate) fn reversed(turn: usize, word: &str) -> String {
    let backwards: String = word.chars().rev().collect();
    format!("turn {turn}: {backwards}")
}

/// A word that was in no request before.
pub(crate) fn fresh_word(seed: &str) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    format!("{seed}{}x{}", std::process::id(), now.as_nanos())
}

/// What the model does.
enum Reply {
    Say(Vec<String>),
    Call { tool: String, input: Value },
    Wait,
}

fn serve(stream: TcpStream, requests: &Mutex<Vec<Request>>) -> std::io::Result<()> {
    let (Received { path, body }, responder) = http::receive(stream)?;
    requests.lock().unwrap().push(Request { path: path.clone(), body: body.clone() });
    let plain = path.split('?').next().unwrap_or_default();
    if plain.ends_with("/count_tokens") {
        responder.json(200, &json!({"input_tokens": 1}))
    } else if plain.ends_with(":countTokens") {
        responder.json(200, &json!({"totalTokens": 1}))
    } else if plain.ends_with("/messages") {
        anthropic::serve(&body, responder)
    } else if plain.ends_with("/chat/completions") {
        openai::serve_chat(&body, responder)
    } else if plain.ends_with("/responses") {
        openai::serve_responses(&body, responder)
    } else if plain.contains("enerateContent") {
        gemini::serve(plain, &body, responder)
    } else if plain.ends_with("/models") {
        responder.json(200, &json!({"object": "list", "data": [], "models": []}))
    } else {
        responder.json(404, &json!({"error": {"type": "not_found_error", "message": plain}}))
    }
}

/// Says nothing more, for as long as the client is there.
fn wait(mut responder: Responder) -> std::io::Result<()> {
    responder.begin_stream()?;
    responder.wait_for_hang_up();
    Ok(())
}
