//! The file of a baseline: which findings a repository had when it was written.
//!
//! A finding is known by its rule and by the text of its line, so it is still known if the line moves.
//! What a later run no longer finds is removed from the file, and cannot come back unseen.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Component, Path, PathBuf},
};

use anyhow::Context as _;
use probity_scope::{Missing, read_text};
use serde::{Deserialize, Serialize};

use crate::{
    config::guard,
    failure::Failure,
    output::OutputFile,
    write::{WriteError, write_whole},
};

const VERSION: u32 = 1;
/// A baseline of a hundred thousand findings is a tenth of it.
const MOST_BYTES: u64 = 64 << 20;

/// Fingerprints by rule.
type Prints = BTreeMap<String, BTreeSet<String>>;

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    /// By path, from the directory of the baseline, with forward slashes.
    findings: BTreeMap<String, Prints>,
}

/// A baseline and what a run has seen of it.
#[derive(Debug)]
pub(super) struct Baseline {
    /// As the user wrote it.
    shown: PathBuf,
    /// The directory that its paths begin at.
    root: PathBuf,
    files: BTreeMap<String, Prints>,
    /// Listed files that do not exist, and all that is listed for them.
    orphans: BTreeSet<String>,
    of_orphans: Prints,
    /// What is left of each file that was checked.
    seen: BTreeMap<String, Prints>,
    is_to_write: bool,
    /// The directory of the repository's file that names it.
    covered: Option<PathBuf>,
    /// Its place, if a repository's file names it.
    of_repository: Option<OutputFile>,
}

/// What a baseline lists for one file.
#[derive(Debug)]
pub(super) struct Listed(Prints);

impl Listed {
    pub(super) fn contains(&self, rule: &str, print: &str) -> bool {
        self.0.get(rule).is_some_and(|prints| prints.contains(print))
    }
}

impl Baseline {
    /// One that is made by this run.
    pub(super) fn to_write(directory: &Path, file: &Path) -> Self {
        Self {
            shown: file.to_owned(),
            root: root(directory, file),
            files: BTreeMap::new(),
            orphans: BTreeSet::new(),
            of_orphans: Prints::new(),
            seen: BTreeMap::new(),
            is_to_write: true,
            covered: None,
            of_repository: None,
        }
    }

    /// Reads one that the user names, or a repository's file below `of_repository`, its directory.
    pub(super) fn read(
        directory: &Path,
        file: &Path,
        of_repository: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let shown = file.display();
        let write_one = format!("write a new one with --write-baseline {shown}");
        let cannot_read =
            || Failure::new(format!("cannot read the baseline {shown}"), write_one.clone());
        let covered = of_repository.map(|named_in| directory.join(named_in));
        let of_repository = match &covered {
            Some(named_in) => {
                let found = OutputFile::find(file, named_in, Missing::Refuse);
                Some(found.with_context(cannot_read)?)
            }
            None => None,
        };
        let text = match &of_repository {
            Some(file) => file.read_text(MOST_BYTES),
            None => read(&directory.join(file)),
        };
        let text = text.with_context(cannot_read)?;
        let document: Document = serde_json::from_str(&text).with_context(|| {
            Failure::new(format!("{shown} is not a baseline"), write_one.clone())
        })?;
        if document.version != VERSION {
            let what = format!("{shown} has version {}, not {VERSION}", document.version);
            return Err(Failure::new(what, write_one).into());
        }
        let mut baseline = Self {
            files: document.findings,
            is_to_write: false,
            covered,
            of_repository,
            ..Self::to_write(directory, file)
        };
        let names = baseline.files.keys();
        let orphans = names.filter(|name| !baseline.root.join(name).exists()).cloned();
        baseline.orphans = orphans.collect();
        for (name, prints) in &baseline.files {
            if baseline.orphans.contains(name) {
                add(&mut baseline.of_orphans, prints);
            }
        }
        Ok(baseline)
    }

    pub(super) fn shown(&self) -> &Path {
        &self.shown
    }

    /// Whether the run makes it, and hides nothing for being listed.
    pub(super) fn is_to_write(&self) -> bool {
        self.is_to_write
    }

    /// What is listed for a file that it is about. One that has a new name is listed under a name that no file has now.
    pub(super) fn listed(&self, file: &Path) -> Option<Listed> {
        if !self.covers(file) {
            return None;
        }
        let own = self.files.get(&self.name(file));
        Some(Listed(own.unwrap_or(&self.of_orphans).clone()))
    }

