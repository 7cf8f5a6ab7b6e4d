//! The files of an image, read from the tar archive that an engine exports.
//!
//! The archive stays a file and only its index is in memory: contents are read when a check asks
//! for them, and nothing of an image is ever unpacked on the host.

pub(crate) mod elf;

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufReader},
    os::unix::fs::FileExt as _,
    path::Path,
};

const MAX_LINKS: usize = 40;

/// A file system as a sorted list of paths, without a slash at either end.
#[derive(Debug)]
pub struct Root {
    archive: File,
    entries: BTreeMap<String, Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub kind: EntryKind,
    pub mode: u32,
    pub uid: u64,
    pub gid: u64,
    pub size: u64,
    modified: u64,
    offset: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Directory,
    Link(String),
    Other,
}

impl Entry {
    pub fn is_file(&self) -> bool {
        self.kind == EntryKind::File
    }

    pub(crate) fn is_newer_than(&self, other: &Self) -> bool {
        self.is_file() && self.modified > other.modified
    }

    pub fn is_executable(&self) -> bool {
        self.is_file() && self.mode & 0o111 != 0
    }
}

impl Root {
    /// Reads the index of an archive.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not a tar archive.
    pub fn read(path: &Path) -> io::Result<Self> {
        let archive = File::open(path)?;
        let mut entries = BTreeMap::new();
        let mut reader = tar::Archive::new(BufReader::with_capacity(1 << 16, &archive));
        for entry in reader.entries_with_seek()? {
            let entry = entry?;
            let Some(name) = plain(&entry.path_bytes()) else { continue };
            if is_made_by_engine(&name) {
                continue;
            }
            let header = entry.header();
            let target = entry.link_name_bytes().map(|name| text(&name));
            let kind = match header.entry_type() {
                tar::EntryType::Directory => EntryKind::Directory,
                tar::EntryType::Symlink => EntryKind::Link(target.unwrap_or_default()),
                tar::EntryType::Link => {
                    let first = target.and_then(|target| plain(target.as_bytes()));
                    let first = first.and_then(|name| entries.get(&name).cloned());
                    entries.extend(first.map(|first: Entry| (name, first)));
                    continue;
                }
                kind if kind.is_file() => EntryKind::File,
                _ => EntryKind::Other,
            };
            entries.insert(
                name,
                Entry {
                    kind,
                    mode: header.mode()? & 0o7777,
                    uid: header.uid()?,
                    gid: header.gid()?,
                    size: entry.size(),
                    modified: header.mtime()?,
                    offset: entry.raw_file_position(),
                },
            );
        }
        Ok(Self { archive, entries })
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(path, entry)| (path.as_str(), entry))
    }

    /// The entry at exactly this path; links are not followed.
    pub fn get(&self, path: &str) -> Option<&Entry> {
        self.entries.get(path.trim_matches('/'))
    }

    /// What is below a directory, the directory itself excluded.
    pub fn below<'r>(&'r self, directory: &str) -> impl Iterator<Item = (&'r str, &'r Entry)> {
        let prefix = match directory.trim_matches('/') {
            "" => String::new(),
            directory => format!("{directory}/"),
        };
        let from = self.entries.range(prefix.clone()..);
        from.take_while(move |(path, _)| path.starts_with(&prefix))
            .map(|(path, entry)| (path.as_str(), entry))
    }

    /// The path and the entry that a path leads to when every link is followed inside the image.
    pub fn resolve(&self, path: &str) -> Option<(String, &Entry)> {
        let mut pending: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
        let mut reached: Vec<String> = Vec::new();
        let mut links = 0;
        while let Some(word) = pending.pop() {
            match word.as_str() {
                "" | "." => continue,
                ".." => {
                    reached.pop();
                    continue;
                }
                _ => reached.push(word),
            }
            let Some(Entry { kind: EntryKind::Link(target), .. }) = self.get(&reached.join("/"))
            else {
                continue;
            };
            links += 1;
            if links > MAX_LINKS {
                return None;
            }
            reached.pop();
            if target.starts_with('/') {
                reached.clear();
            }
            pending.extend(target.split('/').rev().map(str::to_owned));
        }
        let reached = reached.join("/");
        self.get(&reached).map(|entry| (reached, entry))
    }

    /// Whether a path leads to a directory; archives may leave directories out.
    pub fn has_directory(&self, path: &str) -> bool {
        let found = self.resolve(path);
        found.is_some_and(|(_, entry)| entry.kind == EntryKind::Directory)
            || self.below(path).next().is_some()
    }

    /// The first bytes of a file.
    pub fn bytes(&self, entry: &Entry, most: u64) -> Vec<u8> {
        let length = usize::try_from(entry.size.min(most)).unwrap_or_default();
        let mut bytes = vec![0; length];
        // The index says that these bytes are there; an archive that was cut off holds none.
        match self.archive.read_exact_at(&mut bytes, entry.offset) {
            Ok(()) => bytes,
            Err(_) => Vec::new(),
        }
    }

    /// A text file that a path leads to, up to 1 MiB of it.
    pub fn text(&self, path: &str) -> Option<String> {
        let (_, entry) = self.resolve(path)?;
        entry.is_file().then(|| text(&self.bytes(entry, 1 << 20)))
    }

    /// Whether another root has the same at this path, but for its owner and rights.
    pub fn is_same_in(&self, other: &Root, path: &str) -> bool {
        let (Some(own), Some(theirs)) = (self.get(path), other.get(path)) else { return false };
        if own.kind != theirs.kind || own.size != theirs.size {
            return false;
        }
        if !own.is_file() || own.modified == theirs.modified {
            return true;
        }
        self.is_equal(own, other, theirs)
    }

    /// Whether two files of the same size have the same bytes.
    pub fn is_equal(&self, own: &Entry, other: &Root, theirs: &Entry) -> bool {
        const CHUNK: u64 = 1 << 20;
        let chunk = |root: &Root, entry: &Entry, start: u64| {
            let (offset, size) = (entry.offset + start, entry.size - start);
            root.bytes(&Entry { offset, size, ..entry.clone() }, CHUNK)
        };
        let mut starts = (0..own.size).step_by(1 << 20);
        own.size == theirs.size
            && starts.all(|start| chunk(self, own, start) == chunk(other, theirs, start))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A path without `./`, or nothing for the root itself.
fn plain(path: &[u8]) -> Option<String> {
    let path = text(path);
    let words: Vec<&str> = path.split('/').filter(|word| !matches!(*word, "" | ".")).collect();
    (!words.is_empty()).then(|| words.join("/"))
}

/// Engines put these into every container that they make.
fn is_made_by_engine(path: &str) -> bool {
    const WHOLE: [&str; 8] = [
        ".dockerenv",
        "run/.containerenv",
        "etc/hosts",
        "etc/hostname",
        "etc/resolv.conf",
        "etc/mtab",
        "dev",
        "proc",
    ];
    WHOLE.contains(&path) || ["dev/", "proc/", "sys/"].iter().any(|above| path.starts_with(above))
}
