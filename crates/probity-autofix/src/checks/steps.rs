//! The steps of the original stay what they are; a conversion moves them and adds next to nothing.
//!
//! A RUN may be taken apart at `&&`: its parts are compared one by one, so an install of build packages
//! can move without the run-time packages beside it. What a build stage does beside them is its own
//! business as long as it only moves files; the final stage may add less.

mod dispensable;
pub(super) mod forms;
mod inputs;
mod places;
mod sequence;

use std::collections::BTreeSet;

use probity_dockerfile::{Arguments, Base, Instruction, Keyword, Manager};

use self::{
    dispensable::is_dispensable,
    forms::{forms, stand_ins},
    inputs::{keeps_owner, mounted, without_input},
    places::into_nothing,
};
use super::{
    Change, Check, Issue, View,
    additions::{is_build_work, is_harmless},
    belongings::{final_chain, is_within},
    commands,
    copy_flags::are_flags_known,
    moved::{copied, is_copy_from_mount},
};

pub(crate) const STEPS_KEPT: Check = Check::new("steps-kept", steps_kept).heuristic();

/// Instructions that do something, or decide what others do.
const STEPS: &[Keyword] =
    &[Keyword::Run, Keyword::Copy, Keyword::Add, Keyword::Arg, Keyword::Onbuild, Keyword::Shell];

/// Variables that a build stage may set: they choose where tools install and keep what they download,
/// and how much they print. Those that end in `_` are beginnings.
const BUILD_VARIABLES: &[&str] = &[
    "CARGO_INCREMENTAL",
    "CARGO_NET_",
    "CARGO_TERM_",
    "CI",
    "COMPOSER_ALLOW_SUPERUSER",
    "COMPOSER_CACHE_DIR",
    "COMPOSER_HOME",
    "COREPACK_",
    "DEBIAN_FRONTEND",
    "DOTNET_",
    "GOCACHE",
    "GOMODCACHE",
    "GRADLE_OPTS",
    "GRADLE_USER_HOME",
    "LANG",
    "LC_ALL",
    "MAVEN_OPTS",
    "NPM_CONFIG_AUDIT",
    "NPM_CONFIG_CACHE",
    "NPM_CONFIG_FUND",
    "NPM_CONFIG_LOGLEVEL",
    "NPM_CONFIG_UPDATE_NOTIFIER",
    "NUGET_",
    "PATH",
    "PIP_",
    "PNPM_HOME",
    "POETRY_",
    "PYTHON",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONPATH",
    "PYTHONUNBUFFERED",
    "TZ",
    "UV_",
    "VIRTUAL_ENV",
    "YARN_CACHE_FOLDER",
];

/// Values that only make the result depend on less.
const STATIC_SETTINGS: &[(&str, &str)] = &[("CGO_ENABLED", "0"), ("GOOS", "linux")];

/// Arguments that every build has.
const PLATFORM: &[&str] =
    &["TARGETARCH", "TARGETOS", "TARGETPLATFORM", "TARGETVARIANT", "BUILDPLATFORM"];

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
    if let Some(instruction) = sequence::swapped(change) {
        let message = "the commands of this RUN are in another order than in the original";
        issues.push(change.issue(check, message).at(change.after, instruction.span));
    }
    if let Some(instruction) = sequence::repeated(change) {
        let message = "this command runs more often in one stage than it did";
        issues.push(change.issue(check, message).at(change.after, instruction.span));
    }
    if issues.is_empty() {
        issues.extend(without_input(check, change));
        issues.extend(into_nothing(check, change));
    }
    issues
}

fn is_known(change: &Change<'_>, index: usize, instruction: &Instruction) -> bool {
    let text = change.after.written_as(instruction);
    let is_explained = change.limits.explained.after.contains(&index);
    if is_explained
        || instruction.keyword == Keyword::From
        || change.before.position(text).is_some()
    {
        return true;
    }
    let is_final = final_chain(change.after).contains(&index);
    match instruction.keyword {
        Keyword::Copy | Keyword::Add if instruction.flag_value("from").is_none() => {
            let known = || change.before.all_pairs();
            let is_known = |pair: &(String, String)| {
                if is_final {
                    known().any(|old| is_part(pair, old)) || is_brought(change, pair)
                } else {
                    // A build stage may have its sources in another directory.
                    known().any(|old| is_source(&pair.0, &old.0))
                }
            };
            let are_flags_known = !is_final || are_flags_known(change, instruction);
            are_flags_known
                && change.after.pairs(index).is_some_and(|pairs| pairs.iter().all(is_known))
        }
        Keyword::Copy => !is_final || copied(change, index, instruction).is_some(),
        Keyword::Run => are_parts_known(change, index, is_final),
        Keyword::Shell => !is_final && is_strict_shell(change.after, instruction),
        Keyword::Env if !is_final => is_build_setting(change.before, instruction),
        Keyword::Arg => is_argument(change, index, instruction),
        // What the container has of these settings is compared as a whole.
        Keyword::Env
        | Keyword::Label
        | Keyword::Expose
        | Keyword::User
        | Keyword::Workdir
        | Keyword::Volume
        | Keyword::Stopsignal
        | Keyword::Cmd
        | Keyword::Entrypoint
        | Keyword::Healthcheck => true,
        _ => false,
    }
}

