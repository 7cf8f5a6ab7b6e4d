//! The image below the final stage: what it may be replaced by.

use probity_dockerfile::{Base, ImageRef, Step};

use super::{Change, Check, Issue, View};

pub(crate) const MUST_CHANGE_BASE: Check =
    Check { name: "patch/must-change-base", run: must_change_base };
pub(crate) const BASE_FAMILY: Check = Check { name: "base-family", run: base_family };
pub(crate) const NEEDS_SHELL: Check = Check { name: "needs-shell", run: needs_shell };

/// Parts of a tag that name a small variant.
const SMALL: &[&str] = &["slim", "alpine", "minimal"];

/// The name of the image at the bottom of the final stage.
pub(crate) fn base(view: &View<'_>) -> Option<String> {
    let root = view.facts.final_stage()?.root;
    match &view.facts.stages().get(root)?.base {
        Base::Image(name) => Some(name.clone()),
        Base::Scratch => Some("scratch".to_owned()),
        Base::Stage(_) | Base::Unknown => None,
    }
}

/// Whether an image holds neither a shell nor the tools of one.
pub(crate) fn is_bare(image: &str) -> bool {
    image == "scratch" || (is_distroless(image) && !image.contains("debug"))
}

fn must_change_base(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    if base(change.before) != base(change.after) {
        return Vec::new();
    }
    vec![change.issue(check, "the final stage is still based on the same image")]
}

/// Another image is another program; a small variant of the same version is not.
fn base_family(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let (Some(old), Some(new)) = (base(change.before), base(change.after)) else {
        return vec![change.issue(check, "the image below the final stage cannot be told")];
    };
    if old == new || is_distroless(&new) || is_small_sister(&old, &new) {
        return Vec::new();
    }
    let message = format!(
        "`{new}` is neither a small variant of the same version of `{old}` nor a distroless image"
    );
    vec![change.issue(check, &message)]
}

fn is_distroless(image: &str) -> bool {
    image.starts_with("gcr.io/distroless/")
}

fn is_small_sister(old: &str, new: &str) -> bool {
    let (Ok(old), Ok(new)) = (ImageRef::parse(old), ImageRef::parse(new)) else { return false };
    let tag = |image: &ImageRef| image.tag.clone().unwrap_or_default();
    let (old_tag, new_tag) = (tag(&old), tag(&new));
    let version = |tag: &str| {
        let first = tag.split('-').next().unwrap_or_default();
        // Without a version the newest is meant, whatever its variant is called.
        let is_none = first == "latest" || SMALL.iter().any(|small| first.starts_with(small));
        if is_none { String::new() } else { first.to_owned() }
    };
    let is_small = new_tag.split('-').any(|part| SMALL.iter().any(|it| part.starts_with(it)));
    old.name() == new.name() && version(&old_tag) == version(&new_tag) && is_small
}

/// Commands cannot run where there is no shell.
fn needs_shell(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let Some(image) = base(change.after).filter(|image| is_bare(image)) else { return Vec::new() };
    let stages = &change.after.facts.contract().stages;
    let runs = stages
        .last()
        .is_some_and(|stage| stage.steps.iter().any(|step| matches!(step, Step::Run { .. })));
    let shell = change.after.facts.final_runtime().entries().iter().any(|entry| {
        let command = match &entry.entry.value {
            probity_dockerfile::Value::Command(command) => Some(command),
            probity_dockerfile::Value::Healthcheck(check) => check.command.as_ref(),
            _ => None,
        };
        matches!(command, Some(probity_dockerfile::CommandLine::Shell { .. }))
    });
    if !runs && !shell {
        return Vec::new();
    }
    let message = format!("`{image}` has no shell, and the final stage needs one");
    vec![change.issue(check, &message)]
}
