//! The one way to start a process, whatever it runs in.

use std::{
    fs::File,
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process,
};

use crate::{BackendKind, Child, Engine, Network, SpawnError, Spec, Stream, engine, uncontained};

/// What a process runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backend {
    /// No containment at all: only ever by the caller's explicit wish.
    None,
    /// A minimal root and namespaces of its own, made by this `bwrap`.
    Bubblewrap { program: PathBuf },
    /// The host's own root, of which the kernel opens a part, without namespaces.
    Landlock,
    /// A container of docker or podman.
    Engine(Engine),
}

impl Backend {
    #[must_use]
    pub fn kind(&self) -> BackendKind {
        match self {
            Self::None => BackendKind::None,
            Self::Bubblewrap { .. } => BackendKind::Bubblewrap,
            Self::Landlock => BackendKind::Landlock,
            Self::Engine(engine) => engine.kind,
        }
    }
}

/// Starts a process. It and all its children end with the returned handle.
pub fn spawn(backend: &Backend, spec: &Spec) -> Result<Child, SpawnError> {
    if spec.argv.is_empty() {
        return Err(SpawnError::NoProgram);
    }
    if has_nul(spec) {
        return Err(SpawnError::Nul);
    }
    if spec.reach.is_some() && (spec.network == Network::Open || *backend == Backend::None) {
        let why = "a list of allowed hosts cannot be enforced on the network of the host";
        return Err(SpawnError::Setup { backend: backend.kind().name(), why: why.to_owned() });
    }
    match backend {
        Backend::None => uncontained::spawn(spec),
        Backend::Bubblewrap { program } => in_bubblewrap(program, spec),
        Backend::Landlock => by_landlock(spec),
        Backend::Engine(engine) => engine::spawn(engine, spec),
    }
}

#[cfg(target_os = "linux")]
fn in_bubblewrap(program: &Path, spec: &Spec) -> Result<Child, SpawnError> {
    crate::bubblewrap::spawn(program, spec)
}

#[cfg(not(target_os = "linux"))]
fn in_bubblewrap(_program: &Path, _spec: &Spec) -> Result<Child, SpawnError> {
    Err(SpawnError::Setup { backend: "bubblewrap", why: "it exists on Linux alone".to_owned() })
}

#[cfg(target_os = "linux")]
fn by_landlock(spec: &Spec) -> Result<Child, SpawnError> {
    crate::landlock::spawn(spec)
}

#[cfg(not(target_os = "linux"))]
fn by_landlock(_spec: &Spec) -> Result<Child, SpawnError> {
    Err(SpawnError::Setup { backend: "landlock", why: "it exists on Linux alone".to_owned() })
}

fn has_nul(spec: &Spec) -> bool {
    let nul = |text: &std::ffi::OsString| text.as_encoded_bytes().contains(&0);
    let bad_name =
        |name: &std::ffi::OsString| name.is_empty() || name.as_encoded_bytes().contains(&b'=');
    spec.argv.iter().any(nul)
        || spec.env.iter().any(|(name, value)| nul(name) || nul(value) || bad_name(name))
        || spec.cwd.as_os_str().as_encoded_bytes().contains(&0)
}

/// The standard library's view of the streams that were asked for.
pub(crate) fn streams(command: &mut process::Command, spec: &Spec) -> io::Result<()> {
    if let Some(terminal) = &spec.terminal {
        command.stdin(terminal.try_clone()?);
        command.stdout(terminal.try_clone()?).stderr(terminal.try_clone()?);
        return Ok(());
    }
    let stdio = |stream| match stream {
        Stream::Pipe => process::Stdio::piped(),
        Stream::Null => process::Stdio::null(),
        Stream::Inherit => process::Stdio::inherit(),
    };
    command
        .stdin(stdio(spec.streams.stdin))
        .stdout(stdio(spec.streams.stdout))
        .stderr(stdio(spec.streams.stderr));
    Ok(())
}

/// Our ends of the pipes, as plain files.
#[derive(Debug, Default)]
pub(crate) struct Pipes {
    pub(crate) stdin: Option<File>,
    pub(crate) stdout: Option<File>,
    pub(crate) stderr: Option<File>,
}

impl Pipes {
    pub(crate) fn take(child: &mut process::Child) -> Self {
        let file = |end: OwnedFd| File::from(end);
        Self {
            stdin: child.stdin.take().map(|end| file(end.into())),
            stdout: child.stdout.take().map(|end| file(end.into())),
            stderr: child.stderr.take().map(|end| file(end.into())),
        }
    }
}
