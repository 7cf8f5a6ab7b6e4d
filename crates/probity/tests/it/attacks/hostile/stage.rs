//! A scratch home, a hostile repository in it, and what the victim's commands left.

use std::{
    fs,
    net::TcpListener,
    os::unix::{
        fs::{PermissionsExt as _, symlink},
        net::UnixListener,
    },
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use serde_json::Value;
use tempfile::TempDir;

use super::table::{Command, Hostile, Want};
use crate::{
    binary::{Run, another, probity, tools},
    review::{commit, git, recorded},
};

/// Stands in every secret, and in nothing that a repository has.
const SECRET: &str = "kumquat";

/// What files of the victim hold that an attack wants to change.
const PRECIOUS: &str = "precious";

pub(super) struct Stage<'a> {
    hostile: &'a Hostile,
    place: TempDir,
    socket: UnixListener,
    port: u16,
    was_reached: Arc<AtomicBool>,
}

/// All that the commands said.
#[derive(Default)]
pub(super) struct Told {
    console: String,
    reports: String,
}

impl Told {
    fn all(&self) -> String {
        format!("{}\n{}", self.console, self.reports)
    }

    /// What helps to see why an attack did not succeed.
    pub(super) fn short(&self) -> String {
        let is_telling = |line: &&str| line.contains("output\": ") || line.contains("\"reason\": ");
        let told: Vec<&str> = self.reports.lines().filter(is_telling).collect();
        format!("{}{}\n", self.console, told.join("\n"))
    }
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
        for (name, value) in &self.hostile.variables {
            run = run.env(name, &self.filled(value));
        }
        run
    }

    /// Does what the victim does.
    pub(super) fn play(&self) -> Told {
        let mut told = Told::default();
        for command in &self.hostile.commands {
            let words = match command {
                Command::Review => {
                    "review --agent @AGENT@ --no-history --report-only --output @ROOT@/out"
                }
                Command::Words(words) => words,
            };
            let words = self.filled(words);
            let output = self.run().args(words.split_whitespace()).run();
            let console = format!("$ {words}\n{}{}", output.stdout, output.stderr);
            if matches!(command, Command::Review) {
                let page = fs::read_to_string(self.at("out/review.json")).unwrap_or_default();
                let review: Value = serde_json::from_str(&page).unwrap_or_default();
                let is_whole = review["status"] == "ok";
                assert!(is_whole || attacks_succeed(), "{}: {console}\n{page}", self.hostile.name);
            }
            told.console.push_str(&console);
            told.reports.push_str(&texts(&self.at("out")));
        }
        told
    }

    /// What an attack got, if it got anything.
    pub(super) fn found(&self, want: &Want, told: &Told) -> Option<String> {
        let at = |path: &str| self.at("home").join(path);
        match want {
            Want::Leaves(path) => {
                at(path).symlink_metadata().is_ok().then(|| format!("~/{path} is there"))
            }
            Want::Changes(path) => {
                let now = fs::read_to_string(at(path)).ok();
                let is_same = now.as_deref() == Some(PRECIOUS);
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

/// Whether each row should get what it wants, as it does from a binary without the cures.
pub(super) fn attacks_succeed() -> bool {
    std::env::var_os("PROBITY_ATTACKS_SUCCEED").is_some()
}

fn secret(word: &str) -> String {
    format!("{SECRET}-{word}.")
}

/// The first line with a text in it.
fn line_with(told: &str, text: &str) -> Option<String> {
    let line = told.lines().find(|line| line.contains(text))?;
    let start = line.find(text)?.saturating_sub(80);
    let near: String = line.chars().skip(start).take(160 + text.len()).collect();
    Some(format!("it says {near:?}"))
}

/// The reports below a directory, of which those for machines say the most.
fn texts(directory: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().unwrap().is_dir() {
            all.push_str(&texts(&entry.path()));
        } else if entry.path().extension().is_some_and(|ending| ending == "json") {
            all.push_str(&fs::read_to_string(entry.path()).unwrap_or_default());
            all.push('\n');
        }
    }
    all
}
