//! One review from beginning to end: ask an agent, prove what it claims, and judge.
//!
//! [`ask`], [`prove`] and [`merge`] are the three steps, which may be taken on different machines.
//! [`review`] takes them in one process. Nothing is written here but copies.

mod admit;
mod ask;
mod compare;
mod conversation;
mod failed;
mod fingerprint;
mod follow;
mod ground;
mod ids;
mod judge;
mod page;
mod proving;
mod question;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use probity_agent::{Agent, AgentError, Cancel};
use probity_proof::{CustomRunner, FetchOptions, Watch, WithoutGuard};
use probity_sandbox::Backend;

use self::{
    conversation::Conversation, failed::Failed, ground::Ground, page::Page,
    proving::PendingWorkshop,
};
use crate::{
    Bar, ReviewConfig,
    claims::{Claims, NamedPart, Part, Shard, collected},
    output::ReviewOutput,
    redact::Redactor,
    tests_on_disk::TestFile,
};

pub use self::{compare::Previous, failed::StepError};

/// What is reviewed. It is only read.
#[derive(Clone)]
pub struct Checkout {
    pub repo: PathBuf,
    /// Lies in the repository now and then, and is not reviewed.
    pub output: Option<PathBuf>,
    /// Values that must not appear in anything that is left behind.
    pub hidden: Vec<String>,
}

/// Everything that asking is told. Configuration files were read by whoever made it.
pub struct AskOptions<'a> {
    pub config: ReviewConfig,
    /// Its name, for the metadata.
    pub profile: String,
    pub bar: Bar,
    /// The base of the change, if only a change is reviewed.
    pub diff_base: Option<String>,
    pub agent: AgentSeat<'a>,
    pub max_findings: usize,
    /// How often the agent is asked again for fixes of what fails.
    pub max_fix_rounds: u32,
    /// For the existing tests that a fix must not break, each time that they run.
    pub suite_timeout: Duration,
    /// Of all proofs together.
    pub proof_timeout: Option<Duration>,
    /// The review that this one is compared with, and whose proofs are run again.
    pub previous: Option<Previous>,
    /// Whether the proofs of all its issues are run again, also of files that the change leaves alone.
    pub prove_all_known: bool,
    /// Ends the agent.
    pub cancel: Cancel,
}

/// What proving is told besides the claims.
pub struct ProveOptions {
    /// Commands that run the tests of files that they match.
    pub runners: Vec<CustomRunner>,
    /// Proofs at a time; zero is one for each processor.
    pub jobs: usize,
    pub tests: TestPlace,
    /// What a finding is whose fix no existing test guards.
    pub without_guard: WithoutGuard,
    /// Ends the tests; set it together with the agent's.
    pub stop: Arc<AtomicBool>,
    /// Who is told what runs now.
    pub watch: Watch,
}

/// Who is asked, and where it sits.
pub struct AgentSeat<'a> {
    pub name: String,
    pub model: String,
    /// What contains it, in words.
    pub isolation: String,
    pub timeout: Duration,
    /// In US dollars.
    pub budget: Option<f64>,
    /// Opens a conversation with an agent whose working directory is the given copy.
    pub open: &'a OpenAgent<'a>,
}

/// Opens a conversation; the path is the agent's working directory.
pub type OpenAgent<'a> = dyn Fn(&Path) -> Result<Box<dyn Agent>, Unopened> + Sync + 'a;

/// Why there is no agent to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unopened {
    pub message: String,
    pub help: String,
}

impl From<AgentError> for Unopened {
    fn from(error: AgentError) -> Self {
        Self { message: error.to_string(), help: error.way_out().to_owned() }
    }
}

/// Where tests run.
pub struct TestPlace {
    pub sandbox: Backend,
    pub environment: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    pub caches: Option<PathBuf>,
    /// How dependencies are fetched; not at all without it.
    pub fetch: Option<FetchOptions>,
}

/// What is said while a review goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A step begins.
    Step(&'a str),
    /// So many claims are going to be proven.
    Proving { of: usize },
    /// One claim is proven or not; told once for each.
    Proved { done: usize, of: usize, claim: ProvedClaim<'a> },
}

/// A claim and what became of it, in a few words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProvedClaim<'a> {
    pub id: &'a str,
    pub file: &'a str,
    pub line: u32,
    pub title: &'a str,
    /// Of the test on the code as it is.
    pub outcome: &'a str,
    /// How far the proof goes, such as `P3`.
    pub level: &'a str,
    pub is_proven: bool,
}

/// Whoever is told.
pub(crate) type Events<'a> = dyn Fn(Event<'_>) + Sync + 'a;

/// The review, and the tests that belong beside it.
#[derive(Clone, Debug)]
pub struct Reviewed {
    pub output: ReviewOutput,
    pub tests: Vec<TestFile>,
}

