//! The comparison that runs nothing of an image: one file a check, each a pure function of two roots.

mod accounts;
mod closure;
mod configuration;
mod embedded;
mod entry;
mod packages;
mod paths;
mod references;
mod reverted;
mod runtimes;
mod shared_data;
mod temporary;

use std::path::Path;

use crate::{Configuration, Difference, Root, Setting};

/// An image that was read.
#[derive(Debug)]
pub struct Image {
    pub configuration: Configuration,
    pub root: Root,
    /// In bytes, as the engine counts them.
    pub size: u64,
    /// The texts of its `RUN` instructions, as its history has them.
    pub steps: Vec<String>,
}

/// Two images, and the one that the original rests on.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'p> {
    pub original: &'p Image,
    pub proposal: &'p Image,
    /// What is in there was not added by the original's own instructions.
    pub base: Option<&'p Image>,
    /// The directory that both were built from.
    pub context: Option<&'p Path>,
    /// Settings that a change may alter because that is its purpose.
    pub allowed: &'p [Setting],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    pub before: u64,
    pub after: u64,
}

/// Everything that differs to the proposal's disadvantage, and what is worth knowing; each once.
pub fn compare(pair: &Pair<'_>) -> Vec<Difference> {
    let checks: [fn(&Pair<'_>) -> Vec<Difference>; 9] = [
        configuration::check,
        entry::check,
        accounts::check,
        runtimes::check,
        shared_data::check,
        packages::check,
        paths::check,
        reverted::check,
        temporary::check,
    ];
    let mut found: Vec<Difference> = Vec::new();
    for difference in checks.iter().flat_map(|check| check(pair)) {
        if !found.contains(&difference) {
            found.push(difference);
        }
    }
    found
}

impl Pair<'_> {
    pub fn sizes(&self) -> Sizes {
        Sizes { before: self.original.size, after: self.proposal.size }
    }

    /// Whether a file that the original's processes open is not in the proposal. Files of the base
    /// are compared by other checks, since a new base has them elsewhere.
    pub(crate) fn misses_opened(&self, path: &str) -> bool {
        let root = &self.original.root;
        if temporary::is_below(path) {
            return !self.proposal.root.has_directory("tmp");
        }
        let Some((path, _)) = root.resolve(path).filter(|(_, entry)| entry.is_file()) else {
            return false;
        };
        let path = path.as_str();
        self.proposal.root.resolve(path).is_none()
            && self.is_own(path)
            && !paths::is_cache(path)
            && !is_plain_manifest(root, path)
            && !paths::was_installed_elsewhere(self, path)
    }

    /// Whether the proposal has a file that the original's base has not.
    fn is_added(&self, path: &str) -> bool {
        self.base.is_none_or(|base| !self.proposal.root.is_same_in(&base.root, path))
    }

    /// Whether an instruction of the original added or changed this path.
    fn is_own(&self, path: &str) -> bool {
        self.base.is_none_or(|base| !self.original.root.is_same_in(&base.root, path))
    }
}

/// Node.js opens the nearest `package.json` of each script, for keys that this one does not have.
fn is_plain_manifest(root: &Root, path: &str) -> bool {
    let is_manifest = path.rsplit('/').next() == Some("package.json");
    let keys = ["\"type\"", "\"imports\"", "\"exports\""];
    is_manifest && root.text(path).is_some_and(|text| !keys.iter().any(|key| text.contains(key)))
}
