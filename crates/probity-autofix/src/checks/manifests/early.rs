//! Copies and mounts of manifests that come before the sources.

use probity_dockerfile::{Arguments, Flag, Instruction, Keyword};

use super::{copies_all, installs::is_invented, is_all};
use crate::checks::{Change, View, steps::absolute};

/// Files that installs read, by their names; `*` stands for any text.
const FILES: &[&str] = &[
    "package.json",
    "package*.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    "lerna.json",
    "turbo.json",
    "nx.json",
    "bun.lock",
    "bun.lockb",
    "requirements*.txt",
    "requirements*.in",
    "constraints*.txt",
    "pyproject.toml",
    "poetry.lock",
    "poetry.toml",
    "uv.lock",
    "Pipfile",
    "Pipfile.lock",
    "setup.py",
    "setup.cfg",
    ".python-version",
    "Gemfile",
    "Gemfile.lock",
    "*.gemspec",
    ".ruby-version",
    ".tool-versions",
    "composer.json",
    "composer.lock",
    "symfony.lock",
    "auth.json",
    "go.mod",
    "go.sum",
    "go.work",
    "go.work.sum",
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain",
    "rust-toolchain.toml",
    "pom.xml",
    "mvnw",
    "settings.xml",
    "gradlew",
    "*.gradle",
    "*.gradle.kts",
    "gradle.properties",
    "gradle.lockfile",
    "*.sln",
    "*.slnx",
    "*.csproj",
    "*.fsproj",
    "*.props",
    "*.targets",
    "nuget.config",
    "NuGet.config",
    "NuGet.Config",
    "global.json",
    "packages.lock.json",
    "mix.exs",
    "mix.lock",
    "README.md",
];

/// Directories that hold nothing else.
const DIRECTORIES: &[&str] = &[
    ".mvn",
    ".yarn",
    ".yarn/releases",
    ".yarn/plugins",
    "gradle",
    "gradle/wrapper",
    "patches",
    "prisma",
    "requirements",
    "vendor/cache",
    ".cargo",
    "config",
];

/// What one RUN can read of the build context before the sources are there: paths as the context has
/// them.
pub(super) fn readable(view: &View<'_>, index: usize) -> Vec<String> {
    let Some(stage) = view.facts.stage_of(index) else { return Vec::new() };
    let earlier =
        (stage.instructions.start..index).filter_map(|step| sources(view, step)).flatten();
    let mounted = view.file.instructions.get(index).into_iter().flat_map(|instruction| {
        instruction.flags_named("mount").filter_map(move |flag| bound(view, index, flag))
    });
    earlier.map(|(source, _)| source).chain(mounted).collect()
}

/// What a COPY brings: each path of the context, and where it goes to.
fn sources(view: &View<'_>, index: usize) -> Option<Vec<(String, String)>> {
    let instruction = view.file.instructions.get(index)?;
    let is_known = |flag: &Flag| matches!(flag.name.text.as_str(), "link" | "chown" | "parents");
    let keeps_directories = instruction.flags_named("parents").next().is_some();
    let is_transfer = matches!(instruction.keyword, Keyword::Copy | Keyword::Add);
    if !is_transfer || !instruction.flags.iter().all(is_known) {
        return None;
    }
    let Arguments::Transfer { sources, destination: Some(target), .. } = &instruction.arguments
    else {
        return None;
    };
    let workdir = view.facts.state(index).and_then(|state| state.workdir.path.as_deref());
    let is_directory = sources.len() > 1 || target.text.ends_with('/') || is_all(&target.text);
    let target = absolute(&target.text, workdir.or(Some("/")))?;
    let target = target.trim_end_matches('/');
    let place = |source: &str| {
        let path = source.trim_start_matches("./").trim_end_matches('/');
        let name = path.rsplit('/').next().unwrap_or(path);
        // The content of a directory is copied, not the directory.
        let is_hidden = name.starts_with('.');
        let is_file = is_hidden || name.contains(['.', '*']) || is_manifest(path);
        let is_tree = DIRECTORIES.contains(&path) || source.ends_with('/') || !is_file;
        let place = if keeps_directories {
            format!("{target}/{path}")
        } else if is_directory && !is_tree {
            format!("{target}/{name}")
        } else {
            target.to_owned()
        };
        (path.to_owned(), place)
    };
    Some(sources.iter().map(|source| place(&source.text)).collect())
}

