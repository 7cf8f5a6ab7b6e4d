//! A stage: the editor's ends of the proxy, and a launcher that plays agents in threads.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, PipeReader, PipeWriter, Write as _},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use probity_proxy::{
    Finished, LaunchError, Launcher, Limits, Logins, Observer, Options, Process, SessionRecord,
    Sharing, Side, Started, Store, Workspace, serve,
};
use serde_json::{Value, json};

/// Longer than anything takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Plays one agent; its exit code is what it gives back. Its number counts the starts.
pub(crate) type Play = dyn Fn(usize, PipeReader, PipeWriter) -> i32 + Send + Sync;

pub(crate) struct Stage {
    pub(crate) input: Option<PipeWriter>,
    lines: Receiver<String>,
    serving: Option<JoinHandle<Finished>>,
    pub(crate) memory: Arc<Memory>,
    pub(crate) starts: Arc<AtomicUsize>,
    next: u64,
}

/// How a stage is set.
pub(crate) struct Setting {
    pub(crate) options: Options,
    pub(crate) memory: Arc<Memory>,
    pub(crate) terminals: bool,
    pub(crate) files: bool,
    /// Whether agents can be started to be asked what they can do.
    pub(crate) scratch: bool,
}

impl Setting {
    pub(crate) fn new() -> Self {
        let options = Options {
            agent: "player".to_owned(),
            version: "1.2.3".to_owned(),
            sharing: Sharing::Session,
            default_cwd: None,
            start_failure_code: -32603,
            logins: Logins::default(),
            limits: Limits { farewell: Duration::from_secs(1), ..Limits::default() },
        };
        Self { options, memory: Arc::default(), terminals: true, files: true, scratch: false }
    }

    pub(crate) fn play(
        self,
        play: impl Fn(usize, PipeReader, PipeWriter) -> i32 + Send + Sync + 'static,
    ) -> Stage {
        let (editor_input, input) = io::pipe().unwrap();
        let (output, editor_output) = io::pipe().unwrap();
        let starts = Arc::new(AtomicUsize::new(0));
        let (terminals, files, scratch) = (self.terminals, self.files, self.scratch);
        let (play, counted) = (Arc::new(play), Arc::clone(&starts));
        let launcher = Troupe { play, starts: counted, terminals, files, scratch };
        // A test that does not receive is an editor that does not read.
        let (sender, lines) = sync_channel(4);
        thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let memory = Arc::clone(&self.memory);
        let kept = Arc::clone(&memory);
        let serving = thread::spawn(move || {
            let (store, observer) = (Box::new(Kept(Arc::clone(&kept))), Box::new(Kept(kept)));
            let output = Box::new(editor_output);
            serve(editor_input, output, self.options, Box::new(launcher), store, observer, |_| ())
        });
        Stage { input: Some(input), lines, serving: Some(serving), memory, starts, next: 1 }
    }
}

impl Stage {
    pub(crate) fn send_raw(&mut self, line: &str) {
        let mut line = line.to_owned();
        line.push('\n');
        self.input.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_raw(&message.to_string());
    }

    /// Sends a request; gives its id.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    #[track_caller]
    pub(crate) fn raw(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("the proxy says nothing")
    }

    #[track_caller]
    pub(crate) fn receive(&self) -> Value {
        let line = self.raw();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"))
    }

    /// The answer to a request, whatever else comes before it.
    #[track_caller]
    pub(crate) fn answer(&self, id: u64) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let message = self.receive();
            if message.get("method").is_none() && message["id"] == id {
                return message;
            }
            assert!(Instant::now() < until, "no answer to {id}");
        }
    }

    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// A new session in a directory of its own.
    #[track_caller]
    pub(crate) fn session(&mut self, cwd: &Path) -> String {
        let answer = self.call("session/new", &json!({"cwd": cwd, "mcpServers": []}));
        answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{"type": "text", "text": text}]);
        self.ask("session/prompt", &json!({"sessionId": session, "prompt": prompt}))
    }

    /// Ends the editor's input and gives all that still comes.
    pub(crate) fn finish(&mut self) -> (Vec<String>, Finished) {
        drop(self.input.take());
        let serving = self.serving.take().unwrap();
        let mut lines = Vec::new();
        let moment = Duration::from_millis(50);
        while !serving.is_finished() {
            lines.extend(self.lines.recv_timeout(moment));
        }
        let finished = serving.join().unwrap();
        while let Ok(line) = self.lines.recv_timeout(moment) {
            lines.push(line);
        }
        (lines, finished)
    }
}

/// What a proxy keeps and says, for the next and for the test.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) sessions: Mutex<Vec<SessionRecord>>,
    pub(crate) capabilities: Mutex<Option<String>>,
    pub(crate) notes: Mutex<Vec<String>>,
    pub(crate) messages: Mutex<Vec<(Side, String)>>,
}

struct Kept(Arc<Memory>);

impl Store for Kept {
    fn sessions(&self) -> Vec<SessionRecord> {
        self.0.sessions.lock().unwrap().clone()
    }

    fn session(&self, id: &str) -> Option<SessionRecord> {
        self.sessions().into_iter().find(|record| record.id == id)
    }

    fn keep_session(&self, record: &SessionRecord) {
        self.0.sessions.lock().unwrap().push(record.clone());
    }

    fn forget_session(&self, id: &str) {
        self.0.sessions.lock().unwrap().retain(|record| record.id != id);
    }