/// A shell that ends at failures, for steps of a build.
fn is_strict_shell(view: &View<'_>, instruction: &Instruction) -> bool {
    const WORDS: &[&str] = &["sh", "bash", "ash", "-o", "pipefail", "-e", "-ex", "-eux", "-c"];
    let text = written(view, instruction);
    let ends = |character: char| !(character.is_ascii_alphanumeric() || "-/".contains(character));
    let mut words = text.split(ends).filter(|part| !part.is_empty()).skip(1);
    words.all(|word| WORDS.contains(&commands::last_part(word)))
}

/// `ARG NAME` for one that the file gives its value before the first FROM, and that value: where it is
/// read it is compared.
fn is_argument(change: &Change<'_>, index: usize, instruction: &Instruction) -> bool {
    if change.after.facts.stage_of(index).is_none() {
        return true;
    }
    let Arguments::Pairs { pairs, .. } = &instruction.arguments else { return false };
    let is_old = |name: &str| {
        change.before.file.instructions.iter().any(|old| match &old.arguments {
            Arguments::Pairs { pairs, .. } if old.keyword == Keyword::Arg => {
                pairs.iter().any(|pair| pair.key.text.as_str() == name)
            }
            _ => false,
        })
    };
    pairs.iter().all(|pair| {
        let name = pair.key.text.as_str();
        pair.value.is_none() && (is_old(name) || PLATFORM.contains(&name))
    })
}

/// Whether a source goes where a wider COPY of the original puts it.
fn is_part((source, target): &(String, String), (whole, place): &(String, String)) -> bool {
    let plain = |path: &str| path.trim_start_matches("./").trim_end_matches('/').to_owned();
    let (source, whole) = (plain(source), plain(whole));
    let rest = match whole.as_str() {
        "" | "." => format!("/{source}"),
        whole => match source.strip_prefix(whole) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => rest.to_owned(),
            _ => return false,
        },
    };
    let is_all = matches!(source.as_str(), "" | ".");
    let name = commands::last_part(&source);
    let path = format!("{}{rest}", place.trim_end_matches('/'));
    let directory = path.strip_suffix(&format!("/{name}")).unwrap_or(&path);
    // Of a directory the content is copied, and not the directory.
    let is_file = name.contains('.')
        || name.starts_with(|character: char| character.is_ascii_uppercase())
        || directory.ends_with("bin")
        || !rest.is_empty();
    (target == place && (rest.is_empty() || is_all))
        || *target == path
        || (target == directory && is_file)
}

/// Whether a source goes where a command of the original moves it.
fn is_brought(change: &Change<'_>, (source, target): &(String, String)) -> bool {
    let source = source.trim_start_matches("./").trim_end_matches('/');
    let before = change.before;
    let whole = before.all_pairs().filter(|(whole, _)| matches!(whole.as_str(), "." | "./"));
    let places: Vec<String> = whole.map(|(_, place)| format!("{place}/{source}")).collect();
    before.transfers().iter().any(|(from, to)| places.contains(from) && to == target)
}

fn is_same_source(one: &str, other: &str) -> bool {
    let plain = |path: &str| path.trim_start_matches("./").trim_end_matches('/').to_owned();
    plain(one) == plain(other)
}

/// Whether a source is another, or in it.
fn is_source(source: &str, whole: &str) -> bool {
    let plain = |path: &str| path.trim_start_matches("./").trim_end_matches('/').to_owned();
    let (source, whole) = (plain(source), plain(whole));
    matches!(whole.as_str(), "" | ".") || is_within(&source, &whole)
}

