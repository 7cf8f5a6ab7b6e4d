//! What this machine has that is not ours: tools, what they say of themselves, and the directories that
//! a repository or a tool names.
//!
//! Here paths are paths. No process that ran in one of our sandboxes can have written to any of them:
//! the reviewed repository is never mounted but for parts of it that nobody may write.

use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use probity_sandbox::{Backend, Network, Spec};
use probity_scope::{HeldDirectory, HeldKind};

use crate::{
    places::Vault,
    runner::{Trouble, capture::Ran, context::RunnerContext},
};

/// Names of the caller's variables that tools of the machine are asked with. Keys are not among them.
const ASKED_WITH: [&str; 22] = [
    "CARGO_HOME",
    "GOENV",
    "GOEXPERIMENT",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "HOME",
    "JAVA_HOME",
    "LANG",
    "LC_ALL",
    "PATH",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "TMPDIR",
    "TZ",
    "USER",
    "UV_PYTHON_INSTALL_DIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// The settings of a user that are read here are short.
const MOST_SETTINGS: u64 = 1 << 20;

/// Asks tools of the machine, before anything of the repository has run: from an empty directory that
/// is never mounted, without keys. Interpreters import what lies beside them, and cargo, go and node
/// obey files that they find upwards from where they start.
pub(crate) struct HostTools<'a> {
    pub(crate) context: &'a RunnerContext,
    empty: Vault,
    limit: Duration,
}

impl<'a> HostTools<'a> {
    pub(crate) fn new(context: &'a RunnerContext) -> io::Result<Self> {
        let empty = context.vault.vault("asked")?;
        Ok(Self { context, empty, limit: context.build_timeout })
    }

    /// What a tool answers, with these variables beside the allowed ones.
    pub(crate) fn ask(
        &self,
        program: &Path,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<Ran, Trouble> {
        let words = [program.as_os_str()].into_iter().chain(arguments.iter().map(AsRef::as_ref));
        let mut spec = Spec::new(words, self.empty.path());
        spec.network = Network::Open;
        spec.limits.wall = Some(self.limit);
        let named = |name: &&str| Some(((*name).into(), self.context.variable(name)?.clone()));
        spec.env = ASKED_WITH.iter().filter_map(named).collect();
        spec.env.extend(variables.iter().map(|(name, value)| ((*name).into(), value.into())));
        self.context.capture(&Backend::None, spec)
    }
}

/// A directory that a repository names by having it, such as its installed packages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RepositoryPlace {
    /// A real directory below the repository.
    At(PathBuf),
    Missing,
    /// It is not a directory, or a link is on the way to it. What is there belongs to somebody else.
    Linked,
}

/// The one way from a name in a repository to something that may be mounted. `repo` is the canonical
/// path of the repository.
pub(crate) fn repository_place(repo: &Path, place: &Path) -> RepositoryPlace {
    let Ok(held) = HeldDirectory::open(repo) else { return RepositoryPlace::Missing };
    let path = repo.join(place);
    match (held.open_below(place), fs::canonicalize(&path)) {
        (Ok(found), Ok(real)) if real == path && found.is_at(&path) => RepositoryPlace::At(path),
        (Ok(_), _) => RepositoryPlace::Linked,
        (Err(_), _) if held.is_blocked(place) => RepositoryPlace::Linked,
        (Err(_), _) => RepositoryPlace::Missing,
    }
}

/// Whether there is a file of the machine's, links followed.
pub(crate) fn is_file(path: &Path) -> bool {
    path.is_file()
}

pub(crate) fn is_directory(path: &Path) -> bool {
    path.is_dir()
}

/// Where a path of the machine's really leads.
pub(crate) fn canonical_path(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// The same where a path that leads nowhere is as good as none.
pub(crate) fn real_path(path: &Path) -> Option<PathBuf> {
    canonical_path(path).ok()
}

/// A directory for what stays, which only its owner may enter. None is made below the repository, where
/// CI jobs like to have their caches: it would bring the directory filled, or a link in its place.
pub(crate) fn private_directory(path: &Path, repo: &Path) -> Option<Vault> {
    use std::os::unix::fs::DirBuilderExt as _;
    if path.ancestors().filter_map(real_path).any(|real| real.starts_with(repo)) {
        return None;
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).ok()?;
    Vault::open(&real_path(path)?).ok()
}

/// Where programs are looked for: nowhere in the repository, whose programs would run as ours.
pub(crate) fn search_path(path: Option<&OsStr>, repo: &Path) -> Vec<PathBuf> {
    let directories = path.into_iter().flat_map(std::env::split_paths);
    let is_inside =
        |directory: &PathBuf| fs::canonicalize(directory).is_ok_and(|real| real.starts_with(repo));
    directories.filter(|directory| directory.is_absolute() && !is_inside(directory)).collect()
}

/// A file of settings of the user's own.
pub(crate) fn settings(path: &Path) -> Option<String> {
    let (parent, name) = (path.parent()?, path.file_name()?);
    HeldDirectory::open(parent).ok()?.read_text(name, MOST_SETTINGS).ok()
}

/// The names in a directory of the machine's.
pub(crate) fn names_in(directory: &Path) -> Vec<String> {
    let entries = HeldDirectory::open(directory).and_then(|held| held.entries(""));
    let names = entries.into_iter().flatten().filter(|entry| entry.kind != HeldKind::Special);
    names.filter_map(|entry| entry.name.into_string().ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink, path::Path};

    use super::{RepositoryPlace, private_directory, repository_place};

    #[test]
    fn what_stays_is_never_below_the_repository() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let repo = root.join("repo");
        fs::create_dir_all(repo.join("own")).unwrap();
        fs::create_dir(root.join("home")).unwrap();
        symlink("../home", repo.join("away")).unwrap();
        symlink("repo/own", root.join("back")).unwrap();
        for (path, expected) in [
            ("home/caches", true),
            ("repo", false),
            ("repo/own/caches", false),
            ("repo/new/caches", false),
            // A link of the repository's, and one of the user's.
            ("repo/away/others", false),
            ("back/caches", false),
        ] {
            let is_there = private_directory(&root.join(path), &repo).is_some();
            assert_eq!(is_there, expected, "{path}");
            assert_eq!(root.join(path).exists(), expected || path == "repo", "{path}");
        }
    }

    #[test]
    fn only_real_directories_below_the_repository_are_places() {
        let place = tempfile::tempdir().unwrap();
        let repo = place.path().canonicalize().unwrap().join("repo");
        fs::create_dir_all(repo.join("app/node_modules/x")).unwrap();
        fs::create_dir_all(place.path().join("home")).unwrap();
        fs::write(repo.join("file"), "").unwrap();
        for (target, link) in
            [("/", "vendor"), ("../home", "up"), ("app", "alias"), ("gone", "dangling")]
        {
            symlink(target, repo.join(link)).unwrap();
        }
        for (name, expected) in [
            ("app/node_modules", RepositoryPlace::At(repo.join("app/node_modules"))),
            ("vendor", RepositoryPlace::Linked),
            ("vendor/etc", RepositoryPlace::Linked),
            ("up", RepositoryPlace::Linked),
            // Also what stays inside is not where it seems to be.
            ("alias/node_modules", RepositoryPlace::Linked),
            ("dangling", RepositoryPlace::Linked),
            ("file", RepositoryPlace::Linked),
            ("missing", RepositoryPlace::Missing),
            ("../home", RepositoryPlace::Missing),
        ] {
            assert_eq!(repository_place(&repo, Path::new(name)), expected, "{name}");
        }
    }
}
