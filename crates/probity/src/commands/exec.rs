//! `exec`: a command in the workspace's sandbox, with our streams, signals and its exit code.

pub(crate) mod signals;
mod streams;
mod terminal;

use std::{
    env,
    ffi::OsString,
    fs::File,
    io,
    path::{Path, PathBuf},
};

use probity_containment::{Quarantine, Watch, make_up};
use probity_sandbox::{
    Backend, BackendKind, Child, FoundProgram, Limits, Root, SpawnError, Spec, containers,
    has_container, look_for, remove_container, spawn, workspace_root,
};
use probity_seat::{Caller, NamedBy, Occupant, Request, Seated, Seats, Unseated};

use terminal::Terminal;

use crate::{
    config::words::Sandbox,
    containment::Users,
    exit::Exit,
    failure::Failure,
    name::{Mistake, Name},
    seats::{state, terms},
};

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
    /// Whether changed files that tools run by themselves wait for `cai accept`.
    pub(crate) quarantine: bool,
    pub(crate) command: Vec<OsString>,
}

pub(crate) fn run(name: Name, args: Options) -> anyhow::Result<Exit> {
    let first = args.command.first().map(|word| word.to_string_lossy()).unwrap_or_default();
    if first.starts_with('-') && name == Name::Probity {
        return Err(Failure::new(
            format!("`{first}` is not an option of `probity exec`, and not a program"),
            "`probity exec --help` lists the options; write `--` before the command",
        )
        .into());
    }
    let named = args.container.as_deref().map(|wanted| container(name, wanted)).transpose()?;
    let cwd = match (&named, &args.workspace) {
        (Some((_, workspace)), _) | (None, Some(workspace)) => workspace.clone(),
        (None, None) => env::current_dir()?,
    };
    let Users { table, grants, terms: users, .. } = Users::load()?;
    let root = root(name, &cwd)?;
    let mut terms = terms(Caller::Exec, users, Some(&root))?;
    make_up(&state()?, Some(&root.path));
    terms.image = args.image.or(terms.image);
    let sandbox = match (named, args.sandbox) {
        (Some((BackendKind::Podman, _)), _) => Sandbox::Podman,
        (Some(_), _) => Sandbox::Docker,
        (None, flag) => flag.unwrap_or(terms.sandbox),
    };
    if sandbox == Sandbox::Auto {
        terms.sandbox = Sandbox::Auto;
    }
    let seats = Seats::new(table, grants, None);
    let request = Request {
        caller: Caller::Exec,
        occupant: Occupant::Command(&args.command),
        named_by: NamedBy::User,
        form: None,
        sandbox,
        directory: &cwd,
        directories: &[],
        variables: &[],
        terms: &terms,
    };
    let seated = seats.seat(&request).map_err(refused)?;
    if args.fresh
        && let Backend::Engine(engine) = &seated.seat.backend
    {
        remove(engine.kind, &engine.program, &engine.workspace)?;
    }
    follow(&seated, Quarantine::of(args.quarantine))
}

/// Runs what is seated to its end, with our streams and signals.
pub(crate) fn follow(seated: &Seated, quarantine: Quarantine) -> anyhow::Result<Exit> {
    follow_with(seated, quarantine, seated.seat.spec.clone(), streams::follow)
}

/// The same on a terminal of its own, if we are on one: a program may ask questions there.
pub(crate) fn follow_on_terminal(seated: &Seated, quarantine: Quarantine) -> anyhow::Result<Exit> {
    let Some((terminal, theirs)) = Terminal::open()? else { return follow(seated, quarantine) };
    let spec = Spec { terminal: Some(theirs), ..seated.seat.spec.clone() };
    follow_with(seated, quarantine, spec, |child, signals| terminal.follow(child, signals))
}

fn follow_with(
    seated: &Seated,
    quarantine: Quarantine,
    spec: Spec,
    copy: impl FnOnce(Child, File) -> io::Result<probity_sandbox::Exit>,
) -> anyhow::Result<Exit> {
    // Before the start: a signal that comes meanwhile is the command's and waits for it.
    let signals = signals::catch()?;
    let watch = Watch::start(seated, quarantine, &state()?)?;
    let child = spawn(&seated.seat.backend, &spec).map_err(|error| explained(&error))?;
    say_limits(&child, &spec.limits);
    // With the process's side of a terminal, whose end we are to see.
    drop(spec);
    let exit = copy(child, signals)?;
    watch.end();
    match exit {
        probity_sandbox::Exit::NotStarted => Ok(NOT_STARTED),
        exit => Ok(Exit::Program(u8::try_from(exit.code()).unwrap_or(u8::MAX))),
    }
}

/// What holds a process and how, for those who ask for more.
pub(crate) fn say_limits(child: &Child, limits: &Limits) {
    let limits = limits.to_string();
    if limits.is_empty() {
        tracing::info!("limits: none");
    } else {
        tracing::info!("limits: {limits}; held by {}", child.limited_by());
    }
    for note in child.notes() {
        tracing::info!("{note}");
    }
}

/// The message and the exit code of a command that was not placed.
pub(crate) fn refused(unseated: Unseated) -> anyhow::Error {
    let is_about_start =
        matches!(unseated, Unseated::NoSandbox { .. } | Unseated::NotInstalled { .. });
    let failure = Failure::from(unseated);
    if is_about_start { failure.with_exit(NOT_STARTED).into() } else { failure.into() }
}

/// The workspace around a directory, or why that cannot be one.
pub(crate) fn root(name: Name, cwd: &Path) -> anyhow::Result<Root> {
    workspace_root(cwd).map_err(|error| {
        Failure::new(
            error.to_string(),
            "run it in a project, or pass the directory of one with --workspace",
        )
        .with_exit(Exit::Program(name.usage_code(Mistake::Other)))
        .into()
    })
}

/// The workspace of a container of ours, and the engine that has it.
fn container(name: Name, wanted: &str) -> anyhow::Result<(BackendKind, PathBuf)> {
    let mut silent = Vec::new();
    let mut foreign = false;
    for kind in [BackendKind::Docker, BackendKind::Podman] {
        let found = match look_for(kind) {
            Ok(found) => found,
            Err(why) => {
                silent.push(why.to_string());
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

fn remove(kind: BackendKind, program: &Path, workspace: &Path) -> anyhow::Result<()> {
    let found = FoundProgram { program: program.to_owned(), version: kind.name().to_owned() };
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
            "the sandbox has the programs of the system and of the workspace, but none of your home; \
             install it in one of these, or pass its path",
            Exit::Program(127),
        ),
        SpawnError::NotExecutable(_) => {
            ("`chmod +x` it, or name its interpreter", Exit::Program(126))
        }
        SpawnError::NotShown { .. } => {
            ("use another sandbox; `probity doctor` shows which work on this machine", NOT_STARTED)
        }
        SpawnError::Foreign { .. } => {
            ("`cai status` lists the containers that probity created", Exit::Program(15))
        }
        _ => ("`probity doctor` shows which sandboxes work on this machine", NOT_STARTED),
    };
    Failure::new(error.to_string(), way_out).with_exit(exit).into()
}
