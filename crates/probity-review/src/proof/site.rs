//! Where a claim is tried: its copy, what it writes, and how commands are run there.
//!
//! In bubblewrap all copies are seen at one path, so that build caches, which hold paths, serve
//! every copy; each sees only its own. Without bubblewrap a copy is where it is.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use probity_sandbox::{Backend, Limits, Mount, Network, Spec};

use super::{
    capture::{self, Ran},
    copies::Written,
    untrusted,
};

/// Bytes of memory, number of processes and bytes of a file that a test may have.
const MEMORY: u64 = 4 << 30;
const PROCESSES: u64 = 1024;
const FILE: u64 = 1 << 30;

/// Where the system's own programs are, with and without a sandbox.
const SYSTEM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What the sandbox shows of the system anyway.
const SYSTEM: [&str; 8] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store"];

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

/// What all claims share.
#[derive(Debug)]
pub(super) struct Bench {
    pub(super) backend: Backend,
    pub(super) environment: Vec<(OsString, OsString)>,
    /// Files of ours that runners need beside the test: plugins and reporters.
    pub(super) kit: PathBuf,
    pub(super) caches: PathBuf,
    pub(super) test_timeout: Duration,
    pub(super) build_timeout: Duration,
    pub(super) output_cap: usize,
    /// Once true, what runs is killed and nothing else is started.
    pub(super) cancel: Arc<AtomicBool>,
}

/// One copy, and a directory beside it for what runners write.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) repo: PathBuf,
    pub(super) out: PathBuf,
    /// The same as the commands see them.
    pub(super) seen_repo: PathBuf,
    pub(super) seen_out: PathBuf,
    /// What was written into the copy by us.
    pub(super) written: Written,
}

/// One command in a site.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) argv: Vec<OsString>,
    pub(super) env: Vec<(OsString, OsString)>,
    /// Relative to the copy.
    pub(super) directory: PathBuf,
    /// Seen read-only where they are.
    pub(super) tools: Vec<PathBuf>,
    /// Mounts beside those, host first.
    pub(super) mounts: Vec<Mount>,
    /// Names of caches that this command, which runs nothing that an agent wrote, may write.
    pub(super) caches: Vec<&'static str>,
    pub(super) wall: Duration,
}

impl Task {
    pub(super) fn new(
        argv: impl IntoIterator<Item = impl Into<OsString>>,
        directory: impl Into<PathBuf>,
        wall: Duration,
    ) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            env: Vec::new(),
            directory: directory.into(),
            tools: Vec::new(),
            mounts: Vec::new(),
            caches: Vec::new(),
            wall,
        }
    }

    pub(super) fn variable(&mut self, name: &str, value: impl Into<OsString>) {
        self.env.push((name.into(), value.into()));
    }
}

impl Bench {
    pub(super) fn contained(&self) -> bool {
        self.backend != Backend::None
    }

    /// A site whose copy is not made yet.
    pub(super) fn site(&self, directory: &Path) -> Result<Site, String> {
        let (repo, out) = (directory.join("repo"), directory.join("out"));
        fs::create_dir_all(out.join("tmp"))
            .map_err(|error| format!("{}: {error}", out.display()))?;
        let (seen_repo, seen_out) = if self.contained() {
            (PathBuf::from("/proof/repo"), PathBuf::from("/proof/out"))
        } else {
            (repo.clone(), out.clone())
        };
        Ok(Site { repo, out, seen_repo, seen_out, written: Written::default() })
    }

    /// A directory of the site that a runner has for itself: where it is, and where it is seen.
    pub(super) fn own(&self, site: &Site, name: &str) -> (PathBuf, PathBuf) {
        let host = site.out.with_file_name(name);
        let seen = if self.contained() { Path::new("/proof").join(name) } else { host.clone() };
        (host, seen)
    }

    pub(super) fn seen_kit(&self) -> PathBuf {
        if self.contained() { PathBuf::from("/proof/kit") } else { self.kit.clone() }
    }

    pub(super) fn seen_cache(&self, name: &str) -> PathBuf {
        if self.contained() { Path::new("/proof/cache").join(name) } else { self.caches.join(name) }
    }

