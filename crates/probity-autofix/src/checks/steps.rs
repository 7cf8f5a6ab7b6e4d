//! The steps of the original stay what they are; a conversion moves them and adds next to nothing.
//!
//! A RUN may be taken apart at `&&`: its parts are compared one by one, so an install of build packages
//! can move without the run-time packages beside it.

use std::collections::BTreeSet;

use probity_dockerfile::{Action, Arguments, Instruction, Keyword, StageReferenceKind, Target};

use super::{
    Change, Check, Issue, View,
    additions::is_harmless,
    commands::{self, Segment, segments},
    search_path::is_on_path,
};

pub(crate) const STEPS_KEPT: Check = Check::new("steps-kept", steps_kept).heuristic();

/// Instructions that do something, or decide what others do.
const STEPS: &[Keyword] =
    &[Keyword::Run, Keyword::Copy, Keyword::Add, Keyword::Arg, Keyword::Onbuild, Keyword::Shell];

/// Directories that are the system, not a result of a build.
const SYSTEM: &[&str] = &[
    "",
    "/bin",
    "/boot",
    "/etc",
    "/home",
    "/lib",
    "/lib64",
    "/root",
    "/sbin",
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/usr/lib64",
    "/usr/sbin",
    "/usr/share",
    "/var",
    "/var/lib",
];

fn steps_kept(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let mut issues = Vec::new();
    if let Some(text) = lost(change) {
        let message = "this step of the original is changed, gone or out of order";
        issues.push(change.issue(check, message).quoting(&text));
    }
    for (index, instruction) in change.after.file.instructions.iter().enumerate() {
        if !is_known(change, index, instruction) {
            let message = "this instruction is not one of the original; steps may move, and results \
                           may be copied to the places where they were, but nothing else may be added";
            issues.push(change.issue(check, message).at(change.after, instruction.span));
        }
    }
    if let Some(instruction) = repeated(change) {
        let message = "this command runs more often in one stage than it did";
        issues.push(change.issue(check, message).at(change.after, instruction.span));
    }
    if issues.is_empty() {
        issues.extend(without_input(check, change));
    }
    issues
}

fn is_known(change: &Change<'_>, index: usize, instruction: &Instruction) -> bool {
    let text = written(change.after, instruction);
    let mut olds = change.before.file.instructions.iter();
    let is_explained = change.limits.explained.after.contains(&index);
    if is_explained
        || instruction.keyword == Keyword::From
        || olds.any(|old| written(change.before, old) == text)
    {
        return true;
    }
    match instruction.keyword {
        Keyword::Copy | Keyword::Add if instruction.flag_value("from").is_none() => {
            let known = pairs_of_file(change.before);
            pairs(change.after, index).is_some_and(|it| it.iter().all(|pair| known.contains(pair)))
        }
        Keyword::Copy => copied(change, index, instruction).is_some(),
        Keyword::Run => are_parts_known(change, index),
        _ => false,
    }
}

fn are_parts_known(change: &Change<'_>, index: usize) -> bool {
    let Some(parts) = segments(change.after, index) else { return false };
    let known: BTreeSet<String> = (0..change.before.file.instructions.len())
        .filter_map(|old| segments(change.before, old))
        .flatten()
        .map(|part| part.text)
        .collect();
    parts.iter().all(|part| known.contains(&part.text) || is_harmless(change, part))
}

/// Another stage may need the same once more; in its own, a command is not made to be run twice.
fn repeated<'a>(change: &'a Change<'_>) -> Option<&'a Instruction> {
    let after = &change.after.file.instructions;
    let runs = |view: &View<'_>, text: &str, range: std::ops::Range<usize>| {
        let all = view.file.instructions.get(range).unwrap_or_default().iter();
        all.filter(|it| it.keyword == Keyword::Run && written(view, it) == text).count()
    };
    let before = change.before.file.instructions.len();
    change.after.facts.stages().iter().find_map(|stage| {
        stage.instructions.clone().find_map(|index| {
            let instruction = after.get(index).filter(|it| it.keyword == Keyword::Run)?;
            let text = written(change.after, instruction);
            let now = runs(change.after, &text, stage.instructions.clone());
            (now > 1 && now > runs(change.before, &text, 0..before)).then_some(instruction)
        })
    })
}

/// The first step of the original that no stage has, or not in its order.
fn lost(change: &Change<'_>) -> Option<String> {
    let Change { before, after, .. } = change;
    for (index, old) in before.file.instructions.iter().enumerate() {
        if STEPS.contains(&old.keyword) && !is_somewhere(change, index, old) {
            return Some(written(before, old));
        }
    }
    let texts: Vec<String> =
        before.file.instructions.iter().map(|it| written(before, it)).collect();
    for stage in after.facts.stages() {
        let mut last = 0;
        for instruction in after.file.instructions.get(stage.instructions.clone())? {
            if !STEPS.contains(&instruction.keyword) {
                continue;
            }
            let text = written(after, instruction);
            // The same text may be there several times.
            let later = texts.iter().skip(last).position(|old| *old == text);
            match later {
                Some(distance) => last += distance,
                None if texts.contains(&text) => return Some(text),
                None => {}
            }
        }
    }
    None
}

