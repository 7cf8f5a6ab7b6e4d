//! Files that run with the rights of their owner or of their group, whoever starts them.
//!
//! A session makes them for others on the host, and has no use for them itself: in bubblewrap such a
//! bit does nothing. Those that were there before stay as they are.

use std::{
    collections::BTreeSet,
    io,
    os::fd::{AsRawFd as _, OwnedFd},
    path::{Path, PathBuf},
};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, chmodat, fstat, openat, statat};

use super::held::{HeldName, HeldTree, Identity, identity_of};

/// Files and directories that are looked at.
const MOST_ENTRIES: usize = 2_000_000;

/// Those that are named in a note.
const SHOWN: usize = 8;

/// Those that are there now.
pub(super) fn known(held: &HeldTree) -> BTreeSet<Identity> {
    let mut known = BTreeSet::new();
    visit(held, |_, _, stat| {
        known.insert(identity_of(stat));
    });
    known
}

/// Takes the bits from those that are new, and says so.
pub(super) fn strip(held: &HeldTree, known: &BTreeSet<Identity>) -> Vec<String> {
    let (mut stripped, mut left) = (Vec::new(), Vec::new());
    let is_complete = visit(held, |directory, path, stat| {
        if !known.contains(&identity_of(stat)) {
            let taken = strip_one(directory, path, stat);
            if taken.is_ok() { &mut stripped } else { &mut left }.push(path.to_owned());
        }
    });
    let mut notes = Vec::new();
    if !stripped.is_empty() {
        let what = "removed the set-user-ID and set-group-ID bits of the session's files";
        notes.push(format!("probity {what}: {}", named(&stripped)));
    }
    if !left.is_empty() {
        let what = "files that run with the rights of their owner, and probity cannot change them";
        notes.push(format!("the session left {what}: {}; delete them", named(&left)));
    }
    if !is_complete {
        notes.push("too many files to look for set-user-ID bits in all of them".to_owned());
    }
    notes
}

fn strip_one(directory: &OwnedFd, path: &Path, stat: &Stat) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default();
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = openat(directory, name, flags, Mode::empty())?;
    let now = fstat(&handle)?;
    if identity_of(&now) != identity_of(stat) {
        return Err(io::Error::other("it is another file now"));
    }
    // By the number of the descriptor, so that the name cannot be a link by now.
    let by_number = format!("/proc/self/fd/{}", handle.as_raw_fd());
    Ok(chmodat(CWD, by_number, Mode::from_raw_mode(now.st_mode & 0o1777), AtFlags::empty())?)
}

/// Looks at every such file; false if there are too many files to look at all of them.
fn visit(held: &HeldTree, mut see: impl FnMut(&OwnedFd, &Path, &Stat)) -> bool {
    let mut pending: Vec<PathBuf> = held.tops().map(|(top, _)| top.to_owned()).collect();
    let mut seen = 0;
    while let Some(around) = pending.pop() {
        let Ok(directory) = held.directory(&around) else { continue };
        for HeldName { name, kind } in held.entries(&around).unwrap_or_default() {
            seen += 1;
            if seen > MOST_ENTRIES {
                return false;
            }
            match kind {
                FileType::Directory => pending.push(around.join(name)),
                FileType::RegularFile => {
                    let stat = statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW);
                    if let Some(stat) = stat.ok().filter(has_bits) {
                        see(&directory, &around.join(name), &stat);
                    }
                }
                _ => {}
            }
        }
    }
    true
}

/// Without the right of the group to run it, the bit of the group means something else.
fn has_bits(stat: &Stat) -> bool {
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    is_file && (stat.st_mode & 0o4000 != 0 || stat.st_mode & 0o2010 == 0o2010)
}

fn named(paths: &[PathBuf]) -> String {
    let shown = paths.iter().take(SHOWN).map(|path| path.display().to_string());
    let shown: Vec<String> = shown.collect();
    let more = match paths.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}
