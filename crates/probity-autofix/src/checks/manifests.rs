//! Manifests first: dependencies are installed before the sources are copied, and nothing else changes.

mod early;
mod installs;
mod steps;

use probity_dockerfile::{Arguments, Instruction, Keyword};

use self::steps::Step;
use super::{
    Change, Check, Explained, Issue, View,
    commands::{self, Called},
    steps::written,
};

pub(crate) const MUST_COPY_MANIFESTS: Check =
    Check::new("patch/must-copy-manifests", must_copy_manifests);
pub(crate) const ONLY_COPIES_MOVE: Check = Check::new("only-copies-move", only_copies_move);
pub(crate) const MANIFESTS_COPIED: Check = Check::new("manifests-copied", manifests_copied);

/// An install that had to wait for the sources no longer does.
fn must_copy_manifests(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let plain = steps::without_mounts(change);
    let after = View::of(&plain);
    let waiting = |view: &View<'_>, has_sources: bool| -> usize {
        let all = steps::of(view, &|_| false);
        let installs = all.iter().filter(|step| {
            let mut called = view.called(step.index).iter();
            step.has_sources == has_sources && called.any(|call| !installs::needed(call).is_empty())
        });
        installs.count()
    };
    if waiting(&after, false) > waiting(change.before, false) {
        return Vec::new();
    }
    vec![
        change.issue(
            check,
            "no install runs before the sources are copied that had to wait for them",
        ),
    ]
}

fn is_all(source: &str) -> bool {
    matches!(source, "." | "./")
}

fn copies_all(instruction: &Instruction) -> bool {
    match &instruction.arguments {
        Arguments::Transfer { sources, .. } => {
            instruction.flag_value("from").is_none()
                && sources.iter().any(|source| is_all(source.text.as_str()))
        }
        _ => false,
    }
}

/// The copies that moved or came in, and installs that changed with them.
pub(crate) fn explained(change: &Change<'_>) -> Explained {
    let (before, after) = (change.before, change.after);
    let texts = |view: &View<'_>| -> Vec<String> {
        view.file.instructions.iter().map(|instruction| written(view, instruction)).collect()
    };
    let (olds, news) = (texts(before), texts(after));
    let mut explained = Explained::default();
    for (index, (instruction, text)) in before.file.instructions.iter().zip(&olds).enumerate() {
        let is_moved = copies_all(instruction) && news.contains(text);
        let locked = text.replace("npm install", "npm ci");
        if is_moved || (locked != *text && news.contains(&locked)) {
            explained.before.insert(index);
        }
    }
    for (index, (instruction, text)) in after.file.instructions.iter().zip(&news).enumerate() {
        let is_moved = copies_all(instruction) && olds.contains(text);
        let was = text.replace("npm ci", "npm install");
        let is_locked = was != *text && olds.contains(&was) && !olds.contains(text);
        if is_moved || is_locked || early::is_new_manifest(change, index) {
            explained.after.insert(index);
        }
    }
    explained
}

/// Every step is still there, in its order, and has the sources if it read them.
fn only_copies_move(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let plain = steps::without_mounts(change);
    let after = View::of(&plain);
    let others = &change.limits.explained;
    let old = steps::of(change.before, &|index| others.before.contains(&index));
    let new = steps::of(&after, &|index| {
        others.after.contains(&index) || early::is_new_manifest(change, index)
    });
    let copies = |view: &View<'_>| -> Vec<String> {
        let all = view.file.instructions.iter().filter(|instruction| copies_all(instruction));
        all.map(|instruction| written(view, instruction)).collect()
    };
    let issue = |message: &str, index: usize| {
        let issue = change.issue(check, message);
        match change.after.file.instructions.get(index) {
            Some(instruction) => issue.at(change.after, instruction.span),
            None => issue,
        }
    };
    let message = "only the copy of the sources may move after the install, and only copies of manifests \
                   may be added";
    if copies(change.before) != copies(change.after) {
        return vec![change.issue(check, message)];
    }
    if let Some(index) = first_difference(&old, &new) {
        return vec![issue(message, index)];
    }
    // What ran after the sources were there still does, unless it installs dependencies.
    let missed = new.iter().find(|step| {
        let had =
            old.iter().any(|was| installs::is_locked(&was.text, &step.text) && !was.has_sources);
        !step.has_sources && !had && !needs_no_sources(&after, &new, step)
    });
    match missed {
        Some(step) => vec![issue("this command runs before the sources are copied", step.index)],
        None => Vec::new(),
    }
}

