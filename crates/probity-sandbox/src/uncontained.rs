//! The backend that contains nothing, but lets nothing escape its end either.

use std::{os::unix::process::CommandExt, process::Command, sync::Mutex};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::{
    Child, SpawnError, Spec,
    backend::{Pipes, streams},
    cgroup::Cgroup,
    keeper::{Tree, keep, lock},
    limits,
    lookup::{self, Host},
    spawner::{self, Before},
    tree::{self, Tag},
    user,
    watchdog::Watchdog,
};

pub(crate) fn spawn(spec: &Spec) -> Result<Child, SpawnError> {
    let cwd = spec.host_path(&spec.cwd).unwrap_or_else(|| spec.cwd.clone());
    lookup::directory(&Host, &cwd)?;
    let program = lookup::program(&Host, spec, &cwd)?;
    let failed = || SpawnError::io(program.display().to_string());

    let mut command = Command::new(&program);
    if let [name, arguments @ ..] = spec.argv.as_slice() {
        command.arg0(name).args(arguments);
    }
    command.env_clear().env("PWD", &cwd).envs(spec.env.iter().map(|(name, value)| (name, value)));
    command.current_dir(&cwd);
    streams(&mut command, spec).map_err(failed())?;
    user::apply(&mut command, &spec.user)?;

    let mut before = Before::dying_with_us().with_terminal_of(spec);
    let mut enforced = limits::prepare(&spec.limits, limits::Tracked::ByCgroup, &mut before);
    if let Some(most) = enforced.processes {
        enforced.notes.push(format!("more than {most} processes are possible without a cgroup"));
    }
    let tag = mark(&mut before, enforced.processes.take());
    let lists: Vec<_> = enforced.cgroup.iter().flat_map(Cgroup::lists).collect();
    let mut watchdog = Watchdog::start(lists.into_iter()).map_err(failed())?;
    let mut child = spawner::start(command, before).map_err(failed())?;
    let leader = child.pid().map_err(failed())?;
    watchdog.watch(leader).map_err(failed())?;

    let pipes = child.pipes();
    let limited_by = enforced.limited_by();
    let held = Mutex::new(Some(Held { watchdog, cgroup: enforced.cgroup.take() }));
    let tree = Box::new(Uncontained { leader, tag, held });
    let shared = keep(child, tree, spec.limits.wall).map_err(failed())?;
    enforced.watch(&shared).map_err(failed())?;
    let Pipes { stdin, stdout, stderr } = pipes;
    Ok(Child { stdin, stdout, stderr, shared, notes: enforced.notes, limited_by })
}

/// What a user may start beside a tree without a cgroup.
#[cfg(target_os = "linux")]
const ROOM_FOR_OTHERS: u64 = 4096;

/// Makes the tree findable, and limits its processes where no cgroup does.
#[cfg(target_os = "linux")]
pub(crate) fn mark(before: &mut Before, processes: Option<u64>) -> Option<Tag> {
    use rustix::process::Resource;
    if let Some(most) = processes {
        // The kernel counts all processes of the user, wherever they came from. A close limit
        // would break this tree as soon as the user starts something else.
        let others = tree::count_of_user().saturating_add(ROOM_FOR_OTHERS);
        before.limits.push((Resource::Nproc, most.saturating_add(others)));
    }
    tree::adopt_orphans().ok()?;
    let (tag, resource) = tree::tag()?;
    before.limits.push((resource, tag.0));
    Some(tag)
}

#[cfg(not(target_os = "linux"))]
fn mark(_before: &mut Before, _processes: Option<u64>) -> Option<Tag> {
    None
}

#[derive(Debug)]
struct Uncontained {
    /// Leader of its session and its group, so that its number is theirs.
    leader: Pid,
    tag: Option<Tag>,
    held: Mutex<Option<Held>>,
}

/// Let go of in this order: the watchdog is called off before its cgroup is removed.
#[derive(Debug)]
struct Held {
    watchdog: Watchdog,
    cgroup: Option<Cgroup>,
}

impl Tree for Uncontained {
    fn signal(&self, signal: Signal) {
        // A group that has ended needs no signal.
        kill_process_group(self.leader, signal).ok();
    }

    fn kill(&self) {
        kill_process_group(self.leader, Signal::KILL).ok();
    }

    fn finish(&self) {
        let held = lock(&self.held).take();
        if let Some(cgroup) = held.as_ref().and_then(|held| held.cgroup.as_ref()) {
            cgroup.kill();
        }
        tree::kill_all(self.leader, self.tag);
        if let Some(Held { watchdog, cgroup }) = held {
            drop(watchdog);
            drop(cgroup);
        }
    }
}
