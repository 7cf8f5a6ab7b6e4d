//! Files below `$XDG_CACHE_HOME/probity`. A cache that cannot be used is silent.

use std::{
    env, fs,
    io::Write as _,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use atomic_write_file::AtomicWriteFile;
use probity_scope::read_file;

/// A directory of the cache, which may not exist yet.
pub(crate) fn directory(name: &str) -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache =
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    cache.map(|cache| cache.join("probity").join(name))
}

/// A file that is not larger than it can be.
pub(crate) fn read(path: &Path, most_bytes: u64) -> Option<Vec<u8>> {
    read_file(path, most_bytes).ok()
}

/// Whether a file was written within this time. One of the future is of a clock that was wrong.
pub(crate) fn is_younger(path: &Path, time: Duration) -> bool {
    let written = fs::metadata(path).and_then(|found| found.modified());
    let age = written.ok().and_then(|written| SystemTime::now().duration_since(written).ok());
    age.is_some_and(|age| age < time)
}

pub(crate) fn keep(path: &Path, content: &[u8]) {
    if let Err(error) = write(path, content) {
        tracing::debug!("{}: {error}", path.display());
    }
}

/// What is kept is nobody else's business.
fn write(path: &Path, content: &[u8]) -> std::io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let mut file = AtomicWriteFile::open(path)?;
    file.write_all(content)?;
    file.commit()
}