/// Whether a COPY is new, and puts each file where the sources have it too: the copy of the sources brings
/// the same again, so whatever it is does no harm.
pub(super) fn is_new_manifest(change: &Change<'_>, index: usize) -> bool {
    let Some(own) = sources(change.after, index) else { return false };
    let is_old = (0..change.before.file.instructions.len())
        .filter_map(|old| sources(change.before, old))
        .any(|old| old == own);
    let owners = owners(change);
    let instruction = change.after.file.instructions.get(index);
    let owner = instruction.and_then(|copy| copy.flag_value("chown"));
    let has_owner = owner.is_none_or(|owner| owners.contains(&owner.text.to_string()));
    let keeps = instruction.is_some_and(|copy| copy.flags_named("parents").next().is_some());
    let places = places(change);
    let is_in_place = |(source, target): &(String, String)| {
        let directory = source.rsplit_once('/').map(|(directory, _)| directory);
        let is_flat = keeps || !directory.is_some_and(|directory| directory.contains('*'));
        let name = source.rsplit('/').next().unwrap_or(source);
        is_flat
            && !is_invented(change.before, name)
            && !source.is_empty()
            && !is_all(source)
            && !source.split('/').any(|part| part == ".." || part == "**")
            && source.rsplit('/').next() != Some("*")
            && places.iter().any(|place| *target == format!("{place}/{source}"))
    };
    !is_old && has_owner && !own.is_empty() && own.iter().all(is_in_place)
}

/// Whether the last parts of a path, perhaps with a `*` each, are those of another.
pub(super) fn ends_like(own: &str, end: &str) -> bool {
    let own: Vec<&str> = own.split('/').collect();
    let end: Vec<&str> = end.split('/').collect();
    own.len() >= end.len()
        && own.iter().rev().zip(end.iter().rev()).all(|(own, end)| is_like(end, own))
}

/// Whether a need is a directory of packages, not a package.
pub(super) fn is_group(need: &str) -> bool {
    GROUPS.contains(&need)
}

const GROUPS: &[&str] =
    &["packages", "apps", "libs", "services", "modules", "crates", "workspaces"];

fn is_manifest(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    DIRECTORIES.contains(&path) || FILES.iter().any(|pattern| is_like(name, pattern))
}

/// Whether a name is what a pattern with at most one `*` says, or that pattern itself.
pub(super) fn is_like(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        Some((before, after)) => {
            name.strip_prefix(before).is_some_and(|rest| rest.ends_with(after))
        }
        None => name == pattern,
    }
}

/// Where the original copies all its sources to.
fn places(change: &Change<'_>) -> Vec<String> {
    let view = change.before;
    let all = view
        .file
        .instructions
        .iter()
        .enumerate()
        .filter(|(_, instruction)| copies_all(instruction));
    all.filter_map(|(index, instruction)| {
        let Arguments::Transfer { destination: Some(target), .. } = &instruction.arguments else {
            return None;
        };
        let workdir = view.facts.state(index).and_then(|state| state.workdir.path.as_deref());
        let target = absolute(&target.text, workdir.or(Some("/")))?;
        Some(target.trim_end_matches('/').to_owned())
    })
    .collect()
}

fn owners(change: &Change<'_>) -> Vec<String> {
    let all = change.before.file.instructions.iter().filter(|instruction| copies_all(instruction));
    all.filter_map(|instruction| instruction.flag_value("chown"))
        .map(|owner| owner.text.to_string())
        .collect()
}

/// Where package managers keep what they download; nothing of it is part of a result.
const CACHES: &[&str] = &[
    "/root/.npm",
    "/root/.cache",
    "/root/.cache/pip",
    "/root/.cache/uv",
    "/root/.cache/pypoetry",
    "/root/.cache/yarn",
    "/root/.composer/cache",
    "/tmp/cache",
    "/usr/local/share/.cache/yarn",
    "/usr/local/share/.cache",
    "/root/.yarn/berry/cache",
    "/usr/local/bundle/cache",
    "/tmp/.npm",
    "/root/.cache/composer",
];

/// The same, but later steps read it: each of them has to mount it too.
const STORES: &[(&str, &str)] = &[
    ("/go/pkg/mod", "go"),
    ("/root/.cache/go-build", "go"),
    ("/root/.m2", "mvn"),
    ("/root/.m2/repository", "mvn"),
    ("/usr/local/cargo/registry", "cargo"),
    ("/root/.gradle", "gradle"),
    ("/root/.nuget/packages", "dotnet"),
];

/// Whether a mount that the original lacks changes nothing but how fast an install is.
pub(super) fn is_harmless_mount(change: &Change<'_>, index: usize, flag: &Flag) -> bool {
    let option =
        |names: &[&str]| names.iter().find_map(|name| flag.option(name)).map(|it| it.text.as_str());
    let target = option(&["target", "dst", "destination"]).unwrap_or_default();
    let target = target.trim_end_matches('/');
    match option(&["type"]) {
        Some("cache") => {
            let store = STORES.iter().find(|(path, _)| *path == target);
            CACHES.contains(&target)
                || store
                    .is_some_and(|(_, tool)| is_mounted_by_all(change.after, index, tool, target))
        }
        Some("bind") | None => {
            bound(change.after, index, flag).is_some_and(|source| !is_all(&source))
        }
        _ => false,
    }
}

