//! Where tests run: a clean copy, a directory for what was built, one for what a run writes, and how
//! commands are started there.
//!
//! In bubblewrap all copies are seen at one path, so that build caches, which hold paths, serve
//! every copy; each sees only its own. Landlock moves nothing: there, as without a sandbox, a copy is
//! where it is. What was built can be written by compilers alone: no test can change the program of
//! the next run.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use probity_sandbox::{Backend, Limits, Mount, Network, PromiseName, Spec, keeps};
use probity_scope::HeldDirectory;

use super::{
    Trouble,
    capture::{self, Ran},
    fetching::Fetching,
    report::Report,
    store::{self, StoreKey},
    witness::Witness,
};
use crate::{
    host, mounts,
    places::{Leaf, Vault, read_text},
    repository::{
        copies::PooledCopy,
        git::{Git, History},
    },
};

/// Bytes of memory, number of processes and bytes of a file that a test may have.
const MEMORY: u64 = 4 << 30;
const PROCESSES: u64 = 1024;
const FILE: u64 = 1 << 30;

/// Where the system's own programs are, with and without a sandbox.
const SYSTEM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What reporters write to.
pub(crate) const REPORT: &str = "report.jsonl";

/// What the sandbox shows of the system anyway.
pub(crate) const SYSTEM: [&str; 8] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store"];

/// Where the sandbox shows what is ours.
pub(crate) const OWN: &str = "/proof";

/// Names of the caller's variables that tests may see: none of them holds a secret.
const PASSED: [&str; 10] = [
    "CGO_ENABLED",
    "GOEXPERIMENT",
    "GOFLAGS",
    "LANG",
    "LC_ALL",
    "PKG_CONFIG_PATH",
    "RUSTFLAGS",
    "TERM",
    "TZ",
    "SOURCE_DATE_EPOCH",
];

/// What all runs share.
#[derive(Debug)]
pub(crate) struct RunnerContext {
    pub(crate) backend: Backend,
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// Where programs of the machine are: no directory of the repository, whatever `PATH` says.
    pub(crate) search_path: Vec<PathBuf>,
    /// The workshop's own, with all leaves that its runs share.
    pub(crate) vault: Vault,
    /// Files of ours that runners need beside the test: plugins and reporters.
    pub(crate) kit: Leaf,
    /// What stays from one review to the next. No process that runs code of a repository writes there.
    pub(crate) caches: Vault,
    pub(crate) fetching: Fetching,
    pub(crate) test_timeout: Duration,
    pub(crate) build_timeout: Duration,
    pub(crate) suite_timeout: Duration,
    pub(crate) output_cap: usize,
    /// Once true, what runs is killed and nothing else is started.
    pub(crate) cancel: Arc<AtomicBool>,
    /// When proofs have to end; none while preparing, or without a limit.
    pub(crate) deadline: Mutex<Option<Instant>>,
    pub(crate) compilations: AtomicUsize,
    pub(crate) runs: AtomicUsize,
    /// The reviewed repository, and what git knows of its commits once somebody has asked for it.
    pub(crate) repo: PathBuf,
    pub(crate) history: OnceLock<History>,
}

/// A copy for one run or one build, and the directories beside it.
#[derive(Debug)]
pub(crate) struct Site<'a> {
    pub(crate) context: &'a RunnerContext,
    pub(crate) copy: PooledCopy<'a>,
    /// This version's own.
    pub(crate) vault: Vault,
    /// What was built of this version of the code.
    pub(crate) build: Leaf,
    /// What this run writes.
    pub(crate) scratch: Leaf,
    /// The same as the commands see them.
    pub(crate) seen_repo: PathBuf,
    pub(crate) seen_build: PathBuf,
    pub(crate) seen_scratch: PathBuf,
    /// Of a run that has to show what the sandbox refuses.
    pub(crate) witness: Option<&'a Witness>,
}

/// What a command may do with what was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Compiles,
    Runs,
}

