//! The backend that contains with bubblewrap: a minimal root and namespaces of its own.
//!
//! `bwrap` has two processes of its own: a helper outside, which is our child, and the first
//! process of the new pid namespace. When the latter dies the kernel kills all others in there,
//! so that no process can leave the tree, and waiting for it is waiting for all.

mod layout;
mod places;
mod seccomp;
mod sockets;
mod status;

use std::{
    ffi::OsString,
    io::{self, Read, Write},
    os::fd::OwnedFd,
    path::Path,
    process::Command,
    sync::Mutex,
};

use rustix::{
    fs::{MemfdFlags, SeekFrom, memfd_create, seek},
    pipe::{PipeFlags, pipe_with},
};

use crate::{
    Child, Network, SpawnError, Spec,
    backend::{Pipes, streams},
    door::{self, Door},
    keeper::keep,
    limits, lookup,
    spawner::{self, Before},
    user,
};
use layout::{Entry, HOME, Layout};
use places::Places;
use status::{Contained, Init, Status};

const NAME: &str = "bubblewrap";

/// Where programs find the proxy.
const PROXY: u16 = 3128;

/// Processes of the sandbox itself, which the limit on processes must leave room for.
const OWN_PROCESSES: u64 = 2;

pub(crate) fn spawn(program: &Path, spec: &Spec) -> Result<Child, SpawnError> {
    let failed = || SpawnError::io(program.display().to_string());
    let mut command = Command::new(program);
    command.env_clear().current_dir("/");
    streams(&mut command, spec).map_err(failed())?;
    let ids = user::apply(&mut command, &spec.user)?;
    let places = Places::of(&spec.mounts)?;
    let layout = Layout::new(spec, ids)?;
    lookup::directory(&layout, &spec.cwd)?;
    let found = lookup::program(&layout, spec, &spec.cwd)?;

    let mut before = Before::dying_with_us().with_terminal_of(spec);
    let by_namespace = limits::Tracked::ByNamespace { own: OWN_PROCESSES };
    let mut enforced = limits::prepare(&spec.limits, by_namespace, &mut before);
    if spec.network == Network::Open {
        match sockets::ruleset() {
            Ok(ruleset) => before.ruleset = Some(ruleset),
            Err(open) => enforced.notes.push(open.to_string()),
        }
    }
    let (status, status_end) = pipe_with(PipeFlags::CLOEXEC).map_err(io_error).map_err(failed())?;
    let (gate_end, gate) = pipe_with(PipeFlags::CLOEXEC).map_err(io_error).map_err(failed())?;
    let arguments = arguments(spec, &layout, status_end, gate_end, &mut before).map_err(failed())?;
    // By file, since everybody on the machine can read a command line, variables and all.
    let arguments = memory_file(&arguments).map_err(failed())?;
    command.arg("--args").arg(before.inherit(arguments)).arg("--");
    // A program sees by which name it was called; without a `PATH` only we know where it is.
    match spec.variable("PATH") {
        Some(_) => command.args(&spec.argv),
        None => command.arg(found).args(spec.argv.iter().skip(1)),
    };

    let mut child = spawner::start(command, before).map_err(failed())?;
    let mut status = Status::new(status);
    let mut pipes = child.pipes();
    let Some(init) = status.first_process() else {
        // Ended first, so that reading its last words cannot take for ever.
        drop(child);
        return Err(not_prepared(pipes.stderr.take()));
    };
    let init = Init::new(init).map_err(failed())?;
    if let Some(most) = enforced.processes {
        init.limit_processes(most).map_err(failed())?;
    }
    // Its own namespace, in which the port is nobody else's.
    let door = spec.reach.as_ref().map(|allowed| Door::open(init.pid, PROXY, allowed)).transpose();
    let door = match door {
        Err(_) if init.has_ended() => {
            drop(child);
            return Err(not_prepared(pipes.stderr.take()));
        }
        door => door.map_err(|error| SpawnError::Setup {
            backend: NAME,
            why: format!("the list of allowed hosts cannot be enforced: {error}"),
        })?,
    };
    if let Err(error) = places.check(&init) {
        init.kill();
        return Err(SpawnError::Setup { backend: NAME, why: error.to_string() });
    }
    // The first process waits for this byte, so that its limits are there before the program.
    match std::fs::File::from(gate).write_all(b"g") {
        // It has ended, and its exit tells so.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        written => written.map_err(failed())?,
    }

    let helper = child.pid().map_err(failed())?;
    let limited_by = enforced.limited_by();
    let held = Mutex::new((Some(status), enforced.cgroup.take()));
    let tree = Box::new(Contained { helper, init, held, _door: door });
    let shared = keep(child, tree, spec.limits.wall).map_err(failed())?;
    enforced.watch(&shared).map_err(failed())?;
    let Pipes { stdin, stdout, stderr } = pipes;
    Ok(Child { stdin, stdout, stderr, shared, notes: enforced.notes, limited_by })
}

