//! The steps of a file with the copy of the sources as a movable mark between them.

use probity_dockerfile::{Instruction, Keyword};

use super::{copies_all, early, installs};
use crate::checks::{Change, View, commands, steps::written};

const STEPS: &[Keyword] = &[
    Keyword::From,
    Keyword::Run,
    Keyword::Copy,
    Keyword::Add,
    Keyword::Arg,
    Keyword::Env,
    Keyword::Workdir,
    Keyword::User,
    Keyword::Shell,
    Keyword::Onbuild,
];

/// One step: an instruction, or a command of a RUN that works by itself.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) index: usize,
    /// As two files can be compared by.
    pub(super) text: String,
    /// Whether a copy of the sources precedes it in its stage.
    pub(super) has_sources: bool,
    /// Whether it is a command of its own, so it may stand in another RUN.
    pub(super) is_command: bool,
}

/// The steps of a file, without the copies of the sources and those that `is_skipped` names.
pub(super) fn of(view: &View<'_>, is_skipped: &dyn Fn(usize) -> bool) -> Vec<Step> {
    let mut steps = Vec::new();
    for stage in view.facts.stages() {
        let mut has_sources = false;
        let from = std::iter::once(stage.instruction);
        for index in from.chain(stage.instructions.clone()) {
            let Some(instruction) = view.file.instructions.get(index) else { continue };
            if copies_all(instruction) {
                has_sources = true;
                continue;
            }
            let is_known = steps.last().is_some_and(|last: &Step| last.index == index);
            if is_known || !STEPS.contains(&instruction.keyword) || is_skipped(index) {
                continue;
            }
            let parts = if instruction.keyword == Keyword::Run {
                commands::segments(view, index)
            } else {
                None
            };
            let is_command = parts.is_some();
            let texts = match parts {
                Some(parts) => parts.iter().map(|part| installs::plain(&part.text)).collect(),
                None => vec![installs::plain(&written(view, instruction))],
            };
            steps.extend(texts.into_iter().map(|text| Step {
                index,
                text,
                has_sources,
                is_command,
            }));
        }
    }
    steps
}

/// The proposal without the mounts that only make installs faster; what is mounted elsewhere is named as the
/// sources have it.
pub(super) fn without_mounts(change: &Change<'_>) -> String {
    let mut text = change.after.text.to_owned();
    let known: Vec<String> = change
        .before
        .file
        .instructions
        .iter()
        .flat_map(|instruction| flags(change.before, instruction))
        .collect();
    // From the last to the first: what is replaced may change its length.
    for (index, instruction) in change.after.file.instructions.iter().enumerate().rev() {
        let Some(mut own) = instruction.span.slice(change.after.text).map(str::to_owned) else {
            continue;
        };
        for flag in instruction.flags_named("mount") {
            let written = flag.span.slice(change.after.text).unwrap_or_default();
            let is_old = known.iter().any(|old| old == written);
            if is_old || !early::is_harmless_mount(change, index, flag) {
                continue;
            }
            own = own.replacen(written, "", 1);
            if let Some((target, source)) = early::elsewhere(change.after, index, flag) {
                own = own.replace(&target, &source);
            }
        }
        text.replace_range(instruction.span.start..instruction.span.end, &own);
    }
    text
}

fn flags(view: &View<'_>, it: &Instruction) -> Vec<String> {
    it.flags.iter().filter_map(|flag| flag.span.slice(view.text)).map(str::to_owned).collect()
}
