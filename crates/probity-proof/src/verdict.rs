//! What the experiments on a claim have shown, as values. Sentences are made of them elsewhere.

use std::{fmt, time::Duration};

use probity_finding::patch::PatchError;

use crate::runner::{ReportFault, Trouble, Unavailable};

/// What became of the test on the code as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    Failed,
    Passed,
    BuildError,
    /// The test could not be run for a reason that is not the code's.
    HarnessError,
    Timeout,
    /// The test skipped itself.
    Skipped,
    /// No test of that name ran.
    NotRun,
    /// It failed, and then it did not, or the other way round.
    Flaky,
    /// The claim was not tried: its test wanted to be where no test may be, or wrote over code.
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
    #[must_use]
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

/// How far a proof goes; each level includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// P0: somebody says so.
    Claimed,
    /// P1: the test fails in every run.
    Fails,
    /// P2: it passes if the flagged function returns another value.
    Depends,
    /// P3: it passes with a fix that breaks nothing, or before the change that added the lines.
    Flips,
}

impl Level {
    pub const ALL: [Self; 4] = [Self::Claimed, Self::Fails, Self::Depends, Self::Flips];

    /// Stable: reports, databases and configurations hold it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Claimed => "P0",
            Self::Fails => "P1",
            Self::Depends => "P2",
            Self::Flips => "P3",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name().eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// One run of the test on the code as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub outcome: Outcome,
    pub duration: Duration,
}

/// All that is known about a claim after its experiments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The claim's.
    pub id: String,
    pub outcome: Outcome,
    /// Why the outcome is what it is.
    pub why: Why,
    pub level: Level,
    /// Whether the level is enough.
    pub proven: bool,
    /// None if there is no runner for the file.
    pub runner: Option<&'static str>,
    /// The language of the file, if probity runs tests of it.
    pub language: Option<&'static str>,
    /// Where the commands of the test run, relative to the repository; empty if it has no place.
    pub package: String,
    /// Whether tests can start in this place: this one began, or an empty one passes there. None if
    /// nothing has shown it, which is no yes.
    pub can_start: Option<bool>,
    pub runs: Vec<Run>,
    /// Pairs of runs, one with each version of the code, that decided.
    pub pairs: u32,
    pub fix: FixResult,
    /// The one of the claim's fixes that `fix` is about: the one that proves it, or the first.
    pub fix_patch: Option<String>,
    pub base: BaseResult,
    /// The name of the function that the flagged lines are in, if a grammar tells.
    pub function: Option<String>,
    /// The flagged function, if the test passes once it returns another value.
    pub altered: Option<String>,
    /// Whether the reviewed change brought the defect; none if that could not be found out.
    pub introduced: Option<bool>,
    /// Relative to the repository, as it was run; empty if it was not.
    pub test_path: String,
    pub test_name: String,
    /// As it was run.
    pub test_source: String,
    /// Of the run that decided. Capped; ANSI sequences and NUL are gone.
    pub output: String,
}

impl Verdict {
    /// Of a claim that nothing was tried on.
    pub(crate) fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            outcome: Outcome::NotRun,
            why: Why::Cancelled,
            level: Level::Claimed,
            proven: false,
            runner: None,
            language: None,
            package: String::new(),
            can_start: None,
            runs: Vec::new(),
            pairs: 0,
            fix: FixResult::NotOffered,
            fix_patch: None,
            base: BaseResult::NotTried,
            function: None,
            altered: None,
            introduced: None,
            test_path: String::new(),
            test_name: String::new(),
            test_source: String::new(),
            output: String::new(),
        }
    }

    /// Whether another fix could still prove it.
    #[must_use]
    pub fn wants_fix(&self) -> bool {
        matches!(self.outcome, Outcome::Failed | Outcome::Timeout)
            && self.level < Level::Flips
            // No other fix gives the repository tests that run.
            && !matches!(self.fix, FixResult::Unguarded { .. })
    }
}

/// Why an outcome is what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// The test was never placed.
    Refused(Refusal),
    /// What the deciding run showed.
    Ran(RunDetail),
    /// Not even an empty test runs in its place: this is what that one showed.
    Unstarted(RunDetail),
    /// Run number `run` ended otherwise than those before it.
    Changed {
        run: u32,
        then: Outcome,
    },
    /// A test that cannot pass passes in its place: the repository decides what its tests say.
    AlwaysPasses,
    /// The test writes over this file of the code.
    WroteCode(String),
    /// The test reads the text of this file instead of running it.
    ReadCode(String),
    Cancelled,
    /// The time for all proofs ended before this one did.
    OutOfTime,
    /// The proof runner itself failed.
    Panicked,
}

/// Why a claim's test has no place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    NoTest,
    TestTooLarge {
        limit: usize,
    },
    NulInTest,
    FlaggedPathOutside(String),
    FlaggedFileMissing(String),
    TestPathOutside(String),
    TestPathThroughLink(String),
    TestFileExists(String),
    NotATestFileName(String),
    /// The code holds no test, or none of this name.
    NoSuchTest(Option<String>),
    /// The flagged file belongs to no package.
    NoPackage(String),
    /// A command could take the test's name for something else.
    UnusableTestName(String),
    /// Nothing runs tests for this file.
    NoRunner(String),
    /// This machine lacks what would run it.
    Unavailable(Unavailable),
}

