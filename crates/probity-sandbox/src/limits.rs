//! How limits are enforced here: by a cgroup where one can be made, else by what a process may
//! set for itself.

use std::{io, sync::Arc};

#[cfg(target_os = "linux")]
use crate::approximate;
use crate::{
    LimitedBy,
    cgroup::{Cgroup, NoCgroup},
    keeper::Shared,
    spawner::Before,
    spec::Limits,
};

/// What holds a process tree, and what does not.
#[derive(Debug, Default)]
pub(crate) struct Enforced {
    pub(crate) cgroup: Option<Cgroup>,
    /// Limits that hold less than they say, in words for a report.
    pub(crate) notes: Vec<String>,
    /// Bytes of memory of the whole tree, which nothing holds but a watch.
    pub(crate) watched: Option<u64>,
    /// To be set on the tree's first process from outside, once it is in its own user namespace.
    pub(crate) processes: Option<u64>,
}

impl Enforced {
    /// Watches over what nothing else holds. If that cannot be, the tree is ended.
    #[cfg(target_os = "linux")]
    pub(crate) fn watch(&self, shared: &Arc<Shared>) -> io::Result<()> {
        let Some(memory) = self.watched else { return Ok(()) };
        approximate::watch(shared, memory).inspect_err(|_| shared.kill(None))
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn watch(&self, _shared: &Arc<Shared>) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn limited_by(&self) -> LimitedBy {
        match (&self.cgroup, self.watched) {
            (Some(_), _) => LimitedBy::Cgroup,
            (None, Some(_)) => LimitedBy::Watch,
            (None, None) => LimitedBy::Rlimits,
        }
    }
}

/// How the processes of a tree are found again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tracked {
    /// By the cgroup, which is made even without limits.
    ByCgroup,
    /// By a pid namespace, whose making takes this many processes of its own.
    ByNamespace { own: u64 },
}

/// Prepares what is set between fork and exec.
#[cfg(target_os = "linux")]
pub(crate) fn prepare(limits: &Limits, tracked: Tracked, before: &mut Before) -> Enforced {
    use rustix::process::Resource;
    let mut enforced = Enforced::default();
    // A dump of a contained process would be written outside by the kernel.
    before.limits.push((Resource::Core, 0));
    before.limits.extend(limits.file.map(|bytes| (Resource::Fsize, bytes)));
    let spare = match tracked {
        Tracked::ByCgroup => 0,
        Tracked::ByNamespace { .. } if limits.are_of_no_tree() => return enforced,
        Tracked::ByNamespace { own } => own,
    };
    let within = Limits { pids: limits.pids.map(|pids| pids.saturating_add(spare)), ..*limits };
    let group = Cgroup::create(&within)
        .and_then(|group| Ok((group.doors().map_err(NoCgroup::Own)?, group)));
    match group {
        Ok((doors, group)) => {
            if limits.cpus.is_some() && !group.limits_cpu {
                let why = "no cgroup: cpu is not delegated to us";
                enforced.notes.push(format!("time of the processor is not limited ({why})"));
            }
            before.cgroups = doors;
            enforced.cgroup = Some(group);
        }
        Err(why) => {
            if let Some(bytes) = limits.memory {
                // Not the address space, which Node, Go and Java reserve by the terabyte.
                before.limits.push((Resource::Data, bytes));
                enforced.watched = Some(bytes);
                let note = "memory is limited for each process, and approximately for all together";
                enforced.notes.push(format!("{note} ({why})"));
            }
            if let Some(cpus) = limits.cpus {
                before.processors = approximate::processors(cpus);
                let note = match &before.processors {
                    Some(few) => format!("approximately: to {} of the processors", few.count()),
                    None => "by the number of processors alone".to_owned(),
                };
                enforced.notes.push(format!("time of the processor is limited {note} ({why})"));
            }
            if let Some(pids) = limits.pids {
                enforced.processes = Some(pids.saturating_add(spare));
                if rustix::process::geteuid().is_root() {
                    enforced.notes.push(format!("processes of root cannot be limited ({why})"));
                }
            }
        }
    }
    enforced
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn prepare(limits: &Limits, _tracked: Tracked, _before: &mut Before) -> Enforced {
    let mut enforced = Enforced::default();
    if !limits.are_of_no_tree() {
        enforced
            .notes
            .push("processes and what they use are not limited on this system".to_owned());
    }
    enforced
}
