//! A Rust test's source, and what cargo and the test's program write for machines.

use std::path::PathBuf;

use serde::Deserialize;

use crate::{Refusal, runner::capture::Ran};

#[derive(Deserialize)]
struct Message {
    reason: String,
    executable: Option<PathBuf>,
    manifest_path: Option<PathBuf>,
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
pub(super) struct Event {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) event: String,
    pub(super) name: Option<String>,
    pub(super) stdout: Option<String>,
}

/// What the program tells of all its tests, in its order.
pub(super) fn events(stdout: &[u8]) -> Vec<Event> {
    let text = String::from_utf8_lossy(stdout);
    let event = |line: &str| -> Option<Event> {
        let at = line.find("{ \"type\": \"")?;
        serde_json::from_str(line.get(at..)?).ok()
    };
    text.lines().filter_map(event).filter(|event| event.kind == "test").collect()
}

fn messages(stdout: &[u8]) -> impl Iterator<Item = Message> {
    stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

/// A program of tests that was compiled.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    /// The package that it is of.
    pub(super) manifest: PathBuf,
    pub(super) target: String,
}

pub(super) fn programs(stdout: &[u8]) -> Vec<Program> {
    let program = |message: Message| {
        Some(Program {
            path: message.executable?,
            manifest: message.manifest_path?,
            target: message.target?.name,
        })
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
    use super::{events, is_inside, listed, test_name};

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
            { \"type\": \"test\", \"event\": \"ok\", \"name\": \"y\" }\n{ \"type\": \"";
        let found: Vec<String> = events(stdout).into_iter().map(|event| event.event).collect();
        assert_eq!(found, ["started", "failed", "ok"]);
    }
}
