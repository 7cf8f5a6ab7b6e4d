//! The cost of a keystroke, counted by what the server asks of the binary, and the order of checks.

use std::{
    io::{BufRead, BufReader, PipeReader, PipeWriter, Write as _},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use probity_check::EditorFixes;
use serde_json::{Value, json};

use super::serve;
use crate::{
    AiAnswer, AiRequest, AiWatch, ConfigProblem, DocumentKind, Host, Report, RuleName, ServerEnd,
    Subject,
};

/// Writes down the questions that read files or check a text.
#[derive(Default)]
struct Counting {
    /// The documents that were checked, in order.
    checked: Mutex<Vec<PathBuf>>,
    others: AtomicUsize,
    /// Checks wait for this one.
    gate: Mutex<()>,
}

impl Counting {
    fn other<T: Default>(&self) -> T {
        self.others.fetch_add(1, Ordering::SeqCst);
        T::default()
    }

    fn counts(&self) -> (usize, usize) {
        (self.checked.lock().unwrap().len(), self.others.load(Ordering::SeqCst))
    }
}

impl Host for Counting {
    fn version(&self) -> &str {
        "0"
    }
    fn kind(&self, _: &Path, _: &str) -> DocumentKind {
        DocumentKind::Dockerfile
    }
    fn check(&self, subject: &Subject<'_>) -> Report {
        self.checked.lock().unwrap().push(subject.path.to_owned());
        drop(self.gate.lock().unwrap());
        Report::default()
    }
    fn fix(&self, _: &Subject<'_>, _: EditorFixes<'_>) -> Option<String> {
        self.other()
    }
    fn config_problems(&self, _: &Path, _: &str) -> Vec<ConfigProblem> {
        self.other()
    }
    fn config_schema(&self, _: &Path) -> Option<Value> {
        self.other()
    }
    fn reload(&self) {
        self.other()
    }
    fn explain(&self, _: &str) -> Option<String> {
        self.other()
    }
    fn rules(&self) -> Vec<RuleName> {
        self.other()
    }
    fn is_running(&self, _: i32) -> bool {
        true
    }
    fn ai_fix(&self, _: &Subject<'_>, _: AiRequest<'_>, _: &dyn AiWatch) -> AiAnswer {
        self.other::<()>();
        AiAnswer::Cancelled
    }
}

/// A server in this process, and its client.
struct Session {
    to_server: PipeWriter,
    from_server: BufReader<PipeReader>,
    server: thread::JoinHandle<ServerEnd>,
}

impl Session {
    fn start(host: &Arc<Counting>) -> Self {
        let (input, to_server) = std::io::pipe().unwrap();
        let (from_server, output) = std::io::pipe().unwrap();
        let host: Arc<dyn Host> = Arc::clone(host) as Arc<dyn Host>;
        let server = thread::spawn(move || serve(host, input, output).unwrap());
        let mut session = Self { to_server, from_server: BufReader::new(from_server), server };
        session.send(&json!({ "id": 1, "method": "initialize", "params": { "capabilities": {} } }));
        session.notify("initialized", json!({}));
        session
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.to_server, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "method": method, "params": params }));
    }

    fn open(&mut self, number: usize) {
        let document = json!({ "uri": uri(number), "languageId": "dockerfile", "version": 0, "text": "FROM a\n" });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn stroke(&mut self, number: usize, version: usize) {
        let end = json!({ "line": 1, "character": version - 1 });
        let change = json!({ "range": { "start": end, "end": end }, "text": "x" });
        let document = json!({ "uri": uri(number), "version": version });
        let params = json!({ "textDocument": document, "contentChanges": [change] });
        self.notify("textDocument/didChange", params);
    }

    fn wait(&mut self, wanted: impl Fn(&Value) -> bool) {
        while !wanted(&self.read()) {}
    }

    fn published(&mut self, number: usize, version: usize) {
        self.wait(|message| {
            message["params"]["uri"] == uri(number) && message["params"]["version"] == version
        });
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert_ne!(self.from_server.read_line(&mut line).unwrap(), 0, "the server has ended");
            match line.trim_end().strip_prefix("Content-Length: ") {
                Some(number) => length = number.parse().unwrap(),
                None => break,
            }
        }
        let mut body = vec![0; length];
        std::io::Read::read_exact(&mut self.from_server, &mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    fn end(mut self) {
        self.send(&json!({ "id": 2, "method": "shutdown" }));
        self.notify("exit", Value::Null);
        assert_eq!(self.server.join().unwrap(), ServerEnd::Orderly);
    }
}

fn uri(number: usize) -> String {
    format!("file:///{number}/Dockerfile")
}

/// Every keystroke whose diagnostics a client waits for is one check of one document, however many
/// others are open, and asks nothing else.
#[test]
fn a_keystroke_is_one_check_of_one_document() {
    let (open, strokes) = (30, 20);
    let host = Arc::new(Counting::default());
    let mut session = Session::start(&host);
    for number in 0..open {
        session.open(number);
        session.published(number, 0);
    }
    assert_eq!(host.counts(), (open, 0));
    for stroke in 1..=strokes {
        session.stroke(7, stroke);
        session.published(7, stroke);
        assert_eq!(host.counts(), (open + stroke, 0), "keystroke {stroke}");
    }
    session.end();
}

/// A thousand documents may wait: the one at which somebody works comes first.
#[test]
fn the_document_that_a_request_waits_for_is_checked_first_then_the_last_changed_one() {
    let host = Arc::new(Counting::default());
    let mut session = Session::start(&host);
    let gate = host.gate.lock().unwrap();
    session.open(0);
    while host.counts().0 == 0 {
        thread::yield_now();
    }
    for number in 1..6 {
        session.open(number);
    }
    session.stroke(3, 1);
    let awaited = json!({ "textDocument": { "uri": uri(1) } });
    session.send(&json!({ "id": 8, "method": "textDocument/diagnostic", "params": awaited }));
    // The answer says that everything before it was handled.
    session.send(&json!({ "id": 9, "method": "no/such" }));
    session.wait(|message| message["id"] == 9);
    drop(gate);
    session.published(2, 0);
    let order = host.checked.lock().unwrap().clone();
    assert_eq!(
        order,
        [0, 1, 3, 5, 4, 2].map(|number| PathBuf::from(format!("/{number}/Dockerfile")))
    );
    session.end();
}
