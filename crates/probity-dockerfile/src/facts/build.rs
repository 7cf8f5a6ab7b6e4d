//! What a build sets from outside the file: arguments and the target.

use std::collections::{BTreeMap, BTreeSet};

use crate::{ImageRef, Stage};

/// The values of one `docker build`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct BuildValues {
    /// Arguments by name. None is a value that only the build knows.
    pub arguments: BTreeMap<String, Option<String>>,
    /// A stage, by its name or its number.
    pub target: Option<String>,
    /// Names of additional contexts. `FROM` and `COPY --from` use them instead of images.
    pub contexts: BTreeSet<String>,
}

/// The names of additional contexts as BuildKit compares them: `alpine`, `alpine:latest` and
/// `docker.io/library/alpine` are one name.
#[derive(Clone, Debug, Default)]
pub(super) struct ContextNames(BTreeSet<String>);

impl ContextNames {
    pub(super) fn of(build: Option<&BuildValues>) -> Self {
        let contexts = build.into_iter().flat_map(|build| &build.contexts);
        Self(contexts.map(|name| without_latest(name)).collect())
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        !self.0.is_empty() && self.0.contains(&without_latest(name))
    }
}

impl BuildValues {
    /// The index of the stage that the build ends with. A target that is not a stage fails the build,
    /// so the last stage is as good as any.
    pub(super) fn last_stage(build: Option<&Self>, stages: &[Stage]) -> Option<usize> {
        let target = build.and_then(|build| build.target.as_deref());
        let target = target.and_then(|target| stage_of(target, stages));
        target.or_else(|| stages.len().checked_sub(1))
    }
}

/// The name as BuildKit compares it.
fn without_latest(name: &str) -> String {
    match ImageRef::parse(name) {
        Ok(image) => {
            let image = image.to_string();
            image.strip_suffix(":latest").map(str::to_owned).unwrap_or(image)
        }
        Err(_) => name.to_owned(),
    }
}

/// The last stage of that name, as BuildKit finds it, or the one with that number.
pub(super) fn stage_of(target: &str, stages: &[Stage]) -> Option<usize> {
    let is_named = |stage: &&Stage| {
        stage.name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(target))
    };
    let named = stages.iter().rev().find(is_named).map(|stage| stage.index);
    named.or_else(|| target.parse().ok().filter(|&index: &usize| index < stages.len()))
}
