//! What the tests need to set a scene: backends, workspaces, and a look at all processes.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use probity_sandbox::{
    Backend, BackendKind, Child, Limits, Mount, Outcome, PromiseName, SpawnError, Spec, User, keeps,
};
use tempfile::TempDir;

/// Long enough for a busy machine, short enough to be noticed.
pub(crate) const SOON: Duration = Duration::from_secs(60);

pub(crate) fn bubblewrap() -> Backend {
    let program = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|directory| directory.join("bwrap"))
        .find(|path| path.is_file())
        .unwrap_or_else(|| panic!("bwrap is not installed: run script/tools"));
    Backend::Bubblewrap { program }
}

/// Every backend the contract is shown on.
pub(crate) fn backends() -> [Backend; 3] {
    [Backend::None, bubblewrap(), Backend::Landlock]
}

/// Those that contain.
pub(crate) fn sandboxes() -> [Backend; 2] {
    [bubblewrap(), Backend::Landlock]
}

pub(crate) fn kind_of(backend: &Backend) -> BackendKind {
    match backend {
        Backend::None => BackendKind::None,
        Backend::Bubblewrap { .. } => BackendKind::Bubblewrap,
        Backend::Landlock => BackendKind::Landlock,
        Backend::Engine(engine) => engine.kind,
    }
}

pub(crate) fn spawn(backend: &Backend, spec: &Spec) -> Result<Child, SpawnError> {
    probity_sandbox::spawn(backend, &placed(backend, spec))
}

pub(crate) fn run(backend: &Backend, spec: &Spec, input: &[u8]) -> Result<Outcome, SpawnError> {
    probity_sandbox::run(backend, &placed(backend, spec), input)
}

/// A sandbox that has no second path for the workspace refuses one.
fn placed(backend: &Backend, spec: &Spec) -> Spec {
    let mut spec = spec.clone();
    let kind = kind_of(backend);
    if kind != BackendKind::None && !keeps(kind, PromiseName::OtherPath) {
        spec.mounts.retain(|mount| !mount.inside().starts_with(INSIDE));
    }
    spec
}

/// A directory that the process sees under the same path, and under a short one.
pub(crate) struct Workspace {
    _directory: TempDir,
    pub(crate) path: PathBuf,
}

pub(crate) const INSIDE: &str = "/home/agent/workspace";

impl Workspace {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().canonicalize().unwrap();
        Self { _directory: directory, path }
    }

    /// A shell script to run in the workspace.
    pub(crate) fn shell(&self, script: &str) -> Spec {
        self.spec(&["sh", "-c", script])
    }

    pub(crate) fn spec(&self, argv: &[&str]) -> Spec {
        let mut spec = Spec::new(argv, &self.path);
        spec.mounts =
            [Path::new(INSIDE), &self.path].map(|at| Mount::read_write(&self.path, at)).to_vec();
        spec.env = vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())];
        spec.limits = Limits { wall: Some(SOON), ..Limits::default() };
        spec.user = User::OwnerOf(self.path.clone());
        spec
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// Runs without input and gives the outcome with its output as text.
pub(crate) fn text(backend: &Backend, spec: &Spec) -> (Outcome, String) {
    let outcome = run(backend, spec, b"").unwrap_or_else(|error| panic!("{backend:?}: {error}"));
    let stdout = String::from_utf8_lossy(&outcome.stdout).into_owned();
    (outcome, stdout)
}

/// A number of seconds to sleep that no other test uses, by which a process is found in `/proc`.
pub(crate) fn nap() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("3600.{:05}{count:03}", std::process::id() % 100_000)
}

/// How many sleepers of this nap there are.
pub(crate) fn alive(nap: &str) -> usize {
    sleepers(nap).len()
}

/// Their numbers. Zombies have no arguments, and do not count.
fn sleepers(nap: &str) -> Vec<String> {
    let wanted = format!("sleep\0{nap}\0");
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|entry| {
            fs::read(entry.path().join("cmdline")).is_ok_and(|line| line == wanted.as_bytes())
        })
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

/// Leaves nothing behind where the test showed that something stays.
pub(crate) fn end_sleepers(nap: &str) {
    for pid in sleepers(nap) {
        std::process::Command::new("kill").args(["-s", "KILL", &pid]).status().unwrap();
    }
}

/// Waits until so many are alive; a wrong number at the end is the test's failure.
pub(crate) fn wait_alive(argument: &str, expected: usize) {
    let started = Instant::now();
    while alive(argument) != expected {
        assert!(
            started.elapsed() < SOON,
            "{} processes instead of {expected}: {argument}",
            alive(argument)
        );
        thread::sleep(Duration::from_millis(5));
    }
}

/// A script that leaves three sleepers: a child, one in a session of its own whose parent is gone,
/// and one that also emptied its environment.
pub(crate) fn litter(nap: &str) -> String {
    format!(
        "sleep {nap} & \
         (setsid sh -c 'sleep {nap} & exec true' &) ; \
         (env -i setsid sh -c '(setsid sleep {nap} &) ; exec true' &) ;"
    )
}

pub(crate) const LITTER: usize = 3;
