//! What Go writes for machines: framed test events, stack traces, coverage, compiler messages.

use std::path::Path;

use serde::Deserialize;

use super::super::{Evidence, Reach, alter::Mark, capture::Ran, regard, runner::Flagged};

/// Before each event, in the mode that `test2json` asks for; the test's own words have none.
const MARK: u8 = 0x16;

/// What happened to one test.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Events {
    pub(super) began: bool,
    pub(super) ended: Option<Ended>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Passed,
    Failed,
    Skipped,
}

impl Events {
    pub(super) fn parse(stdout: &[u8], name: &str) -> Self {
        let mut events = Self::default();
        // What comes before the first mark is no event.
        for event in stdout.split(|byte| *byte == MARK).skip(1) {
            let line = event.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let line = String::from_utf8_lossy(line);
            let mut words = line.split_whitespace();
            let (kind, detail, test) = (words.next(), words.next(), words.next());
            if test != Some(name) {
                continue;
            }
            match (kind, detail) {
                (Some("==="), Some("RUN")) => events.began = true,
                (Some("---"), Some("PASS:")) => events.ended = Some(Ended::Passed),
                (Some("---"), Some("FAIL:")) => events.ended = Some(Ended::Failed),
                (Some("---"), Some("SKIP:")) => events.ended = Some(Ended::Skipped),
                _ => {}
            }
        }
        events
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) function: String,
    pub(super) file: String,
    pub(super) line: u32,
}

/// The stack of the goroutine that crashed, which is the first one written.
pub(super) fn frames(stderr: &[u8]) -> Vec<Frame> {
    let text = String::from_utf8_lossy(stderr);
    let of_goroutine = |line: &&str| line.starts_with("goroutine ") && line.ends_with("]:");
    let mut lines = text.lines().skip_while(|line| !of_goroutine(line)).skip(1);
    let mut frames = Vec::new();
    while let Some(function) = lines.next().filter(|line| !line.trim().is_empty()) {
        let Some((file, line)) = lines.next().and_then(place) else { break };
        // Whoever started the goroutine is not on its stack.
        if function.starts_with("created by ") {
            break;
        }
        let function = function.rsplit_once('(').map_or(function, |(name, _)| name).to_owned();
        frames.push(Frame { function, file, line });
    }
    frames
}

/// What is known of the flagged file if it is on the stack of the crash.
pub(super) fn on_stack(frames: &[Frame], file: &Path, flagged: &Flagged) -> Option<Reach> {
    let mut here = frames.iter().filter(|frame| Path::new(&frame.file) == file).peekable();
    here.peek()?;
    let lines = here.any(|frame| flagged.holds(frame.line, frame.line));
    Some(Reach::Reached { by: Evidence::Stack, lines })
}

/// Why a panic is the test's own although it came through the code: the test panics in what it gives
/// to the code to call.
pub(super) fn own_panic(
    frames: &[Frame],
    repo: &Path,
    test: &Path,
    source: &str,
) -> Option<String> {
    let mut own = frames.iter().filter(|frame| Path::new(&frame.file).starts_with(repo));
    let innermost = own.next().filter(|frame| Path::new(&frame.file) == test)?;
    let through = own.any(|frame| !frame.file.ends_with("_test.go"));
    (through && regard::raises_by_itself(source, innermost.line, false))
        .then(|| "the test panics itself, in what it gives to the code".to_owned())
}

/// `<tab>FILE:LINE +0x1f`
fn place(line: &str) -> Option<(String, u32)> {
    let place = line.strip_prefix('\t')?.split(" +0x").next()?;
    let (file, line) = place.rsplit_once(':')?;
    Some((file.to_owned(), line.parse().ok()?))
}

/// Where the test's last complaint stands: `    FILE:LINE: words`.
pub(super) fn failed_at(stdout: &[u8], path: &str) -> Option<u32> {
    let file = path.rsplit('/').next()?;
    let text = String::from_utf8_lossy(stdout);
    let complaint = |line: &str| {
        let words = line.trim_start_matches(|start: char| start.is_control() || start == ' ');
        let rest = words.split_once(file)?.1.strip_prefix(':')?;
        rest.split(':').next()?.parse().ok()
    };
    text.lines().filter_map(complaint).next_back()
}

