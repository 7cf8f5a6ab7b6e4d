//! Where the results of build stages end up, beside where the original had them.
//!
//! A stage may write its result to another place and copy it to the right one: `go build -o /out/app`
//! and `COPY --from=build /out/app /usr/local/bin/app`. What the original did in between, a `cp` for
//! example, is then done by the copy.

use probity_dockerfile::{
    Action, Arguments, Instruction, Keyword, Manager, PackageCall, StageReferenceKind, Target,
};
use probity_shell::Command;

use super::{
    Change, View,
    base_image::base,
    belongings::is_within,
    commands::{self, Segment, is_directory, last_part, words},
    copy_flags::are_flags_known,
    image_kind::ImageKind,
    programs::bare_program,
    search_path::is_on_path,
    steps::{absolute, expanded, forms::plain},
};

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

/// A place in a build stage, and the place where the original has the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    now: String,
    was: String,
}

impl Moved {
    /// Where the original has what is at a path.
    fn origin_of(&self, path: &str) -> Option<String> {
        let rest = path.strip_prefix(&self.now)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| format!("{}{rest}", self.was))
    }
}

/// The places of the original whose content a COPY brings from a stage, if it brings each to its place.
pub(super) fn copied(
    change: &Change<'_>,
    index: usize,
    instruction: &Instruction,
) -> Option<Vec<String>> {
    if instruction.keyword == Keyword::Run {
        let taken = taken_from_mounts(change.after, index);
        let held = taken.iter().filter_map(|(source, target)| held(change, source, target));
        let places: Vec<String> = held.flatten().collect();
        return (!places.is_empty()).then_some(places);
    }
    let Arguments::Transfer { sources, destination: Some(destination), .. } =
        &instruction.arguments
    else {
        return None;
    };
    if !is_from_stage(change.after, instruction) || !are_flags_known(change, instruction) {
        return None;
    }
    let state = change.after.facts.state(index);
    let workdir = state.and_then(|state| state.workdir.path.as_deref());
    let written = |word: &str| expanded(change.after, index, word);
    let target = absolute(&written(&destination.text), workdir.or(Some("/")))?;
    let mut places = Vec::new();
    for source in sources {
        places.extend(held(change, &written(&source.text), &target)?);
    }
    (!places.is_empty()).then_some(places)
}

/// What a RUN copies out of the stages that it mounts: the path there, and the place it gets.
pub(super) fn taken_from_mounts(view: &View<'_>, index: usize) -> Vec<(String, String)> {
    let mounts = stage_mounts(view, index);
    if mounts.is_empty() {
        return Vec::new();
    }
    let parts = view.parts(index).unwrap_or_default();
    parts.iter().flat_map(|part| taken_by_part(&mounts, part).unwrap_or_default()).collect()
}

/// Whether a part only copies results of stages to where the original has them.
pub(super) fn is_copy_from_mount(change: &Change<'_>, index: usize, part: &Segment) -> bool {
    let taken = taken_by_part(&stage_mounts(change.after, index), part).unwrap_or_default();
    let is_held = |(source, target): &(String, String)| held(change, source, target).is_some();
    !taken.is_empty() && taken.iter().all(is_held)
}

/// The moves of one copying command, if all of them are out of mounted stages.
fn taken_by_part(mounts: &[(String, String)], part: &Segment) -> Option<Vec<(String, String)>> {
    let [command] = part.commands.as_slice() else { return None };
    let all = words(command)?;
    let (name, rest) = all.split_first()?;
    if !matches!(name.as_str(), "cp" | "install") {
        return None;
    }
    let moves = moves(rest, part.directory.as_deref().or(Some("/")));
    let taken = moves.into_iter().map(|(from, to)| {
        let (source, target) = mounts.iter().find(|(_, target)| is_within(&from, target))?;
        Some((format!("{source}{}", from.get(target.len()..)?), to))
    });
    taken.collect()
}

/// The paths of stages that a RUN mounts, each with the place of the mount.
pub(super) fn stage_mounts(view: &View<'_>, index: usize) -> Vec<(String, String)> {
    let Some(instruction) = view.file.instructions.get(index) else { return Vec::new() };
    let workdir = view.facts.state(index).and_then(|state| state.workdir.path.as_deref());
    let values = instruction.flags.iter().filter(|flag| flag.name.text.as_str() == "mount");
    let values = values.filter_map(|flag| flag.value.as_ref()).map(|value| value.text.as_str());
    let stages = values.filter(|value| value.contains("type=bind") && value.contains("from="));
    stages
        .filter_map(|value| {
            let option = |names: &[&str]| {
                let mut pairs = value.split(',').filter_map(|part| part.split_once('='));
                pairs.find(|(name, _)| names.contains(name)).map(|(_, value)| value)
            };
            let source = option(&["source", "src"]).unwrap_or("/").trim_end_matches('/');
            let target = option(&["target", "dst", "destination"])?;
            let target = absolute(target, workdir.or(Some("/")))?;
            Some((source.to_owned(), target.trim_end_matches('/').to_owned()))
        })
        .collect()
}

