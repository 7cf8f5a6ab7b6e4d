//! A Rust test's source, and what cargo and the test's program write for machines.

use std::{collections::BTreeSet, path::PathBuf};

use probity_sandbox::Exit;
use serde::Deserialize;

use crate::{
    Refusal, RunDetail,
    runner::{
        capture::Ran,
        report::{Report, State, TestReport},
    },
};

#[derive(Deserialize)]
struct Message {
    reason: String,
    executable: Option<PathBuf>,
    target: Option<Target>,
    message: Option<Diagnostic>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Diagnostic {
    rendered: Option<String>,
}

/// What the test's program says of a test. The code may have written before it on the same line.
#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    event: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    stdout: String,
    exec_time: Option<f64>,
}

/// What a program told of its tests, with what they wrote.
pub(super) fn report(ran: &Ran) -> (Report, String) {
    let (mut report, mut told) = (Report::default(), String::new());
    let text = String::from_utf8_lossy(&ran.stdout);
    let event = |line: &str| -> Option<Event> {
        let at = line.find("{ \"type\": \"")?;
        serde_json::from_str(line.get(at..)?).ok()
    };
    for event in text.lines().filter_map(event) {
        if event.kind == "suite" {
            match event.event.as_str() {
                "started" => report.selected = Some(BTreeSet::new()),
                _ => report.has_ended = true,
            }
        }
        if event.kind != "test" {
            continue;
        }
        let state = match event.event.as_str() {
            "ok" => State::Passed,
            "failed" => State::Failed,
            "ignored" => State::Skipped,
            _ => State::Began,
        };
        // A thread has another number in each run.
        let numbered = |line: &&str| !line.starts_with("thread '");
        let message = event.stdout.lines().filter(numbered).collect::<Vec<_>>().join("\n");
        told.push_str(&event.stdout);
        let seconds = event.exec_time;
        report.tell(TestReport { seconds, message, ..TestReport::new(event.name, state) });
    }
    // The code may end its process; so may the test, and then it does so with every fix.
    if !report.tests.is_empty() && matches!(ran.exit, Exit::Code(_)) {
        report.without_end = Some(RunDetail::Crashed);
    }
    (report, told)
}

fn messages(stdout: &[u8]) -> impl Iterator<Item = Message> {
    stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

/// A program of tests that was compiled.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) target: String,
}

pub(super) fn programs(stdout: &[u8]) -> Vec<Program> {
    let program = |message: Message| {
        Some(Program { path: message.executable?, target: message.target?.name })
    };
    messages(stdout)
        .filter(|message| message.reason == "compiler-artifact")
        .filter_map(program)
        .collect()
}

/// The compiler's words, as people see them.
pub(super) fn compiler(ran: &Ran) -> Vec<u8> {
    let mut text: String = messages(&ran.stdout)
        .filter_map(|message| message.message.and_then(|diagnostic| diagnostic.rendered))
        .collect();
    text.push_str(&String::from_utf8_lossy(&ran.stderr));
    text.into_bytes()
}

/// The full name of a test in a listing of lines `path::to::name: test`.
pub(super) fn listed(stdout: &[u8], module: Option<&str>, name: &str) -> Option<String> {
    let text = String::from_utf8_lossy(stdout);
    let tests = text.lines().filter_map(|line| line.strip_suffix(": test"));
    let matches = |test: &&str| {
        let mut parts = test.split("::");
        test.rsplit("::").next() == Some(name)
            && module.is_none_or(|module| parts.any(|part| part == module))
    };
    tests.into_iter().find(matches).map(str::to_owned)
}

/// Whether the code is written for the inside of the flagged file's crate.
pub(super) fn is_inside(code: &str) -> bool {
    ["super::", "crate::"].iter().any(|path| {
        code.match_indices(path).any(|(at, _)| {
            // `$crate::` and names that end alike are something else.
            let before = code.get(..at).and_then(|before| before.chars().next_back());
            before.is_none_or(|end| !end.is_alphanumeric() && end != '_' && end != '$')
        })
    })
}

