//! The processes that came from one of ours, found in `/proc`, wherever they went.
//!
//! A process that leaves its group, its session and its parent (the double fork of a daemon) is
//! adopted by us, as the subreaper. So that it can be told from the children of others, each tree
//! carries a tag: a soft limit on message queues that no other has. It is inherited by all
//! descendants, survives exec and an emptied environment, and changes nothing that anybody uses.

/// The mark that all processes of one tree bear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tag(pub(crate) u64);

#[cfg(target_os = "linux")]
pub(crate) use linux::{adopt_orphans, count_of_user, kill_all, memory, tag, usage};

#[cfg(not(target_os = "linux"))]
pub(crate) fn kill_all(leader: rustix::process::Pid, _tag: Option<Tag>) {
    use rustix::process::{Signal, kill_process_group};
    kill_process_group(leader, Signal::KILL).ok();
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn usage(_leader: u32) -> Option<crate::Usage> {
    None
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        collections::HashSet,
        fs,
        sync::atomic::{AtomicU64, Ordering},
        thread,
        time::Duration,
    };

    use rustix::process::{
        Pid, Resource, Signal, WaitOptions, getpid, getrlimit, kill_process, kill_process_group,
        set_child_subreaper, waitpid,
    };

    use super::Tag;

    const ROUNDS: usize = 200;

    /// A tag for the next tree, if the limit leaves room for one.
    pub(crate) fn tag() -> Option<(Tag, Resource)> {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        let highest = getrlimit(Resource::Msgqueue).current.unwrap_or(819_200);
        let value = highest.checked_sub(COUNT.fetch_add(1, Ordering::Relaxed) % 65_536)?;
        Some((Tag(value), Resource::Msgqueue))
    }

    /// From now on orphans of our trees become our children, and can be found.
    pub(crate) fn adopt_orphans() -> std::io::Result<()> {
        Ok(set_child_subreaper(Some(getpid()))?)
    }

    /// Kills the whole tree and waits until it is gone. The leader itself is left to be reaped by
    /// its owner: as long as it is not, its number and its group's are no one else's.
    pub(crate) fn kill_all(leader: Pid, tag: Option<Tag>) {
        for round in 0..ROUNDS {
            kill_process_group(leader, Signal::KILL).ok();
            let members = members(leader, tag);
            let alive = members.iter().any(|process| process.state != 'Z' && process.pid != leader);
            for process in &members {
                if process.state != 'Z' {
                    kill_process(process.pid, Signal::KILL).ok();
                }
                if process.parent == Some(getpid()) && process.pid != leader {
                    waitpid(Some(process.pid), WaitOptions::NOHANG).ok();
                }
            }
            if !alive {
                return;
            }
            thread::sleep(Duration::from_millis(if round < 20 { 1 } else { 10 }));
        }
    }

    /// How many processes and threads our user has now.
    pub(crate) fn count_of_user() -> u64 {
        let user = rustix::process::geteuid();
        let threads = |pid: Pid| -> Option<u64> {
            use std::os::unix::fs::MetadataExt;
            let directory = format!("/proc/{}/task", pid.as_raw_nonzero());
            (fs::metadata(&directory).ok()?.uid() == user.as_raw())
                .then(|| fs::read_dir(&directory).map_or(1, |tasks| tasks.count() as u64))
        };
        processes().iter().filter_map(|process| threads(process.pid)).sum()
    }

    /// What the leader and all that came from it have taken.
    pub(crate) fn usage(leader: u32) -> Option<crate::Usage> {
        // The kernel's unit for times in `/proc`, on every machine that Rust knows.
        const TICK: Duration = Duration::from_millis(10);
        let leader = Pid::from_raw(i32::try_from(leader).ok()?)?;
        let mut usage = crate::Usage { cpu: Duration::ZERO, memory: 0 };
        let mut any = false;
        for process in members(leader, None) {
            let file = |name: &str| {
                fs::read_to_string(format!("/proc/{}/{name}", process.pid.as_raw_nonzero()))
            };
            let (Ok(stat), Ok(status)) = (file("stat"), file("status")) else { continue };
            // A name may hold blanks and parentheses; what follows it does not.
            let Some((_, fields)) = stat.rsplit_once(')') else { continue };
            // Its own time and that of children it has waited for, in user and system mode.
            let ticks = fields.split_ascii_whitespace().skip(11).take(4);
            let ticks: u64 = ticks.filter_map(|field| field.parse::<u64>().ok()).sum();
            usage.cpu += TICK.saturating_mul(u32::try_from(ticks).unwrap_or(u32::MAX));
            let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kibibytes =
                peak.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok());
            usage.memory += kibibytes.unwrap_or(0_u64) << 10;
            any = true;
        }
        any.then_some(usage)
    }

    /// Bytes of memory that the leader and all that came from it have now, without what they share with
    /// files.
    pub(crate) fn memory(leader: u32) -> Option<u64> {
        let leader = Pid::from_raw(i32::try_from(leader).ok()?)?;
        let of = |process: &Process| -> Option<u64> {
            let number = process.pid.as_raw_nonzero();
            let status = fs::read_to_string(format!("/proc/{number}/status")).ok()?;
            let own = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
            let kibibytes: u64 = own.split_ascii_whitespace().next()?.parse().ok()?;
            Some(kibibytes << 10)
        };
        Some(members(leader, None).iter().filter_map(of).sum())
    }

    struct Process {
        pid: Pid,
        parent: Option<Pid>,
        session: Option<Pid>,
        state: char,
    }

    /// The leader, its descendants, its session, and adopted orphans with the tag and theirs.
    fn members(leader: Pid, tag: Option<Tag>) -> Vec<Process> {
        let mut processes = processes();
        let us = getpid();
        let mut found: HashSet<Pid> = HashSet::from([leader]);
        for process in &processes {
            let ours = process.session == Some(leader)
                || (process.parent == Some(us) && tag.is_some() && tag_of(process.pid) == tag);
            if ours && process.pid != us {
                found.insert(process.pid);
            }
        }
        // A child may be listed before its parent, hence until nothing is added.
        loop {
            let before = found.len();
            for process in &processes {
                if process.parent.is_some_and(|parent| found.contains(&parent)) {
                    found.insert(process.pid);
                }
            }
            if found.len() == before {
                break;
            }
        }
        processes.retain(|process| found.contains(&process.pid));
        processes
    }

    fn processes() -> Vec<Process> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        entries
            .flatten()
            .filter_map(|entry| {
                let pid = positive(entry.file_name().to_str()?.parse().ok()?)?;
                let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
                // The name in parentheses may hold anything, parentheses included.
                let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
                let state = fields.next()?.chars().next()?;
                // A process that is just ending has -1 for its group and session.
                let mut number = || Some(positive(fields.next()?.parse().ok()?));
                let (parent, _group, session) = (number()?, number()?, number()?);
                Some(Process { pid, parent, session, state })
            })
            .collect()
    }

    fn positive(raw: i32) -> Option<Pid> {
        if raw > 0 { Pid::from_raw(raw) } else { None }
    }

    fn tag_of(pid: Pid) -> Option<Tag> {
        let limits = fs::read_to_string(format!("/proc/{}/limits", pid.as_raw_nonzero())).ok()?;
        let line = limits.lines().find_map(|line| line.strip_prefix("Max msgqueue size"))?;
        Some(Tag(line.split_whitespace().next()?.parse().ok()?))
    }
}
