//! The limits that a sandbox has where nobody sets others: enough for a large build, and the
//! machine stays usable.

use std::{fmt, fs, thread};

use crate::Limits;

/// Processes and threads of a tree.
const PROCESSES: u64 = 4096;

/// Bytes of each of the two scratch places, which are memory.
const SCRATCH: u64 = 1 << 30;

/// Bytes of one file. Nothing limits their sum: that would take a quota of the file system.
const FILE: u64 = 16 << 30;

impl Limits {
    /// Half of the memory, all processors but one, 4096 processes, 1 GiB each of `/tmp` and
    /// `/dev/shm`, and 16 GiB for each file.
    #[must_use]
    pub fn usual() -> Self {
        Self {
            memory: machine_memory().map(|bytes| bytes / 2),
            cpus: Some(processors()),
            pids: Some(PROCESSES),
            file: Some(FILE),
            tmp: Some(SCRATCH),
            shm: Some(SCRATCH),
            ..Self::default()
        }
    }
}

/// In words for a report.
impl fmt::Display for Limits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        words.extend(self.memory.map(|bytes| format!("{} of memory", size(bytes))));
        words.extend(self.cpus.map(|cpus| format!("{cpus} CPU")));
        words.extend(self.pids.map(|pids| format!("{pids} processes")));
        words.extend(self.tmp.map(|bytes| format!("{} of /tmp", size(bytes))));
        words.extend(self.shm.map(|bytes| format!("{} of /dev/shm", size(bytes))));
        words.extend(self.file.map(|bytes| format!("{} per file", size(bytes))));
        formatter.write_str(&words.join(", "))
    }
}

fn size(bytes: u64) -> String {
    const GIBIBYTE: u64 = 1 << 30;
    if bytes >= GIBIBYTE && bytes.is_multiple_of(GIBIBYTE) {
        format!("{} GiB", bytes / GIBIBYTE)
    } else {
        format!("{} MiB", bytes >> 20)
    }
}

/// All but one, and at least one.
fn processors() -> f64 {
    let all = thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(all.saturating_sub(1).max(1)).map_or(1.0, f64::from)
}

/// What the machine has, or what a container that we run in leaves us.
fn machine_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    let machine = kibibytes.checked_mul(1024)?;
    let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let limits =
        limits.iter().filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok());
    Some(limits.fold(machine, u64::min))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_stays_usable() {
        let Limits { memory, cpus, pids, tmp, shm, file, .. } = Limits::usual();
        let all = machine_memory().unwrap();
        assert_eq!(memory, Some(all / 2));
        let processors = thread::available_parallelism().unwrap().get();
        let cpus = cpus.unwrap();
        assert!(
            cpus >= 1.0
                && (processors == 1 || cpus < f64::from(u32::try_from(processors).unwrap()))
        );
        assert_eq!((pids, tmp, shm), (Some(4096), Some(1 << 30), Some(1 << 30)));
        assert!(file.is_some());
    }
}