/// Values that the original sets too, and those that change nothing of what is built.
fn is_build_setting(before: &View<'_>, instruction: &Instruction) -> bool {
    let Arguments::Pairs { pairs, .. } = &instruction.arguments else { return false };
    let olds = before.file.instructions.iter().filter_map(|other| match &other.arguments {
        Arguments::Pairs { pairs, .. } if other.keyword == Keyword::Env => Some(pairs),
        _ => None,
    });
    let olds: Vec<_> = olds.flatten().collect();
    pairs.iter().all(|pair| {
        let name = pair.key.text.as_str();
        let value = pair.value.as_ref().map(|it| &it.text);
        let is_old = olds.iter().any(|old| {
            old.key.text.as_str() == name && old.value.as_ref().map(|it| &it.text) == value
        });
        let is_static = STATIC_SETTINGS
            .iter()
            .any(|(key, set)| *key == name && value.is_some_and(|value| value.as_str() == *set))
            && (name != "CGO_ENABLED" || !before.uses_c());
        is_old
            || is_static
            || BUILD_VARIABLES.iter().any(|variable| {
                name == *variable || name.starts_with(variable) && variable.ends_with('_')
            })
    })
}

/// A part without the values that the original sets for the whole image.
fn without_settings(change: &Change<'_>, text: &str) -> String {
    let mut rest = text;
    while let Some((first, behind)) = rest.split_once(' ') {
        let is_set = first.split_once('=').is_some_and(|(name, value)| {
            let runtime = change.before.facts.final_runtime();
            let entries = runtime.get(probity_dockerfile::Setting::Env).iter();
            let mut same = entries.filter(|entry| entry.entry.key == name);
            same.any(|setting| {
                super::search_path::pattern_of(&setting.entry.value) == value.trim_matches('"')
            })
        });
        if !is_set {
            break;
        }
        rest = behind;
    }
    rest.to_owned()
}

fn are_parts_known(change: &Change<'_>, index: usize, is_final: bool) -> bool {
    let Some(parts) = change.after.parts(index) else { return false };
    let known = change.before.forms();
    parts.iter().all(|part| {
        stand_ins(change.before, part).iter().any(|text| known.contains_key(text))
            || known.contains_key(&without_settings(change, &part.text))
            || part.is_change_of_directory()
            || is_harmless(change, part)
            || is_copy_from_mount(change, index, part)
            || (!is_final && is_build_work(change, part))
    })
}

