//! Files that steps of a build stage generate beside the sources they read.

use std::collections::BTreeSet;

use super::{
    super::{
        Change, View,
        belongings::{final_chain, is_within},
        commands::{self, Called},
        steps::{absolute, chain_of},
    },
    stage_of, taken,
};

/// Whether a command writes its results beside the sources it reads.
fn generates(it: &Called) -> bool {
    let says = |word: &str| it.words.iter().any(|argument| argument.contains(word));
    match it.name.as_str() {
        "python" | "python3" => says("manage.py"),
        "rails" | "rake" | "bundle" => says("precompile"),
        "npm" | "yarn" | "pnpm" | "bun" => says("build"),
        "php" => says("artisan") || says("console"),
        _ => false,
    }
}

/// Directories of a project that hold packages, caches and logs, and nothing that was generated.
const BESIDE_RESULTS: &[&str] =
    &["/node_modules", "/vendor", "/tmp", "/log", "/logs", "/.cache", "/storage"];

/// A step that generates files in its directory, of which the final stage takes nothing.
pub(super) fn lost(change: &Change<'_>) -> Option<String> {
    let after = change.after;
    let chain = final_chain(after);
    let moves = after.all_called().any(|call| call.is_any(&["cp", "mv"]) && !call.words.is_empty());
    for index in (0..after.file.instructions.len()).filter(|index| !chain.contains(index)) {
        let workdir = after.facts.state(index).and_then(|state| state.workdir.path.as_deref());
        let Some(workdir) = workdir.map(|path| path.trim_end_matches('/')) else { continue };
        let holding = holding(after, index);
        let bringing: Vec<usize> = chain
            .iter()
            .copied()
            .filter(|other| {
                let instruction = after.file.instructions.get(*other);
                instruction
                    .and_then(|instruction| stage_of(after, instruction))
                    .is_none_or(|stage| holding.contains(&stage))
            })
            .collect();
        let copied = taken(after, &bringing);
        let called = after.called(index);
        let mut steps = called.iter().filter(|call| generates(call));
        let is_here = |step: &Called| {
            let place = place_of(step, workdir);
            is_taken(step, &place, &copied)
                || (is_beside_sources(step) && are_sources_taken(after, index, &place, &copied))
        };
        let Some(step) = steps.find(|step| !is_here(step)) else { continue };
        if !moves && !is_packed_later(after, index, workdir) {
            return Some(format!(
                "the final stage takes nothing of what `{} {}` makes in `{workdir}`",
                step.name,
                step.words.join(" ")
            ));
        }
    }
    None
}

/// The stages that may hold what a step makes: its own, those on it, and those that copy from one of them.
fn holding(view: &View<'_>, index: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for stage in view.facts.stages() {
        let steps = chain_of(view, stage.index);
        let copies = steps.iter().any(|step| {
            let instruction = view.file.instructions.get(*step);
            instruction.is_some_and(|instruction| {
                // A mount may name any stage.
                let is_mount =
                    instruction.flags_named("mount").any(|flag| flag.option("from").is_some());
                is_mount || stage_of(view, instruction).is_some_and(|stage| found.contains(&stage))
            })
        });
        if copies || steps.contains(&index) {
            found.insert(stage.index);
        }
    }
    found
}

/// Whether a step writes into the directories of the sources that it reads: translations are compiled
/// beside their texts.
fn is_beside_sources(step: &Called) -> bool {
    step.words.iter().any(|word| word.ends_with("compilemessages"))
}

/// Whether every directory that the stage had copied from the build context by then is taken from it.
fn are_sources_taken(view: &View<'_>, index: usize, workdir: &str, copied: &[String]) -> bool {
    let Some(stage) = view.facts.stage_of(index) else { return false };
    let chain = chain_of(view, stage.index).into_iter().filter(|step| *step < index);
    let brought = chain.filter_map(|step| view.pairs(step)).flatten();
    let directories: Vec<&String> = brought
        .filter(|(source, place)| {
            let name = commands::last_part(source.trim_end_matches('/'));
            let is_file = name.trim_start_matches('.').contains('.') || name == "Makefile";
            is_within(place, workdir) && !is_file
        })
        .map(|(_, place)| place)
        .collect();
    let is_taken = |place: &&String| copied.iter().any(|source| is_within(place, source));
    !directories.is_empty() && directories.iter().all(is_taken)
}

/// Where a step works: its directory, or the one of `npm --prefix`.
fn place_of(step: &Called, workdir: &str) -> String {
    let words: Vec<&str> = step.words.iter().map(String::as_str).collect();
    let below = commands::prefix_of(&words).and_then(|prefix| absolute(&prefix, Some(workdir)));
    below.unwrap_or_else(|| workdir.to_owned())
}

/// Whether the final stage takes something of what a step makes.
fn is_taken(step: &Called, workdir: &str, copied: &[String]) -> bool {
    let says = |end: &str| step.words.iter().any(|word| word.ends_with(end));
    if copied.iter().any(|source| is_within(workdir, source)) {
        return true;
    }
    if is_beside_sources(step) {
        return copied.iter().any(|source| source.contains("locale"));
    }
    // Rails writes assets for browsers to one directory.
    let place = if says("assets:precompile") { "/public" } else { "" };
    copied.iter().any(|source| {
        let Some(rest) = source.strip_prefix(workdir) else { return false };
        let is_aside = BESIDE_RESULTS.iter().any(|directory| is_within(rest, directory));
        is_within(rest, place) && !is_aside
    })
}

/// Whether a compiler runs later in the same stage, in a directory around what was generated.
fn is_packed_later(view: &View<'_>, index: usize, directory: &str) -> bool {
    let Some(stage) = view.facts.stage_of(index) else { return false };
    (index + 1..stage.instructions.end).any(|later| {
        let state = view.facts.state(later);
        let workdir = state.and_then(|state| state.workdir.path.as_deref()).unwrap_or("/");
        let called = view.called(later);
        let compiles = called.iter().any(|call| call.is_build() && !generates(call));
        compiles && workdir.len() > 1 && is_within(directory, workdir.trim_end_matches('/'))
    })
}
