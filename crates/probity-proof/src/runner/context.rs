//! Where tests run: a clean copy, a directory for what was built, one for what a run writes, and how
//! commands are started there.
//!
//! In bubblewrap all copies are seen at one path, so that build caches, which hold paths, serve
//! every copy; each sees only its own. Without bubblewrap a copy is where it is. What was built can
//! be written by compilers alone: no test can change the program of the next run.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use probity_sandbox::{Backend, Limits, Mount, Network, Spec};

use super::{
    Trouble,
    capture::{self, Ran},
    report::Report,
    witness::Witness,
};
use crate::repository::{
    confined,
    copies::{PooledCopy, remove},
};

/// Bytes of memory, number of processes and bytes of a file that a test may have.
const MEMORY: u64 = 4 << 30;
const PROCESSES: u64 = 1024;
const FILE: u64 = 1 << 30;

/// Where the system's own programs are, with and without a sandbox.
const SYSTEM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What reporters write to.
const REPORT: &str = "report.jsonl";

/// What the sandbox shows of the system anyway.
pub(crate) const SYSTEM: [&str; 8] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store"];

/// What the sandbox shows of ours.
pub(crate) const OWN: [&str; 5] =
    ["/proof/repo", "/proof/build", "/proof/out", "/proof/kit", "/proof/cache"];

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
    /// Files of ours that runners need beside the test: plugins and reporters.
    pub(crate) kit: PathBuf,
    pub(crate) caches: PathBuf,
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
}

