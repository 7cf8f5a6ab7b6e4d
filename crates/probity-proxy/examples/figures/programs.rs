//! Whole programs before the same agent, started as an editor starts them, in turns.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{ROUNDS, TRIPS, agent::FLOOD, median, memory};

/// How long an editor does not read, to see who keeps what it should have read.
const STALL: Duration = Duration::from_secs(4);

/// Prints a line for each `NAME=COMMAND…`; the words of a command stand between blanks.
pub(crate) fn compare(programs: &[String]) {
    let mut started: Vec<(&str, Program, Vec<Duration>, Vec<f64>)> = programs
        .iter()
        .map(|program| {
            let (name, command) = program.split_once('=').unwrap();
            (name, Program::start(command), Vec::new(), Vec::new())
        })
        .collect();
    for _ in 0..ROUNDS {
        for (_, program, trips, _) in &mut started {
            trips.extend((0..TRIPS).map(|_| program.trip()));
        }
    }
    // A flood is long enough for a few rounds to say enough.
    for _ in 0..ROUNDS / 3 {
        for (_, program, _, rates) in &mut started {
            rates.push(program.flood());
        }
    }
    println!("{:24}{:>14}{:>14}{:>22}", "", "round trip", "messages/s", "stalled editor, MB");
    for (name, program, trips, mut rates) in started {
        rates.sort_by(f64::total_cmp);
        let rate = rates[rates.len() / 2];
        let kept = program.stalled() / 1024;
        println!("{name:24}{:>14.1?}{rate:>14.0}{kept:>22}", median(trips));
    }
}

/// A program with one session open.
struct Program {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
    session: String,
    asked: usize,
}

impl Program {
    fn start(command: &str) -> Self {
        let mut words = command.split_whitespace();
        let mut child = Command::new(words.next().unwrap())
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut program =
            Self { child, input, output, line: String::new(), session: String::new(), asked: 0 };
        program.ask("initialize", r#""protocolVersion":1,"clientCapabilities":{}"#);
        program.answer();
        program.ask("session/new", r#""cwd":"/tmp","mcpServers":[]"#);
        let answer: serde_json::Value = serde_json::from_str(program.answer()).unwrap();
        program.session = answer["result"]["sessionId"].as_str().unwrap().to_owned();
        program
    }

    fn ask(&mut self, method: &str, parameters: &str) {
        self.asked += 1;
        let id = self.asked;
        let message = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{{{parameters}}}}}\n"
        );
        self.input.write_all(message.as_bytes()).unwrap();
    }

    fn ask_of_session(&mut self, method: &str) {
        let parameters = format!("\"sessionId\":\"{}\",\"modeId\":\"x\"", self.session);
        self.ask(method, &parameters);
    }

    fn read(&mut self) -> &str {
        self.line.clear();
        assert_ne!(self.output.read_line(&mut self.line).unwrap(), 0, "the program ended");
        &self.line
    }

    /// What comes back, past anything that the program says unasked.
    fn answer(&mut self) -> &str {
        let id = format!("\"id\":{}", self.asked);
        while !self.read().contains(&id) {}
        &self.line
    }

    fn trip(&mut self) -> Duration {
        let began = Instant::now();
        self.ask_of_session("session/set_mode");
        self.answer();
        began.elapsed()
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate is not counted")]
    fn flood(&mut self) -> f64 {
        self.ask_of_session("session/flood");
        self.read();
        let began = Instant::now();
        for _ in 1..FLOOD {
            self.read();
        }
        (FLOOD - 1) as f64 / began.elapsed().as_secs_f64()
    }

    /// Kibibytes in memory after a flood that nobody read.
    fn stalled(mut self) -> u64 {
        self.ask_of_session("session/flood_for_ever");
        thread::sleep(STALL);
        let kept = memory(&self.child.id().to_string());
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        kept
    }
}