/// The instruction of the first step that the original does not have, or has elsewhere.
fn first_difference(old: &[Step], new: &[Step]) -> Option<usize> {
    let mut olds = old.iter().peekable();
    for (place, step) in new.iter().enumerate() {
        let later: Vec<&str> = new.iter().skip(place + 1).map(|it| it.text.as_str()).collect();
        let earlier: Vec<&str> = new.iter().take(place).map(|it| it.text.as_str()).collect();
        let is_old = |was: &&Step| {
            was.text == step.text
                || installs::is_locked(&was.text, &step.text)
                || ((installs::is_split_composer(&was.text, &step.text)
                    || installs::is_first_half(&was.text, &step.text))
                    && !later.contains(&was.text.as_str())
                    && installs::is_completed(&step.text, &later))
                || (installs::is_restored(&was.text, &step.text)
                    && earlier.iter().any(|text| text.starts_with("dotnet restore")))
        };
        if olds.next_if(|was| is_old(was)).is_none() && !may_come(old, step, &earlier, &later) {
            return Some(step.index);
        }
    }
    let is_left = olds.next().is_some();
    is_left.then(|| new.last().map_or(0, |step| step.index))
}

/// Whether a step that the original does not have changes nothing but when things are downloaded.
fn may_come(old: &[Step], step: &Step, earlier: &[&str], later: &[&str]) -> bool {
    if !step.is_command {
        return false;
    }
    let whole = installs::complete(&step.text);
    let is_first_half = whole.is_some_and(|whole| {
        old.iter().any(|was| installs::is_locked(&was.text, &whole))
            && installs::is_completed(&step.text, later)
    });
    let is_second_half = step.has_sources
        && installs::completes(&step.text)
        && old.iter().all(|was| installs::is_as_optimized(&was.text, &step.text))
        && earlier.iter().any(|text| installs::complete(text).is_some());
    let is_download = installs::is_download(&step.text) && !step.has_sources;
    // What the whole install repeats once the sources are there does no harm before.
    let is_repeated = !step.has_sources
        && old.iter().any(|was| {
            later.contains(&was.text.as_str()) && installs::is_part_of(&step.text, &was.text)
        });
    let has_cargo = old.iter().any(|was| was.text.starts_with("cargo "));
    let is_placeholder = has_cargo && !step.has_sources && installs::is_placeholder(&step.text);
    is_first_half || is_second_half || is_download || is_repeated || is_placeholder
}

/// Whether all that the instruction of a step does can be done before the sources are there.
fn needs_no_sources(view: &View<'_>, all: &[Step], step: &Step) -> bool {
    let is_run = |instruction: &Instruction| instruction.keyword == Keyword::Run;
    if !view.file.instructions.get(step.index).is_some_and(is_run) {
        return true;
    }
    let placeholders: Vec<&Step> =
        all.iter().filter(|other| installs::is_placeholder(&other.text)).collect();
    let called = view.called(step.index);
    let is_fine = |call: &Called| {
        // Without a target cargo does not read the manifest at all.
        let is_ready = call.name != "cargo" || !placeholders.is_empty();
        let is_placeholder = placeholders.iter().any(|step| step.text.starts_with(&call.name));
        let is_download = installs::is_download(&format!("{} {}", call.name, call.words.join(" ")));
        ((installs::is_independent(call) || is_download) && is_ready)
            || installs::is_of_the_system(call)
            || is_placeholder
    };
    !called.is_empty() && called.iter().all(is_fine)
}

/// An install finds its manifest, its lock file where it insists on one, and what the file names.
fn manifests_copied(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let after = change.after;
    let plain = steps::without_mounts(change);
    let plain = View::of(&plain);
    let needs = early::named_needs(change.before);
    let mut issues = Vec::new();
    for step in steps::of(&plain, &|_| false) {
        let index = step.index;
        let text = after.written().get(index);
        let is_known = text.is_some_and(|text| change.before.position(text).is_some());
        let was_early = steps::of(change.before, &|_| false)
            .iter()
            .any(|was| was.text == step.text && !was.has_sources);
        if step.has_sources || (is_known && was_early) {
            continue;
        }
        let copied = early::readable(after, index);
        let has = |path: &str| copied.iter().any(|source| covers(source, path));
        for called in plain.called(index) {
            let mut needed = installs::needed(called);
            if needed.is_empty() {
                continue;
            }
            if called.name == "dotnet" {
                needed.extend(named_projects(change.before));
            }
            let lost = workspaces(change.before).into_iter().find(|name| {
                let manifest = format!("{name}/package.json");
                !copied.iter().any(|source| early::ends_like(source, &manifest))
            });
            let lost = lost.or_else(|| lost_workspace(change.before, &copied));
            if let Some(name) = lost
                && matches!(called.name.as_str(), "npm" | "yarn" | "pnpm")
            {
                let message = format!("`{}` runs without the manifest of `{name}`", called.name);
                issues.push(change.issue(check, &message));
                continue;
            }
            let is_of_packages = matches!(called.name.as_str(), "npm" | "yarn" | "pnpm" | "cargo");
            let is_told = |need: &str| {
                let mut comments =
                    change.before.text.lines().filter(|line| line.trim_start().starts_with('#'));
                comments.any(|comment| comment.contains(need))
            };
            // A comment names a file of the install without its directory.
            let is_named = |need: &str| needed.iter().any(|path| early::ends_like(path, need));
            let others: Vec<&String> = needs
                .iter()
                .filter(|need| (is_of_packages || is_told(need)) && !is_named(need))
                .collect();
            for need in others {
                // Of workspaces the manifests suffice.
                if is_of_packages && early::is_group(need) {
                    continue;
                }
                let is_package =
                    is_of_packages && need.split('/').count() == 2 && !need.contains('.');
                let manifest = if called.name == "cargo" { "Cargo.toml" } else { "package.json" };
                if is_package && !has(need) {
                    needed.push(format!("{need}/{manifest}"))
                } else {
                    needed.push(need.clone())
                }
            }
            // A file of a directory of requirements mostly includes another.
            let lone = needed.iter().find(|path| {
                let directory = path.rsplit_once('/').map(|(directory, _)| directory);
                let mut beside = copied
                    .iter()
                    .filter(|source| directory.is_some_and(|own| source.starts_with(own)));
                path.ends_with(".txt")
                    && directory.is_some()
                    && beside.next().is_some_and(|source| !source.contains('*'))
                    && beside.next().is_none()
                    && !directory.is_some_and(|directory| copied.iter().any(|own| own == directory))
            });
            if let Some(missing) = needed.iter().find(|path| !has(path)).or(lone) {
                let message = format!("`{}` runs without `{missing}`", called.name);
                issues.push(change.issue(check, &message));
                break;
            }
        }
    }
    issues.dedup();
    issues
}