/// One command in a site.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) argv: Vec<OsString>,
    pub(crate) env: Vec<(OsString, OsString)>,
    /// Relative to the copy.
    pub(crate) directory: PathBuf,
    pub(crate) access: Access,
    /// Seen read-only where they are.
    pub(crate) tools: Vec<PathBuf>,
    /// Mounts beside those, host first.
    pub(crate) mounts: Vec<Mount>,
    /// Whether it may reach public hosts, and what the user's own file gives to fetches.
    pub(crate) fetches: bool,
    pub(crate) wall: Duration,
}

impl Task {
    pub(crate) fn new(
        argv: impl IntoIterator<Item = impl Into<OsString>>,
        directory: impl Into<PathBuf>,
        access: Access,
        wall: Duration,
    ) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            env: Vec::new(),
            directory: directory.into(),
            access,
            tools: Vec::new(),
            mounts: Vec::new(),
            fetches: false,
            wall,
        }
    }

    pub(crate) fn arguments<Word: Into<OsString>>(
        &mut self,
        words: impl IntoIterator<Item = Word>,
    ) {
        self.argv.extend(words.into_iter().map(Into::into));
    }

    pub(crate) fn variable(&mut self, name: &str, value: impl Into<OsString>) {
        self.env.push((name.into(), value.into()));
    }
}

impl RunnerContext {
    pub(crate) fn is_sandboxed(&self) -> bool {
        self.backend != Backend::None
    }

    /// Whether commands see what is ours at paths of our choice, and not where it is.
    pub(crate) fn moves_paths(&self) -> bool {
        keeps(self.backend.kind(), PromiseName::OtherPath)
    }

