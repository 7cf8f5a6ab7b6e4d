//! A pristine copy of the repository, warm caches, and the runners: made once, used by all claims.

mod exploit;
mod preparation;

use std::{
    collections::BTreeSet,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use probity_sandbox::{Backend, BackendKind};
use probity_scope::HeldDirectory;
use tempfile::TempDir;

use crate::{
    Claim, GitError, Level, Outcome, ProofError, ProofOptions, Refusal, Tree, TreeError,
    Unavailable, Verdict, Why, WithoutFix,
    experiment::{Baselines, Laboratory},
    host::{self, HostTools},
    places::Vault,
    repository::{
        copies::{Copies, Reuse},
        git::Git,
    },
    runner::{
        self, LANGUAGES, Placed, Runner, asked::Asked, context::RunnerContext, fetching::Fetching,
        placement,
    },
};

pub(crate) use self::preparation::Preparation;
pub use self::preparation::PrepareNote;

/// Where claims are tried. All of it goes when the workshop goes, but for the caches.
#[derive(Debug)]
pub struct Workshop {
    options: ProofOptions,
    context: RunnerContext,
    /// Removed last: everything else of the workshop is in it.
    _directory: TempDir,
    head: Copies,
    base: Option<Copies>,
    /// The endings of files, and what runs their tests or why nothing does.
    runners: Runners,
    /// Those of the options, in their order.
    custom: Vec<Box<dyn Runner>>,
    baselines: Baselines,
    notes: Vec<PrepareNote>,
    /// Of all claims that were ever tried, so that none meets another's files.
    tried: AtomicUsize,
    /// What is left of the time for all proofs.
    time_left: Mutex<Option<Duration>>,
}

type Runners = Vec<(Endings, PreparedRunner)>;
type Endings = &'static [&'static str];
type PreparedRunner = Result<Box<dyn Runner>, Unavailable>;

/// What the proofs of a workshop took, without the preparation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessCounts {
    /// Of compilers; one compilation may be several processes of its own.
    pub compilations: usize,
    /// Of tests, one by one or together.
    pub runs: usize,
    /// Copies of the repository that were made; one in which nothing was changed serves again.
    pub copies: usize,
}

/// Where the test of a claim goes in the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedTest {
    pub path: String,
    pub source: String,
    /// A file of the repository, and what is added to its end.
    pub added: Option<(String, String)>,
}

/// Files that tests can be run for here, or why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestTool {
    pub endings: &'static [&'static str],
    pub runner: Result<&'static str, Unavailable>,
}

