//! Copies of a tree, each of which serves one run at a time.
//!
//! Every run has a clean copy. To make and remove a thousand files takes longer than most tests, so
//! a copy in which a test has touched nothing serves another run. What we wrote into it ourselves is
//! taken back first. For all else the time of the last change of status has to be what it was when
//! the copy was made, which no program can set back; if anything is new, missing or changed, the
//! copy goes. Only in a sandbox, where nothing that was started outlives its run.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use probity_scope::{HeldDirectory, HeldKind, HeldStat};

use super::{
    stamp::{is_same_entry, is_source},
    tree::{Tree, TreeError},
};
use crate::places::{Leaf, Vault};

/// The name of a copy in its vault.
const REPO: &str = "repo";

/// The copies of one tree.
#[derive(Debug)]
pub(crate) struct Copies {
    pub(crate) tree: Tree,
    /// What is copied, in which nothing changes: no process sees it.
    pub(crate) root: HeldDirectory,
    /// Where the copies are.
    vault: Vault,
    reuse: Reuse,
    free: Mutex<Vec<Copy>>,
    made: AtomicUsize,
    /// Of the tree, once somebody has asked for it.
    digest: OnceLock<Option<Vec<u8>>>,
}

/// Whether a copy may serve more than one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reuse {
    /// If nothing was touched in it.
    IfUntouched,
    Never,
}

/// Everything in it as it was when it was made.
#[derive(Debug)]
struct Copy {
    repo: Leaf,
    /// Where it is.
    vault: Vault,
    stamps: BTreeMap<PathBuf, HeldStat>,
}

/// A copy that is one run's own until this is dropped.
#[derive(Debug)]
pub(crate) struct PooledCopy<'a> {
    /// What we wrote into it.
    written: Mutex<BTreeMap<PathBuf, Option<HeldStat>>>,
    copy: Option<Copy>,
    copies: &'a Copies,
    /// Stands in for a copy that was given back.
    nothing: &'a HeldDirectory,
}

impl Copies {
    /// Of a tree that is at a root, in a vault of their own.
    pub(crate) fn new(tree: Tree, root: HeldDirectory, vault: Vault, reuse: Reuse) -> Self {
        let (free, made) = (Mutex::default(), AtomicUsize::new(0));
        Self { tree, root, vault, reuse, free, made, digest: OnceLock::new() }
    }

    /// A clean copy. Where copies are not used again, it is made in the vault `at`, so that all runs
    /// of one version see the same path.
    pub(crate) fn lend(&self, at: &Vault) -> Result<PooledCopy<'_>, TreeError> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let copy = match free {
            Some(copy) => copy,
            None => self.make(at)?,
        };
        let (written, nothing) = (Mutex::default(), &self.root);
        Ok(PooledCopy { written, copy: Some(copy), copies: self, nothing })
    }

    fn make(&self, at: &Vault) -> Result<Copy, TreeError> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let failed = |source| TreeError::Copy { path: at.path().join(REPO), source };
        let vault = match self.reuse {
            Reuse::IfUntouched => self.vault.vault(&number.to_string()),
            Reuse::Never => at.again(),
        };
        let vault = vault.map_err(failed)?;
        let repo = vault.fresh_leaf(REPO).map_err(failed)?;
        self.tree.copy(&self.root, &repo.held)?;
        let stamps = self.tree.stamps(&repo.held);
        Ok(Copy { repo, vault, stamps })
    }

    /// How many were made so far.
    pub(crate) fn made(&self) -> usize {
        self.made.load(Ordering::Relaxed)
    }

    fn take_back(&self, mut copy: Copy, written: &BTreeSet<PathBuf>) {
        let ours = Ours::of(written, &copy);
        let good = self.reuse == Reuse::IfUntouched
            && copy.is_untouched(&ours).unwrap_or(false)
            && self.restore(&mut copy, &ours).is_ok();
        if good {
            self.free.lock().unwrap_or_else(PoisonError::into_inner).push(copy);
        } else {
            // What is left after all goes with the workshop.
            copy.vault.remove(REPO).ok();
        }
    }

    /// Takes back what we wrote, in a copy in which nobody else did.
    fn restore(&self, copy: &mut Copy, ours: &Ours) -> io::Result<()> {
        let held = &copy.repo.held;
        // What is deep comes last in their order, and directories have to be empty.
        for path in ours.entries.iter().rev() {
            match held.kind(path) {
                Some(HeldKind::Directory) => held.remove_directory(path)?,
                Some(_) => held.remove_file(path)?,
                None => {}
            }
            if copy.stamps.contains_key(path) {
                if !self.root.is_file(path) {
                    return Err(io::Error::other("only files are written anew"));
                }
                held.copy_file(&self.root, path, path)?;
            }
        }
        for path in ours.entries.iter().chain(&ours.parents) {
            if let Some(known) = copy.stamps.get_mut(path) {
                *known = held.stat(path).ok_or(io::ErrorKind::NotFound)?;
            }
        }
        Ok(())
    }
}

