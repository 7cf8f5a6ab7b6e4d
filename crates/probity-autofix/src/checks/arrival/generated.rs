//! Files that steps of a build stage generate beside the sources they read.

use super::{
    super::{
        Change, View,
        belongings::{final_chain, is_within},
        commands::{self, Called},
        steps::absolute,
    },
    taken,
};

/// Whether a command writes its results beside the sources it reads.
fn generates(it: &Called) -> bool {
    let says = |word: &str| it.words.iter().any(|it| it.contains(word));
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
    let copied = taken(after, &chain);
    let moves = commands::all(after).any(|it| it.is_any(&["cp", "mv"]) && !it.words.is_empty());
    for index in (0..after.file.instructions.len()).filter(|index| !chain.contains(index)) {
        let workdir = after.facts.state(index).and_then(|state| state.workdir.path.as_deref());
        let Some(workdir) = workdir.map(|it| it.trim_end_matches('/')) else { continue };
        let called = commands::of_instruction(after, index);
        let mut steps = called.iter().filter(|it| generates(it));
        let Some(step) = steps.find(|it| !is_taken(it, &place_of(it, workdir), &copied)) else {
            continue;
        };
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

/// Where a step works: its directory, or the one of `npm --prefix`.
fn place_of(step: &Called, workdir: &str) -> String {
    let words: Vec<&str> = step.words.iter().map(String::as_str).collect();
    let below = commands::prefix_of(&words).and_then(|it| absolute(&it, Some(workdir)));
    below.unwrap_or_else(|| workdir.to_owned())
}

/// Whether the final stage takes something of what a step makes.
fn is_taken(step: &Called, workdir: &str, copied: &[String]) -> bool {
    let says = |end: &str| step.words.iter().any(|word| word.ends_with(end));
    if copied.iter().any(|source| is_within(workdir, source)) {
        return true;
    }
    // Translations are compiled beside their sources, in any directory of the project.
    if says("compilemessages") {
        return copied.iter().any(|source| source.contains("locale"));
    }
    // Rails writes assets for browsers to one directory.
    let place = if says("assets:precompile") { "/public" } else { "" };
    copied.iter().any(|source| {
        let Some(rest) = source.strip_prefix(workdir) else { return false };
        let is_aside = BESIDE_RESULTS.iter().any(|it| is_within(rest, it));
        is_within(rest, place) && !is_aside
    })
}

/// Whether a compiler runs later in the same stage, in a directory around what was generated.
fn is_packed_later(view: &View<'_>, index: usize, directory: &str) -> bool {
    let Some(stage) = view.facts.stage_of(index) else { return false };
    (index + 1..stage.instructions.end).any(|later| {
        let state = view.facts.state(later);
        let workdir = state.and_then(|state| state.workdir.path.as_deref()).unwrap_or("/");
        let called = commands::of_instruction(view, later);
        let compiles = called.iter().any(|it| it.is_build() && !generates(it));
        compiles && workdir.len() > 1 && is_within(directory, workdir.trim_end_matches('/'))
    })
}
