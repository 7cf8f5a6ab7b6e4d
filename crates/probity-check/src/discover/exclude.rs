//! Patterns of what is left out.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::DiscoverError;

/// What `--exclude` says. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Excludes {
    globs: Arc<Globs>,
    directory: PathBuf,
}

/// Apart, because `**/build` would match in a full path what lies above the working directory.
#[derive(Debug)]
struct Globs {
    relative: GlobSet,
    absolute: GlobSet,
}

impl Excludes {
    /// A relative pattern holds at every depth, as if `**/` stood before it.
    pub(super) fn new(patterns: &[String], directory: &Path) -> Result<Self, DiscoverError> {
        let (mut relative, mut absolute) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for pattern in patterns {
            let bad = |source| DiscoverError::BadPattern { pattern: pattern.clone(), source };
            let text = at_every_depth(pattern);
            let glob = GlobBuilder::new(&text).literal_separator(true).build().map_err(bad)?;
            let set = if text.starts_with('/') { &mut absolute } else { &mut relative };
            set.add(glob);
        }
        let bad = |source| DiscoverError::BadPattern { pattern: patterns.join(" "), source };
        let (relative, absolute) = (relative.build().map_err(bad)?, absolute.build().map_err(bad)?);
        Ok(Self { globs: Arc::new(Globs { relative, absolute }), directory: directory.to_owned() })
    }

    /// Whether the path itself is matched: as seen from the working directory where it is below
    /// that, else from `base`. What lies above does not count, or `--exclude 'build/**'` would
    /// empty a project that happens to live in `/srv/build/x`.
    pub(super) fn matches(&self, place: &Path, base: &Path) -> bool {
        let seen = place.strip_prefix(&self.directory).or_else(|_| place.strip_prefix(base));
        self.globs.relative.is_match(seen.unwrap_or(place)) || self.globs.absolute.is_match(place)
    }

    /// Whether the path, or a directory between `base` and it, is matched.
    pub(super) fn cover(&self, place: &Path, base: &Path) -> bool {
        place
            .ancestors()
            .take_while(|above| *above != base && above.starts_with(base))
            .any(|above| self.matches(above, base))
    }
}

fn at_every_depth(pattern: &str) -> String {
    let trimmed = pattern.strip_prefix("./").unwrap_or(pattern);
    // `vendor/` means the directory, whose path has no slash behind it.
    let trimmed = trimmed.strip_suffix('/').filter(|rest| !rest.is_empty()).unwrap_or(trimmed);
    if trimmed.starts_with('/') { trimmed.to_owned() } else { format!("**/{trimmed}") }
}
