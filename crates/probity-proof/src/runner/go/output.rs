//! What Go's test programs write for machines: framed test events.

use crate::{
    RunDetail,
    runner::{
        capture::Ran,
        report::{Report, State, TestReport},
    },
};

/// Before each event, in the mode that `test2json` asks for; the test's own words have none.
const MARK: u8 = 0x16;

/// What a test program told. A part of a test ends with it.
pub(super) fn report(ran: &Ran) -> Report {
    let mut report = Report::default();
    let stderr = String::from_utf8_lossy(&ran.stderr);
    if stderr.contains("unexpected call to os.Exit") {
        report.without_end = Some(RunDetail::EndedEarly);
        return report;
    }
    let message = message(&ran.stdout, &stderr);
    // What comes before the first mark is no event.
    for event in ran.stdout.split(|byte| *byte == MARK).skip(1) {
        let line = event.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let mut words = line.split_whitespace();
        let (kind, detail, test) = (words.next(), words.next(), words.next());
        // The last word of a program that ran all of its tests.
        report.has_ended |= matches!((kind, detail), (Some("PASS" | "FAIL"), None));
        let seconds = words.next().and_then(|took| took.trim_matches(['(', ')']).strip_suffix('s'));
        let seconds = seconds.and_then(|seconds| seconds.parse().ok());
        let Some(test) = test.filter(|test| !test.contains('/')) else { continue };
        let state = match (kind, detail) {
            (Some("==="), Some("RUN")) => State::Began,
            (Some("---"), Some("PASS:")) => State::Passed,
            (Some("---"), Some("FAIL:")) => State::Failed,
            (Some("---"), Some("SKIP:")) => State::Skipped,
            _ => continue,
        };
        report.tell(TestReport {
            seconds,
            message: message.clone(),
            ..TestReport::new(test, state)
        });
    }
    // Ended by a panic or a fault, and not because somebody ended it.
    let is_crash =
        |line: &str| ["panic: ", "fatal error: ", "SIG"].iter().any(|word| line.starts_with(word));
    if !report.tests.is_empty() && stderr.lines().any(is_crash) {
        report.without_end = Some(RunDetail::Crashed);
    }
    report
}

/// What a test said before it ended, without the events.
fn message(stdout: &[u8], stderr: &str) -> String {
    let told = String::from_utf8_lossy(stdout);
    let is_event = |line: &&str| !line.contains(char::from(MARK));
    // Behind the first line of a crash come goroutines, whose order differs.
    let crash =
        stderr.lines().find(|line| line.starts_with("panic:") || line.starts_with("fatal "));
    told.lines().filter(is_event).chain(crash).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use probity_sandbox::Exit;

    use super::{Ran, RunDetail, State, report};

    #[test]
    fn only_framed_lines_of_tests_are_events() {
        for (stdout, stderr, expected) in [
            ("\x16=== RUN   TestX\n\x16--- FAIL: TestX (0.00s)\n", "", Some(State::Failed)),
            ("\x16=== RUN   TestX\nx\x16--- PASS: TestX (1.50s)\n", "", Some(State::Passed)),
            ("\x16=== RUN   TestX\n\x16--- SKIP: TestX (0.00s)\n", "", Some(State::Skipped)),
            ("\x16=== RUN   TestX\n--- FAIL: TestX (0.00s)\n", "", Some(State::Began)),
            ("\x16=== RUN   TestX\n\x16--- FAIL: TestX/sub (0.00s)\n", "", Some(State::Began)),
            ("--- FAIL: TestX (0.00s)\n", "", None),
            (
                "\x16=== RUN   TestX\n\x16--- FAIL: TestX (0.00s)\n",
                "panic: unexpected call to os.Exit(0) during test\n",
                None,
            ),
        ] {
            let (stdout, stderr) = (stdout.as_bytes().to_vec(), stderr.as_bytes().to_vec());
            let ran = Ran { exit: Exit::Code(1), duration: Duration::ZERO, stdout, stderr };
            let report = report(&ran);
            let state = report.tests.first().map(|test| test.state);
            assert_eq!(state, expected, "{ran:?}");
            let took = report.tests.first().and_then(|test| test.seconds);
            let expected = match state {
                Some(State::Passed) => Some(1.5),
                Some(State::Failed | State::Skipped) => Some(0.0),
                _ => None,
            };
            assert_eq!(took, expected, "{ran:?}");
            let is_left = !ran.stderr.is_empty();
            assert_eq!(report.without_end, is_left.then_some(RunDetail::EndedEarly), "{ran:?}");
        }
    }
}
