//! A scratch home, a hostile repository in it, and what the victim's commands left.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    os::unix::{
        fs::{PermissionsExt as _, symlink},
        net::UnixListener,
    },
    path::PathBuf,
    process::{self, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    attacks_succeed,
    table::{Command, Hostile, REVIEW, Want},
    told::{Told, line_with, reports, secret},
};
use crate::{
    binary::{Run, another, probity, tools},
    review::{commit, git, recorded},
};

/// What files of the victim hold that an attack wants to change.
const PRECIOUS: &str = "precious";

pub(super) struct Stage<'a> {
    hostile: &'a Hostile,
    place: TempDir,
    socket: UnixListener,
    port: u16,
    was_reached: Arc<AtomicBool>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(hostile: &'a Hostile) -> Self {
        let place = tempfile::tempdir().unwrap();
        for directory in ["home/ran", "home/secret", "home/empty", "repo"] {
            fs::create_dir_all(place.path().join(directory)).unwrap();
        }
        let socket = UnixListener::bind(place.path().join("home/agent.sock")).unwrap();
        let loopback = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = loopback.local_addr().unwrap().port();
        let was_reached = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&was_reached);
        // It ends with the process of the test.
        thread::spawn(move || {
            for _ in loopback.incoming() {
                flag.store(true, Ordering::SeqCst);
            }
        });
        let stage = Self { hostile, place, socket, port, was_reached };
        stage.set();
        stage
    }

    fn at(&self, path: &str) -> PathBuf {
        self.place.path().join(path)
    }

    fn filled(&self, text: &str) -> String {
        let path = |name: &str| self.at(name).to_str().unwrap().to_owned();
        text.replace("@HOME@", &path("home"))
            .replace("@REPO@", &path("repo"))
            .replace("@ROOT@", self.place.path().to_str().unwrap())
            .replace("@AGENT@", &format!("replay:{}", path("agent.ndjson")))
            .replace("@PORT@", &self.port.to_string())
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let file = self.at(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, self.filled(text)).unwrap();
        file
    }

    fn set(&self) {
        let Hostile { files, programs, links, beside, repositories, claims, rows, .. } =
            self.hostile;
        for row in rows {
            match &row.want {
                Want::Says(word) => drop(self.write(&format!("home/secret/{word}"), &secret(word))),
                Want::Changes(path) => drop(self.write(&format!("home/{path}"), PRECIOUS)),
                _ => {}
            }
        }
        for (path, text) in files {
            self.write(&format!("repo/{path}"), text);
        }
        let executable = || fs::Permissions::from_mode(0o755);
        for (path, text) in programs {
            let file = self.write(&format!("repo/{path}"), text);
            fs::set_permissions(file, executable()).unwrap();
        }
        for (path, target) in links {
            let link = self.at("repo").join(path);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(self.filled(target), link).unwrap();
        }
        git(&self.at("repo"), &["init", "-q", "-b", "main"]);
        commit(&self.at("repo"));
        for (path, text) in beside {
            let file = self.write(path, text);
            if text.starts_with("#!") {
                fs::set_permissions(file, executable()).unwrap();
            }
        }
        for path in repositories {
            git(&self.at(path), &["init", "-q", "-b", "main"]);
            commit(&self.at(path));
        }
        let findings = claims.iter().enumerate().map(|(number, claim)| claim.finding(number));
        let findings = Value::Array(findings.collect()).to_string();
        recorded(self.place.path(), &self.filled(&findings));
    }

    fn run(&self) -> Run {
        let run = match std::env::var_os("PROBITY_ATTACKED_BINARY") {
            Some(program) => another(program),
            None => probity(),
        };
        let own = self.hostile.path.iter().map(|path| PathBuf::from(self.filled(path)));
        let usual = std::env::var_os("PATH").unwrap();
        let all = own.chain([tools().join("python/bin")]).chain(std::env::split_paths(&usual));
        let path = std::env::join_paths(all).unwrap();
        let rustup = std::env::var("RUSTUP_HOME").unwrap_or_else(|_| {
            let home = std::env::var("HOME").unwrap_or_default();
            format!("{home}/.rustup")
        });
        let mut run = run
            .dir(self.at("repo"))
            .env("HOME", self.at("home").to_str().unwrap())
            .env("PATH", path.to_str().unwrap())
            .env("RUSTUP_HOME", &rustup);
        if self.hostile.shares_caches {
            run = run.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
        }
        for name in ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"] {
            run = run.env(name, "Ann");
        }
        for name in ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"] {
            run = run.env(name, "ann@example.org");
        }
        for (name, value) in &self.hostile.variables {
            run = run.env(name, &self.filled(value));
        }
        run
    }

    /// Does what the victim does.
    pub(super) fn play(&self) -> Told {
        let mut told = Told::default();
        for command in &self.hostile.commands {
            let run = self.run();
            let (words, run) = match command {
                Command::Review => (REVIEW, run),
                Command::Words(words) => (words.as_str(), run),
                Command::AtHome(words) => (*words, run.dir(self.at("home"))),
                Command::Editor => {
                    self.editor();
                    continue;
                }
                Command::Pull(script) => {
                    self.pull(script);
                    // What counts is what comes of it.
                    told = Told::default();
                    continue;
                }
            };
            let words = self.filled(words);
            let output = run.args(words.split_whitespace()).run();
            let console = format!("$ {words}\n{}{}", output.stdout, output.stderr);
            if matches!(command, Command::Review) {
                let page = fs::read_to_string(self.at("out/review.json")).unwrap_or_default();
                let review: Value = serde_json::from_str(&page).unwrap_or_default();
                // A review in which no attacked test began is an error; the attack had its chance.
                let lists = ["proven_issues", "observations", "discarded"];
                let mut judged = lists.iter().filter_map(|list| review[list].as_array());
                let is_whole = judged.any(|list| !list.is_empty());
                assert!(is_whole || attacks_succeed(), "{}: {console}\n{page}", self.hostile.name);
            }
            told.console.push_str(&console);
            told.reports.push_str(&reports(&self.at("out")));
        }
        told
    }

    /// Opens a session with an agent that ends at once, which is the answer.
    fn editor(&self) {
        let mut command = self.run().args(["acp", "claude"]).into_command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let first = json!({"protocolVersion": 1, "clientCapabilities": {}});
        let session = json!({"cwd": self.at("repo"), "mcpServers": []});
        for (id, method, params) in [(0, "initialize", first), (1, "session/new", session)] {
            let frame = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            input.write_all(format!("{frame}\n").as_bytes()).unwrap();
        }
        let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
        answers.find(|line| line.as_ref().unwrap().contains("\"id\":1"));
        drop(input);
        child.wait().unwrap();
    }

    fn pull(&self, script: &str) {
        let mut shell = process::Command::new("/bin/sh");
        let status = shell.args(["-c", script]).current_dir(self.at("repo")).status();
        assert!(status.unwrap().success(), "{script}");
        commit(&self.at("repo"));
    }

    /// What an attack got, if it got anything.
    pub(super) fn found(&self, want: &Want, told: &Told) -> Option<String> {
        let at = |path: &str| self.at("home").join(path);
        match want {
            Want::Leaves(path) => {
                at(path).symlink_metadata().is_ok().then(|| format!("~/{path} is there"))
            }
            Want::Changes(path) => {
                let before =
                    self.hostile.beside.iter().find(|file| file.0 == format!("home/{path}"));
                let before = before.map_or(PRECIOUS, |(_, text)| text);
                let now = fs::read_to_string(at(path)).ok();
                let is_same = now.as_deref() == Some(before);
                (!is_same).then(|| format!("~/{path} was overwritten: {now:?}"))
            }
            Want::Says(word) => line_with(&told.all(), &secret(word)),
            Want::Prints(text) => line_with(&told.console, &self.filled(text)),
            Want::Reports(text) => line_with(&told.reports, &self.filled(text)),
            Want::ReachesPort => {
                let is_reached = self.was_reached.load(Ordering::SeqCst);
                is_reached.then(|| "the loopback was reached".to_owned())
            }
            Want::ReachesSocket => {
                self.socket.set_nonblocking(true).unwrap();
                self.socket.accept().is_ok().then(|| "the socket was reached".to_owned())
            }
        }
    }
}