/// What the test complained of and where. What it merely logs is left out.
pub(super) fn mark(ran: &Ran, path: &str, source: &str) -> Mark {
    let own = path.rsplit('/').next().unwrap_or_default();
    let logs = |file: &str, line: u32| {
        let text = source.lines().nth(usize::try_from(line).unwrap_or(0).saturating_sub(1));
        file == own && text.is_some_and(|text| text.contains(".Log(") || text.contains(".Logf("))
    };
    let mut mark = Mark::default();
    let mut complaining = false;
    let stdout = String::from_utf8_lossy(&ran.stdout);
    for line in stdout.lines() {
        let words = line.trim_start_matches(|start: char| start.is_control() || start == ' ');
        let (place, message) = words.split_once(": ").unwrap_or((words, ""));
        let place = place.trim_end_matches(':').rsplit_once(':');
        let place = place.and_then(|(file, line)| Some((file, line.parse::<u32>().ok()?)));
        if let Some((file, number)) = place.filter(|(file, _)| file.ends_with(".go")) {
            complaining = !logs(file, number);
            if complaining {
                mark.complaints.push((vec![number], without_addresses(message)));
            }
        } else if complaining && line.starts_with("        ") {
            if let Some((_, text)) = mark.complaints.last_mut() {
                text.push_str(&without_addresses(line));
            }
        } else {
            complaining = false;
        }
    }
    let stderr = String::from_utf8_lossy(&ran.stderr);
    if let Some(crash) = stderr.lines().find(|line| line.starts_with("panic: ")) {
        let frames = frames(&ran.stderr);
        let tests = frames.iter().rev().filter(|frame| frame.file.ends_with("_test.go"));
        let lines = tests.map(|frame| frame.line).collect();
        mark.complaints.push((lines, without_addresses(crash)));
        mark.kind = without_addresses(crash);
        mark.broken = true;
    }
    if mark.complaints.is_empty() {
        // A test may fail without a word; then its parts say which of them did.
        let failed = stdout.lines().filter_map(|line| line.split_once("--- FAIL: "));
        let names = failed.filter_map(|(_, rest)| rest.split(" (").next());
        mark.complaints.extend(names.map(|name| (Vec::new(), name.to_owned())));
    }
    mark
}

/// Addresses are others in each run.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.len() - part.trim_start_matches(|it: char| it.is_ascii_hexdigit()).len();
        plain.push_str("0x");
        // What a test writes down itself is shorter.
        plain.push_str(part.get(if digits >= 8 { digits } else { 0 }..).unwrap_or_default());
    }
    plain
}

/// Blocks of statements: file, first and last line, and how often they ran.
#[derive(Debug, Default)]
pub(super) struct Blocks(Vec<(String, u32, u32, u64)>);

impl Blocks {
    /// Lines of `path/file.go:5.22,7.34 1 2`.
    pub(super) fn parse(profile: &str) -> Self {
        let block = |line: &str| {
            let (place, numbers) = line.split_once(' ')?;
            let (file, range) = place.rsplit_once(':')?;
            let (first, last) = range.split_once(',')?;
            let line = |position: &str| position.split('.').next()?.parse::<u32>().ok();
            let count = numbers.split(' ').nth(1)?.parse::<u64>().ok()?;
            Some((file.to_owned(), line(first)?, line(last)?, count))
        };
        Self(profile.lines().filter_map(block).collect())
    }

    /// The blocks of a file by their lines, and the number of each in a line as often as it ran.
    pub(super) fn marked(file: &str, lines: &[(u32, u32)], told: &str) -> Self {
        let mut blocks: Vec<_> =
            lines.iter().map(|(first, last)| (file.to_owned(), *first, *last, 0)).collect();
        for number in told.lines().filter_map(|line| line.parse::<usize>().ok()) {
            if let Some((.., count)) = blocks.get_mut(number) {
                *count += 1;
            }
        }
        Self(blocks)
    }

