//! Whether a git directory is what it seems: its own files, and nothing that leads elsewhere.
//!
//! git follows every link in its directory. An archive of a hostile repository can bring a link where
//! git then writes, the objects of another repository, or a FIFO at which git waits.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use ignore::WalkBuilder;
use probity_scope::{read_text, unreadable_patterns};

/// What git reads and writes below its directory, as far as history and index go.
const PARTS: &[&str] = &["objects", "refs", "reftable", "packed-refs", "shallow", "logs", "info"];
const OWN: &[&str] = &["HEAD", "index", "logs", "config.worktree"];

/// Names of branches have fewer parts.
const MOST_DEPTH: usize = 100;

/// What is in the git directory of a work tree, or in that of its repository, and leads elsewhere.
pub(super) fn leading_elsewhere(own: &Path, common: &Path) -> Option<PathBuf> {
    let parts = PARTS.iter().map(|part| common.join(part));
    let parts = parts.chain(OWN.iter().map(|part| own.join(part)));
    parts.into_iter().find_map(|part| foreign(&part, 0)).or_else(|| {
        let lists = ["objects/info/alternates", "objects/info/http-alternates"];
        let lists = lists.into_iter().map(|list| common.join(list));
        lists.into_iter().find(|list| list.symlink_metadata().is_ok_and(|found| found.len() > 0))
    })
}

/// A FIFO that git would read in a work tree, and wait at for ever. Trees that have none are looked
/// through once: none is made where nothing but probity works.
pub(super) fn pipe_in(top: &Path) -> Option<PathBuf> {
    static KNOWN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known().contains(top) {
        return None;
    }
    if let Some(pipe) = unreadable_patterns(top) {
        return Some(pipe);
    }
    let found = Arc::new(Mutex::new(None));
    let mut walker = WalkBuilder::new(top);
    walker.standard_filters(false).require_git(false).git_ignore(true).git_exclude(true);
    let refused = Arc::clone(&found);
    walker.filter_entry(move |entry| {
        let pipe = || unreadable_patterns(entry.path());
        let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
        let pipe = if is_directory { pipe() } else { None };
        let is_plain = pipe.is_none();
        if let Some(pipe) = pipe {
            *refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(pipe);
        }
        is_plain && entry.file_name() != ".git"
    });
    let is_read = |name: &OsStr| name == ".gitattributes" || name == ".gitmodules";
    let attributes = walker.build().flatten().find(|entry| {
        is_read(entry.file_name())
            && entry.metadata().is_ok_and(|found| !found.is_file() && !found.is_symlink())
    });
    let patterns = found.lock().unwrap_or_else(PoisonError::into_inner).take();
    let pipe = patterns.or_else(|| attributes.map(ignore::DirEntry::into_path));
    if pipe.is_none() {
        known().insert(top.to_owned());
    }
    pipe
}

/// Whether the git directory that a file `.git` names is that of this work tree: it names the tree in
/// turn, as `git worktree` has it, or it lies in the git directory of a repository around the tree, as
/// submodules have it.
pub(super) fn belongs_to(own: &Path, top: &Path) -> bool {
    let Ok(own) = own.canonicalize() else { return false };
    let named = read_text(&own.join("gitdir"), super::private::LONGEST_LINE).unwrap_or_default();
    let points_back = || {
        let back = own.join(named.trim()).canonicalize().ok()?;
        Some(back == top.join(".git").canonicalize().ok()?)
    };
    if !named.is_empty() {
        return points_back() == Some(true);
    }
    let around = top.ancestors().skip(1).map(|around| around.join(".git"));
    around.into_iter().any(|git| git.canonicalize().is_ok_and(|git| own.starts_with(git)))
}

/// Whether the git directory of a work tree lies in that of its repository, or is it.
pub(super) fn is_around(common: &Path, own: &Path) -> bool {
    match (common.canonicalize(), own.canonicalize()) {
        (Ok(common), Ok(own)) => own.starts_with(common),
        _ => false,
    }
}

