//! Texts that an editor has open: they count instead of the files on disk.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Open texts by absolute path; empty for every command that reads files alone.
#[derive(Clone, Debug, Default)]
pub struct OpenTexts(Arc<HashMap<PathBuf, Arc<str>>>);

impl OpenTexts {
    pub fn new(texts: HashMap<PathBuf, Arc<str>>) -> Self {
        Self(Arc::new(texts))
    }

    pub fn get(&self, path: &Path) -> Option<&str> {
        self.0.get(path).map(AsRef::as_ref)
    }
}