impl Workshop {
    /// Copies the repository, fetches its dependencies and warms the caches, before any file that
    /// an agent has written exists. `progress` is told each step.
    ///
    /// # Errors
    ///
    /// When the repository cannot be copied, or the options ask for a container.
    pub fn prepare(
        mut options: ProofOptions,
        progress: &(dyn Fn(&str) + Sync),
    ) -> Result<Self, ProofError> {
        if matches!(options.sandbox, Backend::Engine(_)) {
            return Err(ProofError::Container);
        }
        progress("copying the repository");
        let unreadable = |source| TreeError::Directory { path: options.repo.clone(), source };
        options.repo = host::canonical_path(&options.repo).map_err(unreadable)?;
        let directory = tempfile::Builder::new().prefix("probity-proofs-").tempdir();
        let directory = directory.map_err(ProofError::Directory)?;
        let failed = ProofError::Directory;
        // Links on the way would make one place look like two.
        let root = host::real_path(directory.path()).unwrap_or_else(|| directory.path().to_owned());
        let vault = Vault::open(&root).map_err(failed)?;
        let context = context(&options, vault.again().map_err(failed)?).map_err(failed)?;
        let mut tree = Tree::of(&options.repo, None)?;
        if let Some(is_withheld) = options.withheld {
            tree.leave_out(is_withheld);
        }
        let pristine = vault.vault("pristine").map_err(failed)?;
        let repository = HeldDirectory::open(&options.repo).map_err(failed)?;
        tree.copy(&repository, pristine.held())?;
        let mut notes = Vec::new();
        if !tree.dropped.is_empty() {
            notes.push(PrepareNote::LinksDropped(tree.dropped.len()));
        }
        let endings = endings(&tree);
        let has = |known: &[&str]| known.iter().any(|ending| endings.contains(*ending));
        // Before anything of the repository runs.
        let host = HostTools::new(&context).map_err(failed)?;
        let asked = Asked::of(&host, has, &options.repo, pristine.held());
        // A copy that is seen where it is would change its path under what was built of it.
        let reuse = if context.moves_paths() { Reuse::IfUntouched } else { Reuse::Never };
        let base = options.base.as_ref().and_then(|base| {
            progress("copying the merge base");
            match base_copies(&options.repo, &base.commit, &vault, reuse) {
                Ok(copies) => Some(copies),
                Err(error) => {
                    let commit = base.commit.clone();
                    notes.push(PrepareNote::NoBase { commit, why: error.to_string() });
                    None
                }
            }
        });
        let heads = vault.vault("heads").map_err(failed)?;
        let head = Copies::new(tree, pristine.into_held(), heads, reuse);
        let prepare = vault.vault("prepare").map_err(failed)?;
        let site = context.site(head.lend(&prepare)?, &prepare);
        let site = site.map_err(|trouble| ProofError::Directory(io::Error::other(trouble)))?;
        let mut preparation = Preparation {
            repo: &options.repo,
            tree: &head.tree,
            files: &head.root,
            asked: &asked,
            site: &site,
            progress,
            notes: &mut notes,
        };
        let wanted = LANGUAGES.iter().filter(|language| has(language.endings));
        let runners = wanted
            .map(|language| (language.endings, (language.prepare)(&mut preparation)))
            .collect();
        let custom =
            options.runners.iter().map(|custom| runner::custom(&context, custom)).collect();
        drop(site);
        context.compilations.store(0, Ordering::Relaxed);
        context.runs.store(0, Ordering::Relaxed);
        let (baselines, tried) = (Baselines::default(), AtomicUsize::new(0));
        let time_left = Mutex::new(options.proof_timeout);
        Ok(Self {
            options,
            context,
            _directory: directory,
            head,
            base,
            runners,
            custom,
            baselines,
            notes,
            tried,
            time_left,
        })
    }

    /// Whether tests run in a sandbox.
    #[must_use]
    pub fn is_sandboxed(&self) -> bool {
        self.context.is_sandboxed()
    }

    /// What tests run in.
    #[must_use]
    pub fn sandbox(&self) -> BackendKind {
        self.context.backend.kind()
    }

    /// What went less well than it should while preparing.
    #[must_use]
    pub fn notes(&self) -> &[PrepareNote] {
        &self.notes
    }

    /// What runs tests here, for each kind of file that the repository has.
    #[must_use]
    pub fn test_tools(&self) -> Vec<TestTool> {
        let tools = self.runners.iter().map(|(endings, runner)| TestTool {
            endings,
            runner: runner.as_ref().map(|runner| runner.name()).map_err(Unavailable::clone),
        });
        tools.collect()
    }

    /// Decides where the test of a claim goes, and writes nothing.
    ///
    /// # Errors
    ///
    /// When it has no place.
    pub fn place(&self, claim: &Claim) -> Result<PlacedTest, Refusal> {
        let runner = self.runner(claim).map_err(|(_, refusal)| refusal)?;
        let flagged = placement::flagged(&self.head.root, claim)?;
        let Placed { path, source, added, .. } = runner.place(&self.head.root, claim, &flagged)?;
        Ok(PlacedTest { path, source, added })
    }

    #[must_use]
    pub fn process_counts(&self) -> ProcessCounts {
        let RunnerContext { compilations, runs, .. } = &self.context;
        let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        let copies = self.head.made() - 1 + self.base.as_ref().map_or(0, Copies::made);
        ProcessCounts { compilations: count(compilations), runs: count(runs), copies }
    }