    /// Runs a command in a site, without network.
    pub(super) fn run(&self, site: &Site, task: &Task) -> Result<Ran, String> {
        let mut spec = Spec::new(&task.argv, below(&site.seen_repo, &task.directory));
        spec.network = Network::None;
        spec.limits = Limits {
            wall: Some(task.wall),
            memory: Some(MEMORY),
            pids: Some(PROCESSES),
            file: Some(FILE),
            ..Limits::default()
        };
        for tool in &task.tools {
            if self.may_be_shown(tool) {
                spec.mounts.push(Mount::read_only(tool, tool));
            }
        }
        spec.mounts.push(Mount::read_only(&self.kit, self.seen_kit()));
        spec.mounts.push(Mount::read_write(&site.repo, &site.seen_repo));
        spec.mounts.push(Mount::read_write(&site.out, &site.seen_out));
        for name in &task.caches {
            let host = self.caches.join(name);
            fs::create_dir_all(&host).map_err(|error| format!("{}: {error}", host.display()))?;
            spec.mounts.push(Mount::read_write(host, self.seen_cache(name)));
        }
        spec.mounts.extend(task.mounts.iter().cloned());
        spec.env = self.variables(site);
        spec.env.extend(task.env.iter().cloned());
        self.capture(&self.backend, &spec)
    }

    /// Runs a command of the preparation as the caller would: with the caller's environment and
    /// network, so that private registries work. Nothing that an agent wrote exists yet.
    pub(super) fn fetch(&self, site: &Site, task: &Task) -> Result<Ran, String> {
        let mut spec = Spec::new(&task.argv, below(&site.repo, &task.directory));
        spec.network = Network::Open;
        spec.limits.wall = Some(task.wall);
        spec.env = self.environment.clone();
        spec.env.extend(task.env.iter().cloned());
        self.capture(&Backend::None, &spec)
    }

    /// What a process that was killed with the review has shown is nothing.
    fn capture(&self, backend: &Backend, spec: &Spec) -> Result<Ran, String> {
        let cancelled = || Err("the review was cancelled".to_owned());
        if self.cancel.load(Ordering::SeqCst) {
            return cancelled();
        }
        let ran = capture::run(backend, spec, &self.cancel).map_err(|error| error.to_string())?;
        if self.cancel.load(Ordering::SeqCst) { cancelled() } else { Ok(ran) }
    }

    /// The file that the caller's `PATH` has for a name.
    pub(super) fn tool(&self, name: &str) -> Option<PathBuf> {
        std::env::split_paths(self.variable("PATH")?)
            .filter(|directory| directory.is_absolute())
            .map(|directory| directory.join(name))
            .find(|path| path.is_file())
    }

    pub(super) fn variable(&self, name: &str) -> Option<&OsString> {
        self.environment.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    fn variables(&self, site: &Site) -> Vec<(OsString, OsString)> {
        let mut variables: Vec<(OsString, OsString)> = Vec::new();
        for name in PASSED {
            if let Some(value) = self.variable(name) {
                variables.push((name.into(), value.clone()));
            }
        }
        variables.push(("CI".into(), "true".into()));
        variables.push(("NO_COLOR".into(), "1".into()));
        if self.contained() {
            variables.push(("PATH".into(), SYSTEM_PATH.into()));
        } else {
            let path = self.variable("PATH").cloned();
            variables.push(("PATH".into(), path.unwrap_or_else(|| SYSTEM_PATH.into())));
            variables.push(("HOME".into(), site.out.join("tmp").into()));
            variables.push(("TMPDIR".into(), site.out.join("tmp").into()));
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

impl Site {
    /// Text with the copy's path taken off, as the reader of a report knows the files.
    pub(super) fn relative(&self, text: &str) -> String {
        let prefix = |path: &Path| format!("{}/", path.display());
        text.replace(&prefix(&self.seen_repo), "").replace(&prefix(&self.repo), "")
    }

    pub(super) fn write(&self, path: &str, text: &str) -> Result<(), String> {
        self.note(path);
        untrusted::write(&self.repo, path, text).map_err(|error| format!("{path}: {error}"))
    }

    /// An empty directory, for something to be mounted there.
    pub(super) fn make_directory(&self, path: &Path) -> Result<(), String> {
        let file = self.repo.join(path);
        if file.symlink_metadata().is_ok() {
            return Ok(());
        }
        self.note(path);
        fs::create_dir_all(&file).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn note(&self, path: impl Into<PathBuf>) {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).insert(path.into());
    }
}

/// Joining nothing would add a slash, which programs then see in their own path.
fn below(root: &Path, directory: &Path) -> PathBuf {
    if directory.as_os_str().is_empty() { root.to_owned() } else { root.join(directory) }
}
