//! What runners are made with, and what went less well than it should meanwhile.

use std::path::{Path, PathBuf};

use probity_scope::HeldDirectory;

use crate::{
    Tree, Trouble,
    host::{self, RepositoryPlace},
    runner::{asked::Asked, context::Site},
};

/// What went less well than it should while preparing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrepareNote {
    /// So many links lead out of the repository and were not copied.
    LinksDropped(usize),
    /// The merge base cannot be tried.
    NoBase { commit: String, why: String },
    /// The dependencies of this language could not be fetched or compiled ahead.
    NotWarm { language: &'static str, why: String },
    /// The repository has something else than a directory of its own in this place, so that tests do
    /// not see what is there.
    NotMounted(PathBuf),
    /// These words of a package's test script, or all of it, are not understood. Its tests run with
    /// this runner.
    UnclearScript { package: PathBuf, words: String, runs: &'static str },
}

/// What runners are made with.
pub(crate) struct Preparation<'a> {
    /// The reviewed repository itself.
    pub(crate) repo: &'a Path,
    pub(crate) tree: &'a Tree,
    /// The files of the repository, in which nothing changes.
    pub(crate) files: &'a HeldDirectory,
    /// What tools of the machine answered.
    pub(crate) asked: &'a Asked,
    /// A copy in which no file of an agent is.
    pub(crate) site: &'a Site<'a>,
    pub(crate) progress: &'a (dyn Fn(&str) + Sync),
    pub(crate) notes: &'a mut Vec<PrepareNote>,
}

impl<'a> Preparation<'a> {
    /// The directories of the repository that have a file of this name.
    pub(crate) fn directories_with(&self, name: &str) -> Vec<&'a Path> {
        let tree: &'a Tree = self.tree;
        let files = tree.files().iter().filter(|file| file.ends_with(name));
        files.filter_map(|file| file.parent()).collect()
    }

    /// Where a directory of the repository may be mounted from: a real one, below the repository.
    pub(crate) fn installed(&mut self, place: &Path) -> Option<PathBuf> {
        match host::repository_place(self.repo, place) {
            RepositoryPlace::At(path) => Some(path),
            RepositoryPlace::Missing => None,
            RepositoryPlace::Linked => {
                let note = PrepareNote::NotMounted(place.to_owned());
                if !self.notes.contains(&note) {
                    self.notes.push(note);
                }
                None
            }
        }
    }

    /// Whether the repository tracks something in a directory, so that its copies have it.
    pub(crate) fn is_copied(&self, place: &Path) -> bool {
        self.tree.files().iter().any(|file| file.starts_with(place))
    }

    /// Notes that dependencies could not be fetched or compiled ahead.
    pub(crate) fn check_warm(&mut self, language: &'static str, warm: Result<(), Trouble>) {
        if let Err(why) = warm {
            self.notes.push(PrepareNote::NotWarm { language, why: why.to_string() });
        }
    }
}