/// Whether a path that is copied, perhaps with a `*`, brings another.
fn covers(copied: &str, path: &str) -> bool {
    let split = |text: &str| match text.rsplit_once('/') {
        Some((directory, name)) => (directory.to_owned(), name.to_owned()),
        None => (String::new(), text.to_owned()),
    };
    let (own, other) = (split(copied), split(path));
    let is_like = copied.contains('*')
        && copied.split('/').count() == path.split('/').count()
        && early::ends_like(copied, path);
    let is_file =
        own.0 == other.0 && (early::is_like(&other.1, &own.1) || is_project(&own.1, &other.1));
    let is_within = path.strip_prefix(copied).is_some_and(|rest| rest.starts_with('/'));
    is_file || is_within || is_like
}

/// Whether a name is one of those that a pattern of the tools stands for.
fn is_project(name: &str, pattern: &str) -> bool {
    match pattern {
        "*.??proj" => name.ends_with("proj") || name.contains(".sln"),
        "*.gradle*" => name.contains(".gradle"),
        _ => false,
    }
}

/// A workspace that the original tells of and whose manifest is not copied.
fn lost_workspace(view: &View<'_>, copied: &[String]) -> Option<String> {
    let text = view.text.to_lowercase();
    let signs = ["workspace", " -ws", "pnpm -r", "pnpm --recursive", "lerna", "turbo "];
    let nested: Vec<&str> =
        copied.iter().filter_map(|path| path.strip_suffix("/package.json")).collect();
    let is_many = nested.len() > 1 || nested.iter().any(|directory| directory.contains('*'));
    if signs.iter().any(|sign| text.contains(sign)) && !is_many {
        return Some("a workspace".to_owned());
    }
    let words = view
        .text
        .split(|character: char| character.is_whitespace() || "\"'[],=".contains(character));
    let mut named = words.filter_map(|word| {
        let groups = nested.iter().filter_map(|directory| directory.rsplit_once('/'));
        let (group, _) = groups.into_iter().find(|(it, _)| word.contains(&format!("{it}/")))?;
        let (_, rest) = word.split_once(&format!("{group}/"))?;
        let is_part = |c: char| c.is_ascii_alphanumeric() || "._-*".contains(c);
        let name = rest.split(|c: char| !is_part(c)).next()?.trim_end_matches('.');
        if name.is_empty() || name.contains('*') {
            return None;
        }
        Some(format!("{group}/{name}"))
    });
    named.find(|name| !nested.iter().any(|own| early::ends_like(own, name)))
}

/// The workspaces that commands of the original name, without their scope.
fn workspaces(view: &View<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for called in view.all_called().filter(|call| call.is_any(&["npm", "yarn", "pnpm", "npx"])) {
        let mut words = called.words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let (flag, value) = word.split_once('=').unwrap_or((word, ""));
            let name = match flag {
                "-w" | "--workspace" | "--filter" if value.is_empty() => words.next(),
                "--workspace" | "--filter" => Some(value),
                "workspace" if called.name == "yarn" => words.next(),
                _ => None,
            };
            found.extend(
                name.map(|name| commands::last_part(name).trim_end_matches("...").to_owned()),
            );
        }
    }
    found
}

/// The projects of .NET that the original names.
fn named_projects(view: &View<'_>) -> Vec<String> {
    let words = view
        .text
        .split(|character: char| character.is_whitespace() || "\"'[],=".contains(character));
    let projects = words.filter(|word| word.ends_with(".csproj") || word.ends_with(".fsproj"));
    projects
        .map(|project| project.trim_start_matches("./").to_owned())
        .filter(|project| !project.contains('*'))
        .collect()
}
