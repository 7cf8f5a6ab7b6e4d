//! A container engine through its command line, with a time limit and a way to cancel for each call.
//!
//! The command line and not the engine's interface, because it honors contexts, remote hosts and
//! wrappers. The client has the user's own environment.

mod ending;
mod images;
mod memory;
mod processes;

use std::{
    ffi::OsString,
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use probity_sandbox::{
    Backend, BackendKind, Child, Exit, Network, Spec, Stream, Streams, find_program, look_for,
    spawn, tool_variables,
};

use self::memory::{MemoryWatch, Parent};
use crate::{ImageError, Level};

/// Whether the user has cancelled the run.
pub type Interrupt<'i> = &'i (dyn Fn() -> bool + Sync);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineKind {
    Docker,
    Podman,
    /// Builds images and cannot start them.
    Buildah,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    pub kind: EngineKind,
    pub program: PathBuf,
    /// Variables for every call beside those of the user.
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// Whether `docker build` is BuildKit's through the buildx plugin.
    pub(crate) has_buildx: bool,
    /// Whether `docker build` is BuildKit's at all.
    pub(crate) has_buildkit: bool,
    /// Where podman and buildah keep their containers.
    store: Arc<OnceLock<PathBuf>>,
    /// Whether docker's daemon is a process of this machine.
    is_here: Arc<OnceLock<bool>>,
}

/// What keeps the memory of a build within its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryLimit {
    /// Its builder, and a watch beside it.
    Builder,
    /// A watch that ends the build: approximate, since it looks from time to time.
    Watch,
    /// Nothing: the builder does not, and its processes are elsewhere.
    None,
}

/// One run of the builder.
#[derive(Debug)]
pub(crate) struct BuildCall<'c> {
    pub(crate) arguments: &'c [&'c str],
    /// For this call alone.
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) limit: Duration,
    /// In bytes.
    pub(crate) memory: u64,
}

/// Standard output and standard error, each bounded.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) exit: Exit,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// How a build ended, and what the builder said until then.
#[derive(Debug)]
pub(crate) struct BuildAnswer {
    pub(crate) exit: Result<Exit, ImageError>,
    pub(crate) output: Vec<u8>,
}

/// For questions that an engine answers from memory.
pub(crate) const SOON: Duration = Duration::from_secs(60);

const LARGEST_OUTPUT: usize = 16 << 20;
const POLL: Duration = Duration::from_millis(50);
/// How often the memory of a build is looked at: all processes have to be read for it.
const MEMORY_POLL: Duration = Duration::from_millis(200);
/// How long a pipe may stay open after the client has ended.
const REST: Duration = Duration::from_secs(2);

impl EngineKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
            Self::Buildah => "buildah",
        }
    }

    /// How far a proof can go with it.
    pub fn highest_level(self) -> Level {
        match self {
            Self::Docker | Self::Podman => Level::Run,
            Self::Buildah => Level::Build,
        }
    }

    /// Whether the builder is buildah, which is also in podman and works in the client's process.
    pub(crate) fn builds_with_buildah(self) -> bool {
        self != Self::Docker
    }
}

impl Engine {
    /// The first engine that answers on this machine: docker, then podman, then buildah.
    pub fn find() -> Option<Self> {
        [EngineKind::Docker, EngineKind::Podman, EngineKind::Buildah].into_iter().find_map(Self::of)
    }

    /// Every engine with images of its own: buildah has those of podman.
    pub fn all() -> Vec<Self> {
        let podman = Self::of(EngineKind::Podman).or_else(|| Self::of(EngineKind::Buildah));
        Self::of(EngineKind::Docker).into_iter().chain(podman).collect()
    }

    /// This engine, if it answers.
    pub fn of(kind: EngineKind) -> Option<Self> {
        let program = match kind {
            EngineKind::Docker => look_for(BackendKind::Docker).ok()?.program,
            EngineKind::Podman => look_for(BackendKind::Podman).ok()?.program,
            EngineKind::Buildah => find_program("buildah")?,
        };
        let engine = Self::with_program(kind, program);
        // A sandbox has tried the others; this one may have no store to work with.
        let answers =
            kind != EngineKind::Buildah || engine.must(&["info"], SOON, &|| false).is_ok();
        answers.then_some(engine)
    }

    /// An engine whose client is this program.
    pub fn with_program(kind: EngineKind, program: PathBuf) -> Self {
        let mut engine = Self {
            kind,
            program,
            variables: Vec::new(),
            has_buildx: false,
            has_buildkit: false,
            store: Arc::default(),
            is_here: Arc::default(),
        };
        if kind == EngineKind::Docker {
            engine.choose_builder();
        }
        engine
    }

