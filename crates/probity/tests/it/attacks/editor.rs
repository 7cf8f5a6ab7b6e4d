//! An editor that does whatever it is told, and an agent that tells it: logins and requests.

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use super::{Place, victim::Victim};
use crate::acp::driver::Driver;

/// Numbers of rows here begin after those of the table.
const FIRST_LOGIN: usize = 100;
const FIRST_REQUEST: usize = 200;

/// Speaks the protocol from files in the workspace; asked for a login it does nothing.
const AGENT: &str = r#"
[ $# -eq 0 ] || exit 0
while read -r line; do
    id=${line#*\"id\":}
    id=${id%%,*}
    case $line in
    *'"initialize"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$(cat initialize.json)}" ;;
    *'"session/new"'*)
        if [ -e refuse ]; then
            echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":$(cat error.json)}"
        else
            echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"sessionId\":\"s\"}}"
        fi
        ;;
    *'"session/prompt"'*)
        cat requests.ndjson
        echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"stopReason\":\"end_turn\"}}"
        ;;
    esac
done
"#;

/// Which of the agent's messages brings the mark, and why it did not before, if it did not.
struct Row {
    name: &'static str,
    message: Value,
    held: Option<&'static str>,
}

pub(super) struct Editor<'a> {
    place: &'a Place<'a>,
    victim: Victim,
}

impl<'a> Editor<'a> {
    pub(super) fn new(place: &'a Place<'a>) -> Self {
        let victim = Victim::new();
        let text = format!(
            "[container]\nruntime = '{}'\n[agents.boxed]\n\
             command = ['sh', '/home/agent/workspace/agent.sh']\n",
            place.kind
        );
        fs::write(victim.at("users/containai/config.toml"), text).unwrap();
        fs::write(victim.root().join("agent.sh"), AGENT).unwrap();
        fs::write(victim.at("secret"), "secret").unwrap();
        symlink(victim.at("home"), victim.root().join("way-out")).unwrap();
        Self { place, victim }
    }

    /// First without us, where each row has to run, and then through the proxy.
    pub(super) fn is_not_led_astray(&self) {
        self.alone();
        self.fresh().through_the_proxy();
    }

    fn fresh(&self) -> Self {
        Self::new(self.place)
    }

    fn alone(&self) {
        for (number, row) in numbered(FIRST_LOGIN, self.logins()) {
            self.log_in(&row.message);
            assert!(self.has_run(number), "a login that could hurt nobody: {}", row.name);
        }
        for (_, row) in numbered(FIRST_REQUEST, self.requests()) {
            self.obey(&row.message);
        }
        self.victim.day();
        for (number, row) in numbered(FIRST_REQUEST, self.requests()) {
            assert!(self.has_run(number), "a request that could hurt nobody: {}", row.name);
        }
    }

    fn through_the_proxy(&self) {
        let (logins, requests) = (self.logins(), self.requests());
        let methods: Vec<&Value> = logins.iter().map(|row| &row.message).collect();
        let lines = requests.iter().map(|row| format!("{}\n", row.message));
        let error = json!({"code": -32000, "message": "log in", "data": {"authMethods": methods}});
        let initialize = json!({"protocolVersion": 1, "authMethods": methods});
        for (file, text) in [
            ("initialize.json", initialize.to_string()),
            ("error.json", error.to_string()),
            ("requests.ndjson", lines.collect()),
            ("refuse", String::new()),
        ] {
            fs::write(self.victim.root().join(file), text).unwrap();
        }
        // An agent that refuses names logins in its error; the next start has them from the cache.
        let mut offered = Vec::new();
        for from_cache in [false, true] {
            let mut driver = self.driver();
            let initialized = driver.call("initialize", &initialize_params());
            let methods = &initialized["result"]["authMethods"];
            assert_eq!(methods.as_array().is_some_and(|list| !list.is_empty()), from_cache);
            let new = json!({"cwd": self.victim.root(), "mcpServers": []});
            let refused = driver.call("session/new", &new);
            for list in [methods, &refused["error"]["data"]["authMethods"]] {
                offered.extend(list.as_array().cloned().unwrap_or_default());
            }
            driver.finish();
        }
        assert!(offered.len() >= 6, "harmless parts of logins are still offered: {offered:?}");
        for method in &offered {
            self.log_in(method);
        }
        fs::remove_file(self.victim.root().join("refuse")).unwrap();
        let mut driver = self.driver();
        driver.call("initialize", &initialize_params());
        let session = driver.session(&self.victim.root());
        let prompt = driver.prompt(&session, "go");
        loop {
            let message = driver.receive();
            if message.get("method").is_none() && message["id"] == prompt {
                break;
            }
            self.obey(&message);
        }
        driver.finish();
        self.victim.day();
        let rows = numbered(FIRST_LOGIN, logins).chain(numbered(FIRST_REQUEST, requests));
        let ran = rows.filter(|(number, _)| self.has_run(*number));
        let ran: Vec<_> = ran.map(|(_, row)| (row.name, row.held)).collect();
        assert_eq!(ran, []);
    }

