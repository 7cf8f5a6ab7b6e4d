//! What a workshop is told, and why it may not open at all.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use probity_sandbox::Backend;

use crate::{CustomRunner, FetchOptions, Level, TreeError, Watch};

#[derive(Debug, Clone)]
pub struct ProofOptions {
    /// The reviewed repository, which is only read.
    pub repo: PathBuf,
    /// What the reviewed change began from.
    pub base: Option<Base>,
    /// Files that a fix may change; none given means all but tests, settings and strangers' code.
    pub reviewed: Option<BTreeSet<String>>,
    /// Commands that run the tests of files, before the runners that are built in.
    pub runners: Vec<CustomRunner>,
    /// Files of the repository that no test sees.
    pub withheld: Option<fn(&Path) -> bool>,
    /// How many claims are tried at a time; zero is one for each processor.
    pub jobs: usize,
    /// Of one run of one test.
    pub test_timeout: Duration,
    /// Of one compilation, and of each step of the preparation.
    pub build_timeout: Duration,
    /// Of the existing tests, each time that they run.
    pub suite_timeout: Duration,
    /// Of all claims together, without the preparation.
    pub proof_timeout: Option<Duration>,
    /// The least number of pairs of runs, at least [`ProofOptions::LEAST_PAIRS`].
    pub pairs: u32,
    /// The least that counts as proven.
    pub required: Level,
    /// What a claim is whose fix no existing test guards.
    pub without_guard: WithoutGuard,
    /// Bubblewrap, or none. Containers are refused: the tool chains are on this machine.
    pub sandbox: Backend,
    /// The caller's environment. Tools are looked up in its `PATH`, and a few names that hold no
    /// secrets are passed on; tests see nothing else of it.
    pub environment: Vec<(OsString, OsString)>,
    /// Where build caches stay from one review to the next; without it, or if it is in the repository,
    /// they go with the workshop.
    pub caches: Option<PathBuf>,
    /// How dependencies are fetched; not at all without it.
    pub fetch: Option<FetchOptions>,
    /// Bytes of output that are kept of each run.
    pub output_cap: usize,
    /// Once true, tests that run are killed, and no other is started.
    pub cancel: Arc<AtomicBool>,
    /// Who is told what is being done.
    pub watch: Watch,
}

/// Where a change began, and the lines that it added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Base {
    pub commit: String,
    /// By file: first and last line of each run of added lines.
    pub added: BTreeMap<String, Vec<(u32, u32)>>,
}

/// What is done with a claim that fails and has no fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithoutFix {
    /// Nothing: somebody will be asked for a fix first.
    Leave,
    /// The flagged function is made to return other values.
    Alter,
}

/// What a claim is that fails, and passes with a fix of which no existing test says what it breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithoutGuard {
    /// No more than its level says.
    Observe,
    /// Proven, since its test fails.
    Count,
}

impl ProofOptions {
    pub const LEAST_PAIRS: u32 = 4;
    pub const MOST_PAIRS: u32 = 12;
    /// A coin passes for a proof once in a thousand times.
    pub const PAIRS: u32 = 5;

    /// The defaults for a repository.
    pub fn new(repo: impl Into<PathBuf>, sandbox: Backend) -> Self {
        Self {
            repo: repo.into(),
            base: None,
            reviewed: None,
            runners: Vec::new(),
            withheld: None,
            jobs: 0,
            test_timeout: Duration::from_secs(30),
            build_timeout: Duration::from_secs(300),
            suite_timeout: Duration::from_secs(120),
            proof_timeout: None,
            pairs: Self::PAIRS,
            required: Level::Flips,
            without_guard: WithoutGuard::Observe,
            sandbox,
            environment: std::env::vars_os().collect(),
            caches: None,
            fetch: FetchOptions::public(),
            output_cap: 64 * 1024,
            cancel: Arc::default(),
            watch: Watch::default(),
        }
    }
}

impl Base {
    /// Whether the change added every one of these lines.
    pub(crate) fn added_all(&self, file: &str, first: u32, last: u32) -> bool {
        let runs = self.added.get(file).map_or(&[][..], Vec::as_slice);
        (first..=last).all(|line| runs.iter().any(|(from, to)| (*from..=*to).contains(&line)))
    }
}

/// Why no claim at all could be tried.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    #[error(transparent)]
    Tree(#[from] TreeError),
    #[error("proofs run in bubblewrap or without a sandbox, not in containers")]
    Container,
    #[error("cannot create a directory for proofs: {0}")]
    Directory(io::Error),
    #[error("the review was cancelled")]
    Cancelled,
}
