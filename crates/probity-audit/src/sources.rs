//! Which files are audited: every `*.ak` below the root, or those that are asked for, in the order of
//! their paths.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use probity_scope::{EntryKind, Ignored, Policy, Quota, Scope, ScopeError};
use sha2::{Digest as _, Sha256};

use crate::NamedDigest;

/// Directories of generated or installed files, which are never sources, and at the end those of
/// copied files. The latter can be sources, but a search skips them too.
const NOT_OWN: &[&str] = &[".git", ".tx3", ".venv", "build", "node_modules", "target", "vendor"];
const GENERATED: &[&str] = NOT_OWN.split_at(NOT_OWN.len() - 1).0;

/// Whether a path ends with the name of a directory whose files are not the project's own.
#[must_use]
pub fn is_not_own(path: &Path) -> bool {
    is_one_of(path, NOT_OWN)
}

fn is_one_of(path: &Path, names: &[&str]) -> bool {
    path.file_name().is_some_and(|name| names.iter().any(|other| name == *other))
}

/// More entries than this is not a project of contracts, but a disk.
const MOST_ENTRIES: usize = 500_000;

/// The longest file in which quotes are looked for.
pub(crate) const MOST_BYTES: u64 = 64 << 20;

#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error("cannot look for sources")]
    Scope(#[from] ScopeError),
    #[error("more than {MOST_ENTRIES} files and directories below the project root")]
    TooMany,
    #[error("cannot read the source {file}")]
    Unreadable { file: String, source: io::Error },
}

/// Which of the files that git ignores are shown: only installed dependencies, if not all of them. A
/// repository's file can name sources, so that it is not enough to name an ignored one.
#[must_use]
pub fn ignored_files(allow_ignored: bool) -> Ignored {
    if allow_ignored { Ignored::Shown } else { Ignored::LeftOut { except: NOT_OWN } }
}

/// The sources below the root, relative to it and sorted.
///
/// Links are followed where they stay below the root, and each file is named once: by its own name
/// where it has one that is not skipped, else by the link. So a cycle of links ends.
pub fn discover(
    root: &Path,
    ignored: Ignored,
    is_source: &dyn Fn(&Path) -> bool,
) -> Result<Vec<String>, SourceError> {
    let scope = below(root, ignored)?;
    let mut found =
        SourceSearch { sources: Vec::new(), seen: BTreeSet::new(), entries: 0, is_source };
    let mut links = vec![PathBuf::new()];
    while let Some(start) = links.pop() {
        found.below(&scope, start, &mut links)?;
    }
    let mut sources = found.sources;
    sources.sort();
    Ok(sources)
}

/// A digest of the names and contents of the sources, however long they are. One that cannot be read
/// is an error: it would otherwise look the same before and after every change.
pub fn digest(root: &Path, sources: &[String]) -> Result<String, SourceError> {
    let scope = whole(root)?;
    let mut hash = Sha256::new();
    for source in sources {
        let content = scope.open_file(Path::new(source)).map_err(io::Error::other).and_then(of);
        let content = content
            .map_err(|error| SourceError::Unreadable { file: source.clone(), source: error })?;
        hash.update((source.len() as u64).to_le_bytes());
        hash.update(source.as_bytes());
        hash.update(content);
    }
    Ok(hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}

/// The SHA-256 of each source; empty for one that cannot be read.
#[must_use]
pub fn digests(root: &Path, sources: &[String]) -> Vec<NamedDigest> {
    let scope = whole(root).ok();
    let digest = |source: &String| {
        let file = scope.as_ref()?.open_file(Path::new(source)).ok()?;
        let content = of(file).ok()?;
        Some(content.as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
    };
    let named = |source: &String| {
        let digest = digest(source).unwrap_or_default();
        NamedDigest { name: source.clone(), digest }
    };
    sources.iter().map(named).collect()
}

fn of(mut file: File) -> io::Result<impl AsRef<[u8]>> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.finalize()),
            read => hash.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}

/// The scope in which we ourselves read; what a model reads has a scope of its own.
pub(crate) fn whole(root: &Path) -> Result<Scope, ScopeError> {
    below(root, Ignored::Shown)
}

fn below(root: &Path, ignored: Ignored) -> Result<Scope, ScopeError> {
    let quota = Quota::UNLIMITED;
    let policy = Policy { allow_sensitive: false, ignored, max_file_bytes: MOST_BYTES, quota };
    Scope::open(root, policy)
}

struct SourceSearch<'a> {
    sources: Vec<String>,
    /// Real paths, so that no link leads to a place twice.
    seen: BTreeSet<PathBuf>,
    entries: usize,
    is_source: &'a dyn Fn(&Path) -> bool,
}

