//! What a build sets from outside the file: arguments and the target.

use std::collections::BTreeMap;

use crate::Stage;

/// The values of one `docker build`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct BuildValues {
    /// Arguments by name. None is a value that only the build knows.
    pub arguments: BTreeMap<String, Option<String>>,
    /// A stage, by its name or its number.
    pub target: Option<String>,
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

/// The last stage of that name, as BuildKit finds it, or the one with that number.
fn stage_of(target: &str, stages: &[Stage]) -> Option<usize> {
    let is_named = |stage: &&Stage| {
        stage.name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(target))
    };
    let named = stages.iter().rev().find(is_named).map(|stage| stage.index);
    named.or_else(|| target.parse().ok().filter(|&index: &usize| index < stages.len()))
}
