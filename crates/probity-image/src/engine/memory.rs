//! How much memory the commands of a build use, where no engine limits it: BuildKit ignores
//! `--memory`, and podman does without root on older machines.
//!
//! The commands are the processes below the engine's own: dockerd runs those of builds itself, and
//! containers elsewhere. It serves everybody, and so builds of others that began meanwhile count too:
//! this errs on the side that ends a build of ours.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use super::processes::{Process, processes};

/// The processes that work for a build and are not its commands.
const ENGINES: [&str; 6] = ["dockerd", "containerd", "docker", "podman", "buildah", "runc"];
const DAEMON: &str = "dockerd";
const GROUPS: &str = "/sys/fs/cgroup";

/// Whose descendants the commands of a build are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Parent {
    /// The client, which builds by itself.
    Client(u32),
    Daemon,
}

#[derive(Debug)]
pub(super) struct MemoryWatch {
    parent: Parent,
    /// The processes of earlier builds.
    earlier: BTreeSet<u32>,
    limit: u64,
}

impl MemoryWatch {
    /// Before the build starts a command.
    pub(super) fn new(parent: Parent, limit: u64) -> Self {
        let earlier = match parent {
            Parent::Client(_) => BTreeSet::new(),
            Parent::Daemon => processes().into_keys().collect(),
        };
        Self { parent, earlier, limit }
    }

    pub(super) fn is_exceeded(&self) -> bool {
        self.used() > self.limit
    }

    fn used(&self) -> u64 {
        let all = processes();
        let is_parent = |pid: u32| match self.parent {
            Parent::Client(client) => pid == client,
            Parent::Daemon => all.get(&pid).is_some_and(|process| process.name == DAEMON),
        };
        let mut groups = BTreeSet::new();
        let mut used: u64 = 0;
        for (pid, process) in &all {
            if self.earlier.contains(pid) || ENGINES.contains(&process.name.as_str()) {
                continue;
            }
            let Some(parent) = above(&all, *pid).find(|above| is_parent(*above)) else { continue };
            // One that has ended is shown in the group of the whole machine.
            let is_of_the_build =
                |own: &PathBuf| group(parent).is_some_and(|of_parent| !of_parent.starts_with(own));
            match group(*pid).filter(is_of_the_build) {
                // Its files in memory count too, which belong to no process.
                Some(own) => {
                    groups.insert(own);
                }
                None => used = used.saturating_add(resident(*pid)),
            }
        }
        groups.iter().fold(used, |used, group| used.saturating_add(of_group(group)))
    }
}

/// Whether a daemon that calls itself by this machine's name runs here, so that the commands of its
/// builds can be seen.
pub(super) fn is_daemon_here(name: &str) -> bool {
    let own = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    own.trim() == name && processes().values().any(|process| process.name == DAEMON)
}

/// The ancestors of a process, nearest first.
fn above(all: &BTreeMap<u32, Process>, pid: u32) -> impl Iterator<Item = u32> {
    let parent = |pid: &u32| all.get(pid).map(|process| process.parent);
    // No tree is so deep; the list is not of one moment, and might have a circle.
    std::iter::successors(parent(&pid), parent).take(64)
}

/// The directory of the group that counts a process's memory.
fn group(pid: u32) -> Option<PathBuf> {
    let own = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let lines = own.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        Some((fields.next()?, fields.next()?.trim_start_matches('/')))
    });
    let mut unified = None;
    for (controllers, path) in lines {
        if controllers.split(',').any(|name| name == "memory") {
            return Some(Path::new(GROUPS).join("memory").join(path))
                .filter(|group| group.exists());
        }
        if controllers.is_empty() {
            unified = Some(Path::new(GROUPS).join(path));
        }
    }
    unified.filter(|group| group.join("memory.current").exists())
}

/// Without what the kernel keeps of files and gives back when somebody needs memory.
fn of_group(group: &Path) -> u64 {
    let number = |name: &str| -> Option<u64> {
        fs::read_to_string(group.join(name)).ok()?.trim().parse().ok()
    };
    let used = number("memory.current").or_else(|| number("memory.usage_in_bytes"));
    let statistics = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    let counted = |name: &str| -> Option<u64> {
        statistics.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
    };
    let files = counted("total_inactive_file ").or_else(|| counted("inactive_file "));
    used.unwrap_or_default().saturating_sub(files.unwrap_or_default())
}

fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes.unwrap_or_default().saturating_mul(1024)
}
