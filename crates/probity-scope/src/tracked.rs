//! Which files git tracks, as its index says: no pattern ignores them.
//!
//! Without this, a repository could hide its own code from an audit: by a pattern for a file that it
//! tracks all the same.

use std::{
    collections::HashSet,
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

/// Bytes of an entry before the name of its object, and of that name, by SHA-1 and by SHA-256.
const STAT_BYTES: usize = 40;
const ID_BYTES: [usize; 2] = [20, 32];

/// The tracked files and the directories on the way to them. None are known of an index that is split
/// or not understood, so that the patterns alone decide.
pub(crate) fn tracked(index: &[u8]) -> HashSet<PathBuf> {
    let names = ID_BYTES.into_iter().find_map(|id| names(index, id)).unwrap_or_default();
    let mut tracked = HashSet::new();
    for name in names {
        let path = Path::new(OsStr::from_bytes(&name));
        for reached in path.ancestors() {
            if !tracked.insert(reached.to_owned()) {
                break;
            }
        }
    }
    tracked
}

/// The names of all entries, if the whole index has this form.
fn names(index: &[u8], id_bytes: usize) -> Option<Vec<Vec<u8>>> {
    let rest = index.strip_prefix(b"DIRC")?;
    let version = number(rest, 0)?;
    let count = number(rest, 4)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut names: Vec<Vec<u8>> = Vec::new();
    let mut at = 12;
    for _ in 0..count {
        let before = names.last().map_or(&[][..], Vec::as_slice);
        let (name, next) = entry(index, at, version, id_bytes, before)?;
        names.push(name);
        at = next;
    }
    (!is_split(index, at, id_bytes)).then_some(names)
}

/// The name of the entry that begins here, and where the next one does.
fn entry(
    index: &[u8],
    start: usize,
    version: usize,
    id_bytes: usize,
    before: &[u8],
) -> Option<(Vec<u8>, usize)> {
    let flags_at = start + STAT_BYTES + id_bytes;
    let flags = index.get(flags_at..flags_at + 2)?;
    let flags = u16::from_be_bytes(flags.try_into().ok()?);
    let is_extended = flags & 0x4000 != 0;
    let mut at = flags_at + if is_extended { 4 } else { 2 };
    let mut name = Vec::new();
    if version == 4 {
        let (dropped, length) = variable_number(index.get(at..)?)?;
        name.extend_from_slice(before.get(..before.len().checked_sub(dropped)?)?);
        at += length;
    }
    let rest = index.get(at..)?;
    let length = rest.iter().position(|byte| *byte == 0)?;
    name.extend_from_slice(rest.get(..length)?);
    // The flags tell the length of the name, unless it is too long for them.
    let told = usize::from(flags & 0xfff);
    if told < 0xfff && told != name.len() {
        return None;
    }
    let end = at + length;
    // Padded with one to eight zeros.
    let next = if version == 4 { end + 1 } else { start + ((end - start) / 8 + 1) * 8 };
    Some((name, next))
}

/// Whether the extension behind the entries says that most of them are in another file.
fn is_split(index: &[u8], mut at: usize, id_bytes: usize) -> bool {
    while at + 8 + id_bytes <= index.len() {
        if index.get(at..at + 4) == Some(b"link") {
            return true;
        }
        let Some(size) = number(index, at + 4) else { return false };
        at = at.saturating_add(8).saturating_add(size);
    }
    false
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at + 4)?.try_into().ok()?;
    usize::try_from(u32::from_be_bytes(bytes)).ok()
}

/// A number of seven bits a byte, and how many bytes it takes.
fn variable_number(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut number = 0_usize;
    for (at, byte) in bytes.iter().take(5).enumerate() {
        number += usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((number, at + 1));
        }
        number = (number + 1) << 7;
    }
    None
}
