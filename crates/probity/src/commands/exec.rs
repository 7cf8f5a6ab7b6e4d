//! `exec`: a command in the workspace's sandbox, with our streams, signals and its exit code.

pub(crate) mod signals;
mod streams;

use std::{
    env,
    ffi::OsString,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use probity_sandbox::{
    Backend, Choice, Engine, Found, Kind, Limits, Mount, Network, Preference, Root, SpawnError,
    Spec, User, choose_here, containers, enforces_allowlist, has_container, has_image, look_for,
    remove_container, spawn, workspace_root,
};

use crate::{
    containment::{Containment, DEFAULT_IMAGE, NetworkMode, Sandbox, State},
    exit::Exit,
    failure::Failure,
    name::{Mistake, Name},
};

/// The home of a contained process.
const HOME: &str = "/home/agent";

/// Where the workspace is inside, beside its own path.
const WORKSPACE: &str = "/home/agent/workspace";

const PATH: &str =
    "/home/agent/.local/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/// Enough for a large build, and not enough to choke the machine.
const PROCESSES: u64 = 4096;

const NOT_STARTED: Exit = Exit::Program(11);

/// What is run, and where.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// The workspace, instead of the one around the working directory.
    pub(crate) workspace: Option<PathBuf>,
    /// The workspace that this container of ours belongs to.
    pub(crate) container: Option<String>,
    /// Whether to start from a new container.
    pub(crate) fresh: bool,
    pub(crate) image: Option<String>,
    pub(crate) sandbox: Option<Sandbox>,
    pub(crate) command: Vec<OsString>,
}

pub(crate) fn run(name: Name, args: Options) -> anyhow::Result<Exit> {
    run_at_home(name, args, &|_, root, state| state.home(root))
}

/// Finds the directory that a process of a workspace has for its home.
pub(crate) type FindHome<'a> = dyn Fn(Kind, &Root, &State) -> anyhow::Result<PathBuf> + 'a;

/// The same with another home than the workspace's.
pub(crate) fn run_at_home(
    name: Name,
    args: Options,
    find_home: &FindHome<'_>,
) -> anyhow::Result<Exit> {
    let named = args.container.as_deref().map(|wanted| container(name, wanted)).transpose()?;
    let cwd = match (&named, &args.workspace) {
        (Some((_, workspace)), _) | (None, Some(workspace)) => workspace.clone(),
        (None, None) => env::current_dir()?,
    };
    let root = root(name, &cwd)?;
    let state = State::find()?;
    state.refuse_inside(&root)?;
    let containment = Containment::load(&root, &state)?;
    for ignored in &containment.ignored {
        tracing::warn!("{ignored}");
    }
    let image = args.image.or_else(|| containment.image.clone());
    let image = image.unwrap_or_else(|| DEFAULT_IMAGE.to_owned());
    let preference = match named {
        Some((kind, _)) => Preference::Only(kind),
        None => preference(args.sandbox, containment.runtime),
    };
    let (kind, program) = chosen(preference, &image, containment.reach.is_some())?;
    if args.fresh && matches!(kind, Kind::Docker | Kind::Podman) {
        remove(kind, &program, &root.path)?;
    }
    let backend = backend(kind, program, image, &root, &state);
    let home = find_home(kind, &root, &state)?;
    let spec = spec(kind, args.command, &cwd, &root, &home, &containment)?;
    // Before the start: a signal that comes meanwhile is the command's and waits for it.
    let signals = signals::catch()?;
    let guard = guard(&root);
    let child = spawn(&backend, &spec).map_err(|error| explained(&error))?;
    for note in child.notes() {
        tracing::info!("{note}");
    }
    let exit = streams::follow(child, signals)?;
    report(guard);
    match exit {
        probity_sandbox::Exit::NotStarted => Ok(NOT_STARTED),
        exit => Ok(Exit::Program(u8::try_from(exit.code()).unwrap_or(u8::MAX))),
    }
}

