//! The proof runner: each claim's test, run in a copy of its own, and what that shows.
//!
//! A claim is a defect and a test that is said to fail because of it. The test never enters the
//! reviewed repository: it gets its own copy, its own file, its own filter and its own
//! environment, without network where the machine can, and what it shows is read from what test
//! runners write for machines.

mod alter;
mod capture;
mod comments;
mod constant;
mod copies;
mod go;
mod intact;
mod javascript;
mod lack;
mod ladder;
mod patch;
mod placement;
mod python;
mod regard;
mod runner;
mod rust;
mod site;
mod text;
mod tree;
mod untrusted;
mod verdict;
mod wanted;
mod workshop;

use std::{
    ffi::OsString,
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use probity_sandbox::Backend;
pub use verdict::{Control, Evidence, Level, Outcome, Reach, Run, Verdict};
pub use workshop::Workshop;

/// A defect that somebody claims, and the test that is to prove it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claim {
    /// Names the test's file, so it should be unique; anything but letters and digits is dropped.
    pub id: String,
    /// The flagged file, relative to the repository.
    pub file: String,
    pub line: u32,
    pub end_line: Option<u32>,
    pub test_code: String,
    /// Where the agent would put its test. Only the directory is used, but the path as a whole
    /// has to be one that a new test may have.
    pub test_file: Option<String>,
    /// Found in the code if it is not given.
    pub test_name: Option<String>,
    /// A unified diff against the repository.
    pub fix_patch: Option<String>,
}

#[derive(Debug, Clone)]
pub struct ProofOptions {
    /// The reviewed repository, which is only read.
    pub repo: PathBuf,
    /// The commit at which a test has to pass if this change has brought the defect.
    pub base: Option<String>,
    /// How many claims are run at a time; zero is one for each processor.
    pub jobs: usize,
    /// Of one run of one test.
    pub test_timeout: Duration,
    /// Of one compilation, and of each step of the preparation.
    pub build_timeout: Duration,
    /// How often a failing test is run in all.
    pub reruns: u32,
    /// The least that counts as proven.
    pub required: Level,
    /// Bubblewrap, or none. Containers are refused: the tool chains are on this machine.
    pub sandbox: Backend,
    /// The caller's environment. Tools are looked up in its `PATH`, and a few names that hold no
    /// secrets are passed on; tests see nothing else of it.
    pub environment: Vec<(OsString, OsString)>,
    /// Where build caches stay from one review to the next; without it they go with the workshop.
    pub caches: Option<PathBuf>,
    /// Bytes of output that are kept of each run.
    pub output_cap: usize,
    /// Once true, tests that run are killed, and no other is started.
    pub cancel: Arc<AtomicBool>,
}

impl ProofOptions {
    /// The defaults for a repository: three runs of 30 seconds, proofs that are stable and reach.
    pub fn new(repo: impl Into<PathBuf>, sandbox: Backend) -> Self {
        Self {
            repo: repo.into(),
            base: None,
            jobs: 0,
            test_timeout: Duration::from_secs(30),
            build_timeout: Duration::from_secs(300),
            reruns: 3,
            required: Level::Stable,
            sandbox,
            environment: std::env::vars_os().collect(),
            caches: None,
            output_cap: 64 * 1024,
            cancel: Arc::default(),
        }
    }
}

/// Why no claim at all could be run.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    #[error("{}: not a directory that can be read: {source}", path.display())]
    Repository { path: PathBuf, source: std::io::Error },
    #[error("{}: {what} is more than the {most} that a copy may have", path.display())]
    TooLarge { path: PathBuf, what: String, most: u64 },
    #[error("cannot copy {}: {source}", path.display())]
    Copy { path: PathBuf, source: std::io::Error },
    #[error("proofs run in bubblewrap or uncontained, not in containers")]
    Container,
    #[error("cannot make a directory for proofs: {0}")]
    Directory(std::io::Error),
    #[error("the review was cancelled")]
    Cancelled,
}
