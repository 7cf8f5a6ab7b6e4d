//! Answers of registries on disk, below `$XDG_CACHE_HOME/probity/registry`.
//!
//! Contents are files by their digest, which the client verifies. What a tag names is a small file
//! whose age decides whether it counts. A cache that cannot be used is silent: the registry is asked.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use probity_registry::{Cache, Digest};
use probity_scope::read_text;

use crate::cache;

/// No content that the client keeps is larger.
const MOST_BYTES: u64 = 8 << 20;

#[derive(Debug)]
pub(super) struct DiskCache {
    directory: Option<PathBuf>,
    tag_time: Duration,
}

impl DiskCache {
    pub(super) fn new(tag_time: Duration) -> Self {
        Self { directory: cache::directory("registry"), tag_time }
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
        cache::read(&self.content_file(digest)?, MOST_BYTES)
    }

    fn keep_content(&self, digest: &Digest, content: &[u8]) {
        keep(self.content_file(digest).as_deref(), content);
    }

    fn tag(&self, name: &str) -> Option<Digest> {
        let path = self.tag_file(name)?;
        if !cache::is_younger(&path, self.tag_time) {
            return None;
        }
        Digest::parse(read_text(&path, MOST_BYTES).ok()?.trim())
    }

    fn keep_tag(&self, name: &str, digest: &Digest) {
        keep(self.tag_file(name).as_deref(), digest.as_str().as_bytes());
    }
}

fn keep(path: Option<&Path>, content: &[u8]) {
    if let Some(path) = path {
        cache::keep(path, content);
    }
}
