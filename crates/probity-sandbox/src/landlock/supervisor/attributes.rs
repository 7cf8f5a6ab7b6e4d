//! Modes, owners and times of files, and watches on them, which Landlock lets an owner change anywhere.

use std::os::fd::{AsRawFd, OwnedFd};

use rustix::{
    fs::{AtFlags, CWD, Gid, Mode, Timespec, Timestamps, Uid, chmod, chownat, utimensat},
    io::Errno,
};

use super::{
    Action, Supervisor, held,
    notice::{Done, Notice, Tracee, last_error},
    target::{Named, number, real_path},
};
use crate::landlock::calls::{self, Call};

/// What is done to a file.
enum Change {
    Mode(u32),
    Owner(Option<u32>, Option<u32>),
    Times(Timestamps),
}

const NOT_FOLLOWED: i32 = libc::AT_SYMLINK_NOFOLLOW;

pub(super) fn decide(
    supervisor: &Supervisor,
    tracee: &Tracee,
    notice: &Notice,
    called: impl Fn(&Call) -> bool,
) -> Result<Action, Errno> {
    if called(&calls::INOTIFY_ADD_WATCH) {
        return watch(supervisor, tracee, notice);
    }
    let (named, change) = asked(tracee, notice, called)?;
    let file = named.find(tracee)?;
    if !supervisor.places.is_writable(&real_path(&file)?) {
        return Err(Errno::PERM);
    }
    Ok(Box::new(move || apply(&change, &file).map(|()| Done::Number(0))))
}

fn asked(
    tracee: &Tracee,
    notice: &Notice,
    called: impl Fn(&Call) -> bool,
) -> Result<(Named, Change), Errno> {
    let [a, b, c, d, e, _] = notice.arguments;
    let mode = |argument| Change::Mode(number(argument).cast_unsigned() & 0o7777);
    let owner = |user, group| Change::Owner(id(user), id(group));
    let here = i64::from(libc::AT_FDCWD).cast_unsigned();
    let follows = |flags| number(flags) & NOT_FOLLOWED == 0;
    Ok(if called(&calls::CHMOD) {
        (Named::at(here, tracee.path(a)?, true), mode(b))
    } else if called(&calls::FCHMOD) {
        (Named::Descriptor(number(a)), mode(b))
    } else if called(&calls::FCHMODAT) {
        (Named::at(a, tracee.path(b)?, true), mode(c))
    } else if called(&calls::FCHMODAT2) {
        let path = tracee.path(b)?;
        (with_flags(a, path, d, libc::AT_EMPTY_PATH | NOT_FOLLOWED)?, mode(c))
    } else if called(&calls::CHOWN) {
        (Named::at(here, tracee.path(a)?, true), owner(b, c))
    } else if called(&calls::LCHOWN) {
        (Named::at(here, tracee.path(a)?, false), owner(b, c))
    } else if called(&calls::FCHOWN) {
        (Named::Descriptor(number(a)), owner(b, c))
    } else if called(&calls::FCHOWNAT) {
        let path = tracee.path(b)?;
        (with_flags(a, path, e, libc::AT_EMPTY_PATH | NOT_FOLLOWED)?, owner(c, d))
    } else if called(&calls::UTIME) {
        (Named::at(here, tracee.path(a)?, true), Change::Times(seconds(tracee, b)?))
    } else if called(&calls::UTIMES) {
        (Named::at(here, tracee.path(a)?, true), Change::Times(microseconds(tracee, b)?))
    } else if called(&calls::FUTIMESAT) {
        (file_or_path(tracee, a, b, true)?, Change::Times(microseconds(tracee, c)?))
    } else if called(&calls::UTIMENSAT) {
        let times = Change::Times(nanoseconds(tracee, c)?);
        let named = match b {
            0 => Named::Descriptor(number(a)),
            _ if number(d) & libc::AT_EMPTY_PATH != 0 => {
                Named::at_or_itself(a, tracee.path(b)?, follows(d))
            }
            _ => Named::at(a, tracee.path(b)?, follows(d)),
        };
        (named, times)
    } else {
        return Err(Errno::NOSYS);
    })
}

fn with_flags(directory: u64, path: Vec<u8>, flags: u64, known: i32) -> Result<Named, Errno> {
    let flags = number(flags);
    if flags & !known != 0 {
        return Err(Errno::INVAL);
    }
    let follows = flags & NOT_FOLLOWED == 0;
    Ok(if flags & libc::AT_EMPTY_PATH != 0 {
        Named::at_or_itself(directory, path, follows)
    } else {
        Named::at(directory, path, follows)
    })
}

