//! What a test runner told of its tests, in one shape for all of them, and what that shows.

pub(crate) mod junit;
pub(crate) mod tap;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use probity_sandbox::Exit;
use serde::Deserialize;

use super::capture::Ran;
use crate::{Outcome, RunDetail};

#[derive(Debug, Default)]
pub(crate) struct Report {
    /// One for each test; what is told last of a test counts.
    pub(crate) tests: Vec<TestReport>,
    /// What a process shows whose test did not end, where its runner knows more than the exit says.
    pub(crate) without_end: Option<RunDetail>,
    /// Whether the process may fail for other reasons than the wanted test, which passed.
    pub(crate) ignores_exit: bool,
    /// Files of tests that could not be loaded, if the runner names them.
    pub(crate) unloaded: BTreeSet<String>,
    /// Files of tests that ended before all of their tests had, if the runner names them.
    pub(crate) left: BTreeSet<String>,
    /// The tests that were going to run, if the runner tells before it runs them.
    pub(crate) selected: Option<BTreeSet<String>>,
    /// Whether the runner told that it came to its end.
    pub(crate) has_ended: bool,
    /// What each test ran code of, if the runner was asked.
    pub(super) touched: BTreeMap<String, Touched>,
    /// Files of the repository that several tests have touched together, by a name for them.
    pub(super) groups: BTreeMap<String, BTreeSet<String>>,
}

/// The files of the repository that a test ran code of, and groups of more of them.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Touched {
    files: BTreeSet<String>,
    groups: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TestReport {
    /// As the runner can be asked for it.
    #[serde(rename = "test")]
    pub(crate) name: String,
    /// Where it is, in reports that say so.
    pub(crate) file: Option<String>,
    pub(crate) state: State,
    pub(crate) seconds: Option<f64>,
    /// The class of the exception.
    pub(crate) kind: Option<String>,
    /// What the failure says of itself, for comparing one with another.
    pub(crate) message: String,
}

/// The worst comes first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum State {
    Failed,
    SetupFailed,
    /// Began, and did not end.
    #[default]
    Began,
    TeardownFailed,
    ExpectedFailure,
    Skipped,
    Passed,
}

impl State {
    /// Of an existing test.
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Self::Passed => Outcome::Passed,
            Self::Skipped | Self::ExpectedFailure => Outcome::Skipped,
            _ => Outcome::Failed,
        }
    }
}

impl TestReport {
    pub(crate) fn new(name: impl Into<String>, state: State) -> Self {
        Self { name: name.into(), state, ..Self::default() }
    }

    pub(crate) fn duration(&self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.seconds?).ok()
    }
}

/// Why what a tool wrote is no report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct MalformedReport {
    line: usize,
    what: String,
}

/// Why a report shows nothing about a test.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReportFault {
    #[error("the command wrote no report that matches `{0}`")]
    Missing(String),
    #[error("the report {0} was written before the run")]
    Stale(String),
    #[error("the report {path} is larger than {limit} bytes")]
    TooLarge { path: String, limit: u64 },
    #[error("the report {path} cannot be read: {why}")]
    Unreadable { path: String, why: String },
    #[error("the report {path} is neither JUnit XML nor TAP: {why}")]
    Malformed { path: String, why: MalformedReport },
    #[error("{count} tests of the report are named `{name}`")]
    SeveralTests { name: String, count: usize },
}

/// A line of one of our own reporters.
#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Event {
    /// A file of tests could not be loaded, or something was thrown that nobody caught.
    Unloaded {
        #[serde(default)]
        file: Option<String>,
    },
    /// The process was ended by the test or the code.
    Left {
        #[serde(default)]
        file: Option<String>,
    },
    Selected {
        tests: BTreeSet<String>,
    },
    Ended,
    Test(TestReport),
    Touched {
        test: String,
        #[serde(flatten)]
        touched: Touched,
    },
    Group {
        name: String,
        files: BTreeSet<String>,
    },
}