/// The filters that every contained process has, in the kernel's own form.
pub(crate) fn filters() -> io::Result<Vec<Vec<libc::sock_filter>>> {
    seccomp::instructions()
}

/// All that `bwrap` is told, each word ended by a NUL.
fn arguments(
    spec: &Spec,
    layout: &Layout,
    status: OwnedFd,
    gate: OwnedFd,
    before: &mut Before,
) -> io::Result<Vec<u8>> {
    let mut words: Vec<OsString> = Vec::new();
    let mut say = |option: &[&dyn AsRef<std::ffi::OsStr>]| {
        words.extend(option.iter().map(|word| word.as_ref().to_owned()));
    };
    for option in [
        // As root it would do without a user namespace, and so with root's powers.
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--die-with-parent",
        "--clearenv",
    ] {
        say(&[&option]);
    }
    // A terminal of ours could be made to type; one of its own it may keep.
    if spec.terminal.is_none() {
        say(&[&"--new-session"]);
    }
    if spec.network == Network::None {
        say(&[&"--unshare-net"]);
    }
    say(&[&"--cap-drop", &"ALL"]);
    say(&[&"--hostname", &"sandbox"]);
    say(&[&"--uid", &layout.user.to_string(), &"--gid", &layout.group.to_string()]);
    for (option, file) in [("--json-status-fd", status), ("--block-fd", gate)] {
        say(&[&option, &before.inherit(file)]);
    }
    for program in seccomp::programs()? {
        say(&[&"--add-seccomp-fd", &before.inherit(memory_file(&program)?)]);
    }
    say(&[&"--setenv", &"HOME", &HOME]);
    for (name, value) in &spec.env {
        say(&[&"--setenv", name, value]);
    }
    if spec.reach.is_some() {
        for (name, value) in door::variables(PROXY) {
            say(&[&"--setenv", &name, &value]);
        }
    }
    for entry in &layout.entries {
        match entry {
            Entry::Bind { host, inside, writable } => {
                say(&[&if *writable { "--bind" } else { "--ro-bind" }, host, inside]);
            }
            Entry::Link { target, inside } => say(&[&"--symlink", target, inside]),
            Entry::Tmpfs { inside, bytes } => {
                if let Some(bytes) = bytes {
                    say(&[&"--size", &bytes.to_string()]);
                }
                say(&[&"--tmpfs", inside]);
            }
            Entry::Text { text, inside } => {
                let file = before.inherit(memory_file(text.as_bytes())?);
                say(&[&"--perms", &"0444", &"--ro-bind-data", &file, inside]);
            }
            Entry::Special { option, inside } => say(&[option, inside]),
        }
    }
    // The root itself is a tmpfs, which would be writable.
    say(&[&"--remount-ro", &"/"]);
    say(&[&"--chdir", &spec.cwd]);
    let mut bytes = Vec::new();
    for word in words {
        bytes.extend_from_slice(word.as_encoded_bytes());
        bytes.push(0);
    }
    Ok(bytes)
}

/// A file without a name that the program can read from its beginning.
fn memory_file(bytes: &[u8]) -> io::Result<OwnedFd> {
    let file = memfd_create("sandbox", MemfdFlags::CLOEXEC)?;
    let mut file = std::fs::File::from(file);
    file.write_all(bytes)?;
    seek(&file, SeekFrom::Start(0))?;
    Ok(file.into())
}

/// `bwrap` ended before it had made a first process: its own words say why.
fn not_prepared(stderr: Option<std::fs::File>) -> SpawnError {
    let mut why = Vec::new();
    if let Some(stderr) = stderr {
        stderr.take(4096).read_to_end(&mut why).ok();
    }
    let why = String::from_utf8_lossy(&why).trim().trim_start_matches("bwrap: ").to_owned();
    SpawnError::Setup { backend: NAME, why }
}

fn io_error(errno: rustix::io::Errno) -> io::Error {
    errno.into()
}