fn is_from_stage(view: &View<'_>, instruction: &Instruction) -> bool {
    let mut references = view.facts.graph().references().iter();
    references.any(|reference| {
        let is_here = instruction.span.start <= reference.span.start
            && reference.span.end <= instruction.span.end;
        is_here
            && reference.kind != StageReferenceKind::From
            && matches!(reference.target, Target::Stage(_) | Target::StageIndex(_))
    })
}

fn held(change: &Change<'_>, source: &str, target: &str) -> Option<Vec<String>> {
    let is_plain = source.starts_with('/') && !source.contains(['$', '"', '\'', '\\']);
    if !is_plain || source.split('/').any(|part| part == "..") {
        return None;
    }
    let path = source.trim_end_matches('/');
    if SYSTEM.contains(&path) || (path == "/usr/local" && has_toolchain(change)) {
        return None;
    }
    // An empty directory for temporary files, which an empty image lacks.
    if matches!(target.trim_end_matches('/'), "/tmp" | "/var/tmp") {
        return Some(vec![target.to_owned()]);
    }
    // The content of a directory goes to a place by its own name.
    let keeps_place = |path: &str| {
        if source.ends_with('/') {
            path == target.trim_end_matches('/')
        } else {
            keeps_place(path, target)
        }
    };
    let all = change.moved.get_or_init(|| all_moved(change));
    // A directory of results is known to be one: its content goes where it is copied to.
    let is_result = all.iter().any(|moved| {
        moved.now == path && moved.was == target.trim_end_matches('/') && moved.was != moved.now
    });
    if keeps_place(path) && !is_result {
        return Some(vec![path.to_owned()]);
    }
    if is_moved_program(change, path, target) {
        let target = target.trim_end_matches('/');
        let place = if last_part(target) == last_part(path) {
            target.to_owned()
        } else {
            format!("{target}/{}", last_part(path))
        };
        return Some(vec![path.to_owned(), place]);
    }
    // Where the original has what the path has: directories may have moved, and files out of them.
    let mut origins = if is_result {
        vec![target.trim_end_matches('/').to_owned()]
    } else {
        vec![path.to_owned()]
    };
    for _ in 0..2 {
        let more: Vec<String> = all
            .iter()
            .flat_map(|moved| origins.iter().filter_map(|origin| moved.origin_of(origin)))
            .collect();
        origins.extend(more);
        origins.sort_unstable();
        origins.dedup();
    }
    // In a directory a file has the name that it comes with.
    let is_named =
        |origin: &str| !target.ends_with('/') || is_result || last_part(origin) == last_part(path);
    let fitting: Vec<String> = origins
        .into_iter()
        .filter(|origin| {
            keeps_place(origin) && (is_named(origin) || origin == target.trim_end_matches('/'))
        })
        .collect();
    if !fitting.is_empty() {
        return Some(fitting);
    }
    let mut places = Vec::new();
    for moved in all.iter().filter(|moved| is_within(&moved.now, path)) {
        let rest = moved.now.get(path.len()..).unwrap_or_default();
        if format!("{}{rest}", target.trim_end_matches('/')) == moved.was {
            places.push(moved.was.clone());
        }
    }
    (!places.is_empty()).then_some(places)
}

fn keeps_place(path: &str, target: &str) -> bool {
    let (parent, name) = path.rsplit_once('/').unwrap_or_default();
    // A directory of the same name would take in what is in it, and no more than a name is known.
    let is_file = (target.ends_with('/') || name.contains(['.', '*'])) && !is_directory(name);
    let is_parent = is_file && parent == target.trim_end_matches('/');
    path == target.trim_end_matches('/') || is_parent
}

/// Images whose own tools are below `/usr/local`.
fn has_toolchain(change: &Change<'_>) -> bool {
    let kind = base(change.before).and_then(|image| ImageKind::of(&image));
    kind.is_some_and(|kind| matches!(kind.language, Some("go" | "rust" | "c" | "node")))
}

