//! An editor: it starts the proxy, asks, and reads what comes.
#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::binary::{Output, Run};

const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Driver {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    seen: Vec<String>,
    stderr: Option<JoinHandle<String>>,
    next: u64,
}

impl Driver {
    pub(crate) fn start(run: Run) -> Self {
        Self::start_command(run.into_command())
    }

    pub(crate) fn start_command(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                if line.is_ok_and(|line| sender.send(line).is_ok()) {
                    continue;
                }
                return;
            }
        });
        let stderr = thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).unwrap();
            text
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, seen: Vec::new(), stderr: Some(stderr), next: 1 }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.stdin.as_mut().unwrap().write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    #[track_caller]
    pub(crate) fn receive(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("the proxy says nothing");
        self.seen.push(line.clone());
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"))
    }

    #[track_caller]
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive();
            if message.get("method").is_none() && message["id"] == id {
                return message;
            }
        }
    }

    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    #[track_caller]
    pub(crate) fn session(&mut self, cwd: &Path) -> String {
        let answer = self.call("session/new", &json!({"cwd": cwd, "mcpServers": []}));
        answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{"type": "text", "text": text}]);
        self.ask("session/prompt", &json!({"sessionId": session, "prompt": prompt}))
    }

    /// A whole turn; gives the text that the agent says. What it asks is allowed.
    #[track_caller]
    pub(crate) fn say(&mut self, session: &str, text: &str) -> String {
        let id = self.prompt(session, text);
        let mut said = String::new();
        loop {
            let message = self.receive();
            let params = &message["params"];
            match message["method"].as_str() {
                Some("session/update")
                    if params["update"]["sessionUpdate"] == "agent_message_chunk" =>
                {
                    assert_eq!(params["sessionId"], session);
                    said.push_str(params["update"]["content"]["text"].as_str().unwrap_or(""));
                }
                Some("session/request_permission") => {
                    let options = params["options"].as_array().cloned().unwrap_or_default();
                    let allow = options.iter().find(|option| {
                        option["kind"].as_str().is_some_and(|kind| kind.starts_with("allow"))
                    });
                    let outcome = match allow {
                        Some(option) => {
                            json!({"outcome": "selected", "optionId": option["optionId"]})
                        }
                        None => json!({"outcome": "cancelled"}),
                    };
                    let result = json!({"outcome": outcome});
                    self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
                }
                Some(_) => {}
                None if message["id"] == id => {
                    assert_eq!(message["result"]["stopReason"], "end_turn", "{message}");
                    return said;
                }
                None => {}
            }
        }
    }

    /// Ends the input; the proxy has to end by itself.
    pub(crate) fn finish(mut self) -> Output {
        drop(self.stdin.take());
        self.collect()
    }

    /// Ends the proxy as a supervisor would.
    pub(crate) fn terminate(mut self) -> Output {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        self.collect()
    }

    /// Ends the proxy without giving it a chance to end anybody else.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn collect(&mut self) -> Output {
        let until = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() > until => {
                    self.child.kill().unwrap();
                    panic!("the proxy does not end");
                }
                None => thread::sleep(Duration::from_millis(5)),
            }
        };
        let stderr = self.stderr.take().unwrap().join().unwrap();
        while let Ok(line) = self.lines.recv_timeout(Duration::from_millis(100)) {
            self.seen.push(line);
        }
        Output { code: status.code(), stdout: self.seen.join("\n"), stderr }
    }

    /// Kills the process that plays this script, as the kernel does when memory is short.
    pub(crate) fn kill_descendant(&self, script: &Path) {
        let script = script.to_str().unwrap().to_owned();
        let found = self.await_descendant(&script);
        kill_process(found, Signal::KILL).unwrap();
    }

    /// Waits until a process below the proxy has this word in its command line.
    pub(crate) fn await_descendant(&self, word: &str) -> Pid {
        let until = Instant::now() + PATIENCE;
        loop {
            let found =
                processes().find(|(_, line)| line.contains(word) && !line.contains("bwrap"));
            if let Some((pid, _)) = found {
                return Pid::from_raw(pid).unwrap();
            }
            assert!(Instant::now() < until, "no process with {word}");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Command lines of processes that name something in this directory.
pub(crate) fn left(directory: &Path) -> Vec<String> {
    left_named(directory.to_str().unwrap())
}

pub(crate) fn left_named(word: &str) -> Vec<String> {
    processes().map(|(_, line)| line).filter(|line| line.contains(word)).collect()
}

fn processes() -> impl Iterator<Item = (i32, String)> {
    fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let entry = entry.ok()?;
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        Some((pid, String::from_utf8_lossy(&line).replace('\0', " ")))
    })
}