    fn driver(&self) -> Driver {
        Driver::start(self.place.run(&self.victim).args(["acp", "boxed"]))
    }

    /// A file of the user's that was emptied is as bad as a program that ran.
    fn has_run(&self, number: usize) -> bool {
        let kept = self.victim.at(&format!("kept-{number}"));
        self.victim.has_run(number) || fs::read(kept).is_ok_and(|text| text != b"kept")
    }

    fn kept(&self, number: usize) -> String {
        let path = self.victim.at(&format!("kept-{number}"));
        if !path.exists() {
            fs::write(&path, "kept").unwrap();
        }
        path.to_str().unwrap().to_owned()
    }

    /// What an editor does to log in.
    fn log_in(&self, method: &Value) {
        let older = &method["_meta"]["terminal-auth"];
        for described in [older, method] {
            if let Some(program) = described["command"].as_str() {
                self.run(Command::new(program), described);
            }
        }
        if method["type"] == "terminal" {
            self.run(self.place.run(&self.victim).args(["acp", "boxed"]).into_command(), method);
        }
        for variable in method["vars"].as_array().into_iter().flatten() {
            let mut command = self.place.run(&self.victim).args(["acp", "boxed"]).into_command();
            let name = variable["name"].as_str().unwrap();
            command.env(name, variable["default"].as_str().unwrap_or("x"));
            finish(&mut command);
        }
    }

    fn run(&self, mut command: Command, described: &Value) {
        let arguments = described["args"].as_array().into_iter().flatten();
        command.args(arguments.filter_map(Value::as_str)).current_dir(self.victim.root());
        for (name, value) in described["env"].as_object().into_iter().flatten() {
            command.env(name, value.as_str().unwrap_or_default());
        }
        for variable in described["env"].as_array().into_iter().flatten() {
            let part = |key: &str| variable[key].as_str().unwrap_or_default();
            command.env(part("name"), part("value"));
        }
        finish(&mut command);
    }

    /// What an editor does for an agent, with all the user's rights.
    fn obey(&self, message: &Value) {
        let params = &message["params"];
        let path = params["path"].as_str().unwrap_or_default();
        let inside = "/home/agent/workspace";
        let path = path.replacen(inside, self.victim.root().to_str().unwrap(), 1);
        match message["method"].as_str() {
            Some("fs/write_text_file") => {
                let parent = Path::new(&path).parent().unwrap();
                fs::create_dir_all(parent).unwrap();
                fs::write(&path, params["content"].as_str().unwrap()).unwrap();
            }
            // Whatever it reads the agent knows.
            Some("fs/read_text_file") if fs::read(&path).is_ok_and(|text| text == b"secret") => {
                let number = params["_meta"]["row"].to_string();
                fs::write(self.victim.at("ran").join(number), "").unwrap();
            }
            Some("terminal/create") => {
                self.run(Command::new(params["command"].as_str().unwrap()), params);
            }
            _ => {}
        }
    }

