//! Files as they are and as they should be, and the steps from one to the other.

use std::{collections::BTreeMap, fmt, fs, io, path::Path};

use super::difference;

/// Paths relative to the root, with `/`, and what is in the files.
#[derive(Default)]
pub(crate) struct Tree(BTreeMap<String, Vec<u8>>);

impl Tree {
    pub(crate) fn single(path: &str, content: Vec<u8>) -> Self {
        Self(BTreeMap::from([(path.to_owned(), content)]))
    }

    /// Nothing is in any file.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.values().all(Vec::is_empty)
    }

    /// Empty if there is no such file.
    pub(crate) fn of_file(root: &Path, path: &str) -> Result<Self, String> {
        match fs::read(root.join(path)) {
            Ok(content) => Ok(Self::single(path, content)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(format!("{path}: {error}")),
        }
    }

    /// Empty if there is no such directory.
    pub(crate) fn of_directory(root: &Path, path: &str) -> Result<Self, String> {
        let mut tree = Self::default();
        tree.add_directory(root, path)?;
        Ok(tree)
    }

    fn add_directory(&mut self, root: &Path, path: &str) -> Result<(), String> {
        let entries = match fs::read_dir(root.join(path)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(format!("{path}: {error}")),
        };
        let describe = |error: io::Error| format!("{path}: {error}");
        for entry in entries {
            let entry = entry.map_err(describe)?;
            let name = entry.file_name();
            let below = format!("{path}/{}", name.to_string_lossy());
            if entry.file_type().map_err(describe)?.is_dir() {
                self.add_directory(root, &below)?;
            } else {
                let content =
                    fs::read(entry.path()).map_err(|error| format!("{below}: {error}"))?;
                self.0.insert(below, content);
            }
        }
        Ok(())
    }
}

/// One step from the present to the wanted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Change<'trees> {
    Create { path: &'trees str, content: &'trees [u8] },
    Update { path: &'trees str, present: &'trees [u8], content: &'trees [u8] },
    Remove { path: &'trees str },
}

/// The steps, in the order of the paths.
pub(crate) fn changes<'trees>(present: &'trees Tree, wanted: &'trees Tree) -> Vec<Change<'trees>> {
    let mut found: Vec<Change<'trees>> = Vec::new();
    for (path, content) in &wanted.0 {
        match present.0.get(path) {
            None => found.push(Change::Create { path, content }),
            Some(present) if present != content => {
                found.push(Change::Update { path, present, content });
            }
            Some(_) => {}
        }
    }
    for path in present.0.keys().filter(|path| !wanted.0.contains_key(*path)) {
        found.push(Change::Remove { path });
    }
    found.sort_by_key(|change| change.path());
    found
}

impl<'trees> Change<'trees> {
    fn path(&self) -> &'trees str {
        match self {
            Self::Create { path, .. } | Self::Update { path, .. } | Self::Remove { path } => path,
        }
    }

    pub(crate) fn carry_out(&self, root: &Path) -> Result<(), String> {
        let full = root.join(self.path());
        let done = match self {
            Self::Create { content, .. } | Self::Update { content, .. } => {
                let parent = full.parent().map_or(Ok(()), fs::create_dir_all);
                parent.and_then(|()| fs::write(&full, content))
            }
            Self::Remove { .. } => fs::remove_file(&full),
        };
        done.map_err(|error| format!("{}: {error}", self.path()))
    }

    /// The first lines that differ; empty where the whole file is new or too much.
    pub(crate) fn difference(&self) -> String {
        match self {
            Self::Update { present, content, .. } => difference::short(
                &String::from_utf8_lossy(present),
                &String::from_utf8_lossy(content),
            ),
            Self::Create { .. } | Self::Remove { .. } => String::new(),
        }
    }
}

impl fmt::Display for Change<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self {
            Self::Create { .. } => "missing",
            Self::Update { .. } => "stale",
            Self::Remove { .. } => "surplus",
        };
        write!(formatter, "{state}: {}", self.path())
    }
}
