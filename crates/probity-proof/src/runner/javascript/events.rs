//! What our reporters write, and what it shows.

use std::{collections::BTreeMap, time::Duration};

use probity_sandbox::Exit;
use serde::Deserialize;

use super::titles::find;
use crate::{Outcome, RunDetail, runner::capture::Ran};

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
    pub(super) state: State,
    pub(super) milliseconds: f64,
    /// Whether the framework itself says that it was not the test's body.
    pub(super) harness: bool,
    pub(super) error: Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    Passed,
    Failed,
    #[serde(other)]
    Skipped,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Error {
    pub(super) name: String,
    pub(super) stack: String,
}

pub(super) fn judge(
    limit: Duration,
    ran: &Ran,
    events: &[Event],
    name: &str,
) -> (Outcome, RunDetail) {
    let timeout = || (Outcome::Timeout, RunDetail::Timeout(limit));
    let told = |wanted: fn(&Event) -> bool| events.iter().any(wanted);
    let Some(test) = find(events, name) else {
        return if ran.exit == Exit::Timeout {
            timeout()
        } else if told(|event| matches!(event, Event::Left)) {
            (Outcome::HarnessError, RunDetail::EndedEarly)
        } else if told(|event| matches!(event, Event::Uncaught)) {
            (Outcome::BuildError, RunDetail::Unbuilt)
        } else if ran.exit == Exit::Code(0) || told(|event| matches!(event, Event::Test(_))) {
            (Outcome::NotRun, RunDetail::NoSuchTest)
        } else if ran.crashed() {
            (Outcome::Failed, RunDetail::Crashed)
        } else {
            (Outcome::HarnessError, RunDetail::NeverBegan)
        };
    };
    let limit = limit.as_secs_f64() * 1000.0;
    match test.state {
        State::Passed => (Outcome::Passed, RunDetail::Passed),
        State::Skipped => (Outcome::Skipped, RunDetail::Skipped),
        State::Failed if test.milliseconds >= limit => timeout(),
        State::Failed if test.harness => (Outcome::HarnessError, RunDetail::EndedEarly),
        State::Failed => {
            let kind = Some(test.error.name.clone()).filter(|name| !name.is_empty());
            (Outcome::Failed, RunDetail::Failed { kind })
        }
    }
}

/// How long the test took, without what its framework takes to start; none if it did not end.
pub(super) fn duration(events: &[Event], name: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(find(events, name)?.milliseconds / 1000.0).ok()
}

/// What the failure says of itself, without the frames.
pub(super) fn message(events: &[Event], name: &str) -> String {
    let stack = find(events, name).map_or("", |test| test.error.stack.as_str());
    stack.split("\n    at ").next().unwrap_or_default().to_owned()
}

/// Every test by its file and its full title. One title may stand for several, all of which count.
pub(super) fn outcomes(events: &[Event], root: &str) -> BTreeMap<String, Outcome> {
    let mut outcomes: BTreeMap<String, Outcome> = BTreeMap::new();
    for event in events {
        let Event::Test(test) = event else { continue };
        let file = test.file.strip_prefix("file://").unwrap_or(&test.file);
        let file = file.strip_prefix(root).unwrap_or(file).trim_start_matches('/');
        let outcome = match test.state {
            State::Passed => Outcome::Passed,
            State::Failed => Outcome::Failed,
            State::Skipped => Outcome::Skipped,
        };
        let known = outcomes.entry(format!("{file} > {}", test.full)).or_insert(outcome);
        if outcome == Outcome::Failed {
            *known = outcome;
        }
    }
    outcomes
}
