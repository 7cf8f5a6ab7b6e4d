//! Patterns that the shell left for us to expand.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::{DiscoverError, name, walk::Visibility};

/// A pattern such as `svc-*/Dockerfile` or `**/*.Dockerfile`.
#[derive(Debug)]
pub(super) struct Pattern {
    /// The directory to search, which the pattern names without any wildcard.
    pub(super) base: PathBuf,
    /// Hidden entries are met only by a pattern that has a dot where they have it.
    pub(super) visibility: Visibility,
    /// Matches paths relative to `base`.
    matcher: GlobMatcher,
    /// Set for `*` and `**` at the end: they mean a place rather than every file in it.
    only_known_names: bool,
}

impl Pattern {
    /// Nothing when `text` has no wildcard.
    pub(super) fn parse(text: &str, directory: &Path) -> Result<Option<Self>, DiscoverError> {
        let components: Vec<&str> =
            text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let Some(first) = components.iter().position(|part| part.contains(['*', '?', '[', '{']))
        else {
            return Ok(None);
        };
        let (literal, wild) = components.split_at(first);
        let start = if text.starts_with('/') { Path::new("/") } else { directory };
        let glob = GlobBuilder::new(&wild.join("/")).literal_separator(true).build();
        let matcher = glob
            .map_err(|source| DiscoverError::BadPattern { pattern: text.to_owned(), source })?
            .compile_matcher();
        let shows_hidden = wild.iter().any(|part| part.starts_with('.'));
        Ok(Some(Self {
            base: start.join(literal.join("/")).components().collect(),
            visibility: if shows_hidden { Visibility::Hidden } else { Visibility::Plain },
            matcher,
            only_known_names: wild.last().is_some_and(|part| part.chars().all(|c| c == '*')),
        }))
    }

    /// Whether a file is meant: by the pattern itself, or because it is a Dockerfile by its name
    /// below a directory that the pattern matches, which is what a shell's expansion comes to.
    pub(super) fn takes(&self, place: &Path) -> bool {
        let Ok(relative) = place.strip_prefix(&self.base) else {
            return false;
        };
        // `*` matches nothing at all too, and the base may be a file.
        if relative == Path::new("") {
            return false;
        }
        let known = name::counts(place);
        if self.matcher.is_match(relative) && (known || !self.only_known_names) {
            return true;
        }
        known
            && relative
                .ancestors()
                .skip(1)
                .any(|above| above != Path::new("") && self.matcher.is_match(above))
    }
}
