//! Whether bubblewrap mounted what was meant. It finds everything by name, and another session in the
//! same workspace can exchange a directory for a link meanwhile. So what may be exchanged is looked at
//! before, without following a link, and again in the new root before the program starts.

use std::{
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags, fstat, open, openat2},
    io::Errno,
};

use super::status::Init;
use crate::{Mount, SpawnError};

/// Every bubblewrap has mounted everything within this time, or failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// What has to be where, by device and inode.
#[derive(Debug, Default)]
pub(super) struct Places(Vec<(PathBuf, Seen)>);

#[derive(Debug, PartialEq, Eq)]
enum Seen {
    /// This file or directory of the host.
    Same(u64, u64),
    /// Anything but what lies on this device: a file system of the sandbox's own.
    Elsewhere(u64),
}

impl Places {
    /// Looks at what can be written to, and at all that is mounted from or into it.
    pub(super) fn of(mounts: &[Mount]) -> Result<Self, SpawnError> {
        let mut places = Vec::new();
        for (number, mount) in mounts.iter().enumerate() {
            let rest = mounts.get(number + 1..).unwrap_or_default();
            let is_covered = rest.iter().any(|later| mount.inside().starts_with(later.inside()));
            if let (Some(seen), false) = (look(mount, mounts)?, is_covered) {
                places.push((mount.inside().to_owned(), seen));
            }
        }
        Ok(Self(places))
    }

    /// Compares with the root of the first process, as soon as everything is mounted there. The process
    /// then waits for us. If it has failed and ended, its exit tells so.
    pub(super) fn check(&self, init: &Init) -> io::Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let root = match finished_root(init) {
            Err(_) if init.ends_within(Duration::from_secs(1)) => return Ok(()),
            root => root?,
        };
        for (inside, seen) in &self.0 {
            let below = inside.strip_prefix("/").unwrap_or(inside);
            let is_right = identity(&root, below).is_ok_and(|(device, inode)| match seen {
                Seen::Same(..) => *seen == Seen::Same(device, inode),
                Seen::Elsewhere(other) => device != *other,
            });
            if !is_right {
                let place = inside.display();
                let why = format!("{place} was exchanged while the sandbox was made; start again");
                return Err(io::Error::other(why));
            }
        }
        Ok(())
    }
}

/// The root of a first process that has mounted everything: neither ours, nor the one in which
/// bubblewrap builds, which has a directory for the new one.
fn finished_root(init: &Init) -> io::Result<OwnedFd> {
    let path = format!("/proc/{}/root", init.pid.as_raw_nonzero());
    let ours = identity(&directory(Path::new("/"))?, Path::new("."))?;
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE && !init.has_ended() {
        let root = directory(Path::new(&path))?;
        let is_ours = identity(&root, Path::new("."))? == ours;
        if !is_ours && identity(&root, Path::new("newroot")) == Err(Errno::NOENT) {
            return Ok(root);
        }
        thread::sleep(Duration::from_micros(500));
    }
    Err(io::Error::other("the first process did not mount everything in time"))
}

fn look(mount: &Mount, mounts: &[Mount]) -> Result<Option<Seen>, SpawnError> {
    let refused = |path: &Path, errno: Errno| SpawnError::Mount {
        path: path.to_owned(),
        why: match errno {
            Errno::LOOP => "a link has taken its place".to_owned(),
            other => io::Error::from(other).to_string(),
        },
    };
    let writable = mounts.iter().filter_map(|other| match other {
        Mount::ReadWrite { host, inside } => Some((host, inside)),
        _ => None,
    });
    match mount {
        Mount::ReadWrite { host, .. } | Mount::ReadOnly { host, .. } => {
            let above = writable.filter(|(above, _)| host != *above && host.starts_with(above));
            // What is nearest to the root was there before anything below it could be written.
            let found = match above.min_by_key(|(above, _)| above.as_os_str().len()) {
                Some((above, _)) => {
                    let below = host.strip_prefix(above).unwrap_or(host);
                    identity(&directory(above).map_err(|errno| refused(above, errno))?, below)
                }
                None if matches!(mount, Mount::ReadOnly { .. }) => return Ok(None),
                None => open(host, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
                    .and_then(|found| fstat(&found))
                    .map(|stat| (stat.st_dev, stat.st_ino)),
            };
            let (device, inode) = found.map_err(|errno| refused(host, errno))?;
            Ok(Some(Seen::Same(device, inode)))
        }
        Mount::Tmpfs { inside, .. } => {
            let mut around = writable.filter(|(_, around)| inside.starts_with(around));
            let Some((host, _)) = around.next() else { return Ok(None) };
            let host = directory(host).map_err(|errno| refused(host, errno))?;
            let stat = fstat(&host).map_err(|errno| refused(inside, errno))?;
            Ok(Some(Seen::Elsewhere(stat.st_dev)))
        }
    }
}

fn directory(path: &Path) -> Result<OwnedFd, Errno> {
    openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::empty())
}

/// Device and inode of what is below a directory, if no link leads there.
fn identity(directory: &OwnedFd, below: &Path) -> Result<(u64, u64), Errno> {
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let found = openat2(directory, below, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), how)?;
    let stat = fstat(&found)?;
    Ok((stat.st_dev, stat.st_ino))
}