/// A program that the container starts by its name may be in any directory of the search path.
fn is_moved_program(change: &Change<'_>, path: &str, target: &str) -> bool {
    let name = last_part(path);
    let place = match target.strip_suffix('/') {
        Some(directory) => format!("{directory}/{name}"),
        None => target.to_owned(),
    };
    let is_program = commands::starts(change.before, name)
        && bare_program(change.before).as_deref() == Some(name);
    let directory = place.rsplit_once('/').map_or("", |(directory, _)| directory);
    is_program && place.ends_with(&format!("/{name}")) && is_on_path(change.after, directory)
}

/// Every place of the proposal's stages that has what the original has elsewhere.
fn all_moved(change: &Change<'_>) -> Vec<Moved> {
    let (before, after) = (change.before, change.after);
    let mut found = Vec::new();
    for (now, was) in before.transfers() {
        found.push(Moved { now: now.clone(), was: was.clone() });
    }
    found.extend(outputs(change));
    found.extend(prefixes(change));
    found.extend(directories(change));
    found.extend(staged(after));
    // What a stage copies aside is what it was.
    for (from, to) in after.transfers() {
        let known: Vec<String> = found
            .iter()
            .filter(|moved| moved.now == *from)
            .map(|moved| moved.was.clone())
            .collect();
        found.push(Moved { now: to.clone(), was: from.clone() });
        found.extend(known.into_iter().map(|was| Moved { now: to.clone(), was }));
    }
    found
}

/// [`View::transfers`]
pub(super) fn transfers(view: &View<'_>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for index in 0..view.file.instructions.len() {
        for part in view.parts(index).unwrap_or_default() {
            let [command] = part.commands.as_slice() else { continue };
            let written = command.words.iter().map(|word| match word.pattern() {
                Some(pattern) => pattern,
                None => word.text().to_owned(),
            });
            let all: Vec<String> = written.map(|word| expanded(view, index, &word)).collect();
            let Some((name, rest)) = all.split_first() else { continue };
            let makes_directory = name == "install"
                && rest.iter().any(|word| {
                    word.starts_with('-') && !word.starts_with("--") && word.contains('d')
                });
            if !matches!(name.as_str(), "cp" | "mv" | "install") || makes_directory {
                continue;
            }
            found.extend(moves(rest, part.directory.as_deref()));
        }
    }
    found
}

/// Each source of a copying command with the place it gets.
pub(super) fn moves(arguments: &[String], workdir: Option<&str>) -> Vec<(String, String)> {
    let plain = arguments.iter().filter(|argument| !argument.starts_with('-'));
    // `install -m 0755 FROM TO`
    let plain: Vec<&String> =
        plain.filter(|argument| !argument.bytes().all(|byte| byte.is_ascii_digit())).collect();
    let Some((to, sources)) = plain.split_last() else { return Vec::new() };
    let Some(target) = absolute(to, workdir) else { return Vec::new() };
    let is_directory = target.ends_with('/') || sources.len() > 1;
    let keeps_parents = arguments.iter().any(|argument| argument == "--parents");
    let target = target.trim_end_matches('/');
    let moved = sources.iter().filter_map(|from| {
        let content = from.strip_suffix("/.");
        let from = absolute(content.unwrap_or(from), workdir)?;
        let from = from.trim_end_matches('/').to_owned();
        let to = if keeps_parents {
            format!("{target}{from}")
        } else if is_directory && content.is_none() {
            format!("{target}/{}", last_part(&from))
        } else {
            target.to_owned()
        };
        Some((from, to))
    });
    moved.collect()
}

/// A step that runs in another directory leaves its results there.
fn directories(change: &Change<'_>) -> Vec<Moved> {
    let places = |view: &View<'_>| -> Vec<(String, String)> {
        let mut found = Vec::new();
        for index in 0..view.file.instructions.len() {
            for part in view.parts(index).unwrap_or_default() {
                let Some(directory) =
                    part.directory.as_ref().filter(|directory| directory.len() > 1)
                else {
                    continue;
                };
                found.push((part.text.clone(), directory.trim_end_matches('/').to_owned()));
            }
        }
        found
    };
    let olds = places(change.before);
    let news = places(change.after);
    let mut found: Vec<Moved> = news
        .into_iter()
        .filter_map(|(text, now)| {
            let (_, was) = olds.iter().find(|(old, _)| *old == text)?;
            (*was != now).then(|| Moved { now, was: was.clone() })
        })
        .collect();
    found.dedup();
    found
}

