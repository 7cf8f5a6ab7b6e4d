//! Globs over paths in a repository.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

/// `*` stays within one directory, `**` does not.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub(super) struct Patterns {
    globs: Vec<String>,
    set: GlobSet,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{glob}` is not a glob: {why}")]
pub struct PatternError {
    pub glob: String,
    pub why: String,
}

impl Patterns {
    pub(super) fn new(globs: Vec<String>) -> Result<Self, PatternError> {
        let mut set = GlobSetBuilder::new();
        for glob in &globs {
            let wrong = |why: String| PatternError { glob: glob.chars().take(200).collect(), why };
            if glob.trim().is_empty() {
                return Err(wrong("it is empty".to_owned()));
            }
            let built = GlobBuilder::new(glob).literal_separator(true).build();
            set.add(built.map_err(|error| wrong(error.kind().to_string()))?);
        }
        let set = set.build().map_err(|error| PatternError {
            glob: globs.join(", ").chars().take(200).collect(),
            why: error.kind().to_string(),
        })?;
        Ok(Self { globs, set })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.globs.is_empty()
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        self.set.is_match(path)
    }

    pub(super) fn globs(&self) -> &[String] {
        &self.globs
    }
}

impl TryFrom<Vec<String>> for Patterns {
    type Error = PatternError;

    fn try_from(globs: Vec<String>) -> Result<Self, PatternError> {
        Self::new(globs)
    }
}

impl From<Patterns> for Vec<String> {
    fn from(patterns: Patterns) -> Self {
        patterns.globs
    }
}
