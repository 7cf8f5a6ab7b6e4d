//! Ends a build in a way that lets podman or buildah remove what it has made.
//!
//! Both build in the process of their client. If that is killed, the containers of the unfinished stages
//! stay without a label, and the command of the RUN goes on. If the command is killed instead, the step
//! fails, and the client removes both.

use std::time::{Duration, Instant};

use probity_sandbox::Child;
use rustix::process::{Pid, Signal, kill_process};

use super::processes::processes;

/// How long a build may take to fail: after this its client is killed.
const GRACE: Duration = Duration::from_secs(10);
const CLIENTS: [&str; 2] = ["podman", "buildah"];
const PAUSE: Duration = Duration::from_millis(100);

/// Kills the commands of a build until its client gives up.
pub(super) fn fail_build(client: &Child) {
    // Elsewhere podman builds in a machine of its own, which notices the end of its client.
    if !cfg!(target_os = "linux") {
        return;
    }
    let deadline = Instant::now() + GRACE;
    while Instant::now() < deadline {
        for command in commands_of(client.pid()) {
            // It may have ended by itself meanwhile.
            kill_process(command, Signal::KILL).ok();
        }
        if client.wait_timeout(PAUSE).is_some() {
            return;
        }
    }
}

/// The descendants of a client that have started nothing themselves; the client may be behind a wrapper.
fn commands_of(client: u32) -> Vec<Pid> {
    let all = processes();
    let is_below = |pid: u32| {
        let mut next = all.get(&pid).map(|process| process.parent);
        // No tree is so deep; the list is not of one moment, and might have a circle.
        for _ in 0..64 {
            match next {
                Some(parent) if parent == client => return true,
                Some(parent) => next = all.get(&parent).map(|process| process.parent),
                None => return false,
            }
        }
        false
    };
    let is_leaf = |pid: u32| all.values().all(|process| process.parent != pid);
    all.iter()
        .filter(|(pid, process)| {
            !CLIENTS.contains(&process.name.as_str()) && is_below(**pid) && is_leaf(**pid)
        })
        .filter_map(|(pid, _)| Pid::from_raw(i32::try_from(*pid).ok()?))
        .collect()
}
