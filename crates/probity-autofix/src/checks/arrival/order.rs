//! Steps of the final stage that run before what they work on is there, and so do nothing or fail.

use std::ops::Range;

use probity_dockerfile::{Arguments, Keyword};

use super::super::{
    Change, View,
    belongings::{covers, final_chain, is_within},
    commands::{self, Called},
    moved::copied,
    steps::{absolute, expanded},
};

/// Commands that change files which have to be there.
const ALTERING: &[&str] = &["chmod", "chown", "dos2unix", "sed", "setcap", "strip"];

/// Where the roots of other authorities are put, for the bundle that a command makes of them.
const AUTHORITIES: &[&str] =
    &["/usr/local/share/ca-certificates", "/etc/pki/ca-trust/source/anchors"];

const BUNDLES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/certs",
    "/etc/ssl",
    "/etc/pki",
    "/etc/pki/ca-trust",
];

/// A step that changes a file which only a later COPY brings.
pub(super) fn too_early(change: &Change<'_>) -> Option<String> {
    let after = change.after;
    let stage = after.facts.final_stage()?;
    for index in stage.instructions.clone() {
        let workdir = after.facts.state(index).and_then(|state| state.workdir.path.as_deref());
        let called = after.called(index);
        for (place, it) in called.iter().enumerate().filter(|(_, call)| call.is_any(ALTERING)) {
            let earlier = called.get(..place).unwrap_or_default();
            let later = index + 1..stage.instructions.end;
            let lost = altered(it, workdir).into_iter().find(|path| {
                let is_brought = later.clone().any(|step| brings(after, step, path));
                is_brought && !is_there(after, index, earlier, path)
            });
            if let Some(path) = lost {
                return Some(format!("`{}` runs before a COPY brings `{path}`", it.name));
            }
            if let Some(path) = given(it, workdir)
                && later.clone().any(|step| is_of_root(after, step, &path))
                && !is_given_later(after, later, &path)
            {
                return Some(format!(
                    "`chown` of `{path}` runs before a COPY brings files of root to it"
                ));
            }
        }
    }
    None
}

/// A step that calls a program which only a later COPY brings.
pub(super) fn tools_too_late(change: &Change<'_>) -> Option<String> {
    let after = change.after;
    for stage in after.facts.stages() {
        for index in stage.instructions.clone() {
            let Some(instruction) = after.file.instructions.get(index) else { continue };
            let Arguments::Transfer { sources, .. } = &instruction.arguments else { continue };
            let names = sources.iter().map(|source| commands::last_part(&source.text));
            let names = names.filter(|name| !name.is_empty() && !name.contains('.'));
            let is_tool = instruction.flag_value("from").is_some()
                && sources.iter().all(|source| source.text.contains("/bin/"));
            if !is_tool {
                continue;
            }
            for name in names {
                let mut earlier = stage.instructions.start..index;
                let calls = |index: usize| after.called(index).iter().any(|call| call.name == name);
                let was_earlier = (0..change.before.file.instructions.len())
                    .any(|index| change.before.called(index).iter().any(|call| call.name == name));
                if was_earlier && earlier.any(calls) {
                    return Some(format!("a step calls `{name}` before a COPY brings it"));
                }
            }
        }
    }
    None
}

/// A step that root ran in the original, or an install of packages, and that now comes after USER.
pub(super) fn as_user(change: &Change<'_>) -> Option<String> {
    let (before, after) = (change.before, change.after);
    let is_run = |view: &View<'_>, index: usize| {
        view.file
            .instructions
            .get(index)
            .is_some_and(|instruction| instruction.keyword == Keyword::Run)
    };
    let texts = |wanted: bool| -> Vec<&str> {
        let all =
            (0..before.file.instructions.len()).filter(|index| before.is_root_at(*index) == wanted);
        all.filter(|index| is_run(before, *index))
            .filter_map(|index| before.parts(index))
            .flatten()
            .map(|part| part.text.as_str())
            .collect()
    };
    let (of_root, of_user) = (texts(true), texts(false));
    let late = final_chain(after).into_iter().filter(|index| is_run(after, *index));
    let mut late = late.filter(|index| !after.is_root_at(*index));
    late.find_map(|index| {
        let parts = after.parts(index).unwrap_or_default();
        let lost = parts.iter().find(|part| {
            let is_install =
                part.calls.iter().any(|call| !commands::is_language_manager(call.manager));
            let text = part.text.as_str();
            (of_root.contains(&text) || is_install) && !of_user.contains(&text)
        })?;
        Some(format!("`{}` needs root and comes after USER", lost.text))
    })
}