    /// Where podman and buildah keep their containers; none for docker. Asked for once: podman's `info`
    /// also looks up packages, and takes longer than any other answer.
    pub(crate) fn container_store(&self) -> Result<Option<&Path>, ImageError> {
        let format = match self.kind {
            EngineKind::Docker => return Ok(None),
            EngineKind::Podman => "{{.Store.GraphRoot}}/{{.Store.GraphDriverName}}-containers",
            EngineKind::Buildah => "{{.store.GraphRoot}}/{{.store.GraphDriverName}}-containers",
        };
        if self.store.get().is_none() {
            let answer = self.must(&["info", "--format", format], SOON, &|| false)?;
            self.store.get_or_init(|| PathBuf::from(String::from_utf8_lossy(&answer).trim()));
        }
        Ok(self.store.get().map(PathBuf::as_path))
    }

    /// Clients before version 23 have BuildKit built in and off; later ones have it as a plugin, and
    /// fail if it is asked for without that.
    fn choose_builder(&mut self) {
        let never = || false;
        let major = self.ask(&["version", "--format", "{{.Client.Version}}"], SOON, &never);
        let major = major.ok().and_then(|answer| {
            let text = String::from_utf8(answer.stdout).ok()?;
            text.trim().split('.').next()?.parse::<u32>().ok()
        });
        self.has_buildx = self
            .ask(&["buildx", "version"], SOON, &never)
            .is_ok_and(|answer| answer.exit == Exit::Code(0));
        self.has_buildkit = self.has_buildx || major.is_some_and(|major| major < 23);
        let switch = if self.has_buildkit { "1" } else { "0" };
        self.variables.push(("DOCKER_BUILDKIT".into(), switch.into()));
        if self.has_buildx {
            self.choose_buildx_builder();
        }
    }