    /// A repository's file hides no findings of another directory.
    fn covers(&self, file: &Path) -> bool {
        self.covered.as_ref().is_none_or(|directory| guard::are_below(directory, [file]))
    }

    /// Takes in what a file has now. What was not looked for stays listed.
    pub(super) fn saw<'f>(
        &mut self,
        file: &Path,
        found: impl Iterator<Item = (&'f str, String)>,
        was_looked_for: impl Fn(&str) -> bool,
    ) {
        let Some(listed) = self.listed(file) else { return };
        let name = self.name(file);
        let mut left = Prints::new();
        for (rule, print) in found {
            if self.is_to_write || listed.contains(rule, &print) {
                left.entry(rule.to_owned()).or_default().insert(print);
            }
        }
        let own = self.files.get(&name).into_iter().flatten();
        for (rule, prints) in own.filter(|(rule, _)| !was_looked_for(rule)) {
            left.entry(rule.clone()).or_default().extend(prints.iter().cloned());
        }
        self.seen.insert(name, left);
    }

    /// The same without what no longer exists, and how much that is; none if nothing has changed.
    pub(super) fn shrunk(mut self, checked: &[PathBuf]) -> Option<(usize, Self)> {
        self.seen = self.left(checked);
        let gone = count(&self.files).saturating_sub(count(&self.seen));
        (self.seen != self.files).then_some((gone, self))
    }

    /// What stays listed: what was found again, and what was not looked at.
    fn left(&self, checked: &[PathBuf]) -> BTreeMap<String, Prints> {
        let mut left = self.seen.clone();
        let mut adopted = Prints::new();
        for (_, prints) in self.seen.iter().filter(|(name, _)| !self.files.contains_key(*name)) {
            add(&mut adopted, prints);
        }
        let adopted = Listed(adopted);
        let has_moved = |prints: &Prints| {
            let mut each = prints.iter();
            each.any(|(rule, prints)| prints.iter().any(|print| adopted.contains(rule, print)))
        };
        for (name, prints) in self.files.iter().filter(|(name, _)| !self.seen.contains_key(*name)) {
            let is_orphan = self.orphans.contains(name);
            if !is_orphan || !(self.is_below(name, checked) || has_moved(prints)) {
                left.insert(name.clone(), prints.clone());
            }
        }
        left.retain(|_, prints| !prints.is_empty());
        left
    }

    /// Whether a file of this name would have been found below one of the paths of the run.
    fn is_below(&self, name: &str, checked: &[PathBuf]) -> bool {
        let file = self.root.join(name);
        checked
            .iter()
            .filter_map(|path| path.canonicalize().ok())
            .any(|path| file.starts_with(path))
    }

    fn name(&self, file: &Path) -> String {
        let name = match file.parent().and_then(|parent| parent.canonicalize().ok()) {
            Some(parent) => parent.join(file.file_name().unwrap_or_default()),
            None => file.to_owned(),
        };
        let name = name.strip_prefix(&self.root).unwrap_or(&name);
        let parts = name.components().map(|part| match part {
            Component::RootDir => "".into(),
            part => part.as_os_str().to_string_lossy(),
        });
        parts.collect::<Vec<_>>().join("/")
    }

    /// Writes what the run has seen, whole or not at all.
    pub(super) fn write(self) -> Result<(), WriteError> {
        let mut findings = self.seen;
        findings.retain(|_, prints| !prints.is_empty());
        let document = Document { version: VERSION, findings };
        let mut text = serde_json::to_string_pretty(&document).map_err(io::Error::other)?;
        text.push('\n');
        match self.of_repository {
            Some(file) => Ok(file.write_bytes(text.as_bytes())?),
            None => write_whole(&self.shown, text.as_bytes()),
        }
    }
}

fn add(all: &mut Prints, more: &Prints) {
    for (rule, prints) in more {
        all.entry(rule.clone()).or_default().extend(prints.iter().cloned());
    }
}

fn count(files: &BTreeMap<String, Prints>) -> usize {
    files.values().flat_map(BTreeMap::values).map(BTreeSet::len).sum()
}

/// The directory of the baseline; the working directory where it cannot be told.
fn root(directory: &Path, file: &Path) -> PathBuf {
    let parent = directory.join(file).parent().map(Path::to_owned);
    let parent = parent.unwrap_or_else(|| directory.to_owned());
    parent.canonicalize().unwrap_or(parent)
}

fn read(path: &Path) -> io::Result<String> {
    read_text(path, MOST_BYTES)
}