/// Watches over the git directory while the command can write to it.
#[cfg(target_os = "linux")]
pub(crate) fn guard(root: &Root) -> Option<probity_sandbox::Guard> {
    let guard = root.guard();
    if let Err(error) = &guard {
        tracing::warn!("the git directory is not watched: {error}");
    }
    guard.ok()
}

/// Ends the watch, and says what came of it.
#[cfg(target_os = "linux")]
pub(crate) fn report(guard: Option<probity_sandbox::Guard>) {
    if guard.map_or(0, probity_sandbox::Guard::finish) > 0 {
        tracing::warn!(
            "a commondir was made in the git directory, which would lead git astray: removed"
        );
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn guard(_root: &Root) {}

#[cfg(not(target_os = "linux"))]
pub(crate) fn report((): ()) {}

/// What runs a process of this workspace.
pub(crate) fn backend(
    kind: Kind,
    program: PathBuf,
    image: String,
    root: &Root,
    state: &State,
) -> Backend {
    match kind {
        Kind::None => Backend::None,
        Kind::Bubblewrap => Backend::Bubblewrap { program },
        Kind::Docker | Kind::Podman => {
            let state = state.directory.clone();
            Backend::Engine(Engine { kind, program, image, workspace: root.path.clone(), state })
        }
    }
}

/// The workspace around a directory, or why that cannot be one.
pub(crate) fn root(name: Name, cwd: &Path) -> anyhow::Result<Root> {
    workspace_root(cwd).map_err(|error| {
        Failure::new(error.to_string(), "go to a project, or name one with --workspace")
            .with_exit(Exit::Program(name.usage_code(Mistake::Other)))
            .into()
    })
}

pub(crate) fn preference(flag: Option<Sandbox>, configured: Sandbox) -> Preference {
    match flag.unwrap_or(configured) {
        Sandbox::None => Preference::Only(Kind::None),
        Sandbox::Bubblewrap => Preference::Only(Kind::Bubblewrap),
        Sandbox::Docker => Preference::Only(Kind::Docker),
        Sandbox::Podman => Preference::Only(Kind::Podman),
        Sandbox::Auto => Preference::EngineFirst,
    }
}

pub(crate) fn chosen(
    preference: Preference,
    image: &str,
    allowlist: bool,
) -> anyhow::Result<(Kind, PathBuf)> {
    let asked = |kind, found: &Found| {
        if allowlist {
            enforces_allowlist(kind)?;
        }
        has_image(found, image)
    };
    let Choice { chosen, reasons } = choose_here(preference, &asked);
    for reason in &reasons {
        tracing::info!("{reason}");
    }
    chosen.ok_or_else(|| {
        Failure::new(
            format!("nothing here can contain the command:\n{}", reasons.join("\n")),
            format!(
                "install bubblewrap, or give an engine the image ({image}; another one with \
                 --image); `probity doctor` shows all; `--sandbox none` runs it uncontained"
            ),
        )
        .with_exit(NOT_STARTED)
        .into()
    })
}

pub(crate) fn spec(
    kind: Kind,
    command: Vec<OsString>,
    cwd: &Path,
    root: &Root,
    home: &Path,
    containment: &Containment,
) -> anyhow::Result<Spec> {
    let real = cwd.canonicalize()?;
    let below = real.strip_prefix(&root.path).unwrap_or(Path::new(""));
    let inside = if below.as_os_str().is_empty() {
        PathBuf::from(WORKSPACE)
    } else {
        Path::new(WORKSPACE).join(below)
    };
    let mut spec = Spec::new(command, inside);
    if reaches(kind, root)? {
        spec.mounts.push(Mount::read_write(home, HOME));
    } else {
        tracing::info!("the home is new each time, since the owner of the workspace is not us");
    }
    spec.mounts.extend(root.mounts(Path::new(WORKSPACE)));
    let mut give = |name: &str, value: OsString| spec.env.push((name.into(), value));
    match kind {
        // Uncontained, the home is where it is, and programs are where the user has them.
        Kind::None => {
            give("HOME", home.as_os_str().into());
            give("PATH", env::var_os("PATH").unwrap_or_else(|| PATH.into()));
        }
        Kind::Bubblewrap => {
            give("HOME", HOME.into());
            give("PATH", PATH.into());
        }
        // The image knows best where its programs are.
        Kind::Docker | Kind::Podman => give("HOME", HOME.into()),
    }
    for name in &containment.import {
        if let Some(value) = env::var_os(name) {
            give(name, value);
        }
    }
    give("CAI_HOST_WORKSPACE", root.path.clone().into());
    spec.limits = Limits {
        memory: containment.memory,
        cpus: containment.cpus,
        pids: Some(PROCESSES),
        ..Limits::default()
    };
    spec.network = match containment.network {
        NetworkMode::Open => Network::Open,
        NetworkMode::Allowlist | NetworkMode::None => Network::None,
    };
    spec.reach = containment.reach.clone();
    spec.user = User::OwnerOf(root.path.clone());
    Ok(spec)
}

/// Whether the process can have its home from our state directory. As root we run as the owner of
/// the workspace, and bubblewrap then has no way into root's directories; engines mount as root.
fn reaches(kind: Kind, root: &Root) -> anyhow::Result<bool> {
    let root_for_another =
        rustix::process::geteuid().is_root() && fs::metadata(&root.path)?.uid() != 0;
    Ok(kind != Kind::Bubblewrap || !root_for_another)
}

/// The workspace of a container of ours, and the engine that has it.
fn container(name: Name, wanted: &str) -> anyhow::Result<(Kind, PathBuf)> {
    let mut silent = Vec::new();
    let mut foreign = false;
    for kind in [Kind::Docker, Kind::Podman] {
        let found = match look_for(kind) {
            Ok(found) => found,
            Err(why) => {
                silent.push(why);
                continue;
            }
        };
        let ours = containers(&found).map_err(|error| explained(&error))?;
        if let Some(container) = ours.into_iter().find(|container| container.name == wanted) {
            return Ok((kind, container.workspace));
        }
        foreign |= has_container(&found, wanted).map_err(|error| explained(&error))?;
    }
    let way_out =
        "`cai status` lists ours; `--workspace DIR` finds or makes the one of a directory";
    let (what, exit) = if foreign {
        (format!("the container {wanted} was not made by us"), Exit::Program(15))
    } else if silent.len() == ENGINES {
        (format!("no engine can be asked for {wanted}:\n{}", silent.join("\n")), NOT_STARTED)
    } else {
        let exit = Exit::Program(name.usage_code(Mistake::Other));
        (format!("there is no container {wanted}"), exit)
    };
    Err(Failure::new(what, way_out).with_exit(exit).into())
}

/// Docker and podman.
const ENGINES: usize = 2;

fn remove(kind: Kind, program: &Path, workspace: &Path) -> anyhow::Result<()> {
    let found = Found { program: program.to_owned(), version: kind.name().to_owned() };
    let ours = containers(&found).map_err(|error| explained(&error))?;
    for container in ours.iter().filter(|container| container.workspace == workspace) {
        remove_container(&found, &container.name).map_err(|error| explained(&error))?;
    }
    Ok(())
}

/// The message and the exit code of a start that failed.
pub(crate) fn explained(error: &SpawnError) -> anyhow::Error {
    let (way_out, exit) = match error {
        SpawnError::NotFound(_) => (
            "what is installed in your home is not seen inside: the system's programs and the \
             workspace's are",
            Exit::Program(127),
        ),
        SpawnError::NotExecutable(_) => {
            ("`chmod +x` it, or name its interpreter", Exit::Program(126))
        }
        SpawnError::Foreign { .. } => {
            ("`cai status` lists the containers that are ours", Exit::Program(15))
        }
        _ => ("`probity doctor` shows what this machine can contain", NOT_STARTED),
    };
    Failure::new(error.to_string(), way_out).with_exit(exit).into()
}