impl PooledCopy<'_> {
    /// The files of the copy.
    pub(crate) fn held(&self) -> &HeldDirectory {
        self.copy.as_ref().map_or(self.nothing, |copy| &copy.repo.held)
    }

    /// What is mounted; none once the copy was given back.
    pub(crate) fn leaf(&self) -> io::Result<&Leaf> {
        let gone = || io::Error::other("the copy was given back");
        self.copy.as_ref().map(|copy| &copy.repo).ok_or_else(gone)
    }

    /// A hash of the tree that this is a copy of, without what we wrote into it. None if it cannot be
    /// read.
    pub(crate) fn tree_digest(&self) -> Option<&[u8]> {
        let digest = || self.copies.tree.digest(&self.copies.root).ok();
        self.copies.digest.get_or_init(digest).as_deref()
    }

    /// Writes a file of ours, which is gone when the copy is clean again.
    pub(crate) fn write(&self, path: &str, text: &str) -> io::Result<()> {
        let written = self.held().write(path, text.as_bytes());
        self.note(Path::new(path));
        written
    }

    /// An empty directory, for something to be mounted there.
    pub(crate) fn make_directory(&self, path: &Path) -> io::Result<()> {
        if self.held().kind(path).is_some() {
            return Ok(());
        }
        self.note(path);
        self.held().ensure(path).map(drop)
    }

    /// A link of ours.
    pub(crate) fn link(&self, path: &Path, to: &Path) -> io::Result<()> {
        self.note(path);
        self.held().link(path, to)
    }

    fn note(&self, path: &Path) {
        let now = self.held().stat(path);
        self.written.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), now);
    }

    /// A file of code that is no longer as we left it.
    pub(crate) fn changed_source(&self) -> Option<PathBuf> {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let copy = self.copy.as_ref()?;
        let kept = copy.stamps.iter().filter(|(path, _)| !written.contains_key(*path));
        let kept = kept.map(|(path, known)| (path, Some(*known)));
        let ours = written.iter().map(|(path, known)| (path, *known));
        let mut sources = kept.chain(ours).filter(|(path, _)| is_source(path));
        let changed = sources.find(|(path, known)| copy.repo.held.stat(path) != *known);
        changed.map(|(path, _)| path.clone())
    }
}

impl Drop for PooledCopy<'_> {
    fn drop(&mut self) {
        let Some(copy) = self.copy.take() else { return };
        let written =
            std::mem::take(&mut *self.written.lock().unwrap_or_else(PoisonError::into_inner));
        self.copies.take_back(copy, &written.into_keys().collect());
    }
}

/// What has changed in a copy by our own doing.
struct Ours {
    /// What we wrote, and the directories that we made for it.
    entries: BTreeSet<PathBuf>,
    /// The directories that were there before and have entries of ours.
    parents: BTreeSet<PathBuf>,
}

impl Ours {
    fn of(written: &BTreeSet<PathBuf>, copy: &Copy) -> Self {
        let (mut entries, mut parents) = (BTreeSet::new(), BTreeSet::new());
        for path in written {
            for above in path.ancestors() {
                let is_new = above == path || !copy.stamps.contains_key(above);
                let list = if is_new { &mut entries } else { &mut parents };
                list.insert(above.to_owned());
                if !is_new {
                    break;
                }
            }
        }
        Self { entries, parents }
    }
}

impl Copy {
    fn is_untouched(&self, ours: &Ours) -> io::Result<bool> {
        let mut seen = 0;
        let mut pending = vec![PathBuf::new()];
        while let Some(directory) = pending.pop() {
            let held = self.repo.held.open_below(&directory)?;
            let Some(now) = held.stat("") else { return Ok(false) };
            let same = match self.stamps.get(&directory) {
                // Of which only what it holds can be compared, beside its rights.
                Some(known) if ours.parents.contains(&directory) => is_same_entry(known, &now),
                Some(known) => *known == now,
                None => ours.entries.contains(&directory),
            };
            if !same {
                return Ok(false);
            }
            seen += usize::from(self.stamps.contains_key(&directory));
            for entry in held.entries("")? {
                let path = directory.join(&entry.name);
                if entry.kind == HeldKind::Directory {
                    pending.push(path);
                } else if ours.entries.contains(&path) {
                    if entry.kind != HeldKind::File {
                        return Ok(false);
                    }
                } else if self.stamps.get(&path).copied() == held.stat(&entry.name) {
                    seen += 1;
                } else {
                    return Ok(false);
                }
            }
        }
        let replaced = ours.entries.iter().filter(|path| self.stamps.contains_key(*path)).count();
        Ok(seen + replaced == self.stamps.len())
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{PermissionsExt as _, symlink},
        path::Path,
    };