impl Report {
    /// Of a file in a format that many tools write, JUnit's XML or TAP.
    pub(crate) fn of_text(text: &str) -> Result<Self, MalformedReport> {
        if text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
            return Self::of_junit(text.trim_start_matches('\u{feff}').trim_start());
        }
        Self::of_tap(text)
    }

    /// A process that left no report that could be read.
    pub(crate) fn without(fault: ReportFault) -> Self {
        Self { without_end: Some(RunDetail::NoReport(fault)), ..Self::default() }
    }

    /// Of the lines that our reporters write, one JSON object each.
    pub(crate) fn of_lines(text: &str) -> Self {
        let mut report = Self::default();
        for event in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            match event {
                Event::Test(test) => report.tell(test),
                Event::Touched { test, touched } => {
                    report.touched.insert(test, touched);
                }
                Event::Group { name, files } => {
                    report.groups.insert(name, files);
                }
                Event::Selected { tests } => report.selected = Some(tests),
                Event::Ended => report.has_ended = true,
                Event::Left { file } => {
                    report.without_end = Some(RunDetail::EndedEarly);
                    report.left.extend(file);
                }
                Event::Unloaded { file } => {
                    report.without_end.get_or_insert(RunDetail::Unbuilt);
                    report.unloaded.extend(file);
                }
            }
        }
        report
    }

    /// The tests that ran code of a file.
    pub(crate) fn touching<'a>(&'a self, file: &'a str) -> impl Iterator<Item = &'a str> {
        let of_group =
            move |name: &String| self.groups.get(name).is_some_and(|files| files.contains(file));
        let fitting = self.touched.iter().filter(move |(_, touched)| {
            touched.files.contains(file) || touched.groups.iter().any(of_group)
        });
        fitting.map(|(test, _)| test.as_str())
    }

    /// Whether it is known what a test ran code of.
    pub(crate) fn knows(&self, test: &str) -> bool {
        self.touched.contains_key(test)
    }

    /// What is told of a test that has begun before takes the place of that.
    pub(crate) fn tell(&mut self, test: TestReport) {
        match self.tests.iter_mut().find(|known| known.name == test.name) {
            // A name may stand for several.
            Some(known) if known.state != State::Began && known.state < test.state => {}
            Some(known) => *known = test,
            None => self.tests.push(test),
        }
    }

    /// What a run shows of the one test that was wanted of it.
    pub(super) fn judge(&self, ran: &Ran, limit: Duration, test: Option<&TestReport>) -> RunDetail {
        let timeout = RunDetail::Timeout(limit);
        let is_late = ran.exit == Exit::Timeout;
        match test.map(|test| (test.state, test)) {
            Some((State::Failed, test)) if test.duration().is_some_and(|took| took >= limit) => {
                timeout
            }
            Some((State::Failed, test)) => RunDetail::Failed { kind: test.kind.clone() },
            Some((State::SetupFailed, _)) => RunDetail::SetupFailed,
            Some((State::TeardownFailed, _)) => RunDetail::TeardownFailed,
            Some((State::Skipped, _)) => RunDetail::Skipped,
            Some((State::ExpectedFailure, _)) => RunDetail::ExpectedFailure,
            Some((State::Passed, _)) if self.ignores_exit || ran.exit == Exit::Code(0) => {
                RunDetail::Passed
            }
            Some((State::Passed, _)) if is_late => timeout,
            Some((State::Passed, _)) => RunDetail::ProcessFailed,
            // Some programs end themselves when their time is over.
            Some((State::Began, _)) if is_late || ran.duration >= limit => timeout,
            None if is_late => timeout,
            begun => match (&self.without_end, begun) {
                (Some(detail), _) => detail.clone(),
                (None, None) if ran.exit == Exit::Code(0) => RunDetail::NoSuchTest,
                _ if ran.crashed() => RunDetail::Crashed,
                (None, None) => RunDetail::NeverBegan,
                (None, Some(_)) => RunDetail::EndedEarly,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Exit, Ran, Report, RunDetail};

    const LIMIT: Duration = Duration::from_secs(30);

    /// What a process shows of its test, given the lines of its reporter, its end and its time.
    fn judged(lines: &[&str], exit: Exit, seconds: u64) -> RunDetail {
        let (stdout, stderr) = (Vec::new(), Vec::new());
        let ran = Ran { exit, duration: Duration::from_secs(seconds), stdout, stderr };
        let report = Report::of_lines(&lines.join("\n"));
        report.judge(&ran, LIMIT, report.tests.first())
    }

    #[test]
    fn a_run_shows_what_its_reporter_and_its_process_say_together() {
        let began = r#"{"event": "test", "test": "x", "state": "began"}"#;
        let passed = r#"{"event": "test", "test": "x", "state": "passed", "seconds": 0.5}"#;
        let failed = r#"{"event": "test", "test": "x", "state": "failed", "kind": "E"}"#;
        let late = r#"{"event": "test", "test": "x", "state": "failed", "seconds": 30.0}"#;
        let teardown = r#"{"event": "test", "test": "x", "state": "teardown-failed"}"#;
        let (left, unloaded) = (r#"{"event": "left"}"#, r#"{"event": "unloaded"}"#);
        let (good, bad) = (Exit::Code(0), Exit::Code(1));
        let crash = Exit::Signal(libc::SIGSEGV);
        for (lines, exit, seconds, expected) in [
            (&[began, passed][..], good, 1, RunDetail::Passed),
            (&[began, passed], bad, 1, RunDetail::ProcessFailed),
            (&[began, passed], Exit::Timeout, 40, RunDetail::Timeout(LIMIT)),
            (&[began, failed], bad, 1, RunDetail::Failed { kind: Some("E".to_owned()) }),
            (&[began, failed], Exit::Timeout, 40, RunDetail::Failed { kind: Some("E".to_owned()) }),
            (&[began, late], bad, 31, RunDetail::Timeout(LIMIT)),
            // What a later phase says does not make a failure better.
            (&[failed, teardown], bad, 1, RunDetail::Failed { kind: Some("E".to_owned()) }),
            (&[failed, passed], bad, 1, RunDetail::Failed { kind: Some("E".to_owned()) }),
            (&[began, teardown], bad, 1, RunDetail::TeardownFailed),
            (&[began], Exit::Timeout, 40, RunDetail::Timeout(LIMIT)),
            (&[began], bad, 31, RunDetail::Timeout(LIMIT)),
            (&[began], crash, 1, RunDetail::Crashed),
            (&[began, left], good, 1, RunDetail::EndedEarly),
            (&[began], good, 1, RunDetail::EndedEarly),
            (&[unloaded], bad, 1, RunDetail::Unbuilt),
            (&[unloaded, left], bad, 1, RunDetail::EndedEarly),
            (&[], good, 1, RunDetail::NoSuchTest),
            (&[], bad, 1, RunDetail::NeverBegan),
            (&[], Exit::Timeout, 40, RunDetail::Timeout(LIMIT)),
            (&["no JSON", "{}"], good, 1, RunDetail::NoSuchTest),
        ] {
            assert_eq!(judged(lines, exit, seconds), expected, "{lines:?} {exit:?}");
        }
    }
}
