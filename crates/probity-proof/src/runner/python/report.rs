//! What our pytest plugin wrote down, and what it means.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use probity_sandbox::Exit;
use serde::Deserialize;

use crate::{Outcome, RunDetail, runner::capture::Ran};

#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum Event {
    CollectError,
    Start { test: String },
    Phase(Phase),
    Touched { test: String, files: BTreeSet<String> },
}

#[derive(Debug, Deserialize)]
pub(super) struct Phase {
    test: String,
    when: When,
    outcome: Outcomes,
    xfail: bool,
    seconds: f64,
    kind: Option<String>,
    message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum When {
    Setup,
    Call,
    Teardown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Outcomes {
    Passed,
    Failed,
    Skipped,
}

pub(super) struct Session {
    pub(super) ran: Ran,
    pub(super) events: Vec<Event>,
}

impl Session {
    fn phases(&self) -> impl Iterator<Item = &Phase> {
        self.events.iter().filter_map(|event| match event {
            Event::Phase(phase) => Some(phase),
            _ => None,
        })
    }

    fn failed(&self, when: When) -> Option<&Phase> {
        self.phases().find(|phase| phase.when == when && phase.outcome == Outcomes::Failed)
    }

    /// What the one test that was asked for did.
    pub(super) fn judge(&self, limit: Duration) -> (Outcome, RunDetail) {
        let began = self.events.iter().any(|event| matches!(event, Event::Start { .. }));
        let called = self.phases().any(|phase| phase.when == When::Call);
        let skipped = self.phases().find(|phase| phase.outcome == Outcomes::Skipped);
        if self.events.iter().any(|event| matches!(event, Event::CollectError)) {
            return (Outcome::BuildError, RunDetail::Unbuilt);
        }
        if let Some(phase) = self.failed(When::Call) {
            return (Outcome::Failed, RunDetail::Failed { kind: phase.kind.clone() });
        }
        if self.failed(When::Setup).is_some() {
            return (Outcome::HarnessError, RunDetail::SetupFailed);
        }
        if self.ran.exit == Exit::Timeout {
            return (Outcome::Timeout, RunDetail::Timeout(limit));
        }
        if self.failed(When::Teardown).is_some() {
            return (Outcome::HarnessError, RunDetail::TeardownFailed);
        }
        if let Some(phase) = skipped {
            let detail = if phase.xfail { RunDetail::ExpectedFailure } else { RunDetail::Skipped };
            return (Outcome::Skipped, detail);
        }
        match (began, called) {
            (true, true) if self.ran.exit == Exit::Code(0) => (Outcome::Passed, RunDetail::Passed),
            (true, true) => (Outcome::HarnessError, RunDetail::ProcessFailed),
            (true, false) if self.ran.crashed() => (Outcome::Failed, RunDetail::Crashed),
            (true, false) => (Outcome::HarnessError, RunDetail::EndedEarly),
            // 4 and 5 are pytest's for a test that does not exist.
            (false, _) if matches!(self.ran.exit, Exit::Code(4 | 5)) => {
                (Outcome::NotRun, RunDetail::NoSuchTest)
            }
            (false, _) => (Outcome::HarnessError, RunDetail::NeverBegan),
        }
    }

    /// How long the test took, without what pytest takes to start; none if it did not end.
    pub(super) fn duration(&self) -> Option<Duration> {
        self.phases().find(|phase| phase.when == When::Teardown)?;
        let seconds = self.phases().map(|phase| phase.seconds).sum();
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// What the failure says of itself.
    pub(super) fn message(&self) -> String {
        let failed = self.phases().filter(|phase| phase.outcome == Outcomes::Failed);
        failed.map(|phase| phase.message.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// Every test of a suite; one that began and never ended has failed.
    pub(super) fn outcomes(&self) -> BTreeMap<String, Outcome> {
        let mut outcomes = BTreeMap::new();
        for event in &self.events {
            match event {
                Event::Start { test } => {
                    outcomes.insert(test.clone(), Outcome::Failed);
                }
                Event::Phase(phase) if phase.outcome == Outcomes::Failed => {
                    outcomes.insert(phase.test.clone(), Outcome::BuildError);
                }
                Event::Phase(phase) if phase.outcome == Outcomes::Skipped => {
                    outcomes.insert(phase.test.clone(), Outcome::Skipped);
                }
                // A failure of another phase stands.
                Event::Phase(phase) if phase.when == When::Teardown => {
                    let end = outcomes.entry(phase.test.clone()).or_insert(Outcome::Failed);
                    if *end == Outcome::Failed {
                        *end = Outcome::Passed;
                    }
                }
                _ => {}
            }
        }
        let failed =
            |outcome| if outcome == Outcome::BuildError { Outcome::Failed } else { outcome };
        outcomes.into_iter().map(|(test, outcome)| (test, failed(outcome))).collect()
    }

    /// The files of the repository that each test ran code of.
    pub(super) fn touched(self) -> BTreeMap<String, BTreeSet<String>> {
        let touched = self.events.into_iter().filter_map(|event| match event {
            Event::Touched { test, files } => Some((test, files)),
            _ => None,
        });
        touched.collect()
    }
}
