//! What Go writes for machines: framed test events, and compiler messages.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{Outcome, runner::capture::Ran};

/// Before each event, in the mode that `test2json` asks for; the test's own words have none.
const MARK: u8 = 0x16;

/// What happened to the tests of one program, by their names. One that only began has no end.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Events {
    ends: BTreeMap<String, Option<Outcome>>,
}

impl Events {
    pub(super) fn parse(stdout: &[u8]) -> Self {
        let mut events = Self::default();
        // What comes before the first mark is no event.
        for event in stdout.split(|byte| *byte == MARK).skip(1) {
            let line = event.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let line = String::from_utf8_lossy(line);
            let mut words = line.split_whitespace();
            let (kind, detail, test) = (words.next(), words.next(), words.next());
            // A part of a test ends with it.
            let Some(test) = test.filter(|test| !test.contains('/')) else { continue };
            let outcome = match (kind, detail) {
                (Some("==="), Some("RUN")) => None,
                (Some("---"), Some("PASS:")) => Some(Outcome::Passed),
                (Some("---"), Some("FAIL:")) => Some(Outcome::Failed),
                (Some("---"), Some("SKIP:")) => Some(Outcome::Skipped),
                _ => continue,
            };
            let end = events.ends.entry(test.to_owned()).or_default();
            *end = outcome.or(*end);
        }
        events
    }

    pub(super) fn began(&self, name: &str) -> bool {
        self.ends.contains_key(name)
    }

    pub(super) fn end(&self, name: &str) -> Option<Outcome> {
        self.ends.get(name).copied().flatten()
    }

    /// All tests; one that never ended has failed.
    pub(super) fn outcomes(self) -> impl Iterator<Item = (String, Outcome)> {
        self.ends.into_iter().map(|(name, end)| (name, end.unwrap_or(Outcome::Failed)))
    }
}

/// What a test said before it ended, without the events.
pub(super) fn message(ran: &Ran) -> String {
    let told = String::from_utf8_lossy(&ran.stdout);
    let is_event = |line: &&str| !line.contains(char::from(MARK));
    let crash = String::from_utf8_lossy(&ran.stderr);
    // Behind the first line of a crash come goroutines, whose order differs.
    let crash = crash.lines().find(|line| line.starts_with("panic:") || line.starts_with("fatal "));
    told.lines().filter(is_event).chain(crash).collect::<Vec<_>>().join("\n")
}

/// Whether a program ended by a panic or a fault, and not because somebody ended it.
pub(super) fn is_crash(stderr: &[u8]) -> bool {
    let text = String::from_utf8_lossy(stderr);
    let crashed = text.lines().any(|line| {
        line.starts_with("panic: ") || line.starts_with("fatal error: ") || line.starts_with("SIG")
    });
    crashed && !text.contains("unexpected call to os.Exit")
}

pub(super) fn version(text: &str) -> (u32, u32) {
    let mut numbers = text.trim_start_matches("go").split(|part: char| !part.is_ascii_digit());
    let mut next = || numbers.next().and_then(|number| number.parse().ok()).unwrap_or(0);
    (next(), next())
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Message {
    output: Option<String>,
}

/// The compiler's words, taken out of their JSON where they are in any.
pub(super) fn compiler(ran: &Ran) -> Vec<u8> {
    let mut text = Vec::new();
    for line in ran.stdout.split_inclusive(|byte| *byte == b'\n') {
        match serde_json::from_slice::<Message>(line) {
            Ok(message) => text.extend(message.output.unwrap_or_default().bytes()),
            Err(_) => text.extend(line),
        }
    }
    text.extend(&ran.stderr);
    text
}

#[cfg(test)]
mod tests {
    use super::{Events, Outcome};

    #[test]
    fn only_framed_lines_of_tests_are_events() {
        for (stdout, began, end) in [
            ("\x16=== RUN   TestX\n\x16--- FAIL: TestX (0.00s)\n", true, Some(Outcome::Failed)),
            ("\x16=== RUN   TestX\nx\x16--- PASS: TestX (0.00s)\n", true, Some(Outcome::Passed)),
            ("\x16=== RUN   TestX\n\x16--- SKIP: TestX (0.00s)\n", true, Some(Outcome::Skipped)),
            ("\x16=== RUN   TestX\n--- FAIL: TestX (0.00s)\n", true, None),
            ("\x16=== RUN   TestX\n\x16--- FAIL: TestX/sub (0.00s)\n", true, None),
            ("\x16=== RUN   TestXY\n\x16--- FAIL: TestXY (0.00s)\n", false, None),
            ("--- FAIL: TestX (0.00s)\n", false, None),
        ] {
            let events = Events::parse(stdout.as_bytes());
            assert_eq!((events.began("TestX"), events.end("TestX")), (began, end), "{stdout:?}");
        }
    }
}
