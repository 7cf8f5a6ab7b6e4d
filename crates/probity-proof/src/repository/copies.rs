//! Copies of a tree, each of which serves one run at a time.
//!
//! Every run has a clean copy. To make and remove a thousand files takes longer than most tests, so
//! a copy in which a test has touched nothing serves another run. What we wrote into it ourselves is
//! taken back first. For all else the time of the last change of status has to be what it was when
//! the copy was made, which no program can set back; if anything is new, missing or changed, the
//! copy goes. Only in a sandbox, where nothing that was started outlives its run.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::{
    confined,
    stamp::{Stamp, is_source, stamp},
    tree::{Tree, TreeError},
};

/// The copies of one tree.
#[derive(Debug)]
pub(crate) struct Copies {
    pub(crate) tree: Tree,
    /// What is copied, in which nothing changes.
    pub(crate) root: PathBuf,
    /// Where the copies are.
    directory: PathBuf,
    reuse: Reuse,
    free: Mutex<Vec<Copy>>,
    made: AtomicUsize,
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
    repo: PathBuf,
    stamps: BTreeMap<PathBuf, Stamp>,
}

/// A copy that is one run's own until this is dropped.
#[derive(Debug)]
pub(crate) struct PooledCopy<'a> {
    pub(crate) repo: PathBuf,
    /// What we wrote into it.
    written: Mutex<BTreeMap<PathBuf, Option<Stamp>>>,
    copy: Option<Copy>,
    copies: &'a Copies,
}

impl Copies {
    /// Of a tree that is at a root, below a directory of their own.
    pub(crate) fn new(tree: Tree, root: PathBuf, directory: PathBuf, reuse: Reuse) -> Self {
        let (free, made) = (Mutex::default(), AtomicUsize::new(0));
        Self { tree, root, directory, reuse, free, made }
    }

    /// A clean copy. Where copies are not used again, it is made at `at`, so that all runs of one
    /// version see the same path; nothing may be there.
    pub(crate) fn lend(&self, at: &Path) -> Result<PooledCopy<'_>, TreeError> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let copy = match free {
            Some(copy) => copy,
            None => {
                let number = self.made.fetch_add(1, Ordering::Relaxed);
                let repo = match self.reuse {
                    Reuse::IfUntouched => self.directory.join(number.to_string()).join("repo"),
                    Reuse::Never => at.join("repo"),
                };
                self.tree.copy(&self.root, &repo)?;
                Copy { stamps: self.tree.stamps(&repo), repo }
            }
        };
        Ok(PooledCopy {
            repo: copy.repo.clone(),
            written: Mutex::default(),
            copy: Some(copy),
            copies: self,
        })
    }

    /// How many were made so far.
    pub(crate) fn made(&self) -> usize {
        self.made.load(Ordering::Relaxed)
    }

    fn take_back(&self, mut copy: Copy, written: &BTreeSet<PathBuf>) {
        let ours = Ours::of(written, &copy);
        let good = self.reuse == Reuse::IfUntouched
            && copy.is_untouched(&ours)
            && self.restore(&mut copy, &ours).is_ok();
        if good {
            self.free.lock().unwrap_or_else(PoisonError::into_inner).push(copy);
        } else if let Some(directory) = copy.repo.parent() {
            match self.reuse {
                Reuse::IfUntouched => remove(directory),
                Reuse::Never => remove(&copy.repo),
            }
        }
    }

    /// Takes back what we wrote, in a copy in which nobody else did.
    fn restore(&self, copy: &mut Copy, ours: &Ours) -> io::Result<()> {
        // What is deep comes last in their order, and directories have to be empty.
        for path in ours.entries.iter().rev() {
            let file = copy.repo.join(path);
            match fs::symlink_metadata(&file) {
                Ok(found) if found.is_dir() => fs::remove_dir(&file)?,
                Ok(_) => fs::remove_file(&file)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            if copy.stamps.contains_key(path) {
                let original = self.root.join(path);
                if !fs::symlink_metadata(&original)?.is_file() {
                    return Err(io::Error::other("only files are written anew"));
                }
                fs::copy(original, &file)?;
            }
        }
        for path in ours.entries.iter().chain(&ours.parents) {
            if let Some(known) = copy.stamps.get_mut(path) {
                *known = stamp(&copy.repo.join(path)).ok_or(io::ErrorKind::NotFound)?;
            }
        }
        Ok(())
    }
}

