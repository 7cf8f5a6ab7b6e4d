//! Certificates of authorities for single registries, from the directories of docker and podman.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
};

use crate::cache;

/// No bundle of one registry is larger.
const MOST_BYTES: u64 = 1 << 20;

const MOST_FILES: usize = 16;

/// The `*.crt` files of these registries, each for its registry alone.
pub(super) fn of(registries: &BTreeSet<&str>) -> BTreeMap<String, Vec<Vec<u8>>> {
    let directories = directories();
    let found = registries.iter().map(|registry| {
        let files = directories.iter().flat_map(|directory| files(&directory.join(registry)));
        let files = files.take(MOST_FILES).filter_map(|path| cache::read(&path, MOST_BYTES));
        ((*registry).to_owned(), files.collect::<Vec<_>>())
    });
    found.filter(|(_, files)| !files.is_empty()).collect()
}

fn directories() -> Vec<PathBuf> {
    let home = env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let own = [".config/containers/certs.d", ".config/docker/certs.d"];
    let own = home.iter().flat_map(|home| own.map(|directory| home.join(directory)));
    let shared = ["/etc/containers/certs.d", "/etc/docker/certs.d"].map(PathBuf::from);
    own.chain(shared).collect()
}

/// In the order of their names. A directory that cannot be read has none.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_certificate = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "crt");
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(is_certificate).collect();
    files.sort();
    files
}
