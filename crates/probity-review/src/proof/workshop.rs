//! A pristine copy of the repository, warm caches, and the runners: made once, used by all claims.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use probity_sandbox::Backend;
use tempfile::TempDir;

use super::{
    Claim, Control, Level, Outcome, ProofError, ProofOptions, Reach, Verdict,
    copies::{Copies, remove},
    go::Go,
    javascript::{self, JavaScript},
    ladder::Ladder,
    python::Python,
    runner::Runner,
    rust::Rust,
    site::Bench,
    tree::Tree,
};
use crate::git::Git;

/// Where claims are tried. All of it goes when the workshop goes, but for the caches.
#[derive(Debug)]
pub struct Workshop {
    options: ProofOptions,
    bench: Bench,
    directory: TempDir,
    head: Copies,
    base: Option<Result<Copies, String>>,
    /// By the endings of the files that they are for.
    runners: Vec<(&'static [&'static str], Found)>,
    notes: Vec<String>,
}

/// A runner, or why there is none.
type Found = Result<Box<dyn Runner>, String>;

impl Workshop {
    /// Copies the repository, fetches its dependencies and warms the caches, before any file that
    /// an agent has written exists. `progress` is told each step.
    pub fn prepare(
        mut options: ProofOptions,
        progress: &(dyn Fn(&str) + Sync),
    ) -> Result<Self, ProofError> {
        if matches!(options.sandbox, Backend::Engine(_)) {
            return Err(ProofError::Container);
        }
        progress("copying the repository");
        let unreadable = |source| ProofError::Repository { path: options.repo.clone(), source };
        options.repo = fs::canonicalize(&options.repo).map_err(unreadable)?;
        let directory = tempfile::Builder::new().prefix("probity-proofs-").tempdir();
        let directory = directory.map_err(ProofError::Directory)?;
        // Links on the way would make one place look like two.
        let root = fs::canonicalize(directory.path()).map_err(ProofError::Directory)?;
        let caches = options.caches.clone().unwrap_or_else(|| root.join("caches"));
        let kit = root.join("kit");
        for made in [&caches, &kit] {
            fs::create_dir_all(made).map_err(ProofError::Directory)?;
        }
        let bench = Bench {
            backend: options.sandbox.clone(),
            environment: options.environment.clone(),
            kit,
            caches: fs::canonicalize(caches).map_err(ProofError::Directory)?,
            test_timeout: options.test_timeout,
            build_timeout: options.build_timeout,
            output_cap: options.output_cap,
            cancel: Arc::clone(&options.cancel),
        };
        let git = Git::open(&options.repo);
        let tree = Tree::of(&options.repo, git.as_ref().ok())?;
        let pristine = bench.site(&root.join("pristine"));
        let pristine = pristine.map_err(|why| ProofError::Directory(std::io::Error::other(why)))?;
        tree.take(&options.repo, &pristine.repo)?;
        let mut notes = Vec::new();
        if !tree.dropped.is_empty() {
            notes.push(format!("{} links that lead out were not copied", tree.dropped.len()));
        }
        let base = options.base.as_deref().map(|commit| {
            progress("copying the merge base");
            let base = git
                .map_err(|error| error.to_string())
                .and_then(|git| base(&git, commit, &root))
                .map_err(|why| format!("the merge base {commit} cannot be tried: {why}"))
                .inspect_err(|why| notes.push(why.clone()));
            base.map(|(tree, at)| Copies::new(tree, at, root.join("bases"), bench.contained()))
        });
        let mut runners: Vec<(&'static [&'static str], Found)> = Vec::new();
        if let Some(go) = Go::prepare(&bench, &pristine, &tree, progress, &mut notes) {
            runners.push((&["go"], go.map(|go| Box::new(go) as Box<dyn Runner>)));
        }
        let repo = &options.repo;
        if let Some(python) = Python::prepare(&bench, &pristine, repo, &tree, progress) {
            runners.push((&["py"], python.map(|python| Box::new(python) as Box<dyn Runner>)));
        }
        if let Some(found) = JavaScript::prepare(&bench, repo, &tree, progress) {
            let found = found.map(|found| Box::new(found) as Box<dyn Runner>);
            runners.push((javascript::ENDINGS, found));
        }
        if let Some(rust) = Rust::prepare(&bench, &pristine, &tree, progress, &mut notes) {
            runners.push((&["rs"], rust.map(|rust| Box::new(rust) as Box<dyn Runner>)));
        }
        let again = bench.contained();
        let head = Copies::new(tree, pristine.repo, root.join("heads"), again);
        Ok(Self { options, bench, directory, head, base, runners, notes })
    }

    /// What tests are contained in, in words for the report.
    pub fn isolation(&self) -> String {
        if self.bench.contained() {
            "bubblewrap: a copy of its own, no network, none of the machine's other files"
                .to_owned()
        } else {
            "none: a copy of its own, but network and files of the machine are open".to_owned()
        }
    }

    /// What went less well than it should while preparing, in words for the report.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Runs all claims, as many at a time as the options say, and gives one verdict for each, in
    /// their order. `on_done` gets the number of the claim and is called as each is done.
    pub fn prove_all(
        &self,
        claims: &[Claim],
        on_done: &(dyn Fn(usize, &Verdict) + Sync),
    ) -> Vec<Verdict> {
        let jobs = match self.options.jobs {
            0 => thread::available_parallelism().map_or(1, Into::into),
            jobs => jobs,
        };
        let next = AtomicUsize::new(0);
        let verdicts: Mutex<Vec<Option<Verdict>>> = Mutex::new(vec![None; claims.len()]);
        let work = || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(claim) = claims.get(number) else { return };
                let verdict = self.prove(number, claim);
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
        let verdicts = verdicts.into_inner().unwrap_or_else(PoisonError::into_inner);
        let missing = |(number, verdict): (usize, Option<Verdict>)| {
            verdict.or_else(|| claims.get(number).map(|claim| self.blank(claim)))
        };
        verdicts.into_iter().enumerate().filter_map(missing).collect()
    }

    fn prove(&self, number: usize, claim: &Claim) -> Verdict {
        let mut verdict = self.blank(claim);
        if self.options.cancel.load(Ordering::Relaxed) {
            verdict.end(Outcome::NotRun, "the review was cancelled before the test ran");
            return verdict;
        }
        let runner = match self.runner(claim) {
            Ok(runner) => runner,
            Err((outcome, why)) => {
                verdict.end(outcome, why);
                return verdict;
            }
        };
        verdict.runner = runner.name();
        let directory = self.directory.path().join("claims").join(number.to_string());
        let base = self.base.as_ref().and_then(|base| base.as_ref().ok());
        let ladder =
            Ladder { options: &self.options, bench: &self.bench, runner, head: &self.head, base };
        // One bad claim must not take the others down, whatever is wrong with it or with us.
        let climbed =
            catch_unwind(AssertUnwindSafe(|| ladder.climb(claim, &directory, &mut verdict)));
        if climbed.is_err() {
            verdict.end(Outcome::HarnessError, "the proof runner itself failed");
            verdict.proven = false;
        }
        remove(&directory);
        verdict
    }

    fn runner(&self, claim: &Claim) -> Result<&dyn Runner, (Outcome, String)> {
        let by_ending = |path: &str| {
            let ending = Path::new(path).extension()?.to_string_lossy().into_owned();
            self.runners.iter().find(|(endings, _)| endings.contains(&ending.as_str()))
        };
        let found = by_ending(&claim.file)
            .or_else(|| claim.test_file.as_deref().and_then(by_ending))
            .ok_or_else(|| (Outcome::NotRun, format!("no runner for {}", claim.file)))?;
        match &found.1 {
            Ok(runner) => Ok(runner.as_ref()),
            Err(why) => Err((Outcome::HarnessError, why.clone())),
        }
    }

    fn blank(&self, claim: &Claim) -> Verdict {
        Verdict {
            id: claim.id.clone(),
            outcome: Outcome::NotRun,
            level: Level::Claimed,
            proven: false,
            reason: "The test was not run.".to_owned(),
            runner: "none",
            runs: Vec::new(),
            reach: Reach::Unmeasured("the test did not fail".to_owned()),
            control: Control::NotTried,
            introduced: None,
            fix_flips: None,
            test_path: String::new(),
            test_name: String::new(),
            test_source: String::new(),
            output: String::new(),
            isolation: self.isolation(),
        }
    }
}

fn base(git: &Git, commit: &str, root: &Path) -> Result<(Tree, PathBuf), String> {
    let into = root.join("base");
    git.write_out(commit, &into, &root.join("base.index")).map_err(|error| error.to_string())?;
    let into = into.join(git.prefix());
    let tree = Tree::walked(&into).map_err(|error| error.to_string())?;
    Ok((tree, into))
}
