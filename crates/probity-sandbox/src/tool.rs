//! A tool of the host that we ask something: the client of an engine, or a program for its version.
//!
//! It is the user's own and has their environment, without the keys that only we use. What it starts is
//! not ended with it, unlike everything else here: podman has no server, and its containers are what its
//! client left behind.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::{
    Child, LimitedBy, Outcome, SpawnError,
    backend::Pipes,
    keeper::{Tree, keep},
    own_keys,
    run::collect,
    spawner::{self, Before},
};

/// An answer is a few lines; a description of many containers is some more.
const LARGEST: u64 = 16 << 20;

pub(crate) fn ask(
    program: &Path,
    arguments: &[&str],
    patience: Duration,
) -> Result<Outcome, SpawnError> {
    let failed = || SpawnError::io(program.display().to_string());
    let mut command = Command::new(program);
    command.args(arguments).current_dir("/");
    own_keys::withhold(&mut command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut started = spawner::start(command, Before::dying_with_us()).map_err(failed())?;
    let Pipes { stdin, stdout, stderr } = started.pipes();
    let tree = Box::new(Tool(started.pid().map_err(failed())?));
    let shared = keep(started, tree, Some(patience)).map_err(failed())?;
    let limited_by = LimitedBy::Rlimits;
    let child = Child { stdin, stdout, stderr, shared, notes: Vec::new(), limited_by };
    collect(child, Some(LARGEST), b"")
}

#[derive(Debug)]
struct Tool(Pid);

impl Tree for Tool {
    fn signal(&self, signal: Signal) {
        // A group that has ended needs no signal.
        kill_process_group(self.0, signal).ok();
    }

    fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn finish(&self) {}
}
