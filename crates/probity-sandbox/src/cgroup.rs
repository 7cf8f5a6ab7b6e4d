//! A control group for one process tree, where the machine lets us make one.
//!
//! Both hierarchies are known: the unified one, and the older one with a tree per controller.
//! A group limits the whole tree and, since nothing leaves it unasked, finds every process of it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

use crate::spec::Limits;

const PREFIX: &str = "probity-";

#[derive(Debug)]
pub(crate) struct Cgroup {
    /// One directory, or one for each controller.
    directories: Vec<PathBuf>,
    /// Whether it can limit the processor, which not every machine leaves to us.
    pub(crate) limits_cpu: bool,
}

/// Why the sandbox has no group.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoCgroup {
    #[error("{0}")]
    Own(io::Error),
    #[error("no cgroup: not in the unified hierarchy")]
    NotUnified,
    #[error("no cgroup: memory and pids are not delegated to us")]
    NotDelegated,
    #[error("no cgroup: no {0} controller")]
    NoController(&'static str),
    #[error("no cgroup: {0}")]
    Io(io::Error),
}

/// The span of time, in microseconds, in which a share of the processor is counted.
const PERIOD: u64 = 100_000;

impl Cgroup {
    /// Makes a group with these limits.
    pub(crate) fn create(limits: &Limits) -> Result<Self, NoCgroup> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let parents = parents(limits)?;
        let name = format!("{PREFIX}{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let mut group = Self { directories: Vec::new(), limits_cpu: parents.limits_cpu };
        for parent in &parents.directories {
            remove_abandoned(parent);
            let directory = parent.join(&name);
            fs::create_dir(&directory).map_err(NoCgroup::Io)?;
            group.directories.push(directory);
        }
        group.limit(limits, parents.unified).map_err(NoCgroup::Io)?;
        Ok(group)
    }

    fn limit(&self, limits: &Limits, unified: bool) -> io::Result<()> {
        let (memory, swap) = if unified {
            ("memory.max", "memory.swap.max")
        } else {
            ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")
        };
        let (share, period) = if unified {
            ("cpu.max", format!(" {PERIOD}"))
        } else {
            ("cpu.cfs_quota_us", String::new())
        };
        for directory in &self.directories {
            if let Some(cpus) = limits.cpus
                && directory.join(share).exists()
            {
                fs::write(directory.join(share), format!("{}{period}", microseconds(cpus)))?;
            }
            if let Some(pids) = limits.pids
                && directory.join("pids.max").exists()
            {
                fs::write(directory.join("pids.max"), pids.to_string())?;
            }
            if let Some(bytes) = limits.memory
                && directory.join(memory).exists()
            {
                fs::write(directory.join(memory), bytes.to_string())?;
                // Machines without accounting of swap have no such file.
                if directory.join(swap).exists() {
                    let most = if unified { 0 } else { bytes };
                    fs::write(directory.join(swap), most.to_string())?;
                }
            }
        }
        Ok(())
    }

    /// The files by which a process enters.
    #[cfg(target_os = "linux")]
    pub(crate) fn doors(&self) -> io::Result<Vec<std::os::fd::OwnedFd>> {
        self.lists().map(|list| Ok(fs::OpenOptions::new().write(true).open(list)?.into())).collect()
    }

    /// The files that list the processes.
    pub(crate) fn lists(&self) -> impl Iterator<Item = PathBuf> {
        self.directories.iter().map(|directory| directory.join("cgroup.procs"))
    }

    pub(crate) fn processes(&self) -> Vec<Pid> {
        let mut found: Vec<Pid> = self
            .lists()
            .filter_map(|list| fs::read_to_string(list).ok())
            .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
            .filter_map(|line| line.parse().ok().filter(|raw| *raw > 0))
            .filter_map(Pid::from_raw)
            .collect();
        found.sort_by_key(|pid| pid.as_raw_nonzero());
        found.dedup();
        found
    }

