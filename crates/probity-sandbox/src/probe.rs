//! What this machine offers for containment, found by trying it.

use std::{
    env, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    Backend, BackendKind, Exit, ForbiddingSetting, Limits, Network, Spec, Unusable, cgroup::Cgroup,
    lookup, run, tool,
};

/// What was found.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Tried with everything a contained process gets.
    pub bubblewrap: Result<FoundProgram, Unusable>,
    /// Engines count as found if their server answers.
    pub docker: Result<FoundProgram, Unusable>,
    pub podman: Result<FoundProgram, Unusable>,
    /// Tried as well; the version is that of the kernel's interface. Bubblewrap's processes use it,
    /// too: it keeps those with an open network from the host's abstract sockets.
    pub landlock: Result<FoundProgram, Unusable>,
    /// Whether a setting of the kernel is known to forbid them; bubblewrap needs them.
    pub user_namespaces: Result<(), Unusable>,
    /// Whether limits hold whole trees of processes.
    pub cgroups: Result<(), Unusable>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundProgram {
    pub program: PathBuf,
    pub version: String,
}

/// How long a program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// Tries everything, which takes its time.
pub fn probe() -> Machine {
    Machine {
        bubblewrap: look_for(BackendKind::Bubblewrap),
        docker: look_for(BackendKind::Docker),
        podman: look_for(BackendKind::Podman),
        landlock: look_for(BackendKind::Landlock),
        user_namespaces: ForbiddingSetting::here().map_or(Ok(()), |s| Err(Unusable::Forbidden(s))),
        cgroups: Cgroup::create(&Limits::default())
            .map(drop)
            .map_err(|error| Unusable::NoGroup { why: error.to_string() }),
    }
}

/// Tries one backend.
pub fn look_for(kind: BackendKind) -> Result<FoundProgram, Unusable> {
    match kind {
        BackendKind::None => Err(Unusable::Unasked),
        BackendKind::Bubblewrap => bubblewrap(),
        BackendKind::Landlock => landlock(),
        BackendKind::Docker => engine("docker", "{{.Server.Version}}"),
        BackendKind::Podman => engine("podman", "{{.Version}}"),
    }
}

impl Machine {
    pub(crate) fn found(&self, kind: BackendKind) -> Result<FoundProgram, Unusable> {
        match kind {
            BackendKind::None => Err(Unusable::Unasked),
            BackendKind::Bubblewrap => self.bubblewrap.clone(),
            BackendKind::Landlock => self.landlock.clone(),
            BackendKind::Docker => self.docker.clone(),
            BackendKind::Podman => self.podman.clone(),
        }
    }
}

fn bubblewrap() -> Result<FoundProgram, Unusable> {
    let absent = Unusable::NotInstalled { program: "bwrap", package: Some("bubblewrap") };
    let program = find("bwrap").ok_or(absent)?;
    let version = say(&program, &["--version"])?.trim_start_matches("bubblewrap ").to_owned();
    let backend = Backend::Bubblewrap { program: program.clone() };
    let mut spec = Spec::new(["true"], "/");
    spec.network = Network::None;
    spec.limits.wall = Some(PATIENCE);
    let why = match run(&backend, &spec, b"") {
        Ok(tried) if tried.exit == Exit::Code(0) => return Ok(FoundProgram { program, version }),
        Ok(tried) => {
            let told = String::from_utf8_lossy(&tried.stderr_tail);
            format!("bwrap {version} {}: {}", tried.exit, told.trim())
        }
        Err(error) => error.to_string(),
    };
    Err(Unusable::StartsNothing { why, setting: ForbiddingSetting::here() })
}

fn engine(name: &'static str, format: &str) -> Result<FoundProgram, Unusable> {
    let absent = Unusable::NotInstalled { program: name, package: None };
    let program = find(name).ok_or(absent)?;
    let version = say(&program, &["version", "--format", format])?;
    Ok(FoundProgram { program, version })
}

/// Runs a tool of the host and gives the first line of its output.
fn say(program: &Path, arguments: &[&str]) -> Result<String, Unusable> {
    let failed = |why: String| {
        let name = program.file_name().unwrap_or_default();
        Unusable::NoAnswer { program: name.to_string_lossy().into_owned(), why }
    };
    let outcome = tool::ask(program, arguments, PATIENCE);
    let outcome = outcome.map_err(|error| failed(error.to_string()))?;
    let first = |bytes: &[u8]| {
        String::from_utf8_lossy(bytes).lines().next().unwrap_or_default().trim().to_owned()
    };
    match outcome.exit {
        Exit::Code(0) => Ok(first(&outcome.stdout)),
        Exit::Timeout => Err(failed("it takes too long".to_owned())),
        other => match first(&outcome.stderr_tail) {
            told if told.is_empty() => Err(failed(format!("{} {other}", program.display()))),
            told => Err(failed(told)),
        },
    }
}

/// Our own `PATH`, or where such programs are without one. It is not looked into directories of the
/// repository around us, which npm and direnv put there: its program would run without a sandbox.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_else(|| lookup::DEFAULT_PATH.into());
    let repository = repository();
    let is_inside = |directory: &PathBuf| {
        let real = fs::canonicalize(directory).ok();
        real.zip(repository.as_ref()).is_some_and(|(real, top)| real.starts_with(top))
    };
    let own = env::split_paths(&path).filter(|directory| directory.is_absolute());
    let mut own = own.filter(|directory| !is_inside(directory));
    own.find_map(|directory| Some(directory.join(name)).filter(|path| path.is_file()))
}

/// The repository around the working directory. One that is the home itself is the user's own.
fn repository() -> Option<PathBuf> {
    let here = fs::canonicalize(env::current_dir().ok()?).ok()?;
    let has_git = |above: &&Path| above.join(".git").symlink_metadata().is_ok();
    let top = here.ancestors().find(has_git)?;
    let home = env::var_os("HOME").and_then(|home| fs::canonicalize(home).ok());
    home.is_none_or(|home| home != top).then(|| top.to_owned())
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the landlock crate keeps the version to itself")]
pub(crate) fn landlock_version() -> Option<u32> {
    let null = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the kernel wants no memory, and answers with a number.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, null, 0, 1) };
    u32::try_from(version).ok().filter(|version| *version > 0)
}

/// Tried with a call that the supervisor has to make, since a machine may forbid that to us.
#[cfg(target_os = "linux")]
fn landlock() -> Result<FoundProgram, Unusable> {
    let version = crate::landlock::version()?;
    let script = "cd \"$HOME\" && : > tried && chmod 600 tried && touch -d @1 tried";
    let mut spec = Spec::new(["sh", "-c", script], "/usr");
    spec.limits.wall = Some(PATIENCE);
    let why = match run(&Backend::Landlock, &spec, b"") {
        Ok(tried) if tried.exit == Exit::Code(0) => {
            return Ok(FoundProgram { program: PathBuf::new(), version: version.to_string() });
        }
        Ok(tried) => {
            let told = String::from_utf8_lossy(&tried.stderr_tail);
            format!("a trial {}: {}", tried.exit, told.trim())
        }
        Err(error) => error.to_string(),
    };
    Err(Unusable::StartsNothing { why, setting: None })
}

#[cfg(not(target_os = "linux"))]
fn landlock() -> Result<FoundProgram, Unusable> {
    Err(Unusable::NoLandlock)
}
