//! What our plugin of pytest wrote down, and what it means.

use std::path::Path;

use probity_sandbox::Exit;
use serde::Deserialize;

use super::super::{Evidence, Outcome, Reach, alter::Mark, capture::Ran, regard, site::Bench};

/// Raised in the test's own lines, these are the test's own mistakes.
const OWN_MISTAKES: [&str; 5] =
    ["NameError", "ImportError", "AttributeError", "SyntaxError", "SystemExit"];

pub(super) struct Session {
    pub(super) ran: Ran,
    pub(super) events: Vec<Event>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum Event {
    CollectError,
    Start,
    Reached,
    Lines,
    Phase(Phase),
    /// A run in which nothing was altered.
    Same(Seen),
    /// One that did not fail then.
    Alone(Seen),
    Altered(Altered),
    /// The same function, unaltered, behind a run that has passed.
    Inert(Inert),
    /// There was no time for all of them, or a function is called more than once.
    Partial,
}

#[derive(Debug, Deserialize)]
pub(super) struct Seen {
    pub(super) outcome: String,
    pub(super) lines: Vec<u32>,
    pub(super) kind: String,
    pub(super) message: String,
}

impl Seen {
    pub(super) fn mark(&self) -> Mark {
        let Self { lines, kind, message, .. } = self;
        let told = ["AssertionError", "Failed", "Exception"].contains(&kind.as_str());
        Mark {
            complaints: vec![(lines.clone(), message.clone())],
            kind: kind.clone(),
            broken: !told,
        }
    }