/// The first step of the original that no stage has, or not in its order.
fn lost(change: &Change<'_>) -> Option<String> {
    let Change { before, after, .. } = change;
    let mut now: BTreeSet<String> = after.forms().keys().cloned().collect();
    let parts = (0..after.file.instructions.len()).filter_map(|index| after.parts(index));
    now.extend(parts.flatten().flat_map(|part| stand_ins(before, part)));
    now.extend(now.clone().iter().map(|text| without_settings(change, text)));
    for (index, old) in before.file.instructions.iter().enumerate() {
        if STEPS.contains(&old.keyword) && !is_somewhere(change, index, old, &now) {
            return Some(written(before, old));
        }
    }
    let texts = before.written();
    for stage in after.facts.stages() {
        let mut last = 0;
        for index in stage.instructions.clone() {
            let instruction = after.file.instructions.get(index)?;
            let is_free = only_prepares(change, index) && !installs_for_builds(after, index);
            if instruction.keyword != Keyword::Run || is_free {
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

/// Whether a RUN does nothing but what may be done at any time: packages, directories, users.
fn only_prepares(change: &Change<'_>, index: usize) -> bool {
    change
        .after
        .parts(index)
        .is_some_and(|parts| parts.iter().all(|part| is_harmless(change, part)))
}

/// Whether a RUN installs or prunes packages of a language, which builds before and after it notice.
fn installs_for_builds(view: &View<'_>, index: usize) -> bool {
    view.parts(index).unwrap_or_default().iter().any(|part| {
        let prunes = part.text.split_whitespace().nth(1) == Some("prune");
        let is_tool =
            |manager: Manager| commands::is_language_manager(manager) || manager == Manager::Go;
        prunes || part.calls.iter().any(|call| is_tool(call.manager))
    })
}

fn is_somewhere(
    change: &Change<'_>,
    index: usize,
    old: &Instruction,
    now: &BTreeSet<String>,
) -> bool {
    let (before, after) = (change.before, change.after);
    let text = before.written_as(old);
    let is_explained = change.limits.explained.before.contains(&index);
    if is_explained || after.position(text).is_some() {
        return true;
    }
    match old.keyword {
        Keyword::Copy if is_image_of_stage(after, old) => true,
        Keyword::Copy | Keyword::Add => {
            let mounts = (0..after.file.instructions.len()).flat_map(|index| mounted(after, index));
            let mounts: Vec<(String, String)> = mounts.collect();
            let is_copied = |pair: &(String, String)| {
                after
                    .all_pairs()
                    .chain(&mounts)
                    .any(|new| is_same_source(&pair.0, &new.0) || is_part(pair, new))
            };
            before.pairs(index).is_some_and(|pairs| pairs.iter().all(is_copied))
                && keeps_owner(change, index, old)
        }
        Keyword::Run => before.parts(index).is_some_and(|parts| {
            parts.iter().all(|part| {
                part.is_change_of_directory()
                    || forms(part).iter().any(|text| now.contains(text))
                    || is_dispensable(change, part)
            })
        }),
        // Only package managers read it.
        Keyword::Arg => text.starts_with("ARG DEBIAN_FRONTEND"),
        _ => false,
    }
}

/// Whether a COPY takes a tool out of an image that a stage of the proposal is based on.
fn is_image_of_stage(after: &View<'_>, old: &Instruction) -> bool {
    let Some(image) = old.flag_value("from").map(|it| it.text.as_str()) else { return false };
    let is_it = |base: &Base| matches!(base, Base::Image(name) if name == image);
    after.facts.stages().iter().any(|stage| is_it(&stage.base))
}

/// The instructions of a stage and of the stages below it.
pub(super) fn chain_of(view: &View<'_>, stage: usize) -> Vec<usize> {
    let stages = view.facts.stages();
    let mut chain = Vec::new();
    let mut next = Some(stage);
    while let Some(stage) = next.and_then(|index| stages.get(index)) {
        chain.extend(stage.instructions.clone());
        next = match stage.base {
            Base::Stage(below) if below < stage.index => Some(below),
            _ => None,
        };
    }
    chain
}

/// [`View::pairs`]
pub(super) fn pairs(view: &View<'_>, index: usize) -> Option<Vec<(String, String)>> {
    let instruction = view.file.instructions.get(index)?;
    let is_transfer = matches!(instruction.keyword, Keyword::Copy | Keyword::Add);
    let is_owner = |name: &str| matches!(name, "link" | "chown" | "chmod");
    let has_other_flags = instruction.flags.iter().any(|flag| !is_owner(flag.name.text.as_str()));
    if !is_transfer || has_other_flags || !instruction.heredocs().is_empty() {
        return None;
    }
    let Arguments::Transfer { sources, destination: Some(destination), .. } =
        &instruction.arguments
    else {
        return None;
    };
    let workdir = view.facts.state(index).and_then(|state| state.workdir.path.as_deref());
    let target = absolute(&expanded(view, index, &destination.text), workdir.or(Some("/")))?;
    let target = target.trim_end_matches('/');
    let sources = sources.iter().map(|source| expanded(view, index, &source.text));
    Some(sources.map(|source| (source, target.to_owned())).collect())
}

/// A word of an instruction with the values that the file gives its variables, without quotes.
pub(super) fn expanded(view: &View<'_>, index: usize, word: &str) -> String {
    let mut text = word.replace('"', "");
    if !word.contains('$') {
        return text;
    }
    let mut variables = view.facts.scope(index).variables();
    // The longest name first: `$PATHS` is not `$PATH`.
    variables.sort_by_key(|variable| std::cmp::Reverse(variable.name.len()));
    for variable in &variables {
        if let Some(value) = &variable.value {
            text = text.replace(&format!("${{{}}}", variable.name), value);
            text = text.replace(&format!("${}", variable.name), value);
        }
    }
    text
}

pub(super) fn absolute(path: &str, workdir: Option<&str>) -> Option<String> {
    if path.contains(['$', '"', '\'', '\\']) {
        return None;
    }
    let whole = if path.starts_with('/') {
        path.to_owned()
    } else {
        let path = path.strip_prefix("./").unwrap_or(path);
        let path = if path == "." { "" } else { path };
        format!("{}/{path}", workdir?.trim_end_matches('/'))
    };
    if !path.split('/').any(|part| part == "..") {
        return Some(whole);
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            ".." if parts.len() > 1 => drop(parts.pop()),
            ".." => return None,
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// An instruction as two files can be compared by.
pub(crate) fn written(view: &View<'_>, instruction: &Instruction) -> String {
    view.written_as(instruction).to_owned()
}