/// Without a path, the descriptor is the file.
fn file_or_path(tracee: &Tracee, directory: u64, path: u64, follows: bool) -> Result<Named, Errno> {
    match path {
        0 => Ok(Named::Descriptor(number(directory))),
        _ => Ok(Named::at(directory, tracee.path(path)?, follows)),
    }
}

/// By the link of a descriptor, which leads to that file whatever its path has become.
fn apply(change: &Change, file: &OwnedFd) -> Result<(), Errno> {
    let path = held(file);
    match change {
        Change::Mode(mode) => chmod(path, Mode::from_raw_mode(*mode)),
        Change::Owner(user, group) => {
            let (user, group) = (user.map(Uid::from_raw), group.map(Gid::from_raw));
            chownat(CWD, path, user, group, AtFlags::empty())
        }
        Change::Times(times) => utimensat(CWD, path, times, AtFlags::empty()),
    }
}

fn id(argument: u64) -> Option<u32> {
    Some(number(argument).cast_unsigned()).filter(|id| *id != u32::MAX)
}

const NOW: Timestamps = {
    let now = Timespec { tv_sec: 0, tv_nsec: libc::UTIME_NOW };
    Timestamps { last_access: now, last_modification: now }
};

/// Pairs of numbers, and what one of the second ones is in nanoseconds.
fn pairs(tracee: &Tracee, address: u64, unit: i64) -> Result<Timestamps, Errno> {
    if address == 0 {
        return Ok(NOW);
    }
    let bytes = tracee.read(address, 32)?;
    let numbers: Vec<i64> = bytes
        .chunks_exact(8)
        .filter_map(|chunk| chunk.try_into().ok().map(i64::from_ne_bytes))
        .collect();
    let &[first, second, third, fourth] = numbers.as_slice() else { return Err(Errno::FAULT) };
    let time = |tv_sec, part: i64| -> Result<Timespec, Errno> {
        let tv_nsec = part.checked_mul(unit).ok_or(Errno::INVAL)?;
        Ok(Timespec { tv_sec, tv_nsec })
    };
    Ok(Timestamps { last_access: time(first, second)?, last_modification: time(third, fourth)? })
}

fn nanoseconds(tracee: &Tracee, address: u64) -> Result<Timestamps, Errno> {
    pairs(tracee, address, 1)
}

fn microseconds(tracee: &Tracee, address: u64) -> Result<Timestamps, Errno> {
    let times = pairs(tracee, address, 1000)?;
    let is_time = |time: &Timespec| (0..1_000_000_000).contains(&time.tv_nsec);
    let is_right =
        address == 0 || (is_time(&times.last_access) && is_time(&times.last_modification));
    if is_right { Ok(times) } else { Err(Errno::INVAL) }
}

fn seconds(tracee: &Tracee, address: u64) -> Result<Timestamps, Errno> {
    if address == 0 {
        return Ok(NOW);
    }
    let bytes = tracee.read(address, 16)?;
    let (access, modification) = bytes.split_at(8);
    let time = |bytes: &[u8]| -> Result<Timespec, Errno> {
        let tv_sec = bytes.try_into().map(i64::from_ne_bytes).map_err(|_| Errno::FAULT)?;
        Ok(Timespec { tv_sec, tv_nsec: 0 })
    };
    Ok(Timestamps { last_access: time(access)?, last_modification: time(modification)? })
}

/// Names and uses of files would be seen anywhere.
#[expect(unsafe_code, reason = "the path is that of a descriptor, and flags are the process's own")]
fn watch(supervisor: &Supervisor, tracee: &Tracee, notice: &Notice) -> Result<Action, Errno> {
    let [queue, path, mask, ..] = notice.arguments;
    let mask = number(mask).cast_unsigned();
    let follows = mask & libc::IN_DONT_FOLLOW == 0;
    let here = i64::from(libc::AT_FDCWD).cast_unsigned();
    let file = Named::at(here, tracee.path(path)?, follows).find(tracee)?;
    if !supervisor.places.is_readable(&real_path(&file)?) {
        return Err(Errno::ACCESS);
    }
    let queue = tracee.descriptor(number(queue))?;
    Ok(Box::new(move || {
        let path = std::ffi::CString::new(held(&file)).map_err(|_| Errno::INVAL)?;
        let mask = mask & !libc::IN_DONT_FOLLOW;
        // SAFETY: the path ends with a NUL and outlives the call.
        match unsafe { libc::inotify_add_watch(queue.as_raw_fd(), path.as_ptr(), mask) } {
            -1 => Err(last_error()),
            watch => Ok(Done::Number(watch.into())),
        }
    }))
}
