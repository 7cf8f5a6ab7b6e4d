//! The file of a baseline: which findings a repository had when it was written.
//!
//! A finding is known by its rule and by the text of its line, so it is still known if the line moves.
//! What a later run no longer finds is removed from the file, and cannot come back unseen.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Component, Path, PathBuf},
};

use probity_scope::are_below;
use serde::{Deserialize, Serialize};

const VERSION: u32 = 1;

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
pub struct Baseline {
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
}

/// What a baseline lists for one file.
#[derive(Debug)]
pub(crate) struct Listed(Prints);

impl Listed {
    pub(crate) fn contains(&self, rule: &str, print: &str) -> bool {
        self.0.get(rule).is_some_and(|prints| prints.contains(print))
    }
}

impl Baseline {
    /// One that is made by this run.
    #[must_use]
    pub fn to_write(directory: &Path, file: &Path) -> Self {
        Self {
            root: root(directory, file),
            files: BTreeMap::new(),
            orphans: BTreeSet::new(),
            of_orphans: Prints::new(),
            seen: BTreeMap::new(),
            is_to_write: true,
            covered: None,
        }
    }

    /// Reads one that the user names, or a repository's file, which is about the files below `covered`.
    ///
    /// # Errors
    ///
    /// Fails if the text is not one of a baseline of this version.
    pub fn parse(
        directory: &Path,
        file: &Path,
        covered: Option<PathBuf>,
        text: &str,
    ) -> Result<Self, BaselineError> {
        let document: Document = serde_json::from_str(text)
            .map_err(|source| BaselineError::NotOne { file: file.to_owned(), source })?;
        if document.version != VERSION {
            let (file, version) = (file.to_owned(), document.version);
            return Err(BaselineError::Version { file, version });
        }
        let mut baseline = Self {
            files: document.findings,
            is_to_write: false,
            covered,
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

    /// Whether the run makes it, and hides nothing for being listed.
    pub(crate) fn is_to_write(&self) -> bool {
        self.is_to_write
    }

    /// What is listed for a file that it is about. One that has a new name is listed under a name that no file has now.
    pub(crate) fn listed(&self, file: &Path) -> Option<Listed> {
        if !self.covers(file) {
            return None;
        }
        let own = self.files.get(&self.name(file));
        Some(Listed(own.unwrap_or(&self.of_orphans).clone()))
    }

    /// A repository's file hides no findings of another directory.
    fn covers(&self, file: &Path) -> bool {
        self.covered.as_ref().is_none_or(|directory| are_below(directory, [file]))
    }

    /// Takes in what a file has now. What was not looked for stays listed.
    pub(crate) fn saw<'f>(
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
    pub(crate) fn shrunk(mut self, checked: &[PathBuf]) -> Option<(usize, Self)> {
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

    /// The file of what the run has seen.
    pub(crate) fn text(self) -> String {
        let mut findings = self.seen;
        findings.retain(|_, prints| !prints.is_empty());
        let document = Document { version: VERSION, findings };
        // Maps of texts are always JSON.
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    }
}

/// Why a text is not a baseline.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    #[error("{} is not a baseline", file.display())]
    NotOne { file: PathBuf, source: serde_json::Error },
    #[error("{} has version {version}, not {VERSION}", file.display())]
    Version { file: PathBuf, version: u32 },
}

impl BaselineError {
    pub(crate) fn way_out(&self) -> String {
        let (Self::NotOne { file, .. } | Self::Version { file, .. }) = self;
        format!("write a new one with --write-baseline {}", file.display())
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
