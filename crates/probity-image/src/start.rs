//! Starting an image without a network, and what can be seen of it from outside.
//!
//! Only docker and podman come here: a proof with buildah ends before.

#[cfg(target_os = "linux")]
mod files;
#[cfg(not(target_os = "linux"))]
#[path = "start/no_files.rs"]
mod files;
mod network;
mod processes;

use std::{
    collections::{BTreeMap, BTreeSet},
    thread,
    time::{Duration, Instant},
};

use probity_sandbox::Exit;
use serde::Deserialize;

use self::files::FileWatch;
use crate::{
    Difference, EngineKind, ImageError, Pair, Workbench,
    engine::{Interrupt, SOON, last_lines},
};

#[derive(Debug, Clone)]
pub struct StartOptions {
    /// How long a container is watched.
    pub watched: Duration,
    /// The user's own test, run in each container.
    pub command: Vec<String>,
}

/// One start of one image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    pub state: State,
    pub ports: BTreeSet<u16>,
    /// What one GET for `/` answered; no entry where nobody could ask.
    pub answers: BTreeMap<u16, String>,
    pub health: Option<String>,
    /// The first lines, without times and ids.
    pub output: Vec<String>,
    /// Files that were opened, if those were watched; otherwise those open or mapped at the end.
    pub opened: BTreeSet<String>,
    /// Whether every file that was opened is known.
    pub is_watched: bool,
    /// How the user's test ended, if there was one.
    pub command: Option<TestEnd>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestEnd {
    Passed,
    Failed { last_lines: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    Running,
    Ended { code: i64 },
    NotStarted { why: String },
}

impl Observation {
    fn new(state: State) -> Self {
        Self {
            state,
            ports: BTreeSet::new(),
            answers: BTreeMap::new(),
            health: None,
            output: Vec::new(),
            opened: BTreeSet::new(),
            is_watched: false,
            command: None,
        }
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Running => out.write_str("keeps running"),
            Self::Ended { code } => write!(out, "ends with exit code {code}"),
            Self::NotStarted { why } => write!(out, "does not start: {why}"),
        }
    }
}

const POLL: Duration = Duration::from_millis(100);
const FIRST_LINES: usize = 20;
/// A health check has its own time limit; ours is for those that have none.
const HEALTH: Duration = Duration::from_secs(30);

/// A container as its engine describes it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Container {
    id: String,
    state: ContainerState,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct ContainerState {
    running: bool,
    pid: i32,
    exit_code: i64,
    started_at: String,
    health: Option<Health>,
}

