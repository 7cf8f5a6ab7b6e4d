//! Whether the names in a patch mean the file it was asked for.

use crate::patch::PatchError;

/// The names that mean one file.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    /// The path as the caller knows it, without a leading `./`.
    path: &'a str,
    basename: &'a str,
}

impl<'a> Names<'a> {
    pub(crate) fn new(path: &'a str) -> Self {
        let path = path.strip_prefix("./").unwrap_or(path);
        let basename = path.rsplit(['/', '\\']).next().unwrap_or(path);
        Self { path, basename }
    }

    /// Refuses a name that means another file, and says so where it points outside.
    pub(crate) fn check(&self, name: &str) -> Result<(), PatchError> {
        if self.matches(name) {
            return Ok(());
        }
        // A hostile name may be as long as the patch.
        let shown: String = name.chars().filter(|c| !c.is_control()).take(200).collect();
        let outside = name.starts_with(['/', '\\'])
            || name.split(['/', '\\']).any(|component| component == "..");
        if outside {
            return Err(PatchError::PathEscapes { name: shown });
        }
        Err(PatchError::FileMismatch { name: shown, expected: self.basename.to_owned() })
    }

    /// Refuses a `diff --git` line whose two names do not both mean the file.
    ///
    /// Quoted names are not looked at: the lines below repeat them, and those are checked.
    pub(crate) fn check_pair(&self, pair: &str) -> Result<(), PatchError> {
        // A name may hold blanks, so any of them may be the one between the two.
        let mut splits = pair.match_indices(' ').map(|(at, _)| pair.split_at(at));
        let is_pair =
            splits.any(|(old, new)| self.matches(old) && self.matches(new.trim_start_matches(' ')));
        if is_pair || pair.contains('"') {
            return Ok(());
        }
        let (old, new) = pair.rsplit_once(' ').unwrap_or((pair, pair));
        self.check(new)?;
        self.check(old)
    }

    /// The path or its last component, as they are or below `a/` or `b/`.
    fn matches(&self, name: &str) -> bool {
        let is_file = |name: &str| {
            let name = name.strip_prefix("./").unwrap_or(name);
            name == self.path || name == self.basename
        };
        is_file(name)
            || ["a/", "b/"].iter().any(|side| name.strip_prefix(side).is_some_and(is_file))
    }
}
