//! Figures: what the proxy costs beside a plain byte copy, measured in one run; with
//! `NAME=COMMAND…` as arguments, what whole programs cost that stand before an agent.
//!
//! `cargo run --release -p probity-proxy --example figures`, better under `taskset -c 0`. Absolute
//! numbers move with the machine's mood; the difference between interleaved rounds does not.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement, not a product")]

mod agent;
mod programs;

use std::{
    env,
    fs::{self, File},
    io::{self, BufRead as _, BufReader, PipeReader, PipeWriter, Read as _, Write as _},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use probity_proxy::{
    LaunchError, Launcher, Limits, Observer, Options, Process, SessionRecord, Sharing, Side,
    Started, Store, Workspace, serve,
};

const ROUNDS: usize = 10;
const TRIPS: usize = 300;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        None => within_this_process(),
        Some("--acp") => agent::serve(io::stdin().lock(), io::stdout()),
        Some(_) => programs::compare(&arguments),
    }
}

fn within_this_process() {
    let (mut copied, mut proxied) = (Vec::new(), Vec::new());
    let mut plain = Ends::copied();
    let (mut ends, session) = Ends::proxied(1);
    for _ in 0..ROUNDS {
        copied.extend(plain.trips("s"));
        proxied.extend(ends.trips(&session));
    }
    let (copied, proxied) = (median(copied), median(proxied));
    println!("round trip, median: copy {copied:?}, proxy {proxied:?}");
    println!("added: {:?}", proxied.saturating_sub(copied));
    let mut rates: Vec<f64> = (0..ROUNDS).map(|_| ends.flood(&session)).collect();
    rates.sort_by(f64::total_cmp);
    println!(
        "messages of 200 bytes a second: median {:.0}, best {:.0}",
        rates[rates.len() / 2],
        rates[rates.len() - 1]
    );
    stalled();
}

/// Eight agents flood an editor that does not read.
fn stalled() {
    let before = memory("self");
    let (mut ends, _) = Ends::proxied(8);
    for session in ends.sessions.clone() {
        ends.ask(2, "session/flood_for_ever", &session);
    }
    thread::sleep(Duration::from_secs(3));
    println!("memory with a stalled editor and eight floods: {} KiB more", memory("self") - before);
    // The floods end with the process.
    std::process::exit(0);
}

/// The editor's ends.
struct Ends {
    input: PipeWriter,
    output: BufReader<PipeReader>,
    line: String,
    sessions: Vec<String>,
}

impl Ends {
    /// An agent behind two threads that copy bytes.
    fn copied() -> Self {
        let (theirs, input) = io::pipe().unwrap();
        let (output, ours) = io::pipe().unwrap();
        let (agent_input, to_agent) = io::pipe().unwrap();
        let (from_agent, agent_output) = io::pipe().unwrap();
        thread::spawn(move || copy(theirs, to_agent));
        thread::spawn(move || copy(from_agent, ours));
        thread::spawn(move || agent::serve(BufReader::new(agent_input), agent_output));
        Self { input, output: BufReader::new(output), line: String::new(), sessions: Vec::new() }
    }

    /// Agents behind the proxy, with a session each.
    fn proxied(count: usize) -> (Self, String) {
        let (theirs, input) = io::pipe().unwrap();
        let (output, ours) = io::pipe().unwrap();
        thread::spawn(move || {
            let options = Options {
                agent: "echo".to_owned(),
                version: "0".to_owned(),
                sharing: Sharing::Session,
                default_cwd: None,
                start_failure_code: -32603,
                logins: probity_proxy::Logins::default(),
                limits: Limits::default(),
            };
            let (store, observer) = (Box::new(Nothing), Box::new(Nothing));
            serve(theirs, Box::new(ours), options, Box::new(Threads), store, observer, |_| ());
        });
        let output = BufReader::new(output);
        let mut ends = Self { input, output, line: String::new(), sessions: Vec::new() };
        for number in 0..count {
            writeln!(
                ends.input,
                r#"{{"id":1,"method":"session/new","params":{{"cwd":"/w/{number}","mcpServers":[]}}}}"#
            )
            .unwrap();
            let answer: serde_json::Value = serde_json::from_str(ends.read()).unwrap();
            ends.sessions.push(answer["result"]["sessionId"].as_str().unwrap().to_owned());
        }
        let first = ends.sessions.first().cloned().unwrap();
        (ends, first)
    }

    fn ask(&mut self, id: usize, method: &str, session: &str) {
        writeln!(
            self.input,
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"sessionId":"{session}","modeId":"x"}}}}"#
        )
        .unwrap();
    }

    fn read(&mut self) -> &str {
        self.line.clear();
        self.output.read_line(&mut self.line).unwrap();
        &self.line
    }

    fn trips(&mut self, session: &str) -> Vec<Duration> {
        (0..TRIPS)
            .map(|id| {
                let began = Instant::now();
                self.ask(id, "session/set_mode", session);
                self.read();
                began.elapsed()
            })
            .collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate is not counted")]
    fn flood(&mut self, session: &str) -> f64 {
        self.ask(1, "session/flood", session);
        self.read();
        let began = Instant::now();
        for _ in 1..agent::FLOOD {
            self.read();
        }
        (agent::FLOOD - 1) as f64 / began.elapsed().as_secs_f64()
    }
}

fn copy(mut from: PipeReader, mut to: PipeWriter) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..count]).is_err() {
            return;
        }
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Kibibytes that a process has in memory.
fn memory(process: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

struct Threads;

impl Launcher for Threads {
    fn workspace(&self, cwd: &Path, _: &[PathBuf]) -> Result<Workspace, LaunchError> {
        Ok(Workspace::new(cwd.to_owned(), PathBuf::from(cwd)))
    }

    fn start(&self, _: &Workspace) -> Result<Started, LaunchError> {
        let (input, stdin) = io::pipe().unwrap();
        let (stdout, output) = io::pipe().unwrap();
        thread::spawn(move || agent::serve(BufReader::new(input), output));
        Ok(Started {
            stdin: File::from(OwnedFd::from(stdin)),
            stdout: File::from(OwnedFd::from(stdout)),
            stderr: None,
            process: Box::new(Nothing),
        })
    }
}

struct Nothing;

impl Process for Nothing {
    fn wait(&self, _: Duration) -> Option<i32> {
        Some(0)
    }

    fn kill(&self) {}
}

impl Store for Nothing {
    fn sessions(&self) -> Vec<SessionRecord> {
        Vec::new()
    }

    fn session(&self, _: &str) -> Option<SessionRecord> {
        None
    }

    fn keep_session(&self, _: &SessionRecord) {}

    fn forget_session(&self, _: &str) {}

    fn capabilities(&self, _: &str) -> Option<String> {
        None
    }

    fn keep_capabilities(&self, _: &str, _: &str) {}
}

impl Observer for Nothing {
    fn message(&self, _: Side, _: &str) {}

    fn note(&self, _: &str) {}

    fn warning(&self, _: &str) {}
}
