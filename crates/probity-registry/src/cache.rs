//! What the caller remembers of earlier answers.

use crate::Digest;

/// Content by its digest is true for ever; what a tag names is true for a time that the caller sets.
/// A cache that cannot keep or find something is silent about it: the registry is asked again.
pub trait Cache: Send + Sync {
    /// A manifest or configuration. The content is verified, wherever it comes from.
    fn content(&self, digest: &Digest) -> Option<Vec<u8>>;
    fn keep_content(&self, digest: &Digest, content: &[u8]);
    /// What a name with a tag named lately.
    fn tag(&self, name: &str) -> Option<Digest>;
    fn keep_tag(&self, name: &str, digest: &Digest);
}

/// Remembers nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoCache;

impl Cache for NoCache {
    fn content(&self, _: &Digest) -> Option<Vec<u8>> {
        None
    }

    fn keep_content(&self, _: &Digest, _: &[u8]) {}

    fn tag(&self, _: &str) -> Option<Digest> {
        None
    }

    fn keep_tag(&self, _: &str, _: &Digest) {}
}