/// The path of the context that a RUN sees at the place where the sources will have it.
fn bound(view: &View<'_>, index: usize, flag: &Flag) -> Option<String> {
    let option = |names: &[&str]| {
        names.iter().find_map(|name| flag.option(name)).map(|it| it.text.to_string())
    };
    if option(&["type"]).is_some_and(|kind| kind != "bind") || flag.option("from").is_some() {
        return None;
    }
    let source = option(&["source", "src"])?;
    let target = option(&["target", "dst", "destination"])?;
    let workdir = view.facts.state(index).and_then(|state| state.workdir.path.as_deref());
    let source = source.trim_start_matches("./").to_owned();
    let is_here = absolute(&target, workdir)? == absolute(&source, workdir)?;
    let names = |instruction: &Instruction| instruction.rest_text().contains(&target);
    let is_named = target.starts_with('/') && view.file.instructions.get(index).is_some_and(names);
    (is_here || is_named).then_some(source)
}

/// The places outside of the sources where a RUN has mounted paths of the context.
pub(super) fn elsewhere(view: &View<'_>, index: usize, flag: &Flag) -> Option<(String, String)> {
    let target = ["target", "dst", "destination"].iter().find_map(|name| flag.option(name))?;
    let source = bound(view, index, flag)?;
    target.text.starts_with('/').then(|| (target.text.to_string(), source))
}

fn is_mounted_by_all(view: &View<'_>, index: usize, tool: &str, target: &str) -> bool {
    let Some(stage) = view.facts.stage_of(index) else { return false };
    stage.instructions.clone().all(|index| {
        let called = view.called(index);
        let is_user = called.iter().any(|call| call.name.starts_with(tool));
        let mounts = |instruction: &Instruction| {
            instruction.passing_mounts().any(|place| place.trim_end_matches('/') == target)
        };
        !is_user || view.file.instructions.get(index).is_some_and(mounts)
    })
}

/// Directories of packages that the original names, and files that its comments say an install reads.
pub(super) fn named_needs(view: &View<'_>) -> Vec<String> {
    const READS: &[&str] = &[
        "editable",
        "gem",
        "gems",
        "generates",
        "includes",
        "install",
        "installs",
        "links",
        "local",
        "needs",
        "patch",
        "patches",
        "postinstall",
        "preinstall",
        "prepare",
        "reads",
        "refer",
        "refers",
        "repositories",
        "workspace",
        "workspaces",
    ];
    let mut needs = Vec::new();
    for line in view.text.lines() {
        let comment = line.trim_start().strip_prefix('#');
        let plain = |word: &str| {
            let word = word.trim_matches(|character: char| "\"'`()[],;:.".contains(character));
            let word = word.trim_start_matches("./").trim_end_matches('/');
            let is_plain =
                word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-*".contains(&byte));
            (is_plain && !word.is_empty() && !word.starts_with(['/', '.', '-']))
                .then(|| word.to_owned())
        };
        if let Some(comment) = comment {
            let lower = comment.to_lowercase();
            let is_need = lower
                .split(|character: char| !character.is_alphanumeric())
                .any(|part| READS.contains(&part));
            let paths = comment.split_whitespace().filter(|word| word.contains('/'));
            // Of `patches/*.patch` the install needs `patches`.
            let fixed = |path: String| match path.split_once("/*") {
                Some((directory, _)) => directory.to_owned(),
                None => path,
            };
            if is_need {
                needs.extend(paths.filter_map(plain).map(fixed).filter(|path| !path.contains('*')));
            }
            // A manifest that a comment tells of is one that the install reads.
            let names = comment
                .split_whitespace()
                .map(|word| word.trim_matches(|character: char| "\"'`(),;:".contains(character)));
            let is_file =
                |name: &&str| name.contains('.') && FILES.iter().any(|own| is_like(name, own));
            needs.extend(names.filter(is_file).map(str::to_owned));
            continue;
        }
        for word in line.split(|character: char| {
            character.is_whitespace() || character == '=' || character == ','
        }) {
            let Some(word) = plain(word) else { continue };
            let mut parts = word.split('/');
            if let (Some(group), Some(name)) = (parts.next(), parts.next())
                && GROUPS.contains(&group)
                && !name.contains('*')
            {
                needs.push(format!("{group}/{name}"));
            }
        }
    }
    needs.sort();
    needs.dedup();
    needs
}
