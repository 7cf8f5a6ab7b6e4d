//! The files of a repository, and copies of them: for the agent and for every test.
//!
//! A copy has what is tracked, even if it is ignored, and what is neither tracked nor ignored. It
//! has no `.git`, where CI keeps its tokens, so that no test can move a branch. Links that lead out
//! of the tree, and what is neither a file nor a link, are left out: a copy must not be a way back
//! to anything.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    os::unix::fs::PermissionsExt as _,
    path::{Component, Path, PathBuf},
};

use ignore::WalkBuilder;
use probity_scope::{HeldDirectory, HeldKind, HeldStat, unreadable_patterns};
use sha2::{Digest as _, Sha256};

use super::git::Git;
use crate::host;

/// More than this is not copied for every claim.
const MOST_FILES: u64 = 200_000;
const MOST_BYTES: u64 = 4 << 30;

#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    #[error("cannot read the directory {}: {source}", path.display())]
    Directory { path: PathBuf, source: io::Error },
    #[error("{} has more than {MOST_FILES} files", .0.display())]
    TooManyFiles(PathBuf),
    #[error("{} is larger than {} GiB", .0.display(), MOST_BYTES >> 30)]
    TooLarge(PathBuf),
    #[error("cannot copy {}: {source}", path.display())]
    Copy { path: PathBuf, source: io::Error },
}

/// What a copy has, relative to its root.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// Parents before their children.
    directories: BTreeSet<PathBuf>,
    /// In the order of their names.
    files: Vec<PathBuf>,
    links: Vec<(PathBuf, PathBuf)>,
    /// Links that lead out of the tree.
    pub(crate) dropped: Vec<PathBuf>,
}

impl Tree {
    /// What a repository has, by git if that works, otherwise by walking. Nothing below `without`
    /// is part of it.
    ///
    /// # Errors
    ///
    /// When the directory cannot be read or is too large to be copied.
    pub fn of(repo: &Path, without: Option<&Path>) -> Result<Self, TreeError> {
        let unreadable = |source| TreeError::Directory { path: repo.to_owned(), source };
        let root = host::canonical_path(repo).map_err(unreadable)?;
        // The working tree may have links where the index has directories: they are not followed.
        let held = HeldDirectory::open(&root).map_err(unreadable)?;
        held.entries("").map_err(unreadable)?;
        let without = without.and_then(host::real_path);
        let without = without.and_then(|path| path.strip_prefix(&root).ok().map(Path::to_owned));
        let without = without.filter(|path| !path.as_os_str().is_empty());
        let git = Git::open(&root).ok();
        let listed = git.and_then(|git| git.files().ok()).unwrap_or_else(|| walk(&root, true));
        let mut tree = Self::default();
        let mut bytes: u64 = 0;
        for path in listed {
            if without.as_ref().is_some_and(|without| path.starts_with(without)) {
                continue;
            }
            // A submodule is listed as its directory.
            if held.is_directory(&path) {
                for inner in walk(&root.join(&path), true) {
                    bytes += tree.add(&held, path.join(inner));
                }
            } else {
                bytes += tree.add(&held, path);
            }
            tree.check(&root, bytes)?;
        }
        tree.files.sort_unstable();
        Ok(tree)
    }

    /// The tree of a directory that is all ours, so that nothing in it is ignored. `named` is what
    /// errors call it.
    pub(crate) fn walked(root: &HeldDirectory, named: &Path) -> Result<Self, TreeError> {
        let mut tree = Self::default();
        let mut bytes = 0;
        let mut pending = vec![PathBuf::new()];
        while let Some(directory) = pending.pop() {
            let unreadable = |source| TreeError::Directory { path: named.join(&directory), source };
            for entry in root.entries(&directory).map_err(unreadable)? {
                let path = directory.join(&entry.name);
                if entry.kind == HeldKind::Directory {
                    pending.push(path);
                } else {
                    bytes += tree.add(root, path);
                }
            }
            tree.check(named, bytes)?;
        }
        tree.files.sort_unstable();
        Ok(tree)
    }

    /// Takes files and links out of the tree.
    pub(crate) fn leave_out(&mut self, is_left_out: fn(&Path) -> bool) {
        self.files.retain(|path| !is_left_out(path));
        self.links.retain(|(path, _)| !is_left_out(path));
    }

