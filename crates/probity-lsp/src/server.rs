//! The loop: one message after another, in the order in which they came.
//!
//! Documents are changed and requests are answered on this thread. Linting has a thread of its own:
//! it gets the newest text of one document at a time and only while no message waits, so edits that
//! come faster than lints are linted once. What it finds about a text that has changed meanwhile is
//! dropped. Cancellations overtake the messages before them.

mod actions;
mod lifecycle;
mod lint;
mod requests;
#[cfg(test)]
mod steps;
mod sync;

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    io::{self, BufReader, Read, Write},
    sync::Arc,
    thread,
    time::Duration,
};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};
use gen_lsp_types::Uri;
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response, ResponseError};
use probity_check::OpenTexts;
use serde::Serialize;
use serde_json::Value;

use self::{actions::Asking, lint::Linted};
use crate::{
    client::Client,
    document::Document,
    frame::{self, Incoming, Outgoing, Refusal},
    host::{DocumentKind, Host},
};

/// Messages that are read ahead.
const READ_AHEAD: usize = 1024;

/// How often the server looks whether its client still lives.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerEnd {
    /// The client said goodbye.
    Orderly,
    /// It was gone, or left without `shutdown`.
    Abrupt,
}

/// Serves one client until it leaves.
pub fn serve(
    host: Arc<dyn Host>,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<ServerEnd> {
    let (events, incoming) = bounded(READ_AHEAD);
    let (outgoing, answers) = unbounded();
    let reader = events.clone();
    spawn("read", move || read_all(input, &reader))?;
    let closed = events.clone();
    let writer = spawn("write", move || write_all(output, &answers, &closed))?;
    let lint = lint::start(Arc::clone(&host), events.clone())?;
    let mut server = Server {
        host,
        outgoing,
        events,
        lint,
        phase: Phase::New,
        client: Client::of(&Value::Null),
        documents: BTreeMap::new(),
        queue: VecDeque::new(),
        parked: Vec::new(),
        asking: HashMap::new(),
        is_linting: false,
        is_closed: false,
        published: BTreeMap::new(),
        requests_sent: 0,
        opened: 0,
        touches: 0,
        open_texts: OpenTexts::default(),
    };
    let ended = server.run(&incoming);
    server.end_asking(&incoming);
    // What was answered is written before the process ends.
    drop(server);
    drop(writer.join());
    Ok(ended)
}

fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<thread::JoinHandle<T>> {
    thread::Builder::new().name(name.to_owned()).spawn(work)
}

fn read_all(input: impl Read, events: &Sender<Event>) {
    let mut input = BufReader::new(input);
    while let Ok(Some(incoming)) = frame::read(&mut input) {
        if events.send(Event::Client(incoming)).is_err() {
            return;
        }
    }
    // Nobody listens any more if this fails, which is what it would say.
    drop(events.send(Event::Closed));
}

fn write_all(mut output: impl Write, answers: &Receiver<Outgoing>, events: &Sender<Event>) {
    for answer in answers {
        if frame::write(&mut output, &answer).is_err() {
            drop(events.send(Event::Closed));
            return;
        }
    }
}

/// What the loop reacts to.
#[derive(Debug)]
enum Event {
    Client(Incoming),
    Closed,
    Linted(Linted),
    Asked(actions::Asked),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    New,
    Running,
    ShutDown,
    Over(ServerEnd),
}

/// A request that waits for the report about its document.
#[derive(Debug)]
struct Parked {
    uri: Uri,
    request: Request,
}

struct Server {
    host: Arc<dyn Host>,
    outgoing: Sender<Outgoing>,
    events: Sender<Event>,
    lint: Sender<lint::Job>,
    phase: Phase,
    client: Client,
    documents: BTreeMap<String, Document>,
    queue: VecDeque<Incoming>,
    parked: Vec<Parked>,
    /// Agents that are at work, by the request that waits for them.
    asking: HashMap<RequestId, Asking>,
    is_linting: bool,
    is_closed: bool,
    /// What was last pushed about each configuration file.
    published: BTreeMap<String, Value>,
    requests_sent: i32,
    /// Documents opened so far; their revisions never repeat.
    opened: u64,
    /// Documents opened and changed so far.
    touches: u64,
    /// The texts of open documents that are not Dockerfiles.
    open_texts: OpenTexts,
}

impl Server {
    fn run(&mut self, incoming: &Receiver<Event>) -> ServerEnd {
        loop {
            while let Ok(event) = incoming.try_recv() {
                self.accept(event);
            }
            if let Phase::Over(ended) = self.phase {
                return ended;
            }
            if let Some(next) = self.queue.pop_front() {
                self.handle(next);
                continue;
            }
            if self.is_closed {
                let is_orderly = self.phase == Phase::ShutDown;
                return if is_orderly { ServerEnd::Orderly } else { ServerEnd::Abrupt };
            }
            self.start_lint();
            match incoming.recv_timeout(HEARTBEAT) {
                Ok(event) => self.accept(event),
                Err(RecvTimeoutError::Timeout) => {
                    if self.client.process.is_some_and(|process| !self.host.is_running(process)) {
                        return ServerEnd::Abrupt;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return ServerEnd::Abrupt,
            }
        }
    }

    fn accept(&mut self, event: Event) {
        match event {
            Event::Client(Incoming::Message(Message::Notification(notification)))
                if notification.method == "$/cancelRequest" =>
            {
                self.cancel(&notification.params);
            }
            Event::Client(Incoming::Message(Message::Notification(notification)))
                if notification.method == "window/workDoneProgress/cancel" =>
            {
                self.cancel_progress(&notification.params);
            }
            Event::Client(incoming) => self.queue.push_back(incoming),
            Event::Closed => self.is_closed = true,
            Event::Linted(linted) => self.take_lint(linted),
            Event::Asked(asked) => self.take_answer(asked),
        }
    }

    fn handle(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Broken(refusal) => self.refuse(refusal),
            Incoming::Message(Message::Request(request)) => self.request(request),
            Incoming::Message(Message::Notification(notification)) => {
                self.notification(notification);
            }
            Incoming::Message(Message::Response(response)) => {
                if let Err(error) = response.response_result {
                    tracing::debug!("the client refused a request: {}", error.message);
                }
            }
        }
    }

    /// Answers a request that has not begun, or calls off the agent that it waits for.
    fn cancel(&mut self, params: &Value) {
        let id = params.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
        let Some(id): Option<RequestId> = id else { return };
        let is_it = |incoming: &Incoming| matches!(incoming, Incoming::Message(Message::Request(request)) if request.id == id);
        let waiting = self.queue.len() + self.parked.len();
        self.queue.retain(|incoming| !is_it(incoming));
        self.parked.retain(|parked| parked.request.id != id);
        if self.queue.len() + self.parked.len() < waiting {
            self.respond_error(id, ErrorCode::RequestCanceled, "the request was cancelled");
        } else if let Some(asking) = self.asking.get(&id) {
            asking.cancel();
        }
    }

    fn respond(&self, id: RequestId, result: &impl Serialize) {
        match serde_json::to_value(result) {
            Ok(value) => self.send(Response { id, response_result: Ok(value) }),
            Err(error) => self.respond_error(id, ErrorCode::InternalError, &error.to_string()),
        }
    }

    fn respond_error(&self, id: RequestId, code: ErrorCode, message: &str) {
        let error = ResponseError { code: code as i32, message: message.to_owned(), data: None };
        self.send(Response { id, response_result: Err(error) });
    }

    fn notify(&self, method: &str, params: Value) {
        self.send(Notification { method: method.to_owned(), params });
    }

    /// Sends a request whose answer decides nothing.
    fn ask_client(&mut self, method: &str, params: Value) {
        self.requests_sent += 1;
        let id = RequestId::from(self.requests_sent);
        self.send(Request { id, method: method.to_owned(), params });
    }

    fn refuse(&self, refusal: Refusal) {
        self.put(Outgoing::Refusal(refusal));
    }

    fn send(&self, message: impl Into<Message>) {
        self.put(Outgoing::Message(message.into()));
    }

    fn put(&self, outgoing: Outgoing) {
        // Without a writer the client is gone, and the loop hears of that by itself.
        drop(self.outgoing.send(outgoing));
    }

    fn dockerfiles(&mut self) -> impl Iterator<Item = &mut Document> {
        self.documents.values_mut().filter(|document| document.kind == DocumentKind::Dockerfile)
    }
}