impl SourceSearch<'_> {
    /// Walks one tree without following links, which are put off until all real names are known.
    fn below(
        &mut self,
        scope: &Scope,
        start: PathBuf,
        links: &mut Vec<PathBuf>,
    ) -> Result<(), SourceError> {
        let mut pending = vec![start];
        let mut later = Vec::new();
        while let Some(path) = pending.pop() {
            let Ok((real, metadata)) =
                scope.relative(&path).and_then(|real| Ok((real, scope.metadata(&path)?)))
            else {
                // Gone, unreadable, or a link that leads out of the project.
                continue;
            };
            if metadata.kind == EntryKind::File
                && (self.is_source)(&path)
                && self.seen.insert(real.clone())
            {
                self.sources.push(path.to_string_lossy().into_owned());
            }
            if metadata.kind != EntryKind::Directory
                || is_one_of(&path, GENERATED)
                || !self.seen.insert(real)
            {
                continue;
            }
            let Ok(entries) = scope.list(&path, MOST_ENTRIES) else { continue };
            self.entries = self.entries.saturating_add(entries.len());
            if self.entries > MOST_ENTRIES {
                return Err(SourceError::TooMany);
            }
            for entry in entries {
                let path = path.join(&entry.name);
                match entry.metadata.kind {
                    EntryKind::Directory => pending.push(path),
                    EntryKind::File if (self.is_source)(&path) => pending.push(path),
                    EntryKind::Link => later.push(path),
                    EntryKind::File | EntryKind::Special => {}
                }
            }
        }
        // The stack is emptied from its end, and names are wanted in order.
        later.sort_by(|a, b| b.cmp(a));
        links.extend(later);
        Ok(())
    }
}

/// Whether a file is a contract, by its name.
#[must_use]
pub fn is_contract(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ak"))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    fn project(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "validator spend").unwrap();
        }
        dir
    }

    #[test]
    fn sources_are_found_recursively_and_sorted() {
        let dir = project(&["validators/spend.ak", "lib/a/b.AK", "lib/a.txt", "main.ak", "ak"]);
        assert_eq!(
            discover(dir.path(), ignored_files(false), &is_contract).unwrap(),
            ["lib/a/b.AK", "main.ak", "validators/spend.ak"]
        );
    }

    #[test]
    fn git_target_tx3_and_build_are_skipped_at_any_depth() {
        let dir = project(&[
            "a.ak",
            ".git/a.ak",
            "target/a.ak",
            ".tx3/a.ak",
            "build/a.ak",
            "lib/build/a.ak",
            "lib/x/.tx3/a.ak",
            "builder/b.ak",
        ]);
        assert_eq!(
            discover(dir.path(), ignored_files(false), &is_contract).unwrap(),
            ["a.ak", "builder/b.ak"]
        );
    }

    #[test]
    fn what_git_ignores_is_no_source_unless_it_is_allowed() {
        let dir = project(&["a.ak", "out/b.ak"]);
        fs::create_dir(dir.path().join(".git")).unwrap();
        fs::write(dir.path().join(".gitignore"), "out\n").unwrap();
        let of = |allowed| discover(dir.path(), ignored_files(allowed), &is_contract).unwrap();
        assert_eq!(of(false), ["a.ak"]);
        assert_eq!(of(true), ["a.ak", "out/b.ak"]);
    }

    #[test]
    fn links_are_followed_inside_the_project_and_cycles_end() {
        let dir = project(&["lib/a.ak", "other/deep/b.ak"]);
        let outside = project(&["secret.ak"]);
        symlink("..", dir.path().join("lib/up")).unwrap();
        symlink("itself", dir.path().join("itself")).unwrap();
        symlink("lib/a.ak", dir.path().join("again.ak")).unwrap();
        symlink(outside.path(), dir.path().join("out")).unwrap();
        symlink(outside.path().join("secret.ak"), dir.path().join("out.ak")).unwrap();
        assert_eq!(
            discover(dir.path(), ignored_files(false), &is_contract).unwrap(),
            ["lib/a.ak", "other/deep/b.ak"]
        );
    }

    #[test]
    fn what_only_a_link_leads_to_is_named_by_the_link() {
        let dir = project(&["build/gen/c.ak"]);
        symlink("build/gen", dir.path().join("generated")).unwrap();
        assert_eq!(
            discover(dir.path(), ignored_files(false), &is_contract).unwrap(),
            ["generated/c.ak"]
        );
    }

    #[test]
    fn the_digest_changes_with_names_and_contents() {
        let dir = project(&["a.ak", "b.ak"]);
        let of = |names: &[&str]| {
            digest(dir.path(), &names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
                .map_err(|error| error.to_string())
        };
        let before = of(&["a.ak"]);
        assert_ne!(before, of(&["a.ak", "b.ak"]));
        fs::write(dir.path().join("a.ak"), "changed").unwrap();
        assert_ne!(before, of(&["a.ak"]));
        assert_eq!(of(&["a.ak", "gone.ak"]), Err("cannot read the source gone.ak".to_owned()));
    }

    #[test]
    fn the_digest_sees_changes_of_long_files() {
        let dir = project(&["a.ak"]);
        let filler = "// a long contract\n".repeat(480_000);
        let of = |first: &str| {
            fs::write(dir.path().join("a.ak"), format!("{first}\n{filler}")).unwrap();
            digest(dir.path(), &["a.ak".to_owned()]).unwrap()
        };
        assert_ne!(of("one"), of("two"));
    }
}
