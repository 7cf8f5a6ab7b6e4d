//! What our reporters write, and what it shows.

use probity_sandbox::Exit;
use serde::Deserialize;

use super::{
    super::{Outcome, alter::Mark, capture::Ran, regard, site::Bench},
    titles::find,
};

/// Raised in the test's own lines, these are the test's own mistakes.
const OWN_MISTAKES: [&str; 3] = ["ReferenceError", "SyntaxError", "TypeError"];

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum Event {
    /// Something was thrown that nobody caught, or a file could not be loaded.
    Uncaught,
    /// The process was ended by the test or the code.
    Left,
    Test(Box<Test>),
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Test {
    /// The test's own.
    #[serde(default)]
    pub(super) file: String,
    pub(super) name: String,
    pub(super) full: String,
    pub(super) state: String,
    pub(super) milliseconds: f64,
    /// Whether the framework itself says that it was not the test's body.
    pub(super) harness: bool,
    pub(super) error: Error,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Error {
    pub(super) name: String,
    pub(super) code: String,
    pub(super) stack: String,
    /// What an assertion waited for, as JSON.
    #[serde(default)]
    pub(super) expected: Option<String>,
}

pub(super) fn judge(
    bench: &Bench,
    ran: &Ran,
    events: &[Event],
    name: &str,
    file: &str,
) -> (Outcome, String) {
    let told = |wanted: fn(&Event) -> bool| events.iter().any(wanted);
    let Some(test) = find(events, name) else {
        return if ran.exit == Exit::Timeout {
            (Outcome::Timeout, format!("the test took more than {:?}", bench.test_timeout))
        } else if told(|event| matches!(event, Event::Left)) {
            (Outcome::HarnessError, "the test ended its own process".to_owned())
        } else if told(|event| matches!(event, Event::Uncaught)) {
            (Outcome::BuildError, "the test could not be loaded".to_owned())
        } else if ran.exit == Exit::Code(0) || told(|event| matches!(event, Event::Test(_))) {
            (Outcome::NotRun, "no test of that name ran".to_owned())
        } else {
            (Outcome::HarnessError, "the test's process ended before the test did".to_owned())
        };
    };
    if test.state == "passed" {
        return (Outcome::Passed, "the test passes, so the defect is not there".to_owned());
    }
    if test.state != "failed" {
        return (Outcome::Skipped, "the test skipped itself".to_owned());
    }
    let limit = bench.test_timeout.as_secs_f64() * 1000.0;
    if ran.exit == Exit::Timeout || test.milliseconds >= limit {
        return (Outcome::Timeout, format!("the test took more than {:?}", bench.test_timeout));
    }
    failure(test, file)
}

/// Whether a failure is the code's or the test's own.
pub(super) fn failure(test: &Test, file: &str) -> (Outcome, String) {
    let Error { name, stack, .. } = &test.error;
    let kind = if name.is_empty() { "something thrown" } else { name };
    let frames = frames(stack);
    let innermost = frames.iter().find(|(path, _)| !path.starts_with("node:"));
    if test.harness {
        return (Outcome::HarnessError, "the test was not run to its end".to_owned());
    }
    // Nothing is what the code may have returned; the control tells.
    let of_nothing = ["undefined", "null"]
        .iter()
        .any(|it| stack.contains(&format!("TypeError: Cannot read properties of {it} (")));
    if is_own_mistake(test, file) && !of_nothing {
        return (Outcome::HarnessError, format!("the test has a mistake of its own ({kind})"));
    }
    // An error of the framework, of which an assertion has no frame.
    let of_framework = |path: &str| path.contains("/node_modules/");
    if innermost.is_some_and(|(path, _)| of_framework(path))
        && !frames
            .iter()
            .any(|(path, _)| path != file && !of_framework(path) && !path.starts_with("node:"))
        && !is_assertion(test)
    {
        return (Outcome::HarnessError, format!("the framework stopped the test ({kind})"));
    }
    (Outcome::Failed, format!("it ends with {kind}"))
}

/// Whether a matcher or an assertion says so. Some of them throw plain errors out of the framework:
/// a promise that was rejected where it had to be resolved, a snapshot that differs.
fn is_assertion(test: &Test) -> bool {
    let Error { name, stack, .. } = &test.error;
    let head = stack.lines().next().unwrap_or_default();
    let told = head.split_once(": ").map_or(head, |(_, message)| message);
    name.contains("Assertion") || told.starts_with("expect(") || told.starts_with("Snapshot `")
}

/// Whether it was thrown in the test's own lines, and by what is a mistake there.
pub(super) fn is_own_mistake(test: &Test, file: &str) -> bool {
    let Error { name, code, stack, .. } = &test.error;
    let frames = frames(stack);
    let innermost = frames.iter().find(|(path, _)| !path.starts_with("node:"));
    let mistaken = OWN_MISTAKES.contains(&name.as_str()) || code.ends_with("MODULE_NOT_FOUND");
    mistaken && innermost.is_none_or(|(path, _)| path == file)
}

/// Why something thrown is the test's own although it came through the code: the test throws it in
/// what it gives to the code to call, or calls itself without end.
pub(super) fn own_exception(test: &Test, file: &str, source: &str) -> Option<String> {
    let frames = frames(&test.error.stack);
    let of_test = frames.iter().filter(|(path, _)| path == file).count();
    if test.error.stack.starts_with("RangeError: Maximum call stack") && of_test * 2 > frames.len()
    {
        return Some("the test calls itself without end".to_owned());
    }
    let (innermost, line) = frames.first()?;
    let through = |(path, _): &(String, u32)| {
        path != file && !path.contains("/node_modules/") && !path.starts_with("node:")
    };
    let own = innermost == file
        && frames.iter().any(through)
        && !is_assertion(test)
        && regard::raises_by_itself(source, *line, false);
    own.then(|| "the test throws it itself, in what it gives to the code".to_owned())
}

/// What it complained of, and where in its own file.
pub(super) fn mark(test: &Test, file: &str) -> Mark {
    let Error { name, stack, .. } = &test.error;
    let mut lines: Vec<u32> =
        frames(stack).iter().filter(|(path, _)| path == file).map(|(_, line)| *line).collect();
    lines.reverse();
    let message = stack.split("\n    at ").next().unwrap_or_default();
    Mark {
        complaints: vec![(lines, message.to_owned())],
        kind: name.clone(),
        broken: OWN_MISTAKES.contains(&name.as_str()),
    }
}

/// File and line of `at f (file:///a/b.js:1:2)` and its kin, innermost first.
pub(super) fn frames(stack: &str) -> Vec<(String, u32)> {
    let frame = |line: &str| {
        let place = line.trim().strip_prefix("at ")?;
        let place = place.rsplit_once('(').map_or(place, |(_, inner)| inner.trim_end_matches(')'));
        let place = place.strip_prefix("async ").unwrap_or(place);
        let (place, _) = place.rsplit_once(':')?;
        let (file, line) = place.rsplit_once(':')?;
        let file = file.strip_prefix("file://").unwrap_or(file);
        Some((file.to_owned(), line.parse().ok()?))
    };
    stack.lines().filter_map(frame).collect()
}

#[cfg(test)]
mod tests {
    use super::frames;

    #[test]
    fn frames_of_every_shape_are_read() {
        let stack = "AssertionError: at noon\n    at f (file:///a/b.js:4:37)\n    at /a/c.js:2:1\n    \
            at async Test.run (node:internal/test:796:25)\n    at new Promise (<anonymous>)";
        let expected = [("/a/b.js", 4), ("/a/c.js", 2), ("node:internal/test", 796)];
        let expected = expected.map(|(file, line)| (file.to_owned(), line));
        assert_eq!(frames(stack), expected);
    }
}
