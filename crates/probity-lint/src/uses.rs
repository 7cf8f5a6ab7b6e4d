//! How builds use a Dockerfile, if a Compose or Bake file says it.

use std::collections::{BTreeMap, BTreeSet};

/// The union of all builds of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildUses {
    /// Arguments that builds pass, each with the names of these builds.
    pub args: BTreeMap<String, BTreeSet<String>>,
    /// Stages that builds ask for, each with the names of these builds.
    pub targets: BTreeMap<String, BTreeSet<String>>,
    /// Names of additional contexts. `FROM` and `COPY --from` may use them like images.
    pub contexts: BTreeSet<String>,
    /// Platforms that builds ask for.
    pub platforms: BTreeSet<String>,
}

impl BuildUses {
    /// `a, b and 3 others`, for messages.
    pub(crate) fn list(builds: &BTreeSet<String>) -> String {
        const SHOWN: usize = 3;
        let shown: Vec<&str> = builds.iter().take(SHOWN).map(String::as_str).collect();
        match builds.len().saturating_sub(SHOWN) {
            0 => shown.join(", "),
            others => format!("{} and {others} more", shown.join(", ")),
        }
    }
}
