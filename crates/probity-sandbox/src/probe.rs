//! What this machine offers for containment, found by trying it.

use std::{
    env, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{Backend, Exit, Kind, Limits, Network, Spec, cgroup::Cgroup, lookup, run, tool};

/// Why something cannot be used, in words that name the way out.
pub type Why = String;

/// What was found.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Tried with everything a contained process gets.
    pub bubblewrap: Result<Found, Why>,
    /// Engines count as found if their server answers.
    pub docker: Result<Found, Why>,
    pub podman: Result<Found, Why>,
    /// The version of the kernel's Landlock interface. From 6 on the host's abstract sockets are
    /// closed to processes with an open network; more of it is not used, since mounts contain
    /// better and a restricted process could not make them.
    pub landlock: Option<u32>,
    /// Whether a setting of the kernel is known to forbid them; bubblewrap needs them.
    pub user_namespaces: Result<(), Why>,
    /// Whether limits hold whole trees of processes.
    pub cgroups: Result<(), Why>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub program: PathBuf,
    pub version: String,
}

/// How long a program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// Tries everything, which takes its time.
pub fn probe() -> Machine {
    Machine {
        bubblewrap: look_for(Kind::Bubblewrap),
        docker: look_for(Kind::Docker),
        podman: look_for(Kind::Podman),
        landlock: landlock(),
        user_namespaces: forbidding_setting().map_or(Ok(()), |why| Err(why.to_owned())),
        cgroups: Cgroup::create(&Limits::default()).map(drop).map_err(|error| error.to_string()),
    }
}

/// Tries one backend.
pub fn look_for(kind: Kind) -> Result<Found, Why> {
    match kind {
        Kind::None => Err(NEVER_UNASKED.to_owned()),
        Kind::Bubblewrap => bubblewrap(),
        Kind::Docker => engine("docker", "{{.Server.Version}}"),
        Kind::Podman => engine("podman", "{{.Version}}"),
    }
}

const NEVER_UNASKED: &str = "never chosen unasked";

impl Machine {
    pub(crate) fn found(&self, kind: Kind) -> Result<Found, Why> {
        match kind {
            Kind::None => Err(NEVER_UNASKED.to_owned()),
            Kind::Bubblewrap => self.bubblewrap.clone(),
            Kind::Docker => self.docker.clone(),
            Kind::Podman => self.podman.clone(),
        }
    }
}

fn bubblewrap() -> Result<Found, Why> {
    let program = find("bwrap").ok_or("bwrap is not installed (the package is bubblewrap)")?;
    let version = say(&program, &["--version"])?.trim_start_matches("bubblewrap ").to_owned();
    let backend = Backend::Bubblewrap { program: program.clone() };
    let mut spec = Spec::new(["true"], "/");
    spec.network = Network::None;
    spec.limits.wall = Some(PATIENCE);
    let tried = run(&backend, &spec, b"").map_err(|error| explain(&error.to_string()))?;
    match tried.exit {
        Exit::Code(0) => Ok(Found { program, version }),
        other => {
            let told = String::from_utf8_lossy(&tried.stderr_tail);
            Err(explain(&format!("bwrap {version} {other}: {}", told.trim())))
        }
    }
}

/// Adds the setting that is known to be behind a failure.
fn explain(failure: &str) -> Why {
    match forbidding_setting() {
        Some(why) => format!("{failure}; {why}"),
        None => failure.to_owned(),
    }
}

/// The setting by which this machine forbids user namespaces, and the way out.
fn forbidding_setting() -> Option<&'static str> {
    [
        (
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "AppArmor forbids user namespaces: install a profile for bwrap, or set \
             kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        (
            "/proc/sys/kernel/unprivileged_userns_clone",
            "0",
            "user namespaces are off: set kernel.unprivileged_userns_clone=1",
        ),
        (
            "/proc/sys/user/max_user_namespaces",
            "0",
            "user namespaces are off: set user.max_user_namespaces to more than 0",
        ),
    ]
    .into_iter()
    .find(|(path, closed, _)| fs::read_to_string(path).is_ok_and(|text| text.trim() == *closed))
    .map(|(_, _, way_out)| way_out)
}

fn engine(name: &str, format: &str) -> Result<Found, Why> {
    let program = find(name).ok_or_else(|| format!("{name} is not installed"))?;
    let version = say(&program, &["version", "--format", format])
        .map_err(|why| format!("{name} does not answer: {why}"))?;
    Ok(Found { program, version })
}

/// Runs a tool of the host and gives the first line of its output.
fn say(program: &Path, arguments: &[&str]) -> Result<String, Why> {
    let outcome = tool::ask(program, arguments, PATIENCE).map_err(|error| error.to_string())?;
    let first = |bytes: &[u8]| {
        String::from_utf8_lossy(bytes).lines().next().unwrap_or_default().trim().to_owned()
    };
    match outcome.exit {
        Exit::Code(0) => Ok(first(&outcome.stdout)),
        Exit::Timeout => Err("no answer in time".to_owned()),
        other => match first(&outcome.stderr_tail) {
            told if told.is_empty() => Err(format!("{} {other}", program.display())),
            told => Err(told),
        },
    }
}

/// Our own `PATH`, or where such programs are without one.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_else(|| lookup::DEFAULT_PATH.into());
    env::split_paths(&path).map(|directory| directory.join(name)).find(|path| path.is_file())
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the landlock crate keeps the version to itself")]
fn landlock() -> Option<u32> {
    let null = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the kernel wants no memory, and answers with a number.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, null, 0, 1) };
    u32::try_from(version).ok().filter(|version| *version > 0)
}

#[cfg(not(target_os = "linux"))]
fn landlock() -> Option<u32> {
    None
}