    /// The one that works in the daemon. Any other asks registries although the daemon has the image,
    /// and its cache is out of reach for us. And buildx is not to run git in a foreign directory.
    fn choose_buildx_builder(&mut self) {
        let context = self.ask(&["context", "show"], SOON, &|| false).ok();
        let context = context.filter(|answer| answer.exit == Exit::Code(0));
        let name = context.map(|answer| String::from_utf8_lossy(&answer.stdout).trim().to_owned());
        let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| "default".to_owned());
        self.variables.push(("BUILDX_BUILDER".into(), name.into()));
        self.variables.push(("BUILDX_GIT_INFO".into(), "false".into()));
    }

    /// What keeps the memory of builds within their limit.
    pub(crate) fn memory_limit(&self) -> MemoryLimit {
        if self.kind.builds_with_buildah() || !self.has_buildkit {
            return MemoryLimit::Builder;
        }
        let is_here = self.is_here.get_or_init(|| {
            let name = self.must(&["info", "--format", "{{.Name}}"], SOON, &|| false);
            let name = name.unwrap_or_default();
            memory::is_daemon_here(String::from_utf8_lossy(&name).trim())
        });
        if *is_here { MemoryLimit::Watch } else { MemoryLimit::None }
    }

    /// Runs the client to its end.
    pub(crate) fn ask(
        &self,
        arguments: &[&str],
        limit: Duration,
        interrupt: Interrupt<'_>,
    ) -> Result<Answer, ImageError> {
        let call = self.start(arguments)?;
        let exit = self.wait(&call.child, arguments, limit, interrupt)?;
        let (stdout, stderr) = call.output();
        Ok(Answer { exit, stdout, stderr })
    }

    /// Runs a build to its end. One that is cancelled, takes too long or uses too much memory leaves
    /// nothing but layers.
    pub(crate) fn build(
        &self,
        call: &BuildCall<'_>,
        interrupt: Interrupt<'_>,
    ) -> Result<BuildAnswer, ImageError> {
        let daemon = match self.memory_limit() {
            MemoryLimit::Watch => Some(MemoryWatch::new(Parent::Daemon, call.memory)),
            MemoryLimit::Builder | MemoryLimit::None => None,
        };
        let client = self.start_with(call.arguments, &call.variables)?;
        let watch = daemon.or_else(|| {
            let parent = Parent::Client(client.child.pid());
            self.kind.builds_with_buildah().then(|| MemoryWatch::new(parent, call.memory))
        });
        let exit = self.wait_within(&client.child, call, watch.as_ref(), interrupt);
        if exit.is_err() {
            if self.kind.builds_with_buildah() {
                ending::fail_build(&client.child);
            }
            client.child.kill();
        }
        let (stdout, stderr) = client.output();
        Ok(BuildAnswer { exit, output: [stdout, stderr].concat() })
    }

    /// Waits for a build, and looks at its memory from time to time.
    fn wait_within(
        &self,
        child: &Child,
        call: &BuildCall<'_>,
        watch: Option<&MemoryWatch>,
        interrupt: Interrupt<'_>,
    ) -> Result<Exit, ImageError> {
        let next = Mutex::new(Instant::now());
        let is_exceeded = AtomicBool::new(false);
        let stop = || {
            let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(watch) = watch
                && Instant::now() >= *next
            {
                is_exceeded.store(watch.is_exceeded(), Ordering::Relaxed);
                *next = Instant::now() + MEMORY_POLL;
            }
            is_exceeded.load(Ordering::Relaxed) || interrupt()
        };
        let exit = self.wait(child, call.arguments, call.limit, &stop);
        if is_exceeded.into_inner() {
            return Err(ImageError::MemoryLimit { limit: call.memory });
        }
        exit
    }

    fn wait(
        &self,
        child: &Child,
        arguments: &[&str],
        limit: Duration,
        interrupt: Interrupt<'_>,
    ) -> Result<Exit, ImageError> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(exit) = child.wait_timeout(POLL) {
                return Ok(exit);
            }
            if interrupt() {
                return Err(ImageError::Cancelled);
            }
            if Instant::now() > deadline {
                let action = arguments.first().copied().unwrap_or_default().to_owned();
                return Err(ImageError::Timeout { engine: self.kind.name(), action, limit });
            }
        }
    }

    /// Runs the client to its end, which has to be a good one.
    pub(crate) fn must(
        &self,
        arguments: &[&str],
        limit: Duration,
        interrupt: Interrupt<'_>,
    ) -> Result<Vec<u8>, ImageError> {
        let answer = self.ask(arguments, limit, interrupt)?;
        if answer.exit == Exit::Code(0) {
            return Ok(answer.stdout);
        }
        let action = arguments.first().copied().unwrap_or_default().to_owned();
        let why = last_lines(&answer.stderr, 3);
        Err(ImageError::Refused { engine: self.kind.name(), action, why })
    }

    /// Starts the client; dropping the call ends it.
    pub(crate) fn start(&self, arguments: &[&str]) -> Result<Call, ImageError> {
        self.start_with(arguments, &[])
    }

    fn start_with(
        &self,
        arguments: &[&str],
        variables: &[(OsString, OsString)],
    ) -> Result<Call, ImageError> {
        let mut child = self.spawn(arguments, variables)?;
        let stdout = Collected::of(child.stdout.take());
        let stderr = Collected::of(child.stderr.take());
        Ok(Call { child, stdout, stderr })
    }

    /// Starts the client without reading what it says: it waits as soon as its pipe is full.
    pub(crate) fn start_unread(&self, arguments: &[&str]) -> Result<Child, ImageError> {
        self.spawn(arguments, &[])
    }

    fn spawn(
        &self,
        arguments: &[&str],
        variables: &[(OsString, OsString)],
    ) -> Result<Child, ImageError> {
        let mut words: Vec<OsString> = vec![self.program.clone().into()];
        words.extend(arguments.iter().map(OsString::from));
        let mut spec = Spec::new(words, "/");
        let ours = self.variables.iter().chain(variables).cloned();
        spec.env = tool_variables().chain(ours).collect();
        spec.network = Network::Open;
        spec.streams = Streams { stdin: Stream::Null, stdout: Stream::Pipe, stderr: Stream::Pipe };
        Ok(spawn(&Backend::None, &spec)?)
    }
}

/// A client that runs.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) child: Child,
    stdout: Collected,
    stderr: Collected,
}

impl Call {
    pub(crate) fn output(self) -> (Vec<u8>, Vec<u8>) {
        (self.stdout.finish(), self.stderr.finish())
    }
}

#[derive(Debug)]
struct Collected {
    kept: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Collected {
    fn of(pipe: Option<File>) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let theirs = Arc::clone(&kept);
        let reader = pipe.map(|pipe| thread::spawn(move || drain(pipe, &theirs)));
        Self { kept, reader }
    }

    /// All of it if the pipe ends soon, otherwise what there is.
    fn finish(self) -> Vec<u8> {
        let deadline = Instant::now() + REST;
        while self.reader.as_ref().is_some_and(|reader| !reader.is_finished()) {
            if Instant::now() > deadline {
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Keeps the beginning and reads on, so that nobody waits for us.
fn drain(mut pipe: File, kept: &Mutex<Vec<u8>>) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(read @ 1..) = pipe.read(&mut buffer) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let room = LARGEST_OUTPUT.saturating_sub(kept.len());
        kept.extend(buffer.iter().take(read.min(room)));
    }
}

/// The end of what a program wrote, fit for a message.
pub(crate) fn last_lines(output: &[u8], most: usize) -> String {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let from = lines.len().saturating_sub(most);
    lines.get(from..).unwrap_or_default().join("\n")
}