/// Reviews a repository. It never fails: what keeps a review from happening becomes a review with the
/// status `error`, so that whoever reads the file learns what happened.
pub fn review(
    checkout: &Checkout,
    options: &AskOptions<'_>,
    proving: &ProveOptions,
    events: &Events<'_>,
) -> Reviewed {
    let reviewed = Page::begin(checkout, options).or_failure(checkout, |page, redactor| {
        let ground = Ground::look(checkout, options.diff_base.as_deref(), events)?;
        let settings = ask::settings(options);
        let mut pending = PendingWorkshop::new(checkout, &ground, &settings, proving);
        if !ground.files(&settings.config).is_empty() {
            // The tests get their place while the agent thinks.
            pending.begin(events);
        }
        let (mut claims, mut conversation) =
            ask::findings(checkout, options, settings, &ground, page, redactor, events)?;
        loop {
            *page = Page::of(&claims);
            claims.settle(pending.results(&claims, Shard::WHOLE, redactor, events)?);
            match &mut conversation {
                Some(conversation) if claims.wants_fixes() => {
                    conversation.improve(&mut claims, redactor, events);
                }
                _ => break,
            }
            if claims.open().is_empty() {
                break;
            }
        }
        if let Some(conversation) = conversation {
            conversation.close(&mut claims);
        }
        Ok(judge::judged(checkout, &ground, claims, redactor))
    });
    reviewed.unwrap_or_else(|failed| *failed)
}

/// Asks the agent what is wrong with a repository, and proves nothing.
///
/// # Errors
///
/// When there is nobody to ask, or nothing to ask about, as a review that says so.
pub fn ask(
    checkout: &Checkout,
    options: &AskOptions<'_>,
    events: &Events<'_>,
) -> Result<Claims, Box<Reviewed>> {
    Page::begin(checkout, options).or_failure(checkout, |page, redactor| {
        let ground = Ground::look(checkout, options.diff_base.as_deref(), events)?;
        let settings = ask::settings(options);
        let (mut claims, conversation) =
            ask::findings(checkout, options, settings, &ground, page, redactor, events)?;
        if let Some(conversation) = conversation {
            conversation.close(&mut claims);
        }
        Ok(claims)
    })
}

/// Asks the agent for better fixes of what fails and is not proven. Claims that get one need a proof
/// again. Nobody is asked if nothing wants a fix, or no round is left.
///
/// # Errors
///
/// When the parts do not belong together or to this checkout, or there is nobody to ask.
pub fn ask_again(
    checkout: &Checkout,
    options: &AskOptions<'_>,
    parts: Vec<NamedPart>,
    events: &Events<'_>,
) -> Result<Claims, StepError> {
    let (mut claims, results) = collected(parts)?;
    claims.settle(results);
    if !claims.wants_fixes() {
        return Ok(claims);
    }
    let began = Instant::now();
    let ground = Ground::of_claims(checkout, &claims, events)?;
    let redactor = Redactor::new(&checkout.hidden).map_err(|error| Failed::machine(&error))?;
    let mut conversation = Conversation::open(checkout, options, &ground)?;
    conversation.improve(&mut claims, &redactor, events);
    conversation.close(&mut claims);
    claims.milliseconds += page::milliseconds(began);
    Ok(claims)
}

/// Proves the claims of one shard.
///
/// # Errors
///
/// When the claims are not about this checkout, or no test can be run at all.
pub fn prove(
    checkout: &Checkout,
    options: &ProveOptions,
    claims: &Claims,
    shard: Shard,
    events: &Events<'_>,
) -> Result<Part, StepError> {
    let ground = Ground::of_claims(checkout, claims, events)?;
    let redactor = Redactor::new(&checkout.hidden).map_err(|error| Failed::machine(&error))?;
    let mut pending = PendingWorkshop::new(checkout, &ground, &claims.settings, options);
    let results = pending.results(claims, shard, &redactor, events)?;
    Ok(Part::new(claims.clone(), shard, results))
}

/// Judges claims by the results of all shards.
///
/// # Errors
///
/// When the parts do not belong together or to this checkout.
pub fn merge(
    checkout: &Checkout,
    parts: Vec<NamedPart>,
    events: &Events<'_>,
) -> Result<Reviewed, StepError> {
    let (mut claims, results) = collected(parts)?;
    let ground = Ground::of_claims(checkout, &claims, events)?;
    let redactor = Redactor::new(&checkout.hidden).map_err(|error| Failed::machine(&error))?;
    claims.settle(results);
    Ok(judge::judged(checkout, &ground, claims, &redactor))
}

impl std::fmt::Debug for Checkout {
    /// Without the values that are hidden.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Checkout").field("repo", &self.repo).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for AskOptions<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("AskOptions")
            .field("agent", &self.agent.name)
            .field("bar", &self.bar)
            .field("diff_base", &self.diff_base)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for ProveOptions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ProveOptions").field("jobs", &self.jobs).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for AgentSeat<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AgentSeat").field("name", &self.name).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for TestPlace {
    /// Without the environment.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("TestPlace").field("sandbox", &self.sandbox).finish_non_exhaustive()
    }
}
