//! What became of a claim: its outcome, how far its proof goes, and the evidence for both.

use std::{fmt, time::Duration};

/// How a test ended, read from what its runner wrote for machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The named test ran and failed, every time.
    Failed,
    Passed,
    /// The test could not be compiled or loaded.
    BuildError,
    /// The test failed by its own fault, or could not be run for a reason that is not the code's.
    HarnessError,
    Timeout,
    /// The test skipped itself.
    Skipped,
    /// No test of that name ran.
    NotRun,
    /// It failed, and then it did not, or the other way round.
    Flaky,
    /// The claim was not run at all: its test wanted to be where no test may be.
    Rejected,
}

impl Outcome {
    pub const ALL: [Self; 9] = [
        Self::Failed,
        Self::Passed,
        Self::BuildError,
        Self::HarnessError,
        Self::Timeout,
        Self::Skipped,
        Self::NotRun,
        Self::Flaky,
        Self::Rejected,
    ];

    /// Stable: reports and databases hold it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Passed => "passed",
            Self::BuildError => "build-error",
            Self::HarnessError => "harness-error",
            Self::Timeout => "timeout",
            Self::Skipped => "skipped",
            Self::NotRun => "not-run",
            Self::Flaky => "flaky",
            Self::Rejected => "rejected",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// How far a proof goes; each level holds what the ones before it hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Somebody says so.
    Claimed,
    /// The test fails.
    Fails,
    /// It fails every time, and runs code of the flagged file.
    Stable,
    /// It passes at the merge base, or with the fix that came with the claim.
    Flips,
}

impl Level {
    pub const ALL: [Self; 4] = [Self::Claimed, Self::Fails, Self::Stable, Self::Flips];

    /// Stable: reports, databases and configurations hold it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claimed => "claimed",
            Self::Fails => "fails",
            Self::Stable => "stable",
            Self::Flips => "flips",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Whether the test ran code of the flagged file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    Reached {
        by: Evidence,
        /// Whether one of the flagged lines themselves was run.
        lines: bool,
    },
    NotReached,
    /// Nobody knows, for this reason.
    Unmeasured(String),
}

/// What shows that code was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    Coverage,
    Stack,
}

impl Evidence {
    pub fn name(self) -> &'static str {
        match self {
            Self::Coverage => "coverage",
            Self::Stack => "stack",
        }
    }
}

/// Whether the failure rests on what the code does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Control {
    /// The test did not get that far.
    NotTried,
    /// It does; the clause says how that is known.
    Depends(String),
    /// These functions were made to return other values, and nothing changed.
    Constant(String),
    /// What the test waits for is made of what these functions return, so that nothing will do.
    Moving(String),
    /// It does something else as soon as it is watched, although nothing is altered.
    Unlike,
    /// Nobody knows, for this reason.
    Unavailable(String),
}

/// One run of the test in the copy of the repository as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub outcome: Outcome,
    pub duration: Duration,
    /// Capped; ANSI sequences and NUL are gone.
    pub output: String,
}

/// All that is known about a claim after its test was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The claim's.
    pub id: String,
    pub outcome: Outcome,
    pub level: Level,
    /// Whether the level is the one asked for, or the nearest that can be measured here.
    pub proven: bool,
    /// A sentence for the report.
    pub reason: String,
    /// "none" where there is no runner for the file.
    pub runner: &'static str,
    pub runs: Vec<Run>,
    pub reach: Reach,
    pub control: Control,
    /// Whether the test passes at the merge base; none if that could not be found out.
    pub introduced: Option<bool>,
    /// Whether the test passes with the claim's fix; none without a fix that applies.
    pub fix_flips: Option<bool>,
    /// Relative to the repository, as it was run; empty if it was not.
    pub test_path: String,
    pub test_name: String,
    /// As it was run.
    pub test_source: String,
    /// Of the run that decided. Capped; ANSI sequences and NUL are gone.
    pub output: String,
    /// What the test was contained in, in words.
    pub isolation: String,
}