    fn capabilities(&self, _: &str) -> Option<String> {
        self.0.capabilities.lock().unwrap().clone()
    }

    fn keep_capabilities(&self, _: &str, result: &str) {
        *self.0.capabilities.lock().unwrap() = Some(result.to_owned());
    }
}

impl Observer for Kept {
    fn message(&self, from: Side, frame: &str) {
        let mut messages = self.0.messages.lock().unwrap();
        if messages.len() < 10_000 {
            messages.push((from, frame.to_owned()));
        }
    }

    fn note(&self, what: &str) {
        self.0.notes.lock().unwrap().push(what.to_owned());
    }

    fn warning(&self, what: &str) {
        self.note(&format!("warning: {what}"));
    }
}

/// Every directory is its own workspace, and every agent a thread.
struct Troupe {
    play: Arc<Play>,
    starts: Arc<AtomicUsize>,
    terminals: bool,
    files: bool,
    scratch: bool,
}

impl Launcher for Troupe {
    fn workspace(&self, cwd: &Path, more: &[PathBuf]) -> Result<Workspace, LaunchError> {
        if !cwd.is_absolute() {
            return Err(LaunchError::Workspace(format!("{}: not absolute", cwd.display())));
        }
        let mut workspace = Workspace::new(cwd.to_owned(), cwd.to_owned());
        workspace.terminals = self.terminals;
        workspace.files = self.files;
        workspace.directories = more.to_vec();
        Ok(workspace)
    }

    fn scratch(&self) -> Option<Workspace> {
        let mut workspace = Workspace::scratch();
        workspace.terminals = self.terminals;
        self.scratch.then_some(workspace)
    }

    fn start(&self, workspace: &Workspace) -> Result<Started, LaunchError> {
        if workspace.root.ends_with("missing") {
            return Err(LaunchError::Start("there is no such agent".to_owned()));
        }
        let number = self.starts.fetch_add(1, Ordering::SeqCst);
        let (stdin, ours) = io::pipe().unwrap();
        let (theirs, stdout) = io::pipe().unwrap();
        let (stderr, mut log) = io::pipe().unwrap();
        let actor = Arc::new(Actor::default());
        let (play, exit) = (Arc::clone(&self.play), Arc::clone(&actor));
        thread::spawn(move || {
            writeln!(log, "agent {number} starts").unwrap();
            let code = play(number, stdin, stdout);
            writeln!(log, "agent {number} says goodbye").unwrap();
            drop(log);
            *exit.code.lock().unwrap() = Some(code);
            exit.ended.notify_all();
        });
        let file = |end: OwnedFd| File::from(end);
        Ok(Started {
            stdin: file(ours.into()),
            stdout: file(theirs.into()),
            stderr: Some(file(stderr.into())),
            process: Box::new(Handle(actor)),
        })
    }
}

#[derive(Default)]
struct Actor {
    code: Mutex<Option<i32>>,
    ended: Condvar,
}

struct Handle(Arc<Actor>);

impl Process for Handle {
    fn wait(&self, timeout: Duration) -> Option<i32> {
        let code = self.0.code.lock().unwrap();
        *self.0.ended.wait_timeout_while(code, timeout, |code| code.is_none()).unwrap().0
    }

    /// A thread cannot be killed; it is given up.
    fn kill(&self) {}
}

pub(crate) fn place() -> PathBuf {
    PathBuf::from("/srv/one")
}

pub(crate) fn other_place() -> PathBuf {
    PathBuf::from("/srv/two")
}

/// An agent's own ends, for agents that are written in Rust.
pub(crate) struct Part {
    input: BufReader<PipeReader>,
    pub(crate) output: PipeWriter,
    pub(crate) sessions: usize,
    pub(crate) capabilities: Value,
}

impl Part {
    pub(crate) fn new(input: PipeReader, output: PipeWriter) -> Self {
        Self { input: BufReader::new(input), output, sessions: 0, capabilities: json!({}) }
    }

    pub(crate) fn write(&mut self, message: &Value) {
        self.write_raw(&message.to_string());
    }

    /// A proxy that has gone does not read any more.
    pub(crate) fn write_raw(&mut self, line: &str) {
        drop(self.output.write_all(format!("{line}\n").as_bytes()));
    }

    pub(crate) fn answer(&mut self, request: &Value, result: &Value) {
        self.write(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }

    pub(crate) fn update(&mut self, session: &Value, update: &Value) {
        let params = json!({"sessionId": session, "update": update});
        self.write(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
    }

    /// The next message, whatever it is.
    pub(crate) fn next(&mut self) -> Option<Value> {
        let line = self.next_raw();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }

    pub(crate) fn next_raw(&mut self) -> String {
        let mut line = String::new();
        self.input.read_line(&mut line).unwrap();
        line
    }

    /// The next message that is not about setting up; sessions are called "0", "1", ….
    pub(crate) fn next_task(&mut self) -> Option<Value> {
        loop {
            let message = self.next()?;
            let result = match message["method"].as_str() {
                Some("initialize") => {
                    json!({"protocolVersion": 1, "agentCapabilities": self.capabilities})
                }
                Some("session/new") => {
                    self.sessions += 1;
                    json!({"sessionId": (self.sessions - 1).to_string()})
                }
                _ => return Some(message),
            };
            self.answer(&message, &result);
        }
    }
}
