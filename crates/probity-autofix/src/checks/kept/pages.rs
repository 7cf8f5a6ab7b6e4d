//! Pages that tools of Node make beside a program: what only their build reads, and what it writes.

use probity_shell::Command;

use super::{
    super::{
        Change, View,
        arrival::stage_of,
        belongings::{final_chain, is_within},
        commands::{Called, NODE_TOOLS},
        image_kind::ImageKind,
        moved::{copied, without_output},
        steps::{absolute, chain_of},
    },
    is_around,
};

/// Whether a source is copied for a build of pages beside another language: next to `package.json`, or
/// as the directory that the build runs in. The proposal has that build elsewhere.
pub(in crate::checks) fn is_of_pages(
    change: &Change<'_>,
    kind: &ImageKind,
    index: usize,
    pair: (&str, &str),
) -> bool {
    let (before, after) = (change.before, change.after);
    let (source, place) = (pair.0.trim_end_matches('/'), pair.1);
    let has = |view: &View<'_>, index: usize, name: &str| {
        let pairs = view.pairs(index).unwrap_or_default();
        pairs.iter().any(|(source, _)| source.trim_end_matches('/').ends_with(name))
    };
    let builds = before.page_builds().iter().filter(|(build, _)| *build >= index);
    let directories: Vec<&str> = builds.map(|(_, directory)| directory.as_str()).collect();
    if directories.is_empty() {
        return false;
    }
    let runs_there = directories.iter().any(|directory| is_within(directory, place));
    let manifest = (0..=index).rev().find(|step| has(before, *step, "package.json"));
    let is_beside = manifest
        .is_some_and(|manifest| (manifest..=index).all(|step| before.pairs(step).is_some()));
    let chain = final_chain(after);
    let mut stages = after.facts.stages().iter();
    let is_apart = stages.any(|stage| {
        let mut builds = after.page_builds().iter().map(|(build, _)| build);
        builds.any(|build| stage.instructions.contains(build) && !chain.contains(build))
            && stage.instructions.clone().any(|step| has(after, step, source))
    });
    kind.language != Some("node")
        && is_apart
        && (is_beside
            || (runs_there
                && (is_around(change, place)
                    || is_taken_out(before, place)
                    || is_written_elsewhere(change, place))))
}

/// Whether a build in a directory writes its result outside of it, which comes along.
fn is_written_elsewhere(change: &Change<'_>, place: &str) -> bool {
    let outputs = page_outputs(change.before);
    outputs.iter().any(|(directory, output)| {
        is_within(directory, place) && !is_within(output, place) && is_around(change, output)
    })
}

/// For each build of pages with an output option: the directory it runs in, and the output.
fn page_outputs(view: &View<'_>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for index in 0..view.file.instructions.len() {
        for part in view.parts(index).unwrap_or_default() {
            let called = part.commands.iter().filter_map(|command| Called::of(index, command));
            let is_build =
                called.into_iter().any(|call| call.is_any(NODE_TOOLS) && call.is_build());
            let output = without_output(part).map(|(_, output)| output);
            let (Some(directory), Some(output), true) = (&part.directory, output, is_build) else {
                continue;
            };
            let place = absolute(&output, Some(directory));
            found.extend(
                place.map(|place| (directory.clone(), place.trim_end_matches('/').to_owned())),
            );
        }
    }
    found
}

/// Whether the final image builds pages itself, or takes the place of their output from a stage that does.
fn comes_from_build(change: &Change<'_>, output: &str) -> bool {
    let after = change.after;
    let chain = final_chain(after);
    after.page_builds().iter().any(|(build, _)| {
        let is_taken = |index: &usize| {
            let instruction = after.file.instructions.get(*index);
            let stage = instruction.and_then(|copy| stage_of(after, copy));
            let places =
                instruction.and_then(|copy| copied(change, *index, copy)).unwrap_or_default();
            let mut places = places.iter().map(|place| place.trim_end_matches('/'));
            stage.is_some_and(|stage| chain_of(after, stage).contains(build))
                && places.any(|place| is_within(output, place) || is_within(place, output))
        };
        chain.contains(build) || chain.iter().any(is_taken)
    })
}

/// Outputs outside of the directory of their build that the final image lacks.
pub(super) fn lost_pages(change: &Change<'_>) -> Vec<String> {
    let is_lost = |(directory, output): &(String, String)| {
        !is_within(output, directory)
            && !comes_from_build(change, output)
            && !is_taken_out(change.before, output)
    };
    // Another build may take the pages into its own result.
    if change.before.all_called().any(|call| call.is_build() && !call.is_any(NODE_TOOLS)) {
        return Vec::new();
    }
    let lost = page_outputs(change.before).into_iter().filter(is_lost);
    lost.map(|(_, output)| format!("`{output}`")).collect()
}

/// Whether a command of the original copies results out of a directory to where run time reads them.
pub(in crate::checks) fn is_taken_out(view: &View<'_>, place: &str) -> bool {
    view.transfers().iter().any(|(from, to)| is_within(from, place) && !is_within(to, place))
}

/// The directories in which a RUN makes pages with tools of Node.
pub(in crate::checks) fn page_builds(view: &View<'_>, index: usize) -> Vec<String> {
    let parts = view.parts(index).unwrap_or_default();
    let is_build = |command: &Command| {
        Called::of(index, command).is_some_and(|call| call.is_any(NODE_TOOLS) && call.is_build())
    };
    let builds = parts.iter().filter(|part| part.commands.iter().any(is_build));
    builds.map(|part| part.directory.clone().unwrap_or_else(|| "/".to_owned())).collect()
}
