//! An editor that does what a test says, and remembers all that the server says.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::Path,
    process::{Child, ChildStdin, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::binary::{Run, probity};

/// No answer takes longer, unless the server hangs.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    incoming: Receiver<Value>,
    /// Messages that were read while waiting for others.
    pub(crate) heard: Vec<Value>,
    last_id: i64,
    pub(crate) introduction: Value,
}

impl Editor {
    /// A server that has been introduced, in a workspace.
    pub(crate) fn start(folder: &Path, capabilities: Value) -> Self {
        Self::start_as(probity().args(["lsp", "--stdio"]), folder, capabilities)
    }

    pub(crate) fn start_as(run: Run, folder: &Path, capabilities: Value) -> Self {
        let mut editor = Self::silent(run.dir(folder));
        let folders = json!([{ "uri": uri(folder), "name": "test" }]);
        editor.introduce(json!({
            "processId": null,
            "workspaceFolders": folders,
            "capabilities": capabilities,
        }));
        editor
    }

    pub(crate) fn introduce(&mut self, params: Value) {
        self.introduction = self.request("initialize", params);
        self.notify("initialized", json!({}));
    }

    /// A server to which nothing was said yet.
    pub(crate) fn silent(run: Run) -> Self {
        let mut command = run.into_command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (sender, incoming) = channel();
        thread::spawn(move || {
            loop {
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    if output.read_line(&mut line).unwrap_or(0) == 0 {
                        return;
                    }
                    let line = line.trim_end();
                    if line.is_empty() {
                        break;
                    }
                    length = line.strip_prefix("Content-Length: ").unwrap().parse().unwrap();
                }
                let mut body = vec![0; length];
                output.read_exact(&mut body).unwrap();
                let message: Value = serde_json::from_slice(&body).unwrap();
                assert_eq!(message["jsonrpc"], "2.0", "{message}");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let (heard, introduction) = (Vec::new(), Value::Null);
        Self { child, input, incoming, heard, last_id: 0, introduction }
    }

    /// Writes bytes as they are.
    pub(crate) fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.input.as_mut().unwrap().write_all(bytes.as_ref()).unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.write(framed(message));
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and does not wait.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        self.try_request(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    #[track_caller]
    pub(crate) fn try_request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.ask(method, params);
        self.answer(id)
    }

    #[track_caller]
    pub(crate) fn answer(&mut self, id: i64) -> Result<Value, Value> {
        let answer = self.wait(|message| message["id"] == id && message["method"].is_null());
        match answer.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(answer["result"].clone()),
        }
    }

    /// The first message, heard already or not, that a test waits for.
    #[track_caller]
    pub(crate) fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.heard.iter().position(&wanted) {
            return self.heard.remove(at);
        }
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message = self.incoming.recv_timeout(left).unwrap_or_else(|_| {
                panic!("the server did not say what the test waits for; it said {:#?}", self.heard)
            });
            if wanted(&message) {
                return message;
            }
            self.heard.push(message);
        }
    }

    pub(crate) fn open(&mut self, path: &Path, text: &str) -> String {
        let language = match path.extension() {
            Some(extension) if extension == "toml" => "toml",
            _ => "dockerfile",
        };
        let uri = uri(path);
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        uri
    }

    /// Replaces the whole text.
    pub(crate) fn replace(&mut self, uri: &str, version: i64, text: &str) {
        self.notify(
            "textDocument/didChange",
            json!({
                "textDocument": { "uri": uri, "version": version },
                "contentChanges": [{ "text": text }],
            }),
        );
    }

    /// What was pushed about this version of a document; any version where none is given.
    #[track_caller]
    pub(crate) fn pushed(&mut self, uri: &str, version: Option<i64>) -> Vec<Value> {
        let message = self.wait(|message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri
                && version.is_none_or(|version| message["params"]["version"] == version)
        });
        message["params"]["diagnostics"].as_array().unwrap().clone()
    }

    /// The rules of what was pushed.
    #[track_caller]
    pub(crate) fn rules(&mut self, uri: &str, version: i64) -> Vec<String> {
        let found = self.pushed(uri, Some(version));
        found.iter().map(|found| found["code"].as_str().unwrap().to_owned()).collect()
    }

    /// The text as the server has it.
    pub(crate) fn text_of(&mut self, uri: &str) -> String {
        let document = json!({ "textDocument": { "uri": uri } });
        let answer = self.request("probity/viewFileText", document);
        answer["text"].as_str().unwrap().to_owned()
    }

    /// Says goodbye as the protocol wants it.
    pub(crate) fn leave(mut self) {
        assert_eq!(self.request("shutdown", Value::Null), Value::Null);
        self.notify("exit", Value::Null);
        assert_eq!(self.exit_code(), Some(0));
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Closes the server's input.
    pub(crate) fn hang_up(&mut self) {
        self.input = None;
    }

    /// Waits for the end of the process.
    pub(crate) fn exit_code(&mut self) -> Option<i32> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("the server did not end");
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) fn framed(message: &Value) -> String {
    let text = message.to_string();
    format!("Content-Length: {}\r\n\r\n{text}", text.len())
}

pub(crate) fn uri(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.to_str().unwrap().bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

pub(crate) fn encodings(names: &[&str]) -> Value {
    json!({ "general": { "positionEncodings": names } })
}

/// Applies the edits of an answer as an editor does: from the last to the first, by UTF-16 units.
pub(crate) fn applied(text: &str, edits: &Value) -> String {
    let offset = |position: &Value| -> usize {
        let line = usize::try_from(position["line"].as_u64().unwrap()).unwrap();
        let mut units = position["character"].as_u64().unwrap();
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let mut at = start;
        for char in text[start..].chars() {
            if units == 0 || char == '\n' || char == '\r' {
                break;
            }
            units = units.saturating_sub(u64::try_from(char.len_utf16()).unwrap());
            at += char.len_utf8();
        }
        at
    };
    let mut edits: Vec<(usize, usize, &str)> = edits
        .as_array()
        .unwrap()
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            (offset(&range["start"]), offset(&range["end"]), edit["newText"].as_str().unwrap())
        })
        .collect();
    edits.sort_by_key(|edit| std::cmp::Reverse((edit.0, edit.1)));
    let mut text = text.to_owned();
    for (start, end, new) in edits {
        text.replace_range(start..end, new);
    }
    text
}