    fn logins(&self) -> Vec<Row> {
        let victim = &self.victim;
        let number = |index: usize| FIRST_LOGIN + index;
        let evil = |index| victim.evil(number(index)).to_str().unwrap().to_owned();
        let library = |index| victim.evil_library(number(index)).to_str().unwrap().to_owned();
        // Outside of the workspace: probity starts no program of the workspace anyway.
        let programs = |index| {
            let directory = victim.evil_programs_in(&victim.at("home"), number(index));
            format!("{}:/usr/bin:/bin", directory.display())
        };
        let terminal = |id: &str, more: Value| {
            let mut method = json!({"id": id, "name": id, "type": "terminal"});
            method.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            method
        };
        let older = |id: &str, older: Value| json!({"id": id, "name": id, "_meta": {"terminal-auth": older}});
        let dropped = Some("`_meta.terminal-auth` was removed");
        vec![
            row("a library", terminal("a", json!({"env": {"LD_PRELOAD": library(0)}})), None),
            row(
                "other programs",
                terminal("b", json!({"args": ["--login", "b"], "env": {"PATH": programs(1)}})),
                None,
            ),
            row(
                "an option of ours",
                terminal("c", json!({"args": ["--trace", self.kept(number(2))]})),
                None,
            ),
            row(
                "variables in a list",
                terminal("d", json!({"env": [{"name": "LD_PRELOAD", "value": library(3)}]})),
                None,
            ),
            row("another program", older("e", json!({"command": evil(4), "args": []})), dropped),
            row(
                "a shell of the host",
                older("f", json!({"command": "/bin/sh", "args": ["-c", evil(5)], "env": {}})),
                dropped,
            ),
            row(
                "another program of a terminal login",
                terminal("g", json!({"_meta": {"terminal-auth": {"command": evil(6)}}})),
                dropped,
            ),
            row(
                "variables that the user is asked for",
                json!({"id": "h", "name": "h", "type": "env_var",
                    "vars": [{"name": "LD_PRELOAD", "default": library(7)}]}),
                None,
            ),
            row(
                "a kind of login that nobody knows",
                json!({"id": "i", "name": "i", "type": "shell", "command": evil(8)}),
                None,
            ),
        ]
    }

    fn requests(&self) -> Vec<Row> {
        let victim = &self.victim;
        let number = |index: usize| FIRST_REQUEST + index;
        let evil = |index| victim.evil(number(index)).to_str().unwrap().to_owned();
        let settings = |index| {
            format!("[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {}\n", evil(index))
        };
        let ask = |id: usize, method: &str, mut params: Value| {
            params["sessionId"] = "s".into();
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        };
        let inside = |path: &str| format!("/home/agent/workspace/{path}");
        let write = |index: usize, path: String, content: String| {
            ask(index, "fs/write_text_file", json!({"path": path, "content": content}))
        };
        let mut unasked = write(8, inside("conf/users"), settings(8));
        unasked.as_object_mut().unwrap().remove("id");
        let hooks = victim.evil_programs(number(6));
        let hooks = format!("[core]\n\thooksPath = {}\n", hooks.display());
        let outside = Some("paths outside of the workspace were refused");
        let read = |index: usize, path: String| {
            let params = json!({"path": path, "_meta": {"row": number(index)}});
            ask(index, "fs/read_text_file", params)
        };
        let mark = |index| {
            let script = fs::read_to_string(evil(index)).unwrap();
            script.lines().last().unwrap_or_default().to_owned()
        };
        vec![
            row("a script of husky", write(0, inside(".husky/pre-commit"), mark(0)), None),
            row("an included file", write(1, inside("conf/shared"), settings(1)), None),
            row(
                "a nested configuration",
                write(2, inside("nested/deep/.git/config"), settings(2)),
                None,
            ),
            row(
                "a submodule's configuration",
                write(3, inside(".git/modules/sub/config"), settings(3)),
                Some("git's directories of submodules were refused"),
            ),
            row(
                "a filter",
                write(4, inside("tools/tidy.sh"), format!("#!/bin/sh\n{}\n", mark(4))),
                None,
            ),
            row(
                "a terminal",
                ask(5, "terminal/create", json!({"command": evil(5), "args": []})),
                Some("terminals were refused"),
            ),
            row(
                "a file of the user's by a link",
                write(6, inside("way-out/.config/git/config"), hooks),
                outside,
            ),
            row(
                "a secret by its path",
                read(7, victim.at("secret").to_str().unwrap().to_owned()),
                outside,
            ),
            row("a notification instead of a request", unasked, None),
        ]
    }
}

fn row(name: &'static str, message: Value, held: Option<&'static str>) -> Row {
    Row { name, message, held }
}

fn numbered(first: usize, rows: Vec<Row>) -> impl Iterator<Item = (usize, Row)> {
    rows.into_iter().enumerate().map(move |(index, row)| (first + index, row))
}

fn initialize_params() -> Value {
    let able = json!({"fs": {"readTextFile": true, "writeTextFile": true}, "terminal": true,
        "auth": {"terminal": true}, "_meta": {"terminal-auth": true}});
    json!({"protocolVersion": 1, "clientCapabilities": able})
}

/// With a time limit, and nothing to read.
fn finish(command: &mut Command) {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut child) = command.spawn() {
        child.wait().unwrap();
    }
}