    /// Kills all that is in it. A process that forks meanwhile is met in the next round.
    pub(crate) fn kill(&self) {
        for directory in &self.directories {
            if fs::write(directory.join("cgroup.kill"), "1").is_ok() {
                return;
            }
        }
        for _ in 0..200 {
            let processes = self.processes();
            if processes.is_empty() {
                return;
            }
            for pid in processes {
                // Gone already is as good as killed.
                kill_process(pid, Signal::KILL).ok();
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Cgroup {
    /// The kernel lets go of a group a moment after its last process.
    fn drop(&mut self) {
        for directory in &self.directories {
            for _ in 0..100 {
                match fs::remove_dir(directory) {
                    Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                        thread::sleep(Duration::from_millis(2));
                    }
                    _ => break,
                }
            }
        }
    }
}

/// At least a thousand, below which the kernel takes no share.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a number that is out of range saturates, and limits nothing then"
)]
fn microseconds(cpus: f64) -> u64 {
    ((cpus * PERIOD as f64) as u64).clamp(1000, u64::from(u32::MAX))
}

struct Parents {
    directories: Vec<PathBuf>,
    unified: bool,
    limits_cpu: bool,
}

/// Where a group of ours can be made: beside our own in the unified hierarchy, whose groups
/// cannot hold both processes and limited groups; below our own in the older one.
fn parents(limits: &Limits) -> Result<Parents, NoCgroup> {
    let own = fs::read_to_string("/proc/self/cgroup").map_err(NoCgroup::Own)?;
    let mounted = Path::new("/sys/fs/cgroup");
    let place = |controller: &str| {
        own.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let (controllers, path) = (fields.next()?, fields.next()?);
            controllers.split(',').any(|name| name == controller).then_some(path.to_owned())
        })
    };
    let below = |base: &Path, path: &str| base.join(path.trim_start_matches('/'));
    if mounted.join("cgroup.controllers").exists() {
        let own = place("").ok_or(NoCgroup::NotUnified)?;
        let own = below(mounted, &own);
        let parent = if own == mounted { mounted } else { own.parent().unwrap_or(mounted) };
        let enabled =
            fs::read_to_string(parent.join("cgroup.subtree_control")).map_err(NoCgroup::Io)?;
        let has = |name| enabled.split_whitespace().any(|word| word == name);
        if !has("pids") || !has("memory") {
            return Err(NoCgroup::NotDelegated);
        }
        let directories = vec![parent.to_owned()];
        return Ok(Parents { directories, unified: true, limits_cpu: has("cpu") });
    }
    let mut directories = Vec::new();
    let of = |controller: &'static str| {
        let path = place(controller).ok_or(NoCgroup::NoController(controller))?;
        let base = mounted.join(controller);
        let own = below(&base, &path);
        // In a container the path is the host's, and the mount begins at our own group.
        Ok::<_, NoCgroup>(if own.exists() { own } else { base })
    };
    for controller in ["pids", "memory"] {
        directories.push(of(controller)?);
    }
    let cpu = of("cpu").ok().filter(|cpu| cpu.join("cpu.cfs_quota_us").exists());
    let limits_cpu = cpu.is_some();
    // Only where it is asked for: a group costs time.
    if limits.cpus.is_some() {
        directories.extend(cpu);
    }
    Ok(Parents { directories, unified: false, limits_cpu })
}

/// The groups of processes that were killed before they could remove theirs.
fn abandoned(parent: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let is_abandoned = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let owner = name
            .and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok())
            .filter(|raw| *raw > 0)
            .and_then(Pid::from_raw);
        owner.is_some_and(|owner| {
            rustix::process::test_kill_process(owner) == Err(rustix::io::Errno::SRCH)
        })
    };
    entries.flatten().map(|entry| entry.path()).filter(is_abandoned).collect()
}

/// Takes them away. Only empty groups can be removed, so that nothing in use is at risk.
fn remove_abandoned(parent: &Path) {
    for directory in abandoned(parent) {
        fs::remove_dir(directory).ok();
    }
}

/// The groups that ended runs have left behind here.
pub fn abandoned_cgroups() -> Vec<PathBuf> {
    let limits = Limits { cpus: Some(1.0), ..Limits::default() };
    let Ok(parents) = parents(&limits) else { return Vec::new() };
    parents.directories.iter().flat_map(|parent| abandoned(parent)).collect()
}