    pub(super) fn outcome(&self) -> Outcome {
        match self.outcome.as_str() {
            "passed" => Outcome::Passed,
            "failed" => Outcome::Failed,
            "skipped" => Outcome::Skipped,
            _ => Outcome::HarnessError,
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Altered {
    pub(super) function: String,
    pub(super) value: String,
    /// Whether it is a value, an exception in its place, or the absence of what it does.
    pub(super) answer: String,
    #[serde(flatten)]
    pub(super) seen: Seen,
}

#[derive(Debug, Deserialize)]
pub(super) struct Inert {
    /// Whether the test has loaded the code itself, which was there before it this time.
    pub(super) loaded: bool,
    #[serde(flatten)]
    pub(super) seen: Seen,
}

#[derive(Debug, Deserialize)]
pub(super) struct Phase {
    pub(super) when: String,
    pub(super) outcome: String,
    pub(super) xfail: bool,
    /// The exception's class and those above it.
    pub(super) exception: Vec<String>,
    /// File and line, the innermost last.
    pub(super) frames: Vec<(String, u32)>,
    #[serde(default)]
    pub(super) message: String,
    /// An operator of a value of the test that answers otherwise than the class above it.
    #[serde(default)]
    pub(super) lie: Option<String>,
    pub(super) constant: Option<String>,
    /// Whether something was asked of nothing.
    #[serde(default)]
    pub(super) of_nothing: bool,
    /// What the machine lacks that the test itself asked for.
    #[serde(default)]
    pub(super) environment: Option<String>,
    /// The flagged function, if the test has put something else in its place.
    #[serde(default)]
    pub(super) replaced: Option<String>,
}

impl Phase {
    pub(super) fn mark(&self, file: &str) -> Mark {
        let own = self.frames.iter().filter(|(path, _)| path == file);
        let lines = own.map(|(_, line)| *line).collect();
        let kind = self.exception.first().cloned().unwrap_or_default();
        let text = format!("{kind}: {}", self.message);
        Mark { complaints: vec![(lines, text)], kind, broken: false }
    }
}

pub(super) fn reach(events: &[Event]) -> Reach {
    let told = |wanted: fn(&Event) -> bool| events.iter().any(wanted);
    if told(|event| matches!(event, Event::Reached)) {
        let lines = told(|event| matches!(event, Event::Lines));
        Reach::Reached { by: Evidence::Coverage, lines }
    } else {
        Reach::NotReached
    }
}

pub(super) fn judge(
    bench: &Bench,
    session: &Session,
    file: &str,
    root: &Path,
) -> (Outcome, String) {
    let Session { ran, events } = session;
    let phases = || {
        events.iter().filter_map(|event| match event {
            Event::Phase(phase) => Some(phase),
            _ => None,
        })
    };
    let started = events.iter().any(|event| matches!(event, Event::Start));
    if events.iter().any(|event| matches!(event, Event::CollectError)) {
        return (Outcome::BuildError, "the test could not be loaded".to_owned());
    }
    let failed =
        |when: &str| phases().find(|phase| phase.when == when && phase.outcome == "failed");
    if let Some(name) = phases().find_map(|phase| phase.replaced.as_ref()) {
        let why = format!("the test replaces {name}, which it is about, so it shows nothing of it");
        return (Outcome::Rejected, why);
    }
    if let Some(phase) = failed("call") {
        return failure(phase, file);
    }
    if failed("setup").is_some() {
        return (Outcome::HarnessError, "what the test needs could not be set up".to_owned());
    }
    if ran.exit == Exit::Timeout {
        return (Outcome::Timeout, format!("the test took more than {:?}", bench.test_timeout));
    }
    if failed("teardown").is_some() {
        return (Outcome::HarnessError, "the test failed only while cleaning up".to_owned());
    }
    let called = phases().any(|phase| phase.when == "call");
    let skipped = phases().find(|phase| phase.outcome == "skipped");
    match (started, skipped, called) {
        (_, Some(phase), _) if phase.xfail => {
            (Outcome::Skipped, "the test is marked as expected to fail".to_owned())
        }
        (_, Some(_), _) => (Outcome::Skipped, "the test skipped itself".to_owned()),
        (true, None, true) if ran.exit == Exit::Code(0) => {
            (Outcome::Passed, "the test passes, so the defect is not there".to_owned())
        }
        (true, None, true) => {
            (Outcome::HarnessError, "the test passed, and its process failed".to_owned())
        }
        (true, None, false) if ran.crashed() && crashed_in_code(&ran.stderr, file, root) => {
            (Outcome::Failed, "the process crashed while the test ran".to_owned())
        }
        (true, None, false) if ran.crashed() => {
            (Outcome::HarnessError, "the test crashed its own process".to_owned())
        }
        (true, None, false) => {
            (Outcome::HarnessError, "the test's process ended before the test did".to_owned())
        }
        // 4 and 5 are pytest's for a test that does not exist.
        (false, ..) if matches!(ran.exit, Exit::Code(4 | 5)) => {
            (Outcome::NotRun, "no test of that name ran".to_owned())
        }
        (false, ..) => (Outcome::HarnessError, "pytest failed before the test began".to_owned()),
    }
}

/// Whether a failure is the code's or the test's own.
fn failure(phase: &Phase, file: &str) -> (Outcome, String) {
    let own = |frame: &&(String, u32)| frame.0 == file;
    let kind = phase.exception.first().map_or("no exception", String::as_str);
    if phase.message.contains("async def functions are not natively supported") {
        let why = "the test is async, and nothing here runs such tests (pytest-asyncio, anyio)";
        return (Outcome::HarnessError, why.to_owned());
    }
    if !phase.frames.iter().any(|frame| own(&frame)) {
        let why = format!("pytest could not run the test ({kind})");
        return (Outcome::HarnessError, why);
    }
    // Nothing is what the code may have returned; the control tells.
    if let Some(why) = own_mistake(phase, file).filter(|_| !phase.of_nothing) {
        return (Outcome::HarnessError, why);
    }
    if let Some(lack) = &phase.environment {
        return (Outcome::HarnessError, format!("the test needs what is not here: {lack}"));
    }
    (Outcome::Failed, format!("it ends with {kind}"))
}

/// What is wrong with the test, if the exception is one that its own lines raise by mistake.
pub(super) fn own_mistake(phase: &Phase, file: &str) -> Option<String> {
    let mistaken = phase.exception.iter().any(|class| OWN_MISTAKES.contains(&class.as_str()));
    let own = phase.frames.last().is_some_and(|frame| frame.0 == file);
    let kind = phase.exception.first().map_or("no exception", String::as_str);
    (mistaken && own).then(|| format!("the test has a mistake of its own ({kind})"))
}

/// Why a failure is the test's own although it came through the code: the test raises it in what it
/// gives to the code to call, gives it a number that is none, or calls itself without end.
pub(super) fn own_exception(phase: &Phase, file: &str, source: &str) -> Option<String> {
    let is = |name: &str| phase.exception.iter().any(|class| class == name);
    let of_test = phase.frames.iter().filter(|frame| frame.0 == file).count();
    if is("RecursionError") && of_test * 2 > phase.frames.len() {
        return Some("the test calls itself without end".to_owned());
    }
    if let Some(operator) = &phase.lie {
        return Some(format!("the code is given a value that is not what it seems ({operator})"));
    }
    // `'<' not supported between instances of 'MagicMock' and 'int'`
    let of_mock = ["'MagicMock'", "'Mock'", "'AsyncMock'"].iter();
    if is("TypeError") && of_mock.into_iter().any(|name| phase.message.contains(name)) {
        return Some("the test's own mock cannot do what the code asks of it".to_owned());
    }
    let (last, line) = phase.frames.last()?;
    let begun = phase.frames.iter().position(|frame| frame.0 == file)?;
    let through = phase.frames.iter().skip(begun).any(|frame| frame.0 != file);
    let asserted = is("AssertionError") || is("Failed");
    let own = last == file && through && !asserted && regard::raises_by_itself(source, *line, true);
    own.then(|| "the test raises it itself, in what it gives to the code".to_owned())
}

/// Whether the innermost frame of the repository was the code's when the process died, as the
/// interpreter itself has told: the last thing it writes.
fn crashed_in_code(stderr: &[u8], file: &str, root: &Path) -> bool {
    let text = String::from_utf8_lossy(stderr);
    let Some((_, dump)) = text.rsplit_once("Fatal Python error: ") else { return false };
    let current = dump.lines().skip_while(|line| !line.starts_with("Current thread ")).skip(1);
    let mut frames = current.map_while(|line| {
        let (path, _) = line.strip_prefix("  File \"")?.split_once("\", line ")?;
        Some(path)
    });
    let of_repo =
        |path: &&str| Path::new(path).starts_with(root) && !path.contains("site-packages");
    frames.find(of_repo).is_some_and(|path| path != file)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::crashed_in_code;

    #[test]
    fn a_crash_is_where_the_interpreter_was() {
        let dump = |first: &str| {
            format!(
                "noise\nFatal Python error: Aborted\n\nThread 0x1 (most recent call first):\n  \
                 File \"/r/code.py\", line 1 in g\n\nCurrent thread 0x2 (most recent call first):\n  \
                 File \"/usr/lib/ctypes.py\", line 1 in h\n  File \"{first}\", line 2 in f\n  \
                 File \"/r/test_x.py\", line 3 in test_x\n\nExtension modules: a\n"
            )
        };
        for (text, expected) in [
            (dump("/r/code.py"), true),
            (dump("/r/test_x.py"), false),
            (dump("/usr/lib/os.py"), false),
            (dump("/r/env/site-packages/x.py"), false),
            (dump("/r/code.py") + &dump("/r/test_x.py"), false),
            (String::new(), false),
        ] {
            let found = crashed_in_code(text.as_bytes(), "/r/test_x.py", Path::new("/r"));
            assert_eq!(found, expected, "{text}");
        }
    }
}