/// What one run showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunDetail {
    Passed,
    /// The test reported a failure, by an exception of this kind if it has one.
    Failed {
        kind: Option<String>,
    },
    Crashed,
    /// The test could not be compiled or loaded.
    Unbuilt,
    /// Neither it nor its package.
    PackageUnbuilt,
    BuildTimeout,
    BuildKilled,
    /// The test took longer than this.
    Timeout(Duration),
    Skipped,
    ExpectedFailure,
    NoSuchTest,
    /// The process ended before the test did.
    EndedEarly,
    /// The test passed, and its process failed.
    ProcessFailed,
    SetupFailed,
    TeardownFailed,
    /// The runner ended before the test began.
    NeverBegan,
    /// The code needs something that is not on this machine; what brings it, in words for people.
    Missing {
        what: String,
        help: String,
    },
    /// The command's report shows nothing about the test.
    NoReport(ReportFault),
    Trouble(Trouble),
}

impl RunDetail {
    pub(crate) fn outcome(&self) -> Outcome {
        match self {
            Self::Passed => Outcome::Passed,
            Self::Failed { .. } | Self::Crashed => Outcome::Failed,
            Self::Unbuilt | Self::PackageUnbuilt => Outcome::BuildError,
            Self::Timeout(_) => Outcome::Timeout,
            Self::Skipped | Self::ExpectedFailure => Outcome::Skipped,
            Self::NoSuchTest => Outcome::NotRun,
            _ => Outcome::HarnessError,
        }
    }

    /// Whether the test began, as far as this run alone shows; none if it may be that nothing begins
    /// in its place.
    pub(crate) fn began(&self) -> Option<bool> {
        match self {
            Self::Passed
            | Self::Failed { .. }
            | Self::ExpectedFailure
            | Self::ProcessFailed
            | Self::TeardownFailed => Some(true),
            Self::Unbuilt
            | Self::PackageUnbuilt
            | Self::Timeout(_)
            | Self::Crashed
            | Self::Skipped
            | Self::NoSuchTest
            | Self::EndedEarly
            | Self::SetupFailed
            | Self::NeverBegan => None,
            // The machine or its time limit has stopped it, and would stop another one.
            Self::BuildTimeout
            | Self::BuildKilled
            | Self::Missing { .. }
            | Self::NoReport(_)
            | Self::Trouble(_) => Some(false),
        }
    }
}

/// What became of the fix that came with the claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FixResult {
    NotOffered,
    /// It was not tried.
    Refused(FixFault),
    /// The test passes, or shows nothing about any code.
    NotJudged,
    /// The test does not pass with it.
    DoesNotFlip(Outcome),
    /// The test passes with it, but takes longer than a tenth of its time.
    Slow,
    /// Another run with it ended otherwise.
    Flaky,
    /// These existing tests pass without it and fail with it.
    Breaks(Vec<BrokenTest>),
    /// Every existing test that touches the changed files ran without it and with it, and none
    /// breaks; so many pass. None does if the repository has none.
    Guarded {
        passed: usize,
    },
    /// The nearest existing tests ran, and none breaks; the gaps say which others did not.
    PartlyGuarded {
        passed: usize,
        gaps: Vec<Gap>,
    },
    /// The test passes with it, and no existing test could say what else the fix does.
    Unguarded {
        gaps: Vec<Gap>,
    },
}

impl FixResult {
    /// Whether the fix proves its claim: the test passes with it, and existing tests that ran on
    /// both sides do not break. Without such tests nobody knows what it breaks.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        match self {
            Self::Guarded { .. } | Self::PartlyGuarded { .. } => true,
            Self::Unguarded { .. }
            | Self::NotOffered
            | Self::Refused(_)
            | Self::NotJudged
            | Self::DoesNotFlip(_)
            | Self::Slow
            | Self::Flaky
            | Self::Breaks(_) => false,
        }
    }
}

/// An existing test that a fix breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrokenTest {
    Named(String),
    /// The existing tests do not even build with the fix.
    Build,
}

/// Existing tests that could say nothing about a fix, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gap {
    /// This file of tests could not be loaded.
    Unloaded(String),
    /// Without the fix none of them passes either.
    NonePasses,
    /// Those of this place did not run, or not to their end.
    NotRun { place: String, detail: RunDetail },
    /// Those of this place had no time left.
    OutOfTime { place: String },
    /// One run of all tests shows what each of them touches; so many had no time in it.
    Unmapped { tests: usize },
    /// So many files or packages of tests are more than run for one fix.
    TooMany { left_out: usize },
    /// This test has another name in each run.
    Renamed(String),
    /// The runner has no command that runs them.
    NoSuite,
}

/// Why a fix is not tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FixFault {
    Patch(PatchError),
    Unreadable(String),
    NotUnderReview(String),
    TouchesTest(String),
    TouchesSettings(String),
    TouchesGenerated(String),
    /// It does not change the flagged file.
    LeavesFlagged(String),
    /// It changes nothing but comments there.
    OnlyComments(String),
    Cheats(Cheat),
}

/// How a fix would make the test pass without curing anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cheat {
    /// It looks for the test by this word.
    DetectsTest(String),
    /// It treats this input of the test as a special case.
    SpecialCase(String),
    /// It takes away what this function did with its input.
    DropsCode(String),
    /// It ends the process or takes assertions away, by this word.
    SilencesFailure(String),
}

/// What the test does at the merge base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseResult {
    NotTried,
    Passes,
    Fails,
    /// It cannot be run there, for instance because the code is new.
    Unknown,
}