/// The files that a command changes, as far as words are paths for certain.
fn altered(it: &Called, workdir: Option<&str>) -> Vec<String> {
    let is_plain = |word: &&String| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte))
    };
    // Owner, mode or capability come first, and then only paths.
    let skipped = if it.is_any(&["chmod", "chown", "setcap"]) { 1 } else { 0 };
    let words = it.words.iter().filter(|word| !word.starts_with('-')).skip(skipped);
    let paths = words
        .filter(is_plain)
        .filter(|word| skipped == 1 || word.starts_with('/') || word.starts_with("./"));
    let paths = paths.filter_map(|word| absolute(word, workdir));
    paths.map(|path| path.trim_end_matches('/').to_owned()).collect()
}

/// The directory that `chown -R` gives away with all that is in it.
fn given(it: &Called, workdir: Option<&str>) -> Option<String> {
    let is_tree = it.name == "chown" && it.words.iter().any(|word| word.starts_with("-R"));
    let mut plain = it.words.iter().filter(|word| !word.starts_with('-')).skip(1);
    match (is_tree, plain.next(), plain.next()) {
        (true, Some(path), None) => {
            absolute(path, workdir).map(|path| path.trim_end_matches('/').to_owned())
        }
        _ => None,
    }
}

fn brings(view: &View<'_>, index: usize, path: &str) -> bool {
    let instruction = view.file.instructions.get(index);
    instruction.is_some_and(|instruction| {
        matches!(instruction.keyword, Keyword::Copy | Keyword::Add)
            && covers(view, index, instruction, path)
    })
}

/// Whether a COPY puts files below a directory and gives them to nobody.
fn is_of_root(view: &View<'_>, index: usize, directory: &str) -> bool {
    let Some(instruction) = view.file.instructions.get(index) else { return false };
    instruction.flag_value("chown").is_none()
        && target(view, index).is_some_and(|target| is_within(&target, directory))
}

fn is_given_later(view: &View<'_>, mut later: Range<usize>, path: &str) -> bool {
    later.any(|index| {
        let workdir = view.facts.state(index).and_then(|state| state.workdir.path.as_deref());
        let called = view.called(index);
        called.iter().any(|call| given(call, workdir).is_some_and(|own| is_within(path, &own)))
    })
}

/// Whether an earlier instruction, or an earlier command of the same one, may have made a path.
fn is_there(view: &View<'_>, index: usize, earlier: &[Called], path: &str) -> bool {
    let names = |call: &Called, workdir: Option<&str>| {
        let mut places = call.words.iter().filter_map(|word| absolute(word, workdir));
        places.any(|place| is_within(place.trim_end_matches('/'), path))
    };
    let chain = final_chain(view);
    let here = view.facts.state(index).and_then(|state| state.workdir.path.as_deref());
    earlier.iter().any(|call| names(call, here))
        || chain.into_iter().filter(|step| *step < index).any(|step| {
            let workdir = view.facts.state(step).and_then(|state| state.workdir.path.as_deref());
            let makes = view.called(step).iter().any(|call| names(call, workdir));
            makes
                || brings(view, step, path)
                || workdir.is_some_and(|workdir| is_within(workdir, path))
        })
}

/// The place that a COPY or ADD puts things at.
fn target(view: &View<'_>, index: usize) -> Option<String> {
    let instruction = view.file.instructions.get(index)?;
    let Arguments::Transfer { destination: Some(place), .. } = &instruction.arguments else {
        return None;
    };
    let workdir = view.facts.state(index).and_then(|state| state.workdir.path.as_deref());
    let target = absolute(&expanded(view, index, &place.text), workdir.or(Some("/")))?;
    Some(target.trim_end_matches('/').to_owned())
}

/// Roots of authorities count once a command has put them into the bundle that programs read.
pub(super) fn authorities(change: &Change<'_>) -> Option<String> {
    let (before, after) = (change.before, change.after);
    let is_root = |view: &View<'_>, index: usize| {
        let place = target(view, index);
        place.is_some_and(|place| AUTHORITIES.iter().any(|directory| is_within(&place, directory)))
    };
    let updates = |view: &View<'_>, index: usize| {
        let called = view.called(index);
        called.iter().any(|call| call.is_any(&["update-ca-certificates", "update-ca-trust"]))
    };
    let added = (0..before.file.instructions.len()).find(|index| is_root(before, *index))?;
    let is_used = (added..before.file.instructions.len()).any(|index| updates(before, index));
    let chain = final_chain(after);
    let is_bundle = chain.iter().any(|index| {
        let instruction = after.file.instructions.get(*index);
        let places = instruction.and_then(|copy| copied(change, *index, copy)).unwrap_or_default();
        places.iter().any(|place| BUNDLES.contains(&place.trim_end_matches('/')))
    });
    let last = chain.iter().copied().filter(|index| is_root(after, *index)).max();
    let is_updated =
        last.is_some_and(|last| chain.iter().any(|index| *index > last && updates(after, *index)));
    (is_used && !is_bundle && !is_updated).then(|| {
        "the original adds authorities to its certificates, and the final image neither copies that \
         bundle nor makes it"
            .to_owned()
    })
}