    use super::{Copies, HeldDirectory, Reuse, Tree, Vault};

    type Change<'a> = &'a dyn Fn(&Path);

    /// Lends a copy, writes a file of ours into it, lets a test do something, and says whether the
    /// next claim gets the same copy, which has to be as the first was in any case.
    fn check(what: &str, test: Change<'_>, again: bool) {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        for (path, text) in [("a/b/c.go", "c"), ("a/d.txt", "d"), ("e.go", "e")] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), text).unwrap();
        }
        symlink("e.go", root.join("l")).unwrap();
        let held = HeldDirectory::open(&root).unwrap();
        let tree = Tree::walked(&held, &root).unwrap();
        let vault = Vault::open(place.path()).unwrap();
        let copies = Copies::new(tree, held, vault.vault("copies").unwrap(), Reuse::IfUntouched);
        let path = |copy: &super::PooledCopy<'_>| copy.leaf().unwrap().own_path().to_owned();
        let lent = copies.lend(&vault).unwrap();
        let first = path(&lent);
        for path in ["a/b/new_test.go", "new/dir/x.go", "a/b/c.go"] {
            lent.write(path, "ours").unwrap();
        }
        // The clock of files ticks a few times in a hundredth of a second.
        std::thread::sleep(std::time::Duration::from_millis(20));
        test(&first);
        drop(lent);
        let lent = copies.lend(&vault).unwrap();
        let second = path(&lent);
        assert_eq!(second == first, again, "{what}");
        assert_eq!(listing(&second), listing(&root), "{what}");
        drop(lent);
        assert_eq!(path(&copies.lend(&vault).unwrap()), second, "{what}");
    }

    fn listing(root: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut pending = vec![root.to_owned()];
        while let Some(path) = pending.pop() {
            let kind = fs::symlink_metadata(&path).unwrap();
            let text = fs::read_to_string(&path).unwrap_or_default();
            let mode = kind.permissions().mode();
            found.push(format!("{} {mode:o} {text}", path.strip_prefix(root).unwrap().display()));
            if kind.is_dir() {
                pending.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
        }
        found.sort();
        found
    }

    #[test]
    fn a_copy_serves_again_only_if_nothing_but_what_is_ours_has_changed() {
        let same = |_: &Path| {};
        check("nothing", &same, true);
        check(
            "ours alone",
            &|copy| fs::write(copy.join("a/b/new_test.go"), "theirs").unwrap(),
            true,
        );
        let changes: [(&str, Change<'_>); 12] = [
            ("a file", &|copy| fs::write(copy.join("a/d.txt"), "D").unwrap()),
            ("put back", &|copy| fs::write(copy.join("e.go"), "e").unwrap()),
            ("gone", &|copy| fs::remove_file(copy.join("e.go")).unwrap()),
            ("new", &|copy| fs::write(copy.join("a/b/x"), "").unwrap()),
            ("new in ours", &|copy| fs::write(copy.join("new/dir/y"), "").unwrap()),
            ("new directory", &|copy| fs::create_dir(copy.join("a/b/y")).unwrap()),
            ("made and removed", &|copy| {
                fs::write(copy.join("a/x"), "").unwrap();
                fs::remove_file(copy.join("a/x")).unwrap();
            }),
            ("rights", &|copy| {
                fs::set_permissions(copy.join("a/d.txt"), fs::Permissions::from_mode(0o777))
                    .unwrap();
            }),
            ("rights of a directory", &|copy| {
                fs::set_permissions(copy.join("a/b"), fs::Permissions::from_mode(0o700)).unwrap();
            }),
            ("a link", &|copy| {
                fs::remove_file(copy.join("l")).unwrap();
                symlink("a", copy.join("l")).unwrap();
            }),
            ("a link for ours", &|copy| {
                fs::remove_file(copy.join("a/b/new_test.go")).unwrap();
                symlink("/dev/null", copy.join("a/b/new_test.go")).unwrap();
            }),
            ("another directory", &|copy| {
                fs::rename(copy.join("a/b"), copy.join("a/z")).unwrap();
                symlink("z", copy.join("a/b")).unwrap();
            }),
        ];
        for (what, change) in changes {
            check(what, change, false);
        }
    }
}
