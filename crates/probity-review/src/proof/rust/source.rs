//! A Rust test's source, and what cargo and the test's program write for machines.

use std::path::PathBuf;

use serde::Deserialize;

use super::super::{
    alter::{Mark, words},
    capture::Ran,
};

#[derive(Deserialize)]
struct Message {
    reason: String,
    executable: Option<PathBuf>,
    message: Option<Diagnostic>,
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

pub(super) fn events(stdout: &[u8], test: &str) -> Vec<Event> {
    let text = String::from_utf8_lossy(stdout);
    let event = |line: &str| -> Option<Event> {
        let at = line.find("{ \"type\": \"")?;
        serde_json::from_str(line.get(at..)?).ok()
    };
    let of_test = |event: &Event| event.kind == "test" && event.name.as_deref() == Some(test);
    text.lines().filter_map(event).filter(of_test).collect()
}

fn messages(stdout: &[u8]) -> impl Iterator<Item = Message> {
    stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

/// The programs that were compiled.
pub(super) fn programs(stdout: &[u8]) -> Vec<PathBuf> {
    messages(stdout)
        .filter(|message| message.reason == "compiler-artifact")
        .filter_map(|message| message.executable)
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

/// What the test complained of: where it panicked, and with which words. A panic in the test's own
/// file counts before others, which the code may have caught, or which the test may have printed.
pub(super) fn mark(told: &str, path: &str) -> Mark {
    let file = path.rsplit('/').next().unwrap_or(path);
    let numbered = || told.lines().enumerate();
    // Those before the last were caught.
    let own = numbered().filter(|(_, line)| panicked_in(line, file).is_some()).last();
    let begin = own.or_else(|| numbered().find(|(_, line)| place(line).is_some()));
    let begin = begin.map(|(number, _)| number);
    let Some(begin) = begin else {
        return Mark { complaints: vec![(Vec::new(), told.trim().to_owned())], ..Mark::default() };
    };
    let mut lines = told.lines().skip(begin);
    let first = lines.next().unwrap_or_default();
    let own = panicked_in(first, file);
    let message: Vec<&str> = lines.take_while(|line| !line.starts_with("note: ")).collect();
    let message = message.join("\n");
    // What an assertion says for itself comes behind what the test adds to it.
    let message = message.find("\n  left: ").and_then(|at| message.get(at..)).unwrap_or(&message);
    Mark {
        complaints: vec![(own.into_iter().collect(), message.to_owned())],
        kind: if own.is_some() {
            String::new()
        } else {
            place(first).unwrap_or_default().to_owned()
        },
        broken: own.is_none(),
    }
}

/// The place in a line `thread … panicked at FILE:LINE:COLUMN:`.
fn place(line: &str) -> Option<&str> {
    line.split_once(" panicked at ").map(|(_, place)| place)
}

/// The line of a file at which a panic was, by the file's name, since a workspace may have a
/// directory of its own.
fn panicked_in(line: &str, file: &str) -> Option<u32> {
    let (before, numbers) = place(line)?.split_once(file)?;
    let whole = before.is_empty() || before.ends_with('/');
    numbers.strip_prefix(':').filter(|_| whole)?.split(':').next()?.parse().ok()
}

/// Whether a test may end its own process, or say what it likes of a panic.
pub(super) fn ends_itself(test: &str) -> bool {
    let words = words(test);
    let has = |word: &str| words.contains(word);
    has("libc") || (has("process") && ["exit", "abort", "kill"].iter().any(|it| has(it)))
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
pub(super) fn test_name(code: &str, wanted: Option<&str>) -> Result<String, String> {
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
    Err(wanted.map_or_else(
        || "the code holds no test".to_owned(),
        |wanted| format!("the code holds no test named {wanted:?}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::{ends_itself, events, is_inside, listed, mark, test_name};

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
    fn listings_and_panics_are_read() {
        let listing = b"a::zz::tests::x: test\nx: test\nb: benchmark\n\n1 test\n";
        assert_eq!(listed(listing, Some("zz"), "x").as_deref(), Some("a::zz::tests::x"));
        assert_eq!(listed(listing, None, "x").as_deref(), Some("a::zz::tests::x"));
        assert_eq!(listed(listing, Some("yy"), "x"), None);
        assert_eq!(listed(listing, None, "b"), None);
        let told = "\nthread 'x' (1) panicked at tests/zz.rs:5:3:\nno\n";
        let places = |told: &str| {
            (mark(told, "crate/tests/zz.rs").complaints, mark(told, "crate/tests/zz.rs").kind)
        };
        assert_eq!(places(told), (vec![(vec![5], "no".to_owned())], String::new()));
        let code = "\nthread 'x' (1) panicked at src/zz.rs.rs:5:3:\nno\n";
        assert_eq!(places(code), (vec![(vec![], "no".to_owned())], "src/zz.rs.rs:5:3:".to_owned()));
        let both = format!("\nthread 'x' (1) panicked at tests/zz.rs:3:3:\ncaught\n{code}{told}");
        assert_eq!(places(&both), places(told));
    }

    #[test]
    fn events_are_read_behind_what_the_code_writes() {
        let stdout = b"{ \"type\": \"test\", \"event\": \"started\", \"name\": \"x\" }\nabc\
            { \"type\": \"test\", \"name\": \"x\", \"event\": \"failed\", \"stdout\": \"{ \\\"type\\\"\" }\n\
            { \"type\": \"test\", \"event\": \"ok\", \"name\": \"y\" }\n{ \"type\": \"";
        let found: Vec<String> = events(stdout, "x").into_iter().map(|it| it.event).collect();
        assert_eq!(found, ["started", "failed"]);
    }

    #[test]
    fn what_ends_its_own_process_is_known() {
        for (test, expected) in [
            ("std::process::exit(1)", true),
            ("use std::process::{self, abort}; apply(|_| abort())", true),
            ("abort(1); // std::process", false),
            ("std::process::Command::new(\"exit\")", false),
        ] {
            assert_eq!(ends_itself(test), expected, "{test}");
        }
    }
}
