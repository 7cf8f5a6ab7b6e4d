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
    cli::cai::{ExecArgs, Sandbox},
    containment::{Containment, DEFAULT_IMAGE, NetworkMode, Runtime, State},
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

pub(crate) fn run(name: Name, args: ExecArgs) -> anyhow::Result<Exit> {
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
        tracing::warn!(".containai/config.toml of this repository: {ignored}");
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
    let home = state.home(&root)?;
    let spec = spec(kind, args.command, &cwd, &root, &home, &containment)?;
    follow(&backend, &spec, &root, &state)
}

/// Runs a process of this workspace with our streams and signals, to its end.
pub(crate) fn follow(
    backend: &Backend,
    spec: &Spec,
    root: &Root,
    state: &State,
) -> anyhow::Result<Exit> {
    // Before the start: a signal that comes meanwhile is the command's and waits for it.
    let signals = signals::catch()?;
    let guard = guard(root);
    let child = spawn(backend, spec).map_err(|error| explained(&error))?;
    for note in child.notes() {
        tracing::info!("{note}");
    }
    let exit = streams::follow(child, signals)?;
    report(guard, root, state);
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

/// Ends the watch, takes away what git on the host must not obey, and says so.
#[cfg(target_os = "linux")]
pub(crate) fn report(guard: Option<probity_sandbox::Guard>, root: &Root, state: &State) {
    let Some(ended) = guard.map(probity_sandbox::Guard::finish) else { return };
    if ended.removed > 0 {
        tracing::warn!(
            "a commondir was made in the git directory, which would lead git astray: removed"
        );
    }
    for note in &ended.notes {
        tracing::warn!("{note}");
    }
    for stray in &ended.strays {
        match state.quarantine(&root.path, stray) {
            Ok(kept) => tracing::warn!(
                "{}: {} was moved to {}; `cai accept` restores it without programs",
                stray.path.display(),
                kept.what(),
                kept.item().display()
            ),
            Err(error) => tracing::warn!(
                "{}: git may run programs of the sandboxed command there, and moving it away \
                 failed: {error:#}; remove it before you use git",
                stray.path.display()
            ),
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn guard(_root: &Root) {}

#[cfg(not(target_os = "linux"))]
pub(crate) fn report((): (), _root: &Root, _state: &State) {}

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

pub(crate) fn preference(flag: Option<Sandbox>, configured: Runtime) -> Preference {
    match (flag, configured) {
        (Some(Sandbox::None), _) => Preference::Only(Kind::None),
        (Some(Sandbox::Bwrap), _) | (None, Runtime::Bwrap) => Preference::Only(Kind::Bubblewrap),
        (Some(Sandbox::Docker), _) | (None, Runtime::Docker) => Preference::Only(Kind::Docker),
        (Some(Sandbox::Podman), _) | (None, Runtime::Podman) => Preference::Only(Kind::Podman),
        (Some(Sandbox::Auto), _) | (None, Runtime::Auto) => Preference::EngineFirst,
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
