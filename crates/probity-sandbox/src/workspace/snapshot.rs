//! What the end of a session is compared with, as it can be kept in a file: a program that is killed
//! compares nothing itself, and leaves that to the next one.

use std::{
    ffi::OsString,
    fmt, fs,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{GuardedEnd, git::Protection};

/// What was in a workspace when a session began.
#[derive(Debug, Serialize, Deserialize)]
pub struct Snapshot {
    root: ByteText,
    directories: Vec<ByteText>,
    /// Git directories without a `commondir`.
    undirected: Vec<ByteText>,
    known: Vec<(u64, u64)>,
    links: Vec<(ByteText, ByteText)>,
    configurations: Vec<(ByteText, ByteText)>,
    rebasing: Vec<ByteText>,
    program_paths: Vec<String>,
    program_names: Vec<String>,
    program_files: Vec<ByteText>,
}

impl Snapshot {
    pub(super) fn new(root: &Path, protection: &Protection, undirected: &[PathBuf]) -> Self {
        let all = |paths: &[PathBuf]| paths.iter().map(|path| ByteText::from(&**path)).collect();
        let links = protection.links.iter();
        let configurations = protection.configurations.iter();
        Self {
            root: root.into(),
            directories: all(&protection.directories),
            undirected: all(undirected),
            known: protection.known.iter().copied().collect(),
            links: links.map(|(path, target)| ((&**path).into(), (&**target).into())).collect(),
            configurations: configurations
                .map(|(path, bytes)| ((&**path).into(), ByteText(bytes.clone())))
                .collect(),
            rebasing: all(&protection.rebasing),
            program_paths: protection.programs.paths.iter().cloned().collect(),
            program_names: protection.programs.names.iter().cloned().collect(),
            program_files: protection.program_files.iter().map(|path| (&**path).into()).collect(),
        }
    }

    /// Compares the workspace with it.
    pub fn finish(self) -> GuardedEnd {
        let undirected = self.undirected.into_iter().map(|directory| directory.path());
        let commondirs = undirected.map(|directory| directory.join("commondir"));
        let removed = commondirs.filter(|path| fs::remove_file(path).is_ok()).count();
        let pairs = |(one, other): (ByteText, ByteText)| (one.path(), other.path());
        let all = |paths: Vec<ByteText>| paths.into_iter().map(ByteText::path);
        let mut protection = Protection::default();
        protection.directories.extend(all(self.directories));
        protection.known.extend(self.known);
        protection.links.extend(self.links.into_iter().map(pairs));
        let configurations = self.configurations.into_iter();
        protection.configurations.extend(configurations.map(|(path, text)| (path.path(), text.0)));
        protection.rebasing.extend(all(self.rebasing));
        protection.programs.paths.extend(self.program_paths);
        protection.programs.names.extend(self.program_names);
        protection.program_files.extend(all(self.program_files));
        let mut ended = protection.compare(&self.root.path());
        ended.removed += removed;
        ended
    }
}

/// Any bytes as a text, one letter for each byte: names and files need not be text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByteText(pub Vec<u8>);

impl ByteText {
    #[must_use]
    pub fn path(self) -> PathBuf {
        OsString::from_vec(self.0).into()
    }
}

impl From<&Path> for ByteText {
    fn from(path: &Path) -> Self {
        Self(path.as_os_str().as_bytes().to_owned())
    }
}

impl Serialize for ByteText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Letters<'a>(&'a [u8]);
        impl fmt::Display for Letters<'_> {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0
                    .iter()
                    .try_for_each(|byte| fmt::Write::write_char(formatter, char::from(*byte)))
            }
        }
        serializer.collect_str(&Letters(&self.0))
    }
}

impl<'de> Deserialize<'de> for ByteText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes: Result<Vec<u8>, _> = text.chars().map(u8::try_from).collect();
        bytes.map(Self).map_err(de::Error::custom)
    }
}
