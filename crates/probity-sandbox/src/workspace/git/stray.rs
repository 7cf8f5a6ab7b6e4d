//! What a session has left for git on the host to obey, where no mount could forbid it.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::fs::FileType;

use super::{
    super::{
        GuardedEnd,
        held::{HeldTree, Identity},
    },
    clean::is_command,
    config::{self, Entry},
    nested::{self, FoundKind},
    protection::Protection,
    real,
};

/// Something that has to be taken away before git on the host sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    pub path: PathBuf,
    pub kind: StrayKind,
    /// What was looked at, if anything has the name: whatever else takes its place is left alone.
    pub identity: Option<Identity>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StrayKind {
    /// A `.git`, or the repository of a submodule, that was not there before.
    Repository,
    /// The `HEAD` of a directory that has become a repository by it.
    Head,
    /// A rebase that would run commands when it goes on.
    Rebase,
    /// A link that has been replaced, where it led, and which directory it was in.
    Link { target: PathBuf, parent: Option<Identity> },
    /// A file that a command of the configuration would run, where there was none.
    Program,
    /// A configuration with new settings by which git runs programs, what it was before, and which
    /// directory it was in.
    Configuration { before: Vec<u8>, parent: Option<Identity> },
}

impl Protection {
    /// Compares the workspace with what it was, and takes away what leads moved repositories elsewhere.
    pub(in super::super) fn compare(&self, root: &Path) -> GuardedEnd {
        let held = &self.held;
        let mut strays = Vec::new();
        let seen = |path: &Path| held.identity(path).ok();
        let mut add = |path: PathBuf, kind, identity| strays.push(Stray { path, kind, identity });
        for (path, target) in &self.links {
            // Where the directory around it is gone, git finds nothing to follow.
            let is_led_elsewhere = held.read_link(path).ok().as_ref() != Some(target);
            if is_led_elsewhere && path.parent().is_some_and(|parent| held.is_directory(parent)) {
                let (target, parent) = (target.clone(), self.parents.get(path).copied());
                add(path.clone(), StrayKind::Link { target, parent }, seen(path));
            }
        }
        let search = nested::search(held, root, nested::Closed::Open);
        let places: BTreeSet<&PathBuf> = self.directories.iter().collect();
        let mut moved = Vec::new();
        for found in search.found {
            // A link has been looked at, and the file that took its place goes with it.
            if self.links.contains_key(&found.path) {
                continue;
            }
            if self.known.contains(&found.identity) {
                let is_directory = matches!(found.kind, FoundKind::Directory | FoundKind::Bare);
                if is_directory && !places.contains(&found.path) {
                    moved.push(found.path);
                }
                continue;
            }
            match found.kind {
                FoundKind::Bare => {
                    let head = head_of(held, &found.path);
                    let identity = seen(&head);
                    add(head, StrayKind::Head, identity);
                }
                _ => add(found.path, StrayKind::Repository, Some(found.identity)),
            }
        }
        let removed = moved.iter().map(|directory| undirect(held, directory)).sum();
        for directory in self.directories.iter().chain(&moved) {
            for module in nested::modules(held, directory) {
                let is_known =
                    held.identity(&module).is_ok_and(|identity| self.known.contains(&identity));
                // What is below one that is taken away goes with it.
                if !is_known && !strays.iter().any(|stray| module.starts_with(&stray.path)) {
                    let identity = seen(&module);
                    strays.push(Stray { path: module, kind: StrayKind::Repository, identity });
                }
            }
            let rebase = directory.join("rebase-merge");
            if !self.rebasing.contains(&rebase) && runs_commands(held, &rebase) {
                let identity = seen(&rebase);
                strays.push(Stray { path: rebase, kind: StrayKind::Rebase, identity });
            }
        }
        for path in self.programs.files(root).difference(&self.program_files) {
            // Commands may name it through links of the user's. It is taken from where it is, and only
            // out of the workspace.
            let is_reached = path.parent().is_some_and(|parent| held.is_directory(parent));
            let path = if is_reached { path.clone() } else { real(path) };
            let identity = seen(&path);
            strays.push(Stray { path, kind: StrayKind::Program, identity });
        }
        for (path, before) in &self.configurations {
            if is_more_powerful(held, path, before) {
                let (before, parent) = (before.clone(), self.parents.get(path).copied());
                let kind = StrayKind::Configuration { before, parent };
                strays.push(Stray { path: path.clone(), kind, identity: seen(path) });
            }
        }
        let mut notes = self.notes.clone();
        if search.unread {
            let what = "has directories that cannot be read, and may hide repositories";
            notes.push(format!("{} {what}; look at them before you use git", root.display()));
        }
        if !search.is_complete {
            let what = "has too many files to look for new repositories in all of them";
            notes.push(format!("{} {what}", root.display()));
        }
        GuardedEnd { removed, strays, notes, held: Arc::clone(held) }
    }

    /// Where a `commondir` that was not there before would lead git on the host elsewhere.
    pub(in super::super) fn undirected(&self) -> Vec<PathBuf> {
        let has_none = |path: &&PathBuf| self.held.kind(&path.join("commondir")).is_none();
        self.directories.iter().filter(has_none).cloned().collect()
    }

    /// Removes the `commondir` of git directories that had none, as long as they are the same ones.
    /// A directory of that name makes git fail, and nothing else.
    pub(in super::super) fn remove_commondirs(&self, directories: &[PathBuf]) -> usize {
        let is_known = |identity| self.known.contains(&identity);
        let remove = |directory| self.held.remove_from(directory, "commondir", is_known);
        directories.iter().filter(|directory| remove(directory).is_ok()).count()
    }
}

/// Removes each `commondir` of a repository and its submodules, which had none where it came from.
fn undirect(held: &HeldTree, directory: &Path) -> usize {
    let modules = nested::modules(held, directory);
    let all = modules.iter().map(PathBuf::as_path).chain([directory]);
    all.filter(|directory| held.remove_from(directory, "commondir", |_| true).is_ok()).count()
}

/// However it is spelled.
fn head_of(held: &HeldTree, directory: &Path) -> PathBuf {
    let entries = held.entries(directory).unwrap_or_default();
    let mut names = entries.into_iter().map(|entry| entry.name);
    directory.join(names.find(|name| name.eq_ignore_ascii_case("HEAD")).unwrap_or("HEAD".into()))
}

/// Whether a rebase has commands among its next steps.
pub(super) fn runs_commands(held: &HeldTree, rebase: &Path) -> bool {
    let steps = config::held_text(held, &rebase.join("git-rebase-todo")).unwrap_or_default();
    steps.lines().any(is_command)
}

/// Whether a configuration has settings beside those it had by which git may run a program.
fn is_more_powerful(held: &HeldTree, path: &Path, before: &[u8]) -> bool {
    match held.kind(path) {
        None | Some(FileType::Directory) => return false,
        Some(FileType::RegularFile) => {}
        Some(_) => return true,
    }
    let Some(text) = config::held_text(held, path) else { return true };
    if text.as_bytes() == before {
        return false;
    }
    let settings = |text: &str| -> BTreeSet<String> {
        let entries = config::parse(text);
        let powerful = entries.iter().filter(|entry| !entry.is_harmless());
        powerful.map(Entry::written).collect()
    };
    let had = settings(&String::from_utf8_lossy(before));
    !settings(&text).is_subset(&had)
}
