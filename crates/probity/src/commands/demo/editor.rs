//! An editor with two sessions at one `probity acp`: both agents ask, and it answers crosswise.

use std::{
    env,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, sync_channel},
    thread,
    time::Duration,
};

use anyhow::{Context as _, bail};
use probity_text::runner::Syntax;
use serde_json::{Value, json};

use super::is_swapped;
use crate::{
    config::{word::Word as _, words::Sandbox},
    exit::Exit,
    streams,
};

const PATIENCE: Duration = Duration::from_secs(20);
const NAMES: [&str; 2] = ["north", "south"];

pub(super) fn run(directory: &Path, sandbox: Sandbox) -> anyhow::Result<Exit> {
    let directory = directory.canonicalize().context("cannot find the repositories")?;
    let mut editor = Editor::start(sandbox)?;
    let held = editor.play(&directory);
    let ended = editor.finish()?;
    held?;
    Ok(if ended { Exit::Clean } else { Exit::Failure })
}

struct Editor {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    sessions: Vec<String>,
}

impl Editor {
    fn start(sandbox: Sandbox) -> anyhow::Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        command
            .args(["acp", "--sandbox", sandbox.word(), "recorded"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot start the proxy")?;
        let stdout = child.stdout.take().context("the proxy has no output")?;
        let (sender, lines) = sync_channel(64);
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Ok(Self { child, stdin, lines, sessions: Vec::new() })
    }

    fn play(&mut self, directory: &Path) -> anyhow::Result<()> {
        for (id, name) in NAMES.iter().enumerate() {
            let params = json!({"cwd": directory.join(name), "mcpServers": []});
            self.send(
                &json!({"jsonrpc": "2.0", "id": id, "method": "session/new", "params": params}),
            )?;
            let answer = self.receive()?;
            let session = answer["result"]["sessionId"].as_str();
            self.sessions
                .push(session.with_context(|| format!("no session: {answer}"))?.to_owned());
        }
        for (index, session) in self.sessions.clone().iter().enumerate() {
            let text = format!("may I write in {}?", NAMES.get(index).unwrap_or(&""));
            let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
            let id = 10 + index;
            self.send(
                &json!({"jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params}),
            )?;
        }
        let mut questions = [self.question()?, self.question()?];
        questions.sort_by_key(|question| self.name(question) != "south");
        if is_swapped("answer") {
            questions.reverse();
        }
        // The one that is answered has to go on before the other one hears anything.
        for question in &questions {
            let result = json!({"outcome": {"outcome": "selected", "optionId": "yes"}});
            self.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": result}))?;
            let update = self.receive()?;
            tell(self.name(&update), "goes on", &update["params"]["update"]["content"]["text"])?;
            let ended = self.receive()?;
            if ended["result"]["stopReason"] != "end_turn" {
                bail!("the turn did not end: {ended}");
            }
        }
        Ok(())
    }

    fn question(&mut self) -> anyhow::Result<Value> {
        let question = self.receive()?;
        if question["method"] != "session/request_permission" {
            bail!("not a question: {question}");
        }
        tell(self.name(&question), "asks", &question["params"]["toolCall"]["title"])?;
        Ok(question)
    }

    fn name(&self, message: &Value) -> &'static str {
        let session = message["params"]["sessionId"].as_str().unwrap_or_default();
        let at = self.sessions.iter().position(|known| known == session);
        at.and_then(|at| NAMES.get(at)).copied().unwrap_or("nobody")
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        let stdin = self.stdin.as_mut().context("the proxy is gone")?;
        stdin.write_all(format!("{message}\n").as_bytes()).context("the proxy does not listen")
    }

    fn receive(&mut self) -> anyhow::Result<Value> {
        let line = self.lines.recv_timeout(PATIENCE).context("the proxy says nothing")?;
        serde_json::from_str(&line).with_context(|| format!("the proxy says no JSON: {line}"))
    }

    /// The end of its input ends the proxy, and its agents with it.
    fn finish(&mut self) -> anyhow::Result<bool> {
        self.stdin = None;
        Ok(self.child.wait()?.success())
    }
}

fn tell(session: &str, event: &str, text: &Value) -> anyhow::Result<()> {
    say(&json!({"session": session, "event": event, "text": text}).to_string())
}

fn say(line: &str) -> anyhow::Result<()> {
    Ok(writeln!(streams::stdout().as_syntax(Syntax::Json), "{line}")?)
}
