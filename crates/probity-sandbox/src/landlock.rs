//! The backend that contains with Landlock and seccomp: no namespaces, no privileges, for containers and
//! kernels that let bubblewrap make nothing.
//!
//! Landlock closes files, signals and, without a network, TCP. What it leaves open the filter closes, and
//! where a filter cannot see what a call is about, a supervisor of ours makes the call itself: see
//! `supervisor`. Between us and the program is a watchdog: see `spawner/before/confined.rs`. What this
//! backend cannot keep is in `promises.rs`.

mod calls;
mod filter;
mod places;
mod program;
mod scratch;
mod supervisor;
mod watched;

use std::{
    env,
    ffi::CString,
    fs::File,
    io,
    os::{
        fd::OwnedFd,
        unix::{net::UnixStream, process::CommandExt},
    },
    process::Command,
    sync::Arc,
};

use rustix::{
    pipe::{PipeFlags, pipe_with},
    process::Signal,
};

use crate::{
    Child, SpawnError, Spec, Unusable,
    backend::{Pipes, streams},
    bubblewrap,
    keeper::keep,
    limits, lookup, probe,
    spawner::{self, Before, Cleaner, Confined},
    uncontained,
    user::{self, Ids},
};
use filter::Wanted;
use places::{Places, Whose};
use scratch::Scratch;
use supervisor::Supervisor;
use watched::Watched;

pub(crate) const NAME: &str = "landlock";

/// The interface that keeps signals and abstract sockets inside, from Linux 6.12.
const OLDEST: u32 = 6;

/// A number in it makes this backend take the kernel for an older one: tests have no other kernels.
const OLDER: &str = "PROBITY_SANDBOX_TEST_LANDLOCK";

/// The version of the kernel's interface, or why it does not do.
pub(crate) fn version() -> Result<u32, Unusable> {
    let older = env::var(OLDER).ok().and_then(|text| text.parse().ok());
    match probe::landlock_version().map(|version| version.min(older.unwrap_or(version))) {
        None | Some(0) => Err(Unusable::NoLandlock),
        Some(version) if version < OLDEST => Err(Unusable::OldLandlock { version }),
        Some(version) => Ok(version),
    }
}

pub(crate) fn spawn(spec: &Spec) -> Result<Child, SpawnError> {
    version().map_err(|why| setup(&why))?;
    if spec.reach.is_some() {
        return Err(setup(&Unusable::NoOwnNetwork));
    }
    let mut places = Places::of(spec)?;
    lookup::directory(&places, &spec.cwd)?;
    let program = lookup::program(&places, spec, &spec.cwd)?;
    let failed = || SpawnError::io(program.display().to_string());
    let ids = user::ids(&spec.user)?;
    let scratch = Scratch::new(ids).map_err(|error| {
        let parent = env::temp_dir();
        let way_out = "set TMPDIR to a directory that can be written";
        setup(&format!("cannot make a directory in {}: {error}; {way_out}", parent.display()))
    })?;
    places.add_own(scratch.home());
    places.add_own(scratch.tmp());

    let mut command = Command::new(&program);
    if let [name, arguments @ ..] = spec.argv.as_slice() {
        command.arg0(name).args(arguments);
    }
    command.env_clear().env("PWD", &spec.cwd);
    // What it cannot open is there all the same, and git gives up if that is its configuration.
    command.env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("HOME", scratch.home()).env("TMPDIR", scratch.tmp());
    command.envs(spec.env.iter().map(|(name, value)| (name, value)));
    command.current_dir(&spec.cwd);
    streams(&mut command, spec).map_err(failed())?;

    let mut before = Before::dying_with_us().with_terminal_of(spec);
    // The watchdog finds the tree without a cgroup.
    let found_otherwise = limits::Tracked::ByNamespace { own: 0 };
    let mut enforced = limits::prepare(&spec.limits, found_otherwise, &mut before);
    if let Some(most) = enforced.processes {
        enforced.notes.push(format!("more than {most} processes are possible without a cgroup"));
    }
    if spec.limits.tmp.is_some() || spec.limits.shm.is_some() {
        enforced.notes.push("the size of temporary files is not limited".to_owned());
    }
    let tag = uncontained::mark(&mut before, enforced.processes.take());

    let (words, to_watchdog) = pipe_with(PipeFlags::CLOEXEC).map_err(io_error).map_err(failed())?;
    let (supervisor, sender) = UnixStream::pair().map_err(failed())?;
    let confined = confine(spec, &places, ids, &scratch, words, sender.into());
    before.confined = Some(Box::new(confined.map_err(|error| setup(&error))?));

    let mut child = spawner::start(command, before).map_err(failed())?;
    let leader = child.pid().map_err(failed())?;
    let pipes = child.pipes();
    let limited_by = enforced.limited_by();
    let cgroup = enforced.cgroup.take();
    let tree = Watched::new(leader, to_watchdog, tag, cgroup, scratch);
    let umask = supervisor::own_umask();
    let supervised = Supervisor { places: Arc::new(places), ids, network: spec.network, umask };
    if let Err(error) = supervised.serve(&supervisor.into()) {
        tree.end(child);
        return Err(setup(&error));
    }
    let shared = keep(child, Box::new(tree), spec.limits.wall).map_err(failed())?;
    enforced.watch(&shared).map_err(failed())?;
    let Pipes { stdin, stdout, stderr } = pipes;
    Ok(Child { stdin, stdout, stderr, shared, notes: enforced.notes, limited_by })
}

fn confine(
    spec: &Spec,
    places: &Places,
    ids: Ids,
    scratch: &Scratch,
    words: OwnedFd,
    supervisor: OwnedFd,
) -> io::Result<Confined> {
    let is_us = ids.user == rustix::process::geteuid().as_raw();
    let path = scratch.path().as_os_str().as_encoded_bytes();
    let cleaner = [&b"/bin/rm"[..], b"-rf", b"--", path];
    let cleaner: Result<Vec<_>, _> = cleaner.into_iter().map(CString::new).collect();
    Ok(Confined {
        user: (!is_us).then_some((ids.user, ids.group)),
        words,
        null: File::options().read(true).write(true).open("/dev/null")?.into(),
        scope: places::scope()?,
        files: places.ruleset(spec.network, Whose::Process)?,
        filters: bubblewrap::filters()?,
        supervised: filter::program(Wanted {
            network: spec.network,
            takes_sockets: supervisor::takes_sockets(),
            keeps_parts: places.keeps_parts(),
        })?,
        supervisor,
        cleaner: Cleaner::new(cleaner?),
    })
}

fn setup(why: &dyn std::fmt::Display) -> SpawnError {
    SpawnError::Setup { backend: NAME, why: why.to_string() }
}

fn io_error(errno: rustix::io::Errno) -> io::Error {
    errno.into()
}

/// What the watchdog is told: a signal's number.
fn as_word(signal: Signal) -> [u8; 1] {
    [u8::try_from(signal.as_raw()).unwrap_or_default()]
}