    /// Tries all claims, as many at a time as the options say, and gives one verdict for each, in
    /// their order. `on_done` gets the number of the claim and is called as each is done.
    pub fn prove_all(
        &self,
        claims: &[Claim],
        without_fix: WithoutFix,
        on_done: &(dyn Fn(usize, &Verdict) + Sync),
    ) -> Vec<Verdict> {
        let jobs = match self.options.jobs {
            0 => thread::available_parallelism().map_or(1, Into::into),
            jobs => jobs,
        };
        let began = Instant::now();
        let mut time_left = self.time_left.lock().unwrap_or_else(PoisonError::into_inner);
        *self.context.deadline.lock().unwrap_or_else(PoisonError::into_inner) =
            time_left.map(|left| began + left);
        let next = AtomicUsize::new(0);
        let verdicts: Mutex<Vec<Option<Verdict>>> = Mutex::new(vec![None; claims.len()]);
        let work = || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(claim) = claims.get(number) else { return };
                let verdict = self.prove(claim, without_fix);
                on_done(number, &verdict);
                let mut verdicts = verdicts.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(place) = verdicts.get_mut(number) {
                    *place = Some(verdict);
                }
            }
        };
        thread::scope(|scope| {
            for _ in 1..jobs.min(claims.len()) {
                scope.spawn(work);
            }
            work();
        });
        *time_left = time_left.map(|left| left.saturating_sub(began.elapsed()));
        let verdicts = verdicts.into_inner().unwrap_or_else(PoisonError::into_inner);
        let all = claims.iter().zip(verdicts);
        all.map(|(claim, verdict)| verdict.unwrap_or_else(|| Verdict::new(&claim.id))).collect()
    }

    fn prove(&self, claim: &Claim, without_fix: WithoutFix) -> Verdict {
        let mut verdict = Verdict::new(&claim.id);
        verdict.language = self.language(claim);
        if self.context.time_left().is_zero() {
            verdict.end(Outcome::NotRun, Why::OutOfTime);
            return verdict;
        }
        if self.options.cancel.load(Ordering::Relaxed) {
            verdict.end(Outcome::NotRun, Why::Cancelled);
            return verdict;
        }
        let runner = match self.runner(claim) {
            Ok(runner) => runner,
            Err((outcome, refusal)) => {
                verdict.can_start = Some(false);
                verdict.end(outcome, Why::Refused(refusal));
                return verdict;
            }
        };
        verdict.runner = Some(runner.name());
        // One bad claim must not take the others down, whatever is wrong with it or with us.
        let proved = self.in_laboratory(runner, without_fix, |laboratory, vault| {
            laboratory.prove(claim, vault, &mut verdict);
        });
        if proved.is_none() {
            verdict.end(Outcome::HarnessError, Why::Panicked);
            (verdict.proven, verdict.level) = (false, Level::Claimed);
            verdict.can_start = Some(false);
        }
        // Whatever ends after the deadline was cut off by it.
        if self.context.time_left().is_zero() {
            verdict.end(Outcome::NotRun, Why::OutOfTime);
            (verdict.proven, verdict.level) = (false, Level::Claimed);
            verdict.can_start = None;
        }
        verdict
    }

    /// Works in a directory that no other claim has. None if the work panics.
    fn in_laboratory<Done>(
        &self,
        runner: &dyn Runner,
        without_fix: WithoutFix,
        work: impl FnOnce(&Laboratory<'_>, &Vault) -> Done,
    ) -> Option<Done> {
        let number = self.tried.fetch_add(1, Ordering::Relaxed);
        let name = format!("claim-{number}");
        let vault = self.context.vault.fresh_vault(&name).ok()?;
        let laboratory = Laboratory {
            options: &self.options,
            context: &self.context,
            runner,
            head: &self.head,
            base: self.base.as_ref(),
            baselines: &self.baselines,
            without_fix,
        };
        let done = catch_unwind(AssertUnwindSafe(|| work(&laboratory, &vault)));
        // What is left after all goes with the workshop.
        self.context.vault.remove(&name).ok();
        done.ok()
    }

    fn runner(&self, claim: &Claim) -> Result<&dyn Runner, (Outcome, Refusal)> {
        if let Some(runner) = self.custom(claim) {
            return Ok(runner);
        }
        match self.built_in(claim) {
            Some((_, Ok(runner))) => Ok(runner.as_ref()),
            Some((_, Err(why))) => Err((Outcome::HarnessError, Refusal::Unavailable(why.clone()))),
            None => Err((Outcome::NotRun, Refusal::NoRunner(claim.file.clone()))),
        }
    }

    fn custom(&self, claim: &Claim) -> Option<&dyn Runner> {
        let mut custom = self.options.runners.iter().zip(&self.custom);
        custom.find(|(known, _)| known.is_for(&claim.file)).map(|(_, runner)| runner.as_ref())
    }

    /// By the ending of the flagged file, or of its test.
    fn built_in(&self, claim: &Claim) -> Option<&(Endings, PreparedRunner)> {
        let by_ending = |path: &str| {
            let ending = Path::new(path).extension()?.to_str()?;
            self.runners.iter().find(|(endings, _)| endings.contains(&ending))
        };
        by_ending(&claim.file).or_else(|| claim.test_file.as_deref().and_then(by_ending))
    }

    /// The language of a claim that one of our own runners is for.
    fn language(&self, claim: &Claim) -> Option<&'static str> {
        if self.custom(claim).is_some() {
            return None;
        }
        let (endings, _) = self.built_in(claim)?;
        LANGUAGES.iter().find(|language| language.endings == *endings).map(|found| found.name)
    }
}