impl PooledCopy<'_> {
    /// Writes a file of ours, which is gone when the copy is clean again.
    pub(crate) fn write(&self, path: &str, text: &str) -> io::Result<()> {
        let written = confined::write(&self.repo, path, text);
        self.note(Path::new(path));
        written
    }

    /// An empty directory, for something to be mounted there.
    pub(crate) fn make_directory(&self, path: &Path) -> io::Result<()> {
        if self.repo.join(path).symlink_metadata().is_ok() {
            return Ok(());
        }
        self.note(path);
        fs::create_dir_all(self.repo.join(path))
    }

    /// A link of ours.
    pub(crate) fn link(&self, path: &Path, to: &Path) -> io::Result<()> {
        self.note(path);
        std::os::unix::fs::symlink(to, self.repo.join(path))
    }

    fn note(&self, path: &Path) {
        let now = stamp(&self.repo.join(path));
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
        let changed = sources.find(|(path, known)| stamp(&self.repo.join(path)) != *known);
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
    fn is_untouched(&self, ours: &Ours) -> bool {
        let mut seen = 0;
        let mut pending = vec![PathBuf::new()];
        while let Some(directory) = pending.pop() {
            let Some(now) = stamp(&self.repo.join(&directory)) else { return false };
            let same = match self.stamps.get(&directory) {
                // Of which only what it holds can be compared, beside its rights.
                Some(known) if ours.parents.contains(&directory) => known.is_same_entry(&now),
                Some(known) => *known == now,
                None => ours.entries.contains(&directory),
            };
            if !same {
                return false;
            }
            seen += usize::from(self.stamps.contains_key(&directory));
            let Ok(entries) = fs::read_dir(self.repo.join(&directory)) else { return false };
            for entry in entries {
                let Ok(entry) = entry else { return false };
                let Ok(kind) = entry.file_type() else { return false };
                let path = directory.join(entry.file_name());
                if kind.is_dir() {
                    pending.push(path);
                } else if ours.entries.contains(&path) {
                    if !kind.is_file() {
                        return false;
                    }
                } else if self.stamps.get(&path).copied() == stamp(&entry.path()) {
                    seen += 1;
                } else {
                    return false;
                }
            }
        }
        let replaced = ours.entries.iter().filter(|path| self.stamps.contains_key(*path)).count();
        seen + replaced == self.stamps.len()
    }
}

/// Removes what a test has left, even where it took away our right to. What is left after all
/// goes with the workshop.
pub(crate) fn remove(directory: &Path) {
    if fs::remove_dir_all(directory).is_ok() {
        return;
    }
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).ok();
        let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
        pending.extend(
            entries
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                .map(|entry| entry.path()),
        );
    }
    fs::remove_dir_all(directory).ok();
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{PermissionsExt as _, symlink},
        path::Path,
    };

    use super::{Copies, Reuse, Tree};

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
        let tree = Tree::walked(&root).unwrap();
        let copies =
            Copies::new(tree, root.clone(), place.path().join("copies"), Reuse::IfUntouched);
        let lent = copies.lend(place.path()).unwrap();
        let first = lent.repo.clone();
        for path in ["a/b/new_test.go", "new/dir/x.go", "a/b/c.go"] {
            lent.write(path, "ours").unwrap();
        }
        // The clock of files ticks a few times in a hundredth of a second.
        std::thread::sleep(std::time::Duration::from_millis(20));
        test(&first);
        drop(lent);
        let lent = copies.lend(place.path()).unwrap();
        assert_eq!(lent.repo == first, again, "{what}");
        assert_eq!(listing(&lent.repo), listing(&root), "{what}");
        let second = lent.repo.clone();
        drop(lent);
        assert_eq!(copies.lend(place.path()).unwrap().repo, second, "{what}");
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
