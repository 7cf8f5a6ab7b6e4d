//! The backends that contain with a container engine, through its command line.
//!
//! One container for each workspace root, in which processes are started with `exec`. The command
//! line and not the engine's interface, because it honours contexts, remote hosts and wrappers.
//!
//! Killing the client of an `exec` leaves its process running in the container. So each process
//! has a second `exec` beside it, which waits for the end of its input (that is, for our end,
//! however it comes) and then kills the process's group and all that bears its mark.

mod container;
mod session;
mod stock;

use std::{
    ffi::OsString,
    path::PathBuf,
    process::Command,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::{
    Child, Kind, SpawnError, Spec,
    backend::{Pipes, streams},
    keeper::keep,
    spawner::{self, Before},
    user,
};
use session::Session;

pub use container::has_image;
pub use stock::{Container, containers, remove_container};

/// An engine and the container in it that belongs to one workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// Docker or podman.
    pub kind: Kind,
    pub program: PathBuf,
    pub image: String,
    /// The root whose container it is.
    pub workspace: PathBuf,
    /// A directory of ours, where the locks are.
    pub state: PathBuf,
}

/// Named in the environment of every process of one session, to find those that left its group.
const MARK: &str = "PROBITY_SESSION";

/// Enters the working directory, leaves a note of its number, and becomes the program. The shell
/// gives 127 and 126 as it should, and on standard error, where the engine would use the output.
const ENTER: &str = r#"cd -- "$1" || exit 125; echo $$ > "/run/$2"; shift 2; exec "$@""#;

pub(crate) fn spawn(engine: &Engine, spec: &Spec) -> Result<Child, SpawnError> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let failed = || SpawnError::io(engine.program.display().to_string());
    let ids = user::ids(&spec.user)?;
    let (name, notes) = container::find_or_create(engine, spec, ids)?;
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mark = format!("probity-{}-{count}", std::process::id());
    let session = Session::start(engine, &name, &mark).map_err(failed())?;

    let mut command = Command::new(&engine.program);
    command.args(["exec", "-i", "-e", &format!("{MARK}={mark}")]);
    for (name, value) in &spec.env {
        command.arg("-e").arg(variable(name, value));
        if !is_the_clients(name) {
            command.env(name, value);
        }
    }
    command.args([&name, "/bin/sh", "-c", ENTER, "enter"]).arg(&spec.cwd).arg(&mark);
    command.args(&spec.argv);
    streams(&mut command, spec);
    let mut child = spawner::start(command, Before::dying_with_us()).map_err(failed())?;
    let Pipes { stdin, stdout, stderr } = child.pipes();
    let client = child.pid().map_err(failed())?;
    let tree = Box::new(session.with_client(client));
    let shared = keep(child, tree, spec.limits.wall).map_err(failed())?;
    Ok(Child { stdin, stdout, stderr, shared, notes })
}

/// `NAME`, whose value the client takes from its own environment, so that it is on no command
/// line; or `NAME=value` where the client itself would obey the variable.
fn variable(name: &OsString, value: &OsString) -> OsString {
    let mut word = name.clone();
    if is_the_clients(name) {
        word.push("=");
        word.push(value);
    }
    word
}

/// Variables by which the client finds its program, its configuration and its server.
fn is_the_clients(name: &OsString) -> bool {
    let name = name.to_string_lossy();
    matches!(name.as_ref(), "HOME" | "PATH" | "PWD" | "TMPDIR")
        || ["DOCKER_", "CONTAINER", "XDG_", "LD_", "BUILDKIT_", "PODMAN_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
}