fn is_somewhere(change: &Change<'_>, index: usize, old: &Instruction) -> bool {
    let (before, after) = (change.before, change.after);
    let text = written(before, old);
    let mut news = after.file.instructions.iter();
    let is_explained = change.limits.explained.before.contains(&index);
    if is_explained || news.any(|it| written(after, it) == text) {
        return true;
    }
    match old.keyword {
        Keyword::Copy | Keyword::Add => {
            let now = pairs_of_file(after);
            pairs(before, index).is_some_and(|it| it.iter().all(|pair| now.contains(pair)))
        }
        Keyword::Run => {
            let now: BTreeSet<String> = (0..after.file.instructions.len())
                .filter_map(|index| segments(after, index))
                .flatten()
                .map(|part| part.text)
                .collect();
            let parts = segments(before, index);
            parts.is_some_and(|parts| {
                parts.iter().all(|part| now.contains(&part.text) || is_dispensable(change, part))
            })
        }
        _ => false,
    }
}

/// What keeps lists small, and installs whose packages all come by another call.
fn is_dispensable(change: &Change<'_>, part: &Segment<'_>) -> bool {
    let names = commands::installed(change.after);
    let is_call = |call: &&probity_dockerfile::PackageCall| match call.action {
        Action::Update | Action::Clean | Action::Remove => true,
        Action::Install => {
            let own = commands::names(call);
            !own.is_empty()
                && own.len() == call.packages.len()
                && call.files.is_empty()
                && own.iter().all(|name| names.contains(name))
        }
        Action::Upgrade => false,
    };
    if !part.calls.is_empty() {
        return part.calls.iter().all(is_call);
    }
    is_harmless(change, part)
        && part.commands.iter().all(|it| commands::name_of(it).is_some_and(|name| name == "rm"))
}

/// A build step finds in its stage what the original had copied and installed before it.
fn without_input(check: &Check, change: &Change<'_>) -> Option<Issue> {
    let (before, after) = (change.before, change.after);
    let position =
        |text: &str| before.file.instructions.iter().position(|old| written(before, old) == text);
    for stage in after.facts.stages() {
        let chain = chain_of(after, stage.index);
        for index in stage.instructions.clone() {
            let called = commands::of_instruction(after, index);
            let is_builder = called.iter().any(|it| it.is_build());
            let text = after.file.instructions.get(index).map(|it| written(after, it));
            let Some(old) = text.and_then(|text| position(&text)).filter(|_| is_builder) else {
                continue;
            };
            let is_there = |pair: &(String, String)| {
                let mut earlier = chain.iter().filter(|it| **it < index);
                earlier.any(|it| pairs(after, *it).is_some_and(|pairs| pairs.contains(pair)))
            };
            let needed = (0..old).filter_map(|it| pairs(before, it)).flatten();
            if let Some((source, _)) = needed.into_iter().find(|pair| !is_there(pair)) {
                let message = format!(
                    "this step runs in a stage without `{source}`, which was copied before it"
                );
                let issue = change.issue(check, &message);
                let span = after.file.instructions.get(index)?.span;
                return Some(issue.at(after, span));
            }
        }
    }
    None
}

/// The instructions of a stage and of the stages below it.
fn chain_of(view: &View<'_>, stage: usize) -> Vec<usize> {
    let stages = view.facts.stages();
    let mut chain = Vec::new();
    let mut next = Some(stage);
    while let Some(stage) = next.and_then(|index| stages.get(index)) {
        chain.extend(stage.instructions.clone());
        next = match stage.base {
            probity_dockerfile::Base::Stage(below) if below < stage.index => Some(below),
            _ => None,
        };
    }
    chain
}

/// What a COPY or ADD of the build context brings, each source with the place it is put at.
pub(super) fn pairs(view: &View<'_>, index: usize) -> Option<Vec<(String, String)>> {
    let instruction = view.file.instructions.get(index)?;
    let is_transfer = matches!(instruction.keyword, Keyword::Copy | Keyword::Add);
    let has_other_flags = instruction.flags.iter().any(|flag| flag.name.text.as_str() != "link");
    if !is_transfer || has_other_flags || !instruction.heredocs().is_empty() {
        return None;
    }
    let Arguments::Transfer { sources, destination: Some(destination), .. } =
        &instruction.arguments
    else {
        return None;
    };
    let workdir = view.facts.state(index).and_then(|state| state.workdir.path.as_deref());
    let target = absolute(&destination.text, workdir.or(Some("/")))?;
    let target = target.trim_end_matches('/');
    Some(sources.iter().map(|source| (source.text.to_string(), target.to_owned())).collect())
}