/// A copy for one run or one build, and the directories beside it.
#[derive(Debug)]
pub(crate) struct Site<'a> {
    pub(crate) context: &'a RunnerContext,
    pub(crate) copy: PooledCopy<'a>,
    /// What was built of this version of the code.
    pub(crate) build: PathBuf,
    /// What this run writes.
    pub(crate) scratch: PathBuf,
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
    /// Names of caches that this command, which runs nothing that an agent wrote, may write.
    pub(crate) caches: Vec<&'static str>,
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
            caches: Vec::new(),
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

    /// A site for a copy, below the directory of its version.
    pub(crate) fn site<'a>(
        &'a self,
        copy: PooledCopy<'a>,
        directory: &Path,
    ) -> Result<Site<'a>, Trouble> {
        let (build, scratch) = (directory.join("build"), directory.join("out"));
        // What an earlier run has left there is none of this one's business.
        remove(&scratch);
        for made in [&build, &scratch.join("tmp")] {
            fs::create_dir_all(made).map_err(|error| Trouble::at(made, &error))?;
        }
        Ok(Site {
            context: self,
            seen_repo: self.seen("repo", &copy.repo),
            seen_build: self.seen("build", &build),
            seen_scratch: self.seen("out", &scratch),
            copy,
            build,
            scratch,
            witness: None,
        })
    }

    /// Puts a file of ours where commands see it.
    pub(crate) fn add_to_kit(&self, name: &str, text: &str) -> Result<(), Trouble> {
        let file = self.kit.join(name);
        fs::write(&file, text).map_err(|error| Trouble::at(&file, &error))
    }

    /// What a directory of ours is for commands.
    fn seen(&self, name: &str, host: &Path) -> PathBuf {
        if self.is_sandboxed() { Path::new("/proof").join(name) } else { host.to_owned() }
    }

    pub(crate) fn seen_kit(&self) -> PathBuf {
        self.seen("kit", &self.kit)
    }

    pub(crate) fn seen_cache(&self, name: &str) -> PathBuf {
        self.seen(&format!("cache/{name}"), &self.caches.join(name))
    }

    /// How long proofs may still take.
    pub(crate) fn time_left(&self) -> Duration {
        let deadline = *self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        deadline.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()))
    }

    /// What a process that was killed with the review, or by the deadline, has shown is nothing.
    fn capture(&self, backend: &Backend, mut spec: Spec) -> Result<Ran, Trouble> {
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

    /// The file that the caller's `PATH` has for a name.
    pub(crate) fn tool(&self, name: &str) -> Option<PathBuf> {
        std::env::split_paths(self.variable("PATH")?)
            .filter(|directory| directory.is_absolute())
            .map(|directory| directory.join(name))
            .find(|path| path.is_file())
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&OsString> {
        self.environment.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    fn variables(&self, site: &Site<'_>) -> Vec<(OsString, OsString)> {
        let mut variables: Vec<(OsString, OsString)> = Vec::new();
        for name in PASSED {
            if let Some(value) = self.variable(name) {
                variables.push((name.into(), value.clone()));
            }
        }
        variables.push(("CI".into(), "true".into()));
        variables.push(("NO_COLOR".into(), "1".into()));
        if self.is_sandboxed() {
            variables.push(("PATH".into(), SYSTEM_PATH.into()));
        } else {
            let path = self.variable("PATH").cloned();
            variables.push(("PATH".into(), path.unwrap_or_else(|| SYSTEM_PATH.into())));
            variables.push(("HOME".into(), site.scratch.join("tmp").into()));
            variables.push(("TMPDIR".into(), site.scratch.join("tmp").into()));
        }
        variables
    }

    /// Whether a directory of a tool is not shown by the sandbox already, and is not so broad
    /// that it would show more than a tool: a home, or what a home is in.
    fn may_be_shown(&self, tool: &Path) -> bool {
        let home = self.variable("HOME").map(Path::new);
        tool.is_absolute()
            && tool.exists()
            && !SYSTEM.iter().any(|system| tool.starts_with(system))
            && home.is_none_or(|home| !home.starts_with(tool))
            && tool.components().count() > 2
    }
}

impl Site<'_> {
    /// Runs a command, without network.
    pub(crate) fn run(&self, task: &Task) -> Result<Ran, Trouble> {
        let context = self.context;
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
            spec.mounts = witness.mounts();
        }
        for tool in &task.tools {
            if context.may_be_shown(tool) {
                spec.mounts.push(Mount::read_only(tool, tool));
            }
        }
        spec.mounts.push(Mount::read_only(&context.kit, context.seen_kit()));
        spec.mounts.push(Mount::read_write(&self.copy.repo, &self.seen_repo));
        spec.mounts.push(Mount::read_write(&self.scratch, &self.seen_scratch));
        spec.mounts.push(match task.access {
            Access::Compiles => Mount::read_write(&self.build, &self.seen_build),
            Access::Runs => Mount::read_only(&self.build, &self.seen_build),
        });
        for name in &task.caches {
            let host = context.caches.join(name);
            fs::create_dir_all(&host).map_err(|error| Trouble::at(&host, &error))?;
            spec.mounts.push(Mount::read_write(host, context.seen_cache(name)));
        }
        spec.mounts.extend(task.mounts.iter().cloned());
        spec.env = context.variables(self);
        spec.env.extend(task.env.iter().cloned());
        let count = match task.access {
            Access::Compiles => &context.compilations,
            Access::Runs => &context.runs,
        };
        count.fetch_add(1, Ordering::Relaxed);
        context.capture(&context.backend, spec)
    }

    /// Whether a run with a witness tried a connection that the sandbox refused.
    pub(crate) fn refused_connection(&self) -> bool {
        Witness::refused_connection(&self.scratch)
    }

    /// Runs a command of the preparation as the caller would: with the caller's environment and
    /// network, so that private registries work. It begins in the task's directory, so the tool must
    /// be one that runs nothing which a repository's file asks for.
    pub(crate) fn fetch(&self, task: &Task) -> Result<Ran, Trouble> {
        self.on_host(task, below(&self.copy.repo, &task.directory))
    }

    /// Runs a tool of the machine as the caller would, outside the repository: interpreters import
    /// what lies beside them, and cargo and rustup obey files there that name programs.
    pub(crate) fn ask(&self, task: &Task) -> Result<Ran, Trouble> {
        self.on_host(task, self.scratch.clone())
    }

    fn on_host(&self, task: &Task, directory: PathBuf) -> Result<Ran, Trouble> {
        let mut spec = Spec::new(&task.argv, directory);
        spec.network = Network::Open;
        spec.limits.wall = Some(task.wall);
        spec.env = self.context.environment.clone();
        spec.env.extend(task.env.iter().cloned());
        self.context.capture(&Backend::None, spec)
    }

    /// Runs a command whose reporter, one of ours, writes a line of JSON for each event.
    pub(crate) fn run_reported(&self, mut task: Task) -> Result<(Ran, Report), Trouble> {
        let failed = |error: io::Error| Trouble::at(&self.scratch, &error);
        confined::write(&self.scratch, REPORT, "").map_err(failed)?;
        task.variable("PROBITY_REPORT", self.seen_scratch.join(REPORT));
        task.variable("PROBITY_ROOT", &self.seen_repo);
        let ran = self.run(&task)?;
        let text = confined::read(&self.scratch, REPORT).unwrap_or_default();
        Ok((ran, Report::of_lines(&text)))
    }

    /// Text with the copy's path taken off, as the reader of a report knows the files.
    pub(crate) fn relative(&self, text: &str) -> String {
        let prefix = |path: &Path| format!("{}/", path.display());
        text.replace(&prefix(&self.seen_repo), "").replace(&prefix(&self.copy.repo), "")
    }
}

/// Joining nothing would add a slash, which programs then see in their own path.
fn below(root: &Path, directory: &Path) -> PathBuf {
    if directory.as_os_str().is_empty() { root.to_owned() } else { root.join(directory) }
}