    /// What ran in the flagged file beyond what runs without any test. One package is covered,
    /// so that a file's own name is enough.
    pub(super) fn beyond(&self, idle: &Self, flagged: &Flagged) -> Reach {
        let name = flagged.file.rsplit('/').next().unwrap_or_default();
        let of_file = |(file, ..): &&(String, u32, u32, u64)| file.rsplit('/').next() == Some(name);
        let mut reached = false;
        let mut lines = false;
        for (_, first, last, _) in self.0.iter().filter(of_file) {
            // There may be two in one line.
            let same = |other: &&(String, u32, u32, u64)| (other.1, other.2) == (*first, *last);
            let count = |blocks: &Self| -> u64 {
                blocks.0.iter().filter(of_file).filter(same).map(|block| block.3).sum()
            };
            if count(self) > count(idle) {
                reached = true;
                lines |= flagged.holds(*first, *last);
            }
        }
        if reached { Reach::Reached { by: Evidence::Coverage, lines } } else { Reach::NotReached }
    }
}

/// Of `go1.24.1` and its kin, the first two numbers.
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
    use super::{Blocks, Ended, Events, Frame, failed_at, frames};
    use crate::proof::{Evidence, Reach, runner::Flagged};

    #[test]
    fn only_framed_lines_of_the_test_itself_are_events() {
        let (yes, no) = (true, false);
        for (stdout, began, ended) in [
            ("\x16=== RUN   TestX\n\x16--- FAIL: TestX (0.00s)\n", yes, Some(Ended::Failed)),
            ("\x16=== RUN   TestX\nno end\x16--- PASS: TestX (0.00s)\n", yes, Some(Ended::Passed)),
            ("\x16=== RUN   TestX\n\x16--- SKIP: TestX (0.00s)\n", yes, Some(Ended::Skipped)),
            ("\x16=== RUN   TestX\n--- FAIL: TestX (0.00s)\n", yes, None),
            ("\x16=== RUN   TestX\n\x16--- FAIL: TestX/sub (0.00s)\n", yes, None),
            ("\x16=== RUN   TestXY\n\x16--- FAIL: TestXY (0.00s)\n", no, None),
            ("--- FAIL: TestX (0.00s)\n", no, None),
            ("", no, None),
        ] {
            assert_eq!(Events::parse(stdout.as_bytes(), "TestX"), Events { began, ended });
        }
    }

    #[test]
    fn the_stack_of_the_crash_is_read_and_no_other() {
        let trace = "panic: x [recovered]\n\ngoroutine 18 [running]:\nexample.com/g.Get(...)\n\
            \t/proof/repo/g.go:11\nexample.com/g.TestX(0xc0?)\n\t/proof/repo/zz_test.go:4 +0x65\n\
            created by testing.(*T).Run in goroutine 1\n\t/go/testing.go:2 +0x4\n\n\
            goroutine 1 [chan receive]:\nmain.main()\n\t_testmain.go:72 +0x9b\n";
        let frame = |function: &str, file: &str, line| Frame {
            function: function.to_owned(),
            file: file.to_owned(),
            line,
        };
        let expected = [
            frame("example.com/g.Get", "/proof/repo/g.go", 11),
            frame("example.com/g.TestX", "/proof/repo/zz_test.go", 4),
        ];
        assert_eq!(frames(trace.as_bytes()), expected);
        assert!(frames(b"goroutine 1 [running]:\n").is_empty());
        assert!(frames(b"goroutine 1 [running]:\nmain()\nnonsense\n").is_empty());
    }

    #[test]
    fn reach_is_what_runs_beyond_an_idle_program() {
        let profile = |init: u64, body: u64| {
            Blocks::parse(&format!(
                "mode: atomic\nm/s/a.go:5.1,6.2 1 {init}\nm/s/a.go:8.2,9.1 1 {body}\n\
                 m/s/b.go:1.1,2.2 1 7\nnonsense\n"
            ))
        };
        let reached = |lines| Reach::Reached { by: Evidence::Coverage, lines };
        for (init, body, line, expected) in [
            (1, 1, 8, reached(true)),
            (1, 1, 20, reached(false)),
            (1, 0, 8, Reach::NotReached),
            (2, 0, 8, reached(false)),
        ] {
            let flagged = Flagged { file: "s/a.go".to_owned(), first: line, last: line };
            assert_eq!(profile(init, body).beyond(&profile(1, 0), &flagged), expected);
        }
    }

    #[test]
    fn the_complaint_names_its_line() {
        let stdout = b"\x16=== RUN   TestX\nno newline\x0f    zz_test.go:3: bad\x0e\n";
        assert_eq!(failed_at(stdout, "sub/zz_test.go"), Some(3));
        assert_eq!(failed_at(stdout, "sub/other_test.go"), None);
    }
}