impl ContainerState {
    fn has_started(&self) -> bool {
        // The zero of the engines' clocks.
        !self.started_at.is_empty() && !self.started_at.starts_with("0001-")
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Health {
    status: String,
}

/// Starts an image, watches it, and removes its container.
pub(crate) fn start(
    bench: &Workbench,
    name: &str,
    image: &str,
    has_health: bool,
    options: &StartOptions,
    interrupt: Interrupt<'_>,
) -> Result<Observation, ImageError> {
    let container = format!("probity-proof-{}-{name}", bench.owner);
    let label = bench.label();
    let mut words = vec![
        "create",
        "--name",
        &container,
        "--label",
        &label,
        "--network=none",
        "--memory=1g",
        "--pids-limit=1024",
        "--security-opt=no-new-privileges",
    ];
    match (bench.engine.kind, has_health) {
        (EngineKind::Docker, true) => words.extend(["--health-interval=1s", "--health-retries=1"]),
        // Its timers need systemd; the check is run by hand instead.
        (EngineKind::Podman | EngineKind::Buildah, true) => words.push("--health-interval=disable"),
        (_, false) => {}
    }
    if bench.engine.kind == EngineKind::Podman {
        // Its own limits are more than a small machine may give.
        words.extend(["--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096"]);
    }
    words.push(image);
    let created = bench.engine.ask(&words, SOON, interrupt)?;
    if created.exit != Exit::Code(0) {
        let why = last_lines(&created.stderr, 2);
        return Ok(Observation::new(State::NotStarted { why }));
    }
    let watch = Watch { bench, container: &container, interrupt };
    let observation = watch.observe(has_health, options);
    watch.remove()?;
    observation
}

struct Watch<'w> {
    bench: &'w Workbench,
    container: &'w str,
    interrupt: Interrupt<'w>,
}

impl Watch<'_> {
    fn observe(&self, has_health: bool, options: &StartOptions) -> Result<Observation, ImageError> {
        let mut files = FileWatch::begin(self.bench, self.container, self.interrupt)?;
        let call = self.bench.engine.start(&["start", "-a", self.container])?;
        let limit = Instant::now() + SOON;
        // The time counts from the start of the process, not of its engine's client.
        while call.child.wait_timeout(POLL).is_none() && Instant::now() < limit {
            if (self.interrupt)() {
                return Err(ImageError::Cancelled);
            }
            if self.inspected()?.is_some_and(|container| container.state.pid > 0) {
                break;
            }
        }
        if let Some(files) = &mut files {
            files.release()?;
        }
        let end = Instant::now() + options.watched;
        let mut health = None;
        let mut exit = None;
        while exit.is_none() && Instant::now() < end {
            exit = call.child.wait_timeout(POLL);
            if (self.interrupt)() {
                return Err(ImageError::Cancelled);
            }
        }
        let mut container = self.inspected()?.unwrap_or_default();
        if has_health && container.state.running {
            health = self.health()?;
            container = self.inspected()?.unwrap_or_default();
        }
        let mut seen = Observation { health, ..Observation::new(State::Running) };
        if container.state.running && exit.is_none() {
            let pid = processes::on_this_machine(container.state.pid, &container.id);
            seen.ports = pid.map(network::listening).unwrap_or_default();
            seen.answers = pid.map(|pid| network::answers(pid, &seen.ports)).unwrap_or_default();
            seen.opened = pid.map(processes::opened).unwrap_or_default();
            seen.command = self.command(&options.command)?;
            self.remove()?;
        } else {
            call.child.wait_timeout(SOON);
            // What the engine keeps as the code of a container that never started may be 0.
            seen.state = if container.state.has_started() {
                State::Ended { code: container.state.exit_code }
            } else {
                State::NotStarted { why: String::new() }
            };
        }
        if let Some(opened) = files.and_then(FileWatch::opened) {
            seen.opened = opened;
            seen.is_watched = true;
        }
        let (stdout, stderr) = call.output();
        if let State::NotStarted { why } = &mut seen.state {
            *why = last_lines(&stderr, 2);
        }
        seen.output = lines(&stdout).chain(lines(&stderr)).collect();
        Ok(seen)
    }

    fn inspected(&self) -> Result<Option<Container>, ImageError> {
        let words = ["container", "inspect", self.container];
        let answer = self.bench.engine.ask(&words, SOON, self.interrupt)?;
        if answer.exit != Exit::Code(0) {
            return Ok(None);
        }
        let all: Vec<Container> = serde_json::from_slice(&answer.stdout).map_err(|error| {
            ImageError::Answer { what: "container inspect", why: error.to_string() }
        })?;
        Ok(all.into_iter().next())
    }

    /// What the image's own check says; waits until it has said something.
    fn health(&self) -> Result<Option<String>, ImageError> {
        if self.bench.engine.kind == EngineKind::Podman {
            let words = ["healthcheck", "run", self.container];
            let exit = self.bench.engine.ask(&words, HEALTH, self.interrupt)?.exit;
            let word = if exit == Exit::Code(0) { "healthy" } else { "unhealthy" };
            return Ok(Some(word.to_owned()));
        }
        let end = Instant::now() + HEALTH;
        loop {
            let container = self.inspected()?.unwrap_or_default();
            let status = container.state.health.map(|health| health.status);
            let is_open = status.as_deref() == Some("starting") && container.state.running;
            if !is_open || Instant::now() > end {
                return Ok(status);
            }
            thread::sleep(POLL);
        }
    }