fn pairs_of_file(view: &View<'_>) -> BTreeSet<(String, String)> {
    (0..view.file.instructions.len()).filter_map(|index| pairs(view, index)).flatten().collect()
}

/// What a COPY takes from a stage, if it puts everything where it was, or a program on the search path.
pub(super) fn copied<'i>(
    change: &Change<'_>,
    index: usize,
    instruction: &'i Instruction,
) -> Option<Vec<&'i str>> {
    let Arguments::Transfer { sources, destination: Some(destination), .. } =
        &instruction.arguments
    else {
        return None;
    };
    let facts = &change.after.facts;
    let mut references = facts.graph().references().iter();
    let is_from_stage = references.any(|reference| {
        let is_here = instruction.span.start <= reference.span.start
            && reference.span.end <= instruction.span.end;
        is_here
            && reference.kind != StageReferenceKind::From
            && matches!(reference.target, Target::Stage(_) | Target::StageIndex(_))
    });
    let are_flags_known = instruction.flags.iter().all(|flag| match flag.name.text.as_str() {
        "from" | "link" => true,
        name @ ("chmod" | "chown") => {
            let value = flag.value.as_ref().map(|value| &value.text);
            let mut olds = change.before.file.instructions.iter();
            olds.any(|old| old.flag_value(name).map(|old| &old.text) == value)
        }
        _ => false,
    });
    let workdir = facts.state(index).and_then(|state| state.workdir.path.as_deref());
    let target = absolute(&destination.text, workdir.or(Some("/")))?;
    let is_fine = |text: &str| {
        let is_plain = text.starts_with('/') && !text.contains(['$', '"', '\'', '\\']);
        let path = text.trim_end_matches('/');
        let is_system = SYSTEM.contains(&path) || (path == "/usr/local" && has_toolchain(change));
        is_plain
            && !is_system
            && !text.split('/').any(|part| part == "..")
            && (keeps_place(path, &target) || is_moved_program(change, path, &target))
    };
    let are_fine =
        !sources.is_empty() && sources.iter().all(|source| is_fine(source.text.as_str()));
    (is_from_stage && are_flags_known && are_fine)
        .then(|| sources.iter().map(|source| source.text.as_str()).collect())
}

fn keeps_place(path: &str, target: &str) -> bool {
    let parent = path.rsplit_once('/').map(|(parent, _)| parent);
    let is_parent = target.ends_with('/') && parent == Some(target.trim_end_matches('/'));
    path == target.trim_end_matches('/') || is_parent
}

/// Images whose own tools are below `/usr/local`.
fn has_toolchain(change: &Change<'_>) -> bool {
    let kind = super::base_image::base(change.before)
        .and_then(|image| super::image_kind::ImageKind::of(&image));
    kind.is_some_and(|kind| matches!(kind.language, Some("go" | "rust" | "c" | "node")))
}

/// A program that the container starts by its name may be in any directory of the search path.
fn is_moved_program(change: &Change<'_>, path: &str, target: &str) -> bool {
    let name = commands::last_part(path);
    let place = match target.strip_suffix('/') {
        Some(directory) => format!("{directory}/{name}"),
        None => target.to_owned(),
    };
    let is_program = commands::starts(change.before, name)
        && super::belongings::bare_program(change.before).as_deref() == Some(name);
    let directory = place.rsplit_once('/').map_or("", |(directory, _)| directory);
    is_program && place.ends_with(&format!("/{name}")) && is_on_path(change.after, directory)
}

pub(super) fn absolute(path: &str, workdir: Option<&str>) -> Option<String> {
    if path.contains(['$', '"', '\'', '\\']) || path.split('/').any(|part| part == "..") {
        return None;
    }
    if path.starts_with('/') {
        return Some(path.to_owned());
    }
    let workdir = workdir?.trim_end_matches('/');
    let path = path.strip_prefix("./").unwrap_or(path);
    let path = if path == "." { "" } else { path };
    Some(format!("{workdir}/{path}"))
}

/// An instruction as two files can be compared by: joined, and spaces count within quotes alone.
pub(crate) fn written(view: &View<'_>, instruction: &Instruction) -> String {
    let body = instruction.body_text();
    let body = match body.contains(['"', '\'']) {
        true => body.trim().to_owned(),
        false => body.split_whitespace().collect::<Vec<_>>().join(" "),
    };
    let mut text = format!("{} {body}", instruction.keyword);
    for heredoc in instruction.heredocs() {
        text.push('\n');
        text.push_str(&heredoc.content(view.text));
    }
    text
}