    /// A site for a copy, in the vault of its version.
    pub(crate) fn site<'a>(
        &'a self,
        copy: PooledCopy<'a>,
        vault: &Vault,
    ) -> Result<Site<'a>, Trouble> {
        let failed = |error: io::Error| Trouble::at(vault.path(), &error);
        let build = vault.leaf("build").map_err(failed)?;
        // What an earlier run has left there is none of this one's business.
        let scratch = vault.fresh_leaf("out").map_err(failed)?;
        scratch.held.ensure("tmp").map_err(failed)?;
        Ok(Site {
            context: self,
            seen_repo: self.seen("repo", copy.leaf().map_err(failed)?),
            seen_build: self.seen("build", &build),
            seen_scratch: self.seen("out", &scratch),
            copy,
            vault: vault.again().map_err(failed)?,
            build,
            scratch,
            witness: None,
        })
    }

    /// Puts a file of ours where commands see it.
    pub(crate) fn add_to_kit(&self, name: &str, text: &str) -> Result<(), Trouble> {
        let written = self.kit.held.write(name, text.as_bytes());
        written.map_err(|error| Trouble::at(Path::new(name), &error))
    }

    /// What a directory of ours is for commands.
    pub(crate) fn seen(&self, name: &str, leaf: &Leaf) -> PathBuf {
        if self.moves_paths() { Path::new(OWN).join(name) } else { leaf.own_path().to_owned() }
    }

    pub(crate) fn seen_kit(&self) -> PathBuf {
        self.seen("kit", &self.kit)
    }

    /// How long proofs may still take.
    pub(crate) fn time_left(&self) -> Duration {
        let deadline = *self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        deadline.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()))
    }

    /// What stays from one review to the next for a key, filled if nobody has filled it.
    pub(crate) fn stored(
        &self,
        kind: &str,
        key: StoreKey,
        fill: impl FnOnce(&Leaf) -> Result<(), Trouble>,
    ) -> Result<Leaf, Trouble> {
        let may_wait = |began: Instant| {
            let limit = self.build_timeout.min(self.time_left());
            !self.cancel.load(Ordering::SeqCst) && began.elapsed() < limit
        };
        store::stored(&self.caches, kind, key, may_wait, fill)
    }

    /// What a process that was killed with the review, or by the deadline, has shown is nothing.
    pub(crate) fn capture(&self, backend: &Backend, mut spec: Spec) -> Result<Ran, Trouble> {
        let stopped = || {
            if self.cancel.load(Ordering::SeqCst) {
                return Err(Trouble::Cancelled);
            }
            if self.time_left().is_zero() { Err(Trouble::OutOfTime) } else { Ok(()) }
        };
        stopped()?;
        spec.limits.wall = spec.limits.wall.map(|wall| wall.min(self.time_left()));
        let ran = capture::run(backend, spec, &self.cancel)
            .map_err(|error| Trouble::Machine(error.to_string()))?;
        stopped().map(|()| ran)
    }

    /// What git knows of commits: it reads the repository itself, of which nothing runs.
    pub(crate) fn history(&self) -> &History {
        let read = || Git::open(&self.repo).and_then(|git| History::of(&git)).unwrap_or_default();
        self.history.get_or_init(read)
    }

    /// The file that the machine has for a name.
    pub(crate) fn tool(&self, name: &str) -> Option<PathBuf> {
        let files = self.search_path.iter().map(|directory| directory.join(name));
        files.into_iter().find(|path| host::is_file(path))
    }

    /// All files that the machine has for such names.
    pub(crate) fn programs(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
        let in_directory = |directory: &PathBuf| {
            let mut names = host::names_in(directory);
            names.retain(|name| is_wanted(name));
            names.into_iter().map(|name| directory.join(name)).collect::<Vec<_>>()
        };
        self.search_path.iter().flat_map(in_directory).collect()
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&OsString> {
        self.environment.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The variables of the caller that tests see.
    pub(crate) fn passed_variables(&self) -> impl Iterator<Item = (&'static str, &OsString)> {
        PASSED.into_iter().filter_map(move |name| Some((name, self.variable(name)?)))
    }

    fn variables(&self, site: &Site<'_>) -> Vec<(OsString, OsString)> {
        let passed = self.passed_variables();
        let mut variables: Vec<(OsString, OsString)> =
            passed.map(|(name, value)| (name.into(), value.clone())).collect();
        variables.push(("CI".into(), "true".into()));
        variables.push(("NO_COLOR".into(), "1".into()));
        if self.is_sandboxed() {
            variables.push(("PATH".into(), SYSTEM_PATH.into()));
        } else {
            let path = std::env::join_paths(&self.search_path).ok();
            variables.push(("PATH".into(), path.unwrap_or_else(|| SYSTEM_PATH.into())));
            let own = site.seen_scratch.join("tmp");
            variables.push(("HOME".into(), own.clone().into()));
            variables.push(("TMPDIR".into(), own.into()));
        }
        variables
    }

    /// Programs of a user are often in `~/.local`, and what other programs keep there is nobody's business.
    fn without_data(&self, tool: &Path) -> Vec<PathBuf> {
        let home = self.variable("HOME").map(Path::new);
        if home.is_some_and(|home| home.join(".local") == tool) {
            ["bin", "lib", "libexec"].map(|part| tool.join(part)).to_vec()
        } else {
            vec![tool.to_owned()]
        }
    }

    /// Whether a directory of a tool is not shown by the sandbox already, and is not so broad
    /// that it would show more than a tool: a home, or what a home is in.
    fn may_be_shown(&self, tool: &Path) -> bool {
        let home = self.variable("HOME").map(Path::new);
        tool.is_absolute()
            && (host::is_directory(tool) || host::is_file(tool))
            && !SYSTEM.iter().any(|system| tool.starts_with(system))
            && home.is_none_or(|home| !home.starts_with(tool))
            && tool.components().count() > 2
    }
}

impl Site<'_> {
    /// Runs a command, without network unless it fetches.
    pub(crate) fn run(&self, task: &Task) -> Result<Ran, Trouble> {
        let context = self.context;
        let failed = |error: io::Error| Trouble::Machine(error.to_string());
        let mut spec = Spec::new(&task.argv, below(&self.seen_repo, &task.directory));
        spec.network = Network::None;
        spec.limits = Limits {
            wall: Some(task.wall),
            memory: Some(MEMORY),
            pids: Some(PROCESSES),
            file: Some(FILE),
            ..Limits::default()
        };
        if let Some(witness) = self.witness {
            spec.argv = Witness::recorded(spec.argv, &self.seen_scratch);
            spec.mounts = witness.mounts().map_err(failed)?;
        }
        for tool in task.tools.iter().flat_map(|tool| context.without_data(tool)) {
            if context.may_be_shown(&tool) {
                spec.mounts.push(mounts::TOOL.read_only(&tool, &tool));
            }
        }
        spec.mounts.push(context.kit.read_only(&mounts::KIT, context.seen_kit()).map_err(failed)?);
        let copy =
            self.copy.leaf().and_then(|leaf| leaf.read_write(&mounts::COPY, &self.seen_repo));
        spec.mounts.push(copy.map_err(failed)?);
        spec.mounts
            .push(self.scratch.read_write(&mounts::SCRATCH, &self.seen_scratch).map_err(failed)?);
        let build = match task.access {
            Access::Compiles => self.build.read_write(&mounts::BUILD, &self.seen_build),
            Access::Runs => self.build.read_only(&mounts::BUILD, &self.seen_build),
        };
        spec.mounts.push(build.map_err(failed)?);
        spec.mounts.extend(task.mounts.iter().cloned());
        spec.env = context.variables(self);
        if task.fetches {
            context.fetching.equip(&mut spec);
        }
        spec.env.extend(task.env.iter().cloned());
        let count = match task.access {
            Access::Compiles => &context.compilations,
            Access::Runs => &context.runs,
        };
        count.fetch_add(1, Ordering::Relaxed);
        if context.is_sandboxed() && !context.moves_paths() {
            leave_in_place(&mut spec);
        }
        context.capture(&context.backend, spec)
    }

    /// Whether a run with a witness tried a connection that the sandbox refused.
    pub(crate) fn refused_connection(&self) -> bool {
        Witness::refused_connection(&self.scratch.held)
    }

    /// Runs a command whose reporter, one of ours, writes a line of JSON for each event.
    pub(crate) fn run_reported(&self, task: Task) -> Result<(Ran, Report), Trouble> {
        self.run_told(task).map(|(ran, told)| (ran, Report::of_lines(&told)))
    }

    /// The same, with the lines as they were written.
    pub(crate) fn run_told(&self, mut task: Task) -> Result<(Ran, String), Trouble> {
        let failed = |error: io::Error| Trouble::at(Path::new(REPORT), &error);
        self.scratch.held.write(REPORT, b"").map_err(failed)?;
        task.variable("PROBITY_REPORT", self.seen_scratch.join(REPORT));
        task.variable("PROBITY_ROOT", &self.seen_repo);
        let ran = self.run(&task)?;
        Ok((ran, read_text(&self.scratch.held, REPORT).unwrap_or_default()))
    }

    /// Text with the copy's path taken off, as the reader of a report knows the files.
    pub(crate) fn relative(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.seen_repo.display()), "")
    }

    /// The files of the copy, as runs have left them.
    pub(crate) fn repo(&self) -> &HeldDirectory {
        self.copy.held()
    }
}

/// Joining nothing would add a slash, which programs then see in their own path.
fn below(root: &Path, directory: &Path) -> PathBuf {
    if directory.as_os_str().is_empty() { root.to_owned() } else { root.join(directory) }
}

/// Shows everything where it is. What would be covered by something else is not shown at all.
fn leave_in_place(spec: &mut Spec) {
    if let Some(here) = spec.host_path(&spec.cwd) {
        spec.cwd = here;
    }
    let mut shown: Vec<Mount> = Vec::new();
    for mount in spec.mounts.drain(..) {
        shown.retain(|known| known.inside() != mount.inside());
        shown.push(mount);
    }
    spec.mounts = shown.into_iter().map(Mount::in_place).collect();
}
