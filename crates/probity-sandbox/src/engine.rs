//! The backends that contain with a container engine, through its command line.
//!
//! One container for each workspace root, in which processes are started with `exec`. The command
//! line and not the engine's interface, because it honours contexts, remote hosts and wrappers.
//!
//! Killing the client of an `exec` leaves its process running in the container. So each process
//! has a second `exec` beside it, which waits for the end of its input (that is, for our end,
//! however it comes) and then kills the process's group and all that bears its mark.

mod container;
mod inspected;
mod mark;
mod session;
mod stock;
mod variables;

use std::{path::PathBuf, process::Command};

#[cfg(target_os = "linux")]
use crate::door::Door;
use crate::{
    Allowlist, BackendKind, Child, LimitedBy, SpawnError, Spec,
    backend::{Pipes, streams},
    choose::enforces_allowlist,
    keeper::keep,
    own_keys,
    spawner::{self, Before},
    user,
};
use mark::Mark;
use session::Session;

pub use container::has_image;
pub use stock::{Container, containers, has_container, remove_container};

/// An engine and the container in it that belongs to one workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// Docker or podman.
    pub kind: BackendKind,
    pub program: PathBuf,
    pub image: String,
    /// The root whose container it is.
    pub workspace: PathBuf,
    /// A directory of ours, where the locks are.
    pub state: PathBuf,
}

/// Leaves a note of its number and bears the mark, enters the working directory, takes the
/// variables that came under other names, and becomes the program. The shell gives 127 and 126 as
/// it should, and on standard error, where the engine would use the output.
const ENTER: &str = r#"
echo $$ > "/run/$2"
ulimit -S -f "$3" 2>/dev/null || :
cd -- "$1" || exit 125
shift 3
while [ "$1" != -- ]; do
    eval "export $1=\"\$$2\"; unset $2"
    shift 2
done
shift
exec "$@"
"#;

pub(crate) fn spawn(engine: &Engine, spec: &Spec) -> Result<Child, SpawnError> {
    let failed = || SpawnError::io(engine.program.display().to_string());
    let ids = user::ids(&spec.user)?;
    let (name, notes) = container::find_or_create(engine, spec, ids)?;
    let door = door(engine, spec, &name)?;
    let mark = Mark::next();
    let session = Session::start(engine, &name, &mark).map_err(failed())?;

    let mut command = Command::new(&engine.program);
    own_keys::withhold(&mut command);
    command.args(["exec", "-i", "-e", &mark.variable()]);
    if spec.terminal.is_some() {
        command.arg("-t");
    }
    let mut given = spec.env.clone();
    #[cfg(target_os = "linux")]
    for (name, value) in door.iter().flat_map(|door| crate::door::variables(door.port)) {
        given.push((name.into(), value.into()));
    }
    let renamed = variables::pass(&mut command, &given)?;
    command.args([&name, "/bin/sh", "-c", ENTER, "enter"]).arg(&spec.cwd);
    command.args([&mark.name, &mark.blocks()]).args(renamed).arg("--").args(&spec.argv);
    streams(&mut command, spec).map_err(failed())?;
    let before = Before::dying_with_us().with_terminal_of(spec);
    let mut child = spawner::start(command, before).map_err(failed())?;
    let Pipes { stdin, stdout, stderr } = child.pipes();
    let client = child.pid().map_err(failed())?;
    let tree = Box::new(session.with_client(client, door));
    let shared = keep(child, tree, spec.limits.wall).map_err(failed())?;
    Ok(Child { stdin, stdout, stderr, shared, notes, limited_by: LimitedBy::Engine })
}

#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(crate) enum Door {}

/// A door in the network of the container, for this session.
fn door(engine: &Engine, spec: &Spec, name: &str) -> Result<Option<Door>, SpawnError> {
    let Some(allowed) = &spec.reach else { return Ok(None) };
    let refused = |why: String| SpawnError::Setup {
        backend: engine.kind.name(),
        why: format!("the list of allowed hosts cannot be enforced: {why}"),
    };
    enforces_allowlist(engine.kind).map_err(|why| refused(why.to_string()))?;
    let first = inspected::inspect(engine, name)?.and_then(|found| found.first_process());
    let first = first.ok_or_else(|| refused("the container is not on this machine".to_owned()))?;
    open_door(first, allowed).map(Some).map_err(|error| refused(error.to_string()))
}

#[cfg(target_os = "linux")]
fn open_door(first: rustix::process::Pid, allowed: &Allowlist) -> std::io::Result<Door> {
    Door::open(first, 0, allowed)
}

#[cfg(not(target_os = "linux"))]
fn open_door(_first: rustix::process::Pid, _allowed: &Allowlist) -> std::io::Result<Door> {
    Err(std::io::ErrorKind::Unsupported.into())
}
