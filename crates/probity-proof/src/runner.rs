//! What a test runner is: where a test goes, how it is built and run, and which tests exist already.

pub(crate) mod capture;
pub(crate) mod context;
pub(crate) mod go;
pub(crate) mod javascript;
pub(crate) mod placement;
pub(crate) mod python;
pub(crate) mod rust;

use std::{collections::BTreeMap, fmt, io, path::Path, time::Duration};

use probity_sandbox::Exit;

use self::{capture::Ran, context::Site};
use crate::{Claim, Outcome, Refusal, RunDetail, claim::FlaggedLines, text::clean};

pub(crate) trait Runner: fmt::Debug + Send + Sync {
    fn name(&self) -> &'static str;

    /// Decides where the test of a claim goes, by what is in this directory. Nothing is written.
    fn place(&self, repo: &Path, claim: &Claim, flagged: &FlaggedLines) -> Result<Placed, Refusal>;

    /// Compiles the test, where that is a step of its own.
    fn build(&self, _site: &Site<'_>, _placed: &Placed) -> Result<Built, Box<Trial>> {
        Ok(Built::default())
    }

    /// Runs the test once.
    fn run(&self, site: &Site<'_>, placed: &Placed, built: &Built) -> Result<Trial, Trouble>;

    /// Runs existing tests; none of an agent's is there.
    fn run_existing(&self, site: &Site<'_>, wanted: Existing<'_>) -> Result<Suite, Box<Trial>>;
}

/// Which of the existing tests are run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Existing<'a> {
    /// Those that touch one of these files, or those of its package if nobody knows.
    Touching(&'a [String]),
    /// Those of these names, as an earlier run has told them.
    Named(&'a [String]),
}

/// Stands among the tests of a package for its building, which is none.
pub(crate) const BUILD: &str = "(build)";

/// What the existing tests did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Suite {
    pub(crate) outcomes: BTreeMap<String, Outcome>,
    /// Whether some of them had no time left.
    pub(crate) is_cut: bool,
}

/// A test that has its place.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    /// Relative to the copy.
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) source: String,
    /// A file of the repository, and what is added to its end.
    pub(crate) added: Option<(String, String)>,
    /// Where its commands run, relative to the copy.
    pub(crate) directory: std::path::PathBuf,
    pub(crate) flagged: FlaggedLines,
}

/// What building has made.
#[derive(Debug, Default)]
pub(crate) struct Built {
    /// As the commands see it; empty where there is none.
    pub(crate) program: std::path::PathBuf,
    /// The test as its program names it.
    pub(crate) test: String,
}

/// One run and what it showed.
#[derive(Debug, Clone)]
pub(crate) struct Trial {
    pub(crate) outcome: Outcome,
    pub(crate) detail: RunDetail,
    /// The test's own if that is known, otherwise its process's.
    pub(crate) duration: Duration,
    /// What the failure says of itself, for comparing one with another.
    pub(crate) message: String,
    pub(crate) output: String,
}

impl Trial {
    pub(crate) fn new(outcome: Outcome, detail: RunDetail) -> Self {
        let (message, output) = (String::new(), String::new());
        Self { outcome, detail, duration: Duration::ZERO, message, output }
    }

    /// A run that could not be made, for a reason that is not the code's.
    pub(crate) fn trouble(trouble: Trouble) -> Self {
        Self::new(Outcome::HarnessError, RunDetail::Trouble(trouble))
    }

    /// With the evidence of the process.
    pub(crate) fn of(mut self, site: &Site<'_>, ran: &Ran, text: &[u8]) -> Self {
        self.duration = ran.duration;
        self.output = site.relative(&clean(text, site.context.output_cap));
        self
    }
}

impl From<Trouble> for Box<Trial> {
    fn from(trouble: Trouble) -> Self {
        Self::new(Trial::trouble(trouble))
    }
}

/// How a compiler that has made nothing ended.
pub(crate) fn failed_build(exit: Exit) -> Option<(Outcome, RunDetail)> {
    Some(match exit {
        Exit::Code(0) => return None,
        Exit::Code(_) => (Outcome::BuildError, RunDetail::Unbuilt),
        Exit::Timeout => (Outcome::HarnessError, RunDetail::BuildTimeout),
        _ => (Outcome::HarnessError, RunDetail::BuildKilled),
    })
}

/// What kept a command from running, through no fault of the code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error("the review was cancelled")]
    Cancelled,
    #[error("the time limit for all proofs was reached")]
    OutOfTime,
    /// In the machine's own words.
    #[error("{0}")]
    Machine(String),
    #[error("{0} is not installed in the repository")]
    PackageMissing(String),
}

impl Trouble {
    pub(crate) fn at(path: &Path, error: &io::Error) -> Self {
        Self::Machine(format!("{}: {error}", path.display()))
    }
}

/// Why a language has no runner on this machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    #[error("{0} is not installed")]
    NotInstalled(&'static str),
    #[error("none of the Python interpreters found here has pytest")]
    NoPytest,
    #[error(transparent)]
    Trouble(#[from] Trouble),
}
