//! What the end of a session is compared with, as it can be kept in a file: a program that is killed
//! compares nothing itself, and leaves that to the next one.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fmt,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{
    GuardedEnd,
    git::Protection,
    held::{HeldTree, Identity},
    set_id,
};

/// What was in a workspace when a session began.
#[derive(Debug, Serialize, Deserialize)]
pub struct Snapshot {
    root: ByteText,
    /// The directories that were held, with what they were. Notes of older versions have none.
    #[serde(default)]
    held: Vec<(ByteText, Identity)>,
    #[serde(default)]
    parents: Vec<(ByteText, Identity)>,
    #[serde(default)]
    set_id: Option<BTreeSet<Identity>>,
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
    pub(super) fn new(
        root: &Path,
        protection: &Protection,
        undirected: &[PathBuf],
        set_id: &BTreeSet<Identity>,
    ) -> Self {
        let all = |paths: &[PathBuf]| paths.iter().map(|path| ByteText::from(&**path)).collect();
        let links = protection.links.iter();
        let parents = protection.parents.iter();
        let configurations = protection.configurations.iter();
        Self {
            root: root.into(),
            held: protection.held.tops().map(|(path, top)| (path.into(), top)).collect(),
            parents: parents.map(|(path, parent)| ((&**path).into(), *parent)).collect(),
            set_id: Some(set_id.clone()),
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
        let pairs = |(one, other): (ByteText, ByteText)| (one.path(), other.path());
        let all = |paths: Vec<ByteText>| paths.into_iter().map(ByteText::path);
        let mut protection = Protection::default();
        let root = self.root.path();
        let mut held = HeldTree::default();
        let mut tops: Vec<(PathBuf, Option<Identity>)> =
            self.held.into_iter().map(|(path, top)| (path.path(), Some(top))).collect();
        if tops.is_empty() {
            tops.push((root.clone(), None));
        }
        for (path, before) in tops {
            if let Err(error) = held.hold_again(&path, before) {
                protection.notes.push(format!("{} was not looked at: {error}", path.display()));
            }
        }
        protection.held = Arc::new(held);
        let parents = self.parents.into_iter().map(|(path, parent)| (path.path(), parent));
        protection.parents.extend(parents);
        protection.directories.extend(all(self.directories));
        protection.known.extend(self.known);
        protection.links.extend(self.links.into_iter().map(pairs));
        let configurations = self.configurations.into_iter();
        protection.configurations.extend(configurations.map(|(path, text)| (path.path(), text.0)));
        protection.rebasing.extend(all(self.rebasing));
        protection.programs.paths.extend(self.program_paths);
        protection.programs.names.extend(self.program_names);
        protection.program_files.extend(all(self.program_files));
        let undirected: Vec<PathBuf> = all(self.undirected).collect();
        let removed = protection.remove_commondirs(&undirected);
        let mut ended = protection.compare(&root);
        ended.removed += removed;
        if let Some(known) = &self.set_id {
            ended.notes.append(&mut set_id::strip(&ended.held, known));
        }
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