/// `make install DESTDIR=/stage` makes a tree that is copied to where it belongs.
fn staged(after: &View<'_>) -> Vec<Moved> {
    let words = after.text.split(|character: char| character.is_whitespace() || character == '"');
    let values = words.filter_map(|word| word.strip_prefix("DESTDIR="));
    values
        .filter(|value| value.starts_with('/') && value.len() > 1 && !value.contains('$'))
        .map(|value| Moved { now: value.trim_end_matches('/').to_owned(), was: String::new() })
        .collect()
}

/// A build that differs from one of the original in the place of its output alone.
fn outputs(change: &Change<'_>) -> Vec<Moved> {
    let olds = with_outputs(change.before);
    let news = with_outputs(change.after);
    news.into_iter()
        .filter_map(|(text, now)| {
            let (_, was) = olds.iter().find(|(old, place)| *old == text && *place != now)?;
            Some(Moved { now, was: was.clone() })
        })
        .collect()
}

/// Builds without the places of their outputs, each with that place.
pub(super) fn with_outputs(view: &View<'_>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for index in 0..view.file.instructions.len() {
        for part in view.parts(index).unwrap_or_default() {
            if let Some((text, output)) = without_output(part) {
                let place = absolute(&output, part.directory.as_deref());
                let place = place.map(|place| place.trim_end_matches('/').to_owned());
                found.extend(place.map(|place| (plain(&text), place)));
            }
        }
    }
    found
}

/// The text of a build without the place of its output, and that place.
pub(super) fn without_output(part: &commands::Segment) -> Option<(String, String)> {
    let [command] = part.commands.as_slice() else { return None };
    if let Some(root) = root_of(command) {
        let flags = [format!(" --root {root}"), format!(" --root={root}")];
        let text = flags.iter().fold(part.text.clone(), |text, flag| text.replace(flag, ""));
        return Some((text, root));
    }
    if let Some(stage) = part.text.split_whitespace().find(|word| word.starts_with("DESTDIR=")) {
        let text = part.text.replace(stage, " ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        return Some((text, String::new()));
    }
    let output = output_of(command)?;
    (!output.is_empty() && part.text.matches(&output).count() == 1)
        .then(|| (part.text.replace(&output, "<output>"), output))
}

/// `cargo install --root DIRECTORY`
fn root_of(command: &Command) -> Option<String> {
    let words = words(command)?;
    let is_install = matches!(words.as_slice(), [cargo, install, ..] if cargo == "cargo" && install == "install");
    let place = words.iter().position(|word| word == "--root");
    let next = place.and_then(|place| words.get(place + 1)).cloned();
    let value = || words.iter().find_map(|word| word.strip_prefix("--root=")).map(str::to_owned);
    if is_install { next.or_else(value) } else { None }
}

fn output_of(command: &Command) -> Option<String> {
    const BUILDERS: &[&str] =
        &["go", "gcc", "g++", "cc", "c++", "clang", "dotnet", "maturin", "rustc"];
    const OUTPUTS: &[&str] = &[
        "--dest",
        "--destination",
        "--out",
        "--out-dir",
        "--outDir",
        "--outdir",
        "--output",
        "--output-dir",
        "--output-path",
    ];
    let call = command.effective();
    let name = call.name()?;
    let words: Vec<String> =
        call.args().iter().map(|argument| argument.pattern().unwrap_or_default()).collect();
    let is_builder = BUILDERS.contains(&last_part(&name));
    let is_flag = |word: &str| OUTPUTS.contains(&word) || (is_builder && word == "-o");
    let value = |word: &String| {
        let (flag, value) = word.split_once('=')?;
        is_flag(flag).then(|| value.to_owned())
    };
    let place = words.iter().position(|word| is_flag(word));
    let next = place.and_then(|place| words.get(place + 1)).cloned();
    next.or_else(|| words.iter().find_map(value)).filter(|output| !output.is_empty())
}

/// `pip install --prefix=/install` of what the original installs into the system.
fn prefixes(change: &Change<'_>) -> Vec<Moved> {
    let is_plain = |call: &&PackageCall| {
        call.manager == Manager::Pip && call.action == Action::Install && call.target.is_none()
    };
    if !commands::calls(change.before).any(|(_, call)| is_plain(&call)) {
        return Vec::new();
    }
    let targets = commands::calls(change.after)
        .filter(|(_, call)| call.manager == Manager::Pip && call.has_flag(&["--prefix"]));
    targets
        .filter_map(|(_, call)| call.target.as_deref())
        .map(|target| Moved {
            now: target.trim_end_matches('/').to_owned(),
            was: "/usr/local".to_owned(),
        })
        .collect()
}
