//! What a session has left for git on the host to obey, where no mount could forbid it.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::{
    super::GuardedEnd,
    clean::is_command,
    config::{self, Entry},
    nested::{self, FoundKind},
    protection::Protection,
};

/// Something that has to be taken away before git on the host sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    pub path: PathBuf,
    pub kind: StrayKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StrayKind {
    /// A `.git`, or the repository of a submodule, that was not there before.
    Repository,
    /// The `HEAD` of a directory that has become a repository by it.
    Head,
    /// A rebase that would run commands when it goes on.
    Rebase,
    /// A link that has been replaced, and where it led.
    Link { target: PathBuf },
    /// A file that a command of the configuration would run, where there was none.
    Program,
    /// A configuration with new settings by which git runs programs, and what it was before.
    Configuration { before: Vec<u8> },
}

impl Protection {
    /// Compares the workspace with what it was, and takes away what leads moved repositories elsewhere.
    pub(in super::super) fn compare(&self, root: &Path) -> GuardedEnd {
        let mut strays = Vec::new();
        let mut add = |path: PathBuf, kind| strays.push(Stray { path, kind });
        for (path, target) in &self.links {
            // Where the directory around it is gone, git finds nothing to follow.
            let is_led_elsewhere = fs::read_link(path).ok().as_ref() != Some(target);
            if is_led_elsewhere && path.parent().is_some_and(Path::is_dir) {
                add(path.clone(), StrayKind::Link { target: target.clone() });
            }
        }
        let search = nested::search(root, nested::Closed::Open);
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
                FoundKind::Bare => add(head_of(&found.path), StrayKind::Head),
                _ => add(found.path, StrayKind::Repository),
            }
        }
        let removed = moved.iter().map(|directory| undirect(directory)).sum();
        for directory in self.directories.iter().chain(&moved) {
            for module in nested::modules(directory) {
                let is_known =
                    nested::identity(&module).is_ok_and(|identity| self.known.contains(&identity));
                // What is below one that is taken away goes with it.
                if !is_known && !strays.iter().any(|stray| module.starts_with(&stray.path)) {
                    strays.push(Stray { path: module, kind: StrayKind::Repository });
                }
            }
            let rebase = directory.join("rebase-merge");
            if !self.rebasing.contains(&rebase) && runs_commands(&rebase) {
                strays.push(Stray { path: rebase, kind: StrayKind::Rebase });
            }
        }
        for path in self.programs.files(root).difference(&self.program_files) {
            strays.push(Stray { path: path.clone(), kind: StrayKind::Program });
        }
        for (path, before) in &self.configurations {
            if is_more_powerful(path, before) {
                let kind = StrayKind::Configuration { before: before.clone() };
                strays.push(Stray { path: path.clone(), kind });
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
        GuardedEnd { removed, strays, notes }
    }

    /// Where a `commondir` that was not there before would lead git on the host elsewhere.
    pub(in super::super) fn undirected(&self) -> Vec<PathBuf> {
        let has_none = |path: &&PathBuf| path.join("commondir").symlink_metadata().is_err();
        self.directories.iter().filter(has_none).cloned().collect()
    }
}

/// Removes each `commondir` of a repository and its submodules, which had none where it came from.
fn undirect(directory: &Path) -> usize {
    let modules = nested::modules(directory);
    let all = modules.iter().map(PathBuf::as_path).chain([directory]);
    all.filter(|directory| fs::remove_file(directory.join("commondir")).is_ok()).count()
}

/// However it is spelled.
fn head_of(directory: &Path) -> PathBuf {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name());
    directory.join(names.find(|name| name.eq_ignore_ascii_case("HEAD")).unwrap_or("HEAD".into()))
}

/// Whether a rebase has commands among its next steps.
pub(super) fn runs_commands(rebase: &Path) -> bool {
    let steps = config::text(&rebase.join("git-rebase-todo")).unwrap_or_default();
    steps.lines().any(is_command)
}

/// Whether a configuration has settings beside those it had by which git may run a program.
fn is_more_powerful(path: &Path, before: &[u8]) -> bool {
    let Ok(metadata) = path.symlink_metadata() else { return false };
    let Some(text) = config::text(path) else { return !metadata.is_dir() };
    if metadata.is_file() && text.as_bytes() == before {
        return false;
    }
    let settings = |text: &str| -> BTreeSet<String> {
        let entries = config::parse(text);
        let powerful = entries.iter().filter(|entry| !entry.is_harmless());
        powerful.map(Entry::written).collect()
    };
    let had = settings(&String::from_utf8_lossy(before));
    !metadata.is_file() || !settings(&text).is_subset(&had)
}
