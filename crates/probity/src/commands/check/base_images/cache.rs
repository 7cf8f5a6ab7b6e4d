//! Answers of registries on disk, below `$XDG_CACHE_HOME/probity/registry`.
//!
//! Contents are files by their digest, which the client verifies. What a tag names is a small file
//! whose age decides whether it counts. A cache that cannot be used is silent: the registry is asked.

use std::{
    env, fs,
    io::Write as _,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use atomic_write_file::AtomicWriteFile;
use probity_registry::{Cache, Digest};

/// No content that the client keeps is larger.
const MOST_BYTES: u64 = 8 << 20;

#[derive(Debug)]
pub(super) struct DiskCache {
    directory: Option<PathBuf>,
    tag_time: Duration,
}

impl DiskCache {
    pub(super) fn new(tag_time: Duration) -> Self {
        let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
        let cache =
            absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
        Self { directory: cache.map(|cache| cache.join("probity/registry")), tag_time }
    }

    fn content_file(&self, digest: &Digest) -> Option<PathBuf> {
        let name = digest.as_str().replace(':', "-");
        Some(self.directory.as_ref()?.join("content").join(name))
    }

    fn tag_file(&self, name: &str) -> Option<PathBuf> {
        let name = Digest::of(name.as_bytes()).as_str().replace(':', "-");
        Some(self.directory.as_ref()?.join("tags").join(name))
    }
}

impl Cache for DiskCache {
    fn content(&self, digest: &Digest) -> Option<Vec<u8>> {
        let path = self.content_file(digest)?;
        let is_small = fs::metadata(&path).is_ok_and(|found| found.len() <= MOST_BYTES);
        if !is_small {
            return None;
        }
        fs::read(path).ok()
    }

    fn keep_content(&self, digest: &Digest, content: &[u8]) {
        keep(self.content_file(digest).as_deref(), content);
    }

    fn tag(&self, name: &str) -> Option<Digest> {
        let path = self.tag_file(name)?;
        let written = fs::metadata(&path).ok()?.modified().ok()?;
        // A file of the future is of a clock that was wrong.
        let age = SystemTime::now().duration_since(written).ok()?;
        if age >= self.tag_time {
            return None;
        }
        Digest::parse(fs::read_to_string(path).ok()?.trim())
    }

    fn keep_tag(&self, name: &str, digest: &Digest) {
        keep(self.tag_file(name).as_deref(), digest.as_str().as_bytes());
    }
}

fn keep(path: Option<&Path>, content: &[u8]) {
    let Some(path) = path else { return };
    if let Err(error) = write(path, content) {
        tracing::debug!("{}: {error}", path.display());
    }
}

/// Configurations of private images are nobody else's business.
fn write(path: &Path, content: &[u8]) -> std::io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let mut file = AtomicWriteFile::open(path)?;
    file.write_all(content)?;
    file.commit()
}