    fn command(&self, command: &[String]) -> Result<Option<TestEnd>, ImageError> {
        if command.is_empty() {
            return Ok(None);
        }
        let mut words = vec!["exec", self.container];
        words.extend(command.iter().map(String::as_str));
        let answer = self.bench.engine.ask(&words, SOON, self.interrupt)?;
        if answer.exit == Exit::Code(0) {
            return Ok(Some(TestEnd::Passed));
        }
        let output = [answer.stdout, answer.stderr].concat();
        Ok(Some(TestEnd::Failed { last_lines: last_lines(&output, 5) }))
    }

    fn remove(&self) -> Result<(), ImageError> {
        let left =
            crate::Leftover { kind: crate::LeftoverKind::Container, id: self.container.to_owned() };
        crate::remove(&self.bench.engine, &left)
    }
}

/// The first lines with every number and every id replaced.
fn lines(output: &[u8]) -> impl Iterator<Item = String> {
    let text = String::from_utf8_lossy(output).into_owned();
    let lines: Vec<String> = text.lines().take(FIRST_LINES).map(without_numbers).collect();
    lines.into_iter()
}

fn without_numbers(line: &str) -> String {
    let mut plain = String::new();
    for word in line.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric()) {
        let (word, end) = match word.char_indices().next_back() {
            Some((at, last)) if !last.is_ascii_alphanumeric() => word.split_at(at),
            _ => (word, ""),
        };
        let is_id = word.len() >= 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_number = word.bytes().any(|byte| byte.is_ascii_digit());
        plain.push_str(if is_id || is_number { "#" } else { word });
        plain.push_str(end);
    }
    plain.chars().take(300).collect()
}

/// Whether an original shows enough of itself to compare with.
pub(crate) fn is_steady(first: &Observation, second: &Observation) -> bool {
    first.state == second.state
}

/// What a proposal does differently, but for what differs between the original's own runs.
pub(crate) fn differences(
    originals: [&Observation; 2],
    proposal: &Observation,
    pair: &Pair<'_>,
) -> Vec<Difference> {
    let [first, second] = originals;
    let mut found = Vec::new();
    if first.state != proposal.state {
        let (before, after) = (first.state.to_string(), proposal.state.to_string());
        return vec![Difference::StateChanged { before, after }];
    }
    if first.ports == second.ports {
        let closed = first.ports.difference(&proposal.ports);
        found.extend(closed.map(|&port| Difference::PortClosed { port }));
        let opened = proposal.ports.difference(&first.ports);
        found.extend(opened.map(|&port| Difference::PortOpened { port }));
    }
    for (&port, before) in &first.answers {
        let after = proposal.answers.get(&port).filter(|after| *after != before);
        if let (Some(after), true) = (after, second.answers.get(&port) == Some(before)) {
            let (before, after) = (before.clone(), after.clone());
            found.push(Difference::AnswerChanged { port, before, after });
        }
    }
    if first.health == second.health && first.health.is_some() && first.health != proposal.health {
        let word = |health: &Option<String>| health.clone().unwrap_or_else(|| "nothing".to_owned());
        let (before, after) = (word(&first.health), word(&proposal.health));
        found.push(Difference::HealthChanged { before, after });
    }
    for (index, (line, again)) in first.output.iter().zip(&second.output).enumerate() {
        if line != again {
            break;
        }
        let now = proposal.output.get(index);
        if now != Some(line) {
            let after = now.cloned().unwrap_or_default();
            found.push(Difference::OutputChanged { before: line.clone(), after });
            break;
        }
    }
    let opened = first.opened.intersection(&second.opened);
    let lost = opened.filter(|path| pair.misses_opened(path));
    found.extend(lost.map(|path| Difference::OpenedFileMissing { path: path.clone() }));
    if let (
        Some(TestEnd::Passed),
        Some(TestEnd::Passed),
        Some(TestEnd::Failed { last_lines: output }),
    ) = (&first.command, &second.command, &proposal.command)
    {
        found.push(Difference::CommandFails { output: output.clone() });
    }
    found
}