/// The name of the test without its path.
pub(super) fn test_name(code: &str, wanted: Option<&str>) -> Result<String, Refusal> {
    let wanted = wanted.filter(|name| !name.is_empty());
    let bare = wanted.map(|name| name.rsplit("::").next().unwrap_or(name));
    let mut marked = false;
    for line in code.lines() {
        let line = line.trim();
        if line.starts_with("#[") {
            let attribute = line.trim_start_matches("#[");
            let path = attribute.split(['(', ']', ' ', '=']).next().unwrap_or("");
            marked |= path.rsplit("::").next() == Some("test");
        }
        let rest = line.rsplit_once("fn ").map(|(_, rest)| rest);
        let name = rest
            .and_then(|rest| rest.split(|end: char| !end.is_alphanumeric() && end != '_').next());
        let Some(name) = name.filter(|name| !name.is_empty() && !line.starts_with("//")) else {
            continue;
        };
        if marked && bare.is_none_or(|bare| bare == name) {
            return Ok(name.to_owned());
        }
        marked = false;
    }
    Err(Refusal::NoSuchTest(wanted.map(str::to_owned)))
}

#[cfg(test)]
mod tests {
    use super::{Exit, Ran, State, is_inside, listed, report, test_name};

    #[test]
    fn the_marked_function_is_the_test() {
        let code = "fn helper() {}\n#[test]\n#[should_panic]\nfn a() { helper(); }\n\
            #[tokio::test]\nasync fn b() {}\nfn c() {}\n";
        for (wanted, expected) in [
            (None, Some("a")),
            (Some("tests::a"), Some("a")),
            (Some("b"), Some("b")),
            (Some("c"), None),
            (Some("helper"), None),
        ] {
            assert_eq!(test_name(code, wanted).ok().as_deref(), expected, "{wanted:?}");
        }
    }

    #[test]
    fn inside_is_what_names_its_own_crate() {
        for (code, inside) in [
            ("use super::*;", true),
            ("use crate::a;", true),
            ("use calc::a;", false),
            ("$crate::a()", false),
            ("use mysuper::a;", false),
        ] {
            assert_eq!(is_inside(code), inside, "{code}");
        }
    }

    #[test]
    fn listings_are_read() {
        let listing = b"a::zz::tests::x: test\nx: test\nb: benchmark\n\n1 test\n";
        assert_eq!(listed(listing, Some("zz"), "x").as_deref(), Some("a::zz::tests::x"));
        assert_eq!(listed(listing, None, "x").as_deref(), Some("a::zz::tests::x"));
        assert_eq!(listed(listing, Some("yy"), "x"), None);
        assert_eq!(listed(listing, None, "b"), None);
    }

    #[test]
    fn events_are_read_behind_what_the_code_writes() {
        let stdout = b"{ \"type\": \"test\", \"event\": \"started\", \"name\": \"x\" }\nabc\
            { \"type\": \"test\", \"name\": \"x\", \"event\": \"failed\", \"stdout\": \"{ \\\"type\\\"\" }\n\
            { \"type\": \"test\", \"event\": \"ok\", \"name\": \"y\", \"exec_time\": 0.5 }\n\
            { \"type\": \"test\", \"event\": \"started\", \"name\": \"z\" }\n{ \"type\": \"";
        let (exit, duration) = (Exit::Signal(9), std::time::Duration::ZERO);
        let ran = Ran { exit, duration, stdout: stdout.to_vec(), stderr: Vec::new() };
        let (report, told) = report(&ran);
        let states: Vec<State> = report.tests.iter().map(|test| test.state).collect();
        assert_eq!(states, [State::Failed, State::Passed, State::Began]);
        assert_eq!(report.tests[1].seconds, Some(0.5));
        assert_eq!(told, "{ \"type\"");
    }
}
