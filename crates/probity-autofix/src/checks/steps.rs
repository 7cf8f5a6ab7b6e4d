//! The steps of the original stay what they are; a conversion moves them and adds next to nothing.

use std::{collections::BTreeSet, ops::Range};

use probity_dockerfile::{Arguments, Instruction, Keyword, Setting, StageReferenceKind, Target};

use super::{Change, Check, Issue, View, additions::is_harmless_run, downloads};

pub(crate) const STEPS_KEPT: Check = Check { name: "steps-kept", run: steps_kept };

/// Instructions that do something, or decide what others do.
const STEPS: &[Keyword] =
    &[Keyword::Run, Keyword::Copy, Keyword::Add, Keyword::Arg, Keyword::Onbuild, Keyword::Shell];

fn steps_kept(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let mut issues: Vec<Issue> = lost(change).into_iter().collect();
    if let Some(text) = issues.pop() {
        issues.push(Issue { rule: check.name.to_owned(), ..text });
    }
    let known: BTreeSet<String> =
        change.before.file.instructions.iter().map(|it| written(change.before, it)).collect();
    for (index, instruction) in change.after.file.instructions.iter().enumerate() {
        let is_known = instruction.keyword == Keyword::From
            || known.contains(&written(change.after, instruction))
            || is_new_tool(change, index);
        if !is_known && !may_be_added(change, index, instruction) {
            let message = "this instruction is not one of the original; steps may move, and results \
                           may be copied to the places where they were, but nothing else may be added";
            issues.push(change.issue(check, message).at(change.after, instruction.span));
        }
    }
    if let Some(instruction) = repeated(change) {
        let message = "this command runs more often in one stage than it did";
        issues.push(change.issue(check, message).at(change.after, instruction.span));
    }
    issues
}

/// Another stage may need the same once more; in its own, a command is not made to be run twice.
fn repeated<'a>(change: &'a Change<'_>) -> Option<&'a Instruction> {
    let runs = |view: &View<'_>, text: &str, range: Range<usize>| {
        let all = view.file.instructions.get(range).unwrap_or_default().iter();
        all.filter(|it| it.keyword == Keyword::Run && written(view, it) == text).count()
    };
    let before = change.before.file.instructions.len();
    let stages = change.after.facts.stages().iter();
    let mut all = stages.flat_map(|stage| stage.instructions.clone().map(move |it| (stage, it)));
    all.find_map(|(stage, index)| {
        let instruction = change.after.file.instructions.get(index)?;
        if instruction.keyword != Keyword::Run {
            return None;
        }
        let text = written(change.after, instruction);
        let now = runs(change.after, &text, stage.instructions.clone());
        (now > 1 && now > runs(change.before, &text, 0..before)).then_some(instruction)
    })
}

/// The first step of the original that the proposal does not have, or not behind the one before.
fn lost(change: &Change<'_>) -> Option<Issue> {
    let Change { before, after, .. } = change;
    let mut rest = after.file.instructions.iter().enumerate();
    for (old_index, old) in before.file.instructions.iter().enumerate() {
        if !STEPS.contains(&old.keyword) {
            continue;
        }
        let text = written(before, old);
        let found = rest.any(|(index, new)| {
            written(after, new) == text
                || (change.limits.tools_change && downloads::is_same(change, old_index, index))
        });
        if !found {
            let message = "this step of the original is changed, gone or out of order";
            return Some(Issue::new("", message, change.file_name).quoting(&text));
        }
    }
    None
}

/// Whether a RUN is one of the original that calls another tool, where that is an objective too.
fn is_new_tool(change: &Change<'_>, index: usize) -> bool {
    let mut olds = 0..change.before.file.instructions.len();
    change.limits.tools_change && olds.any(|old| downloads::is_same(change, old, index))
}

fn may_be_added(change: &Change<'_>, index: usize, instruction: &Instruction) -> bool {
    match instruction.keyword {
        Keyword::Copy => copied(change, index, instruction).is_some(),
        Keyword::Run => is_harmless_run(change, index, instruction),
        Keyword::Healthcheck => change.limits.settings.contains(&Setting::Healthcheck),
        _ => false,
    }
}

/// What a COPY takes from a stage, if it puts everything where it was.
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
    let target = absolute(&destination.text, workdir)?;
    let keeps_place = sources.iter().all(|source| {
        let text = source.text.as_str();
        let is_plain = text.starts_with('/') && !text.contains(['$', '"', '\'', '\\']);
        let parent = text.trim_end_matches('/').rsplit_once('/').map(|(parent, _)| parent);
        let is_same = text.trim_end_matches('/') == target.trim_end_matches('/');
        let is_parent = target.ends_with('/')
            && parent.is_some_and(|parent| parent == target.trim_end_matches('/'));
        is_plain && !text.split('/').any(|part| part == "..") && (is_same || is_parent)
    });
    // Everything of a stage is what the conversion was to leave behind.
    let is_all = sources.iter().any(|source| source.text.trim_matches('/').is_empty());
    let is_fine = is_from_stage && are_flags_known && keeps_place && !is_all && !sources.is_empty();
    is_fine.then(|| sources.iter().map(|source| source.text.as_str()).collect())
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