impl Drop for Workshop {
    /// Also what tests have taken our rights to.
    fn drop(&mut self) {
        self.context.vault.held().clear().ok();
    }
}

fn context(options: &ProofOptions, vault: Vault) -> io::Result<RunnerContext> {
    let kit = vault.leaf("kit")?;
    let kept = options.caches.as_ref();
    // Without such a directory a run is slower, and otherwise the same.
    let caches = match kept.and_then(|path| host::private_directory(path, &options.repo)) {
        Some(caches) => caches,
        None => vault.vault("caches")?,
    };
    let variable = |wanted: &str| {
        let found = options.environment.iter().rev().find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.clone())
    };
    let fetching = Fetching {
        options: options.fetch.clone(),
        home: variable("HOME").map(PathBuf::from),
        backend: options.sandbox.clone(),
    };
    Ok(RunnerContext {
        backend: options.sandbox.clone(),
        environment: options.environment.clone(),
        search_path: host::search_path(variable("PATH").as_deref(), &options.repo),
        vault,
        kit,
        caches,
        fetching,
        test_timeout: options.test_timeout,
        build_timeout: options.build_timeout,
        suite_timeout: options.suite_timeout,
        output_cap: options.output_cap,
        cancel: Arc::clone(&options.cancel),
        deadline: Mutex::new(None),
        compilations: AtomicUsize::new(0),
        runs: AtomicUsize::new(0),
        repo: options.repo.clone(),
        history: OnceLock::new(),
    })
}

/// The endings of the files that a tree has.
fn endings(tree: &Tree) -> BTreeSet<String> {
    let ending = |file: &PathBuf| Some(file.extension()?.to_str()?.to_owned());
    tree.files().iter().filter_map(ending).collect()
}

#[derive(Debug, thiserror::Error)]
enum BaseError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Tree(#[from] TreeError),
    #[error("cannot create a directory for it: {0}")]
    Directory(#[from] io::Error),
}

/// Copies of the merge base. git writes it out before any process sees it.
fn base_copies(
    repo: &Path,
    commit: &str,
    vault: &Vault,
    reuse: Reuse,
) -> Result<Copies, BaseError> {
    let git = Git::open(repo)?;
    let base = vault.vault("base")?;
    git.write_out(commit, base.path(), &vault.path().join("base.index"))?;
    // A link there would be a way out of what was written.
    let root = base.held().open_below(git.prefix())?;
    let tree = Tree::walked(&root, git.prefix())?;
    Ok(Copies::new(tree, root, vault.vault("bases")?, reuse))
}