fn foreign(path: &Path, depth: usize) -> Option<PathBuf> {
    let found = match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(_) => return Some(path.to_owned()),
        Ok(found) => found,
    };
    if found.is_file() {
        return None;
    }
    if !found.is_dir() || depth > MOST_DEPTH {
        return Some(path.to_owned());
    }
    // git makes two letters of an object's name a directory, and the rest a file.
    let name = path.file_name().unwrap_or_default();
    let is_of_objects = depth == 1 && name.len() == 2 && is_hex(name.as_encoded_bytes());
    if is_of_objects {
        return None;
    }
    let Ok(entries) = fs::read_dir(path) else { return Some(path.to_owned()) };
    entries.flatten().find_map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_file() => None,
        _ => foreign(&entry.path(), depth + 1),
    })
}

fn is_hex(name: &[u8]) -> bool {
    name.iter().all(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

    use super::{belongs_to, is_around, leading_elsewhere};

    fn git(directory: &Path, words: &[&str]) {
        let who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
        let git = Command::new("git").args(who).args(words).current_dir(directory).output();
        assert!(git.unwrap().status.success(), "{words:?}");
    }

    fn repository() -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        git(place.path(), &["init", "-q", "-b", "main", "top"]);
        git(&place.path().join("top"), &["commit", "-q", "--allow-empty", "-m", "one"]);
        place
    }

    #[test]
    fn links_pipes_and_other_repositories_are_found() {
        let usual = repository();
        let own = usual.path().join("top/.git");
        assert_eq!(leading_elsewhere(&own, &own), None);
        for part in [
            "index",
            "HEAD",
            "objects",
            "objects/zz",
            "objects/pack",
            "objects/pack/pack-1.idx",
            "refs",
            "refs/heads",
            "refs/heads/other",
            "packed-refs",
            "logs",
            "logs/refs",
            "info",
            "info/exclude",
        ] {
            for is_link in [true, false] {
                let place = repository();
                let own = place.path().join("top/.git");
                let at = own.join(part);
                if at.is_dir() {
                    fs::rename(&at, place.path().join("elsewhere")).unwrap();
                } else {
                    fs::write(place.path().join("elsewhere"), "x").unwrap();
                    fs::remove_file(&at).ok();
                }
                if is_link {
                    symlink(place.path().join("elsewhere"), &at).unwrap();
                } else {
                    assert!(Command::new("mkfifo").arg(&at).status().unwrap().success());
                }
                assert_eq!(leading_elsewhere(&own, &own), Some(at), "{part}");
            }
        }
        // The first two letters of an object can be a link, too.
        fs::remove_dir_all(own.join("objects/ab")).ok();
        symlink("/tmp", own.join("objects/ab")).unwrap();
        assert_eq!(leading_elsewhere(&own, &own), Some(own.join("objects/ab")));
        fs::remove_file(own.join("objects/ab")).unwrap();
        fs::write(own.join("objects/info/alternates"), "/elsewhere\n").unwrap();
        assert!(leading_elsewhere(&own, &own).is_some());
    }

    #[test]
    fn a_git_directory_belongs_to_the_trees_that_it_knows() {
        let place = repository();
        let top = place.path().join("top");
        git(&top, &["worktree", "add", "-q", "../linked"]);
        let linked = place.path().join("linked");
        let own = top.join(".git/worktrees/linked");
        assert!(belongs_to(&own, &linked));
        // Whoever copies the file has no tree of it.
        fs::create_dir(place.path().join("evil")).unwrap();
        fs::copy(linked.join(".git"), place.path().join("evil/.git")).unwrap();
        assert!(!belongs_to(&own, &place.path().join("evil")));
        assert!(!belongs_to(&top.join(".git"), &place.path().join("evil")));
        assert!(is_around(&top.join(".git"), &own) && is_around(&own, &own));
        assert!(!is_around(&own, &top.join(".git")));
        let module = top.join(".git/modules/sub");
        fs::create_dir_all(&module).unwrap();
        assert!(belongs_to(&module, &top.join("sub")));
        assert!(!belongs_to(&module, &place.path().join("evil")));
    }
}