    /// The paths that are text, with forward slashes; others cannot be named in JSON. Links that
    /// stay inside are among them.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let links = self.links.iter().map(|(link, _)| link);
        let all = self.files.iter().chain(links);
        let mut names: Vec<String> =
            all.filter_map(|path| path.to_str().map(str::to_owned)).collect();
        names.sort_unstable();
        names
    }

    fn add(&mut self, repo: &HeldDirectory, path: PathBuf) -> u64 {
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        let of_git = path.components().any(|part| part.as_os_str() == ".git");
        if of_git || path.as_os_str().is_empty() || !path.components().all(plain) {
            return 0;
        }
        // What is listed and gone has been deleted and not yet committed.
        let Some(stat) = repo.stat(&path) else { return 0 };
        match stat.kind {
            HeldKind::Link => match repo.read_link(&path) {
                Ok(target) if stays_inside(&path, &target) => {
                    self.parents(&path);
                    self.links.push((path, target));
                }
                _ => self.dropped.push(path),
            },
            HeldKind::File => {
                self.parents(&path);
                self.files.push(path);
                return stat.size;
            }
            HeldKind::Directory | HeldKind::Special => {}
        }
        0
    }

    fn parents(&mut self, path: &Path) {
        let mut parent = path.parent();
        while let Some(directory) = parent.filter(|parent| !parent.as_os_str().is_empty()) {
            if !self.directories.insert(directory.to_owned()) {
                return;
            }
            parent = directory.parent();
        }
    }

    fn check(&self, repo: &Path, bytes: u64) -> Result<(), TreeError> {
        if self.files.len() as u64 > MOST_FILES {
            return Err(TreeError::TooManyFiles(repo.to_owned()));
        }
        if bytes > MOST_BYTES {
            return Err(TreeError::TooLarge(repo.to_owned()));
        }
        Ok(())
    }

    /// Everything in a copy as it is now, the root among it.
    pub(crate) fn stamps(&self, copy: &HeldDirectory) -> BTreeMap<PathBuf, HeldStat> {
        let root = PathBuf::new();
        let links = self.links.iter().map(|(link, _)| link);
        let all = self.files.iter().chain(links).chain(&self.directories).chain([&root]);
        all.filter_map(|path| Some((path.clone(), copy.stat(path)?))).collect()
    }

    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// A hash of everything in it, which is at a root: names, contents, links, and what may be run.
    pub(crate) fn digest(&self, root: &HeldDirectory) -> io::Result<Vec<u8>> {
        let mut digest = Sha256::new();
        let mut add = |part: &[u8]| {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        };
        for path in &self.files {
            let stat = root.stat(path).ok_or(io::ErrorKind::NotFound)?;
            add(path.as_os_str().as_encoded_bytes());
            add(&[u8::from(stat.mode & 0o111 != 0)]);
            add(&root.read(path, MOST_BYTES)?);
        }
        for (link, target) in &self.links {
            add(link.as_os_str().as_encoded_bytes());
            add(target.as_os_str().as_encoded_bytes());
        }
        Ok(digest.finalize().to_vec())
    }

    /// Copies the tree out of a repository that others may be working in, into a directory that is
    /// empty or does not exist yet. Nothing is linked: whoever writes in the copy must not write in
    /// the repository.
    ///
    /// # Errors
    ///
    /// When a file cannot be read or written.
    pub fn take(&self, from: &Path, to: &Path) -> Result<(), TreeError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| TreeError::Copy { path, source }
        };
        let repo = HeldDirectory::open(from).map_err(failed(from))?;
        let (parent, name) = to.parent().zip(to.file_name()).unwrap_or((to, ".".as_ref()));
        let copy = HeldDirectory::open(parent).and_then(|parent| parent.ensure(name));
        self.copy(&repo, &copy.map_err(failed(to))?)
    }

    /// Copies the tree into an empty directory.
    pub(crate) fn copy(&self, from: &HeldDirectory, to: &HeldDirectory) -> Result<(), TreeError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| TreeError::Copy { path, source }
        };
        for directory in &self.directories {
            to.ensure(directory).map_err(failed(directory))?;
        }
        for (link, target) in &self.links {
            to.link(link, target).map_err(failed(link))?;
        }
        for file in &self.files {
            copy_file(from, to, file).map_err(failed(file))?;
        }
        Ok(())
    }
}

/// A file that has gone since it was listed, or has become something else, such as a pipe, is as good
/// as deleted before.
fn copy_file(from: &HeldDirectory, to: &HeldDirectory, path: &Path) -> io::Result<()> {
    match from.kind(path) {
        Some(HeldKind::File) => {}
        _ => return Ok(()),
    }
    to.copy_file(from, path, path)?;
    // Some repositories hold files that nobody may write, which would make the fix inapplicable.
    let copied = to.open_file(path)?;
    let mut permissions = copied.metadata()?.permissions();
    if permissions.readonly() {
        permissions.set_mode(permissions.mode() | 0o200);
        copied.set_permissions(permissions)?;
    }
    Ok(())
}

/// Leading dots may lead up to the root, and nothing after a name may lead up again: through a
/// second link that would be somewhere else than it looks.
fn stays_inside(link: &Path, target: &Path) -> bool {
    let mut depth = link.components().count().saturating_sub(1);
    let mut named = false;
    for part in target.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if !named && depth > 0 => depth -= 1,
            Component::Normal(name) if name != ".git" => named = true,
            _ => return false,
        }
    }
    true
}

fn walk(root: &Path, ignoring: bool) -> Vec<PathBuf> {
    let ignoring = ignoring && unreadable_patterns(root).is_none();
    let mut walker = WalkBuilder::new(root);
    walker.standard_filters(false).require_git(false).follow_links(false);
    walker.git_ignore(ignoring).git_exclude(ignoring);
    // A directory whose patterns cannot be read may be ignored as a whole.
    walker.filter_entry(move |entry| {
        entry.file_name() != ".git" && !(ignoring && unreadable_patterns(entry.path()).is_some())
    });
    let found = walker.build().filter_map(Result::ok);
    found
        .filter(|entry| entry.file_type().is_some_and(|kind| !kind.is_dir()))
        .filter_map(|entry| entry.path().strip_prefix(root).ok().map(Path::to_owned))
        .take(usize::try_from(MOST_FILES).unwrap_or(usize::MAX).saturating_add(1))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::stays_inside;

    #[test]
    fn links_that_could_lead_out_are_known() {
        for (link, target, inside) in [
            ("a", "b", true),
            ("a/b", "../c", true),
            ("a/b", "./c/d", true),
            ("a", "../c", false),
            ("a/b", "../../c", false),
            ("a", "/etc/passwd", false),
            ("m", "a/b/c/l/..", false),
            ("a/b", ".git/config", false),
            ("a/b/c", "../..", true),
        ] {
            assert_eq!(
                stays_inside(Path::new(link), Path::new(target)),
                inside,
                "{link}->{target}"
            );
        }
    }
}
