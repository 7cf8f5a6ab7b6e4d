//! What the original copies and makes for its builds alone.

use probity_dockerfile::Setting;

use super::{
    super::{
        Change, View,
        belongings::{command_words, is_within, text_of},
        commands::{self, Called, last_part},
        steps::{absolute, expanded},
    },
    DATA, is_copied,
    pages::is_taken_out,
};

/// Files that only an installer of packages reads.
const MANIFESTS: &[&str] = &[
    "package.json",
    "package-lock.json",
    "package*.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "requirements.txt",
    "requirements",
    "constraints.txt",
    "pyproject.toml",
    "poetry.lock",
    "uv.lock",
    "Pipfile",
    "Pipfile.lock",
    "setup.py",
    "setup.cfg",
    "composer.json",
    "composer.lock",
    "composer.phar",
    "tsconfig.json",
    "tsconfig*.json",
];

/// Beginnings of names of files that only people and builds read.
const BESIDE: &[&str] = &[
    "readme",
    "license",
    "changelog",
    "contributing",
    "makefile",
    "cmakelists",
    "manifest.in",
    "cargo.",
];

/// Whether a file that is copied is for people or tools, and not for the program.
pub(super) fn is_for_tools(name: &str) -> bool {
    let lower = name.to_lowercase();
    MANIFESTS.contains(&name)
        || (lower.starts_with("requirements") && lower.contains('.'))
        || matches!(lower.as_str(), ".npmrc" | ".nvmrc" | ".yarnrc" | ".yarnrc.yml")
        || BESIDE.iter().any(|start| lower.starts_with(start))
        || matches!(lower.as_str(), "test" | "tests" | "docs")
        || lower.rsplit_once(".config.").is_some()
}

/// Where tools of builds keep their settings.
const HOMES: &[&str] = &[
    "/etc/pip.conf",
    "/root/.cargo",
    "/root/.composer",
    "/root/.config/pip",
    "/root/.gradle",
    "/root/.m2",
    "/root/.netrc",
    "/root/.npmrc",
    "/root/.nuget",
    "/root/.pip",
    "/usr/share/maven",
];

/// Whether a place is for the settings of a tool that builds.
pub(super) fn is_of_tools(place: &str) -> bool {
    HOMES.iter().any(|home| is_within(place, home))
}

/// Whether the comment above a COPY says that the program holds the files itself.
pub(in crate::checks) fn is_told_built_in(view: &View<'_>, index: usize) -> bool {
    const TELLS: &[&str] = &[
        "embedded",
        "compiled in",
        "compiled into",
        "baked in",
        "not read at run",
        "build only",
        "built into",
        "only for the build",
    ];
    let Some(instruction) = view.file.instructions.get(index) else { return false };
    let before = view.text.get(..instruction.span.start).unwrap_or_default();
    let above = before.lines().rev().take_while(|line| line.trim_start().starts_with('#'));
    let above: Vec<String> = above.map(str::to_lowercase).collect();
    let is_not =
        above.iter().any(|line| line.contains("not embedded") || line.contains("not compiled"));
    !is_not && above.iter().any(|line| TELLS.iter().any(|tell| line.contains(tell)))
}

/// Whether a later step reads a place by name and writes a result elsewhere that comes along: `sass
/// styles/main.scss static/main.css`. Nothing that the container starts with names the place.
pub(super) fn is_turned_into_result(change: &Change<'_>, index: usize, place: &str) -> bool {
    const MOVERS: &[&str] = &[
        "cat", "chgrp", "chmod", "chown", "cp", "install", "ln", "ls", "mkdir", "mv", "rm", "sed",
        "test", "touch",
    ];
    let before = change.before;
    let runtime = before.facts.final_runtime();
    let is_named = runtime.entries().iter().any(|entry| entry.entry.to_string().contains(place));
    let is_data = DATA.contains(&last_part(place)) && !is_among_sources(before, place);
    if is_data || is_named {
        return false;
    }
    (index + 1..before.file.instructions.len()).any(|later| {
        before.parts(later).unwrap_or_default().iter().any(|part| {
            let called = part.commands.iter().filter_map(|command| Called::of(later, command));
            let is_moved = called.clone().all(|call| call.is_any(MOVERS));
            let words = part.commands.iter().flat_map(|command| {
                let redirected = command
                    .redirections()
                    .iter()
                    .filter_map(|redirection| redirection.target.as_ref());
                let words = command.words.iter().skip(1).chain(redirected);
                words.map(|word| word.text().to_owned()).collect::<Vec<_>>()
            });
            let paths: Vec<String> = words
                .map(|word| word.rsplit('=').next().unwrap_or(&word).to_owned())
                .filter(|word| !word.starts_with('-'))
                .filter_map(|word| {
                    absolute(&expanded(before, later, &word), part.directory.as_deref())
                })
                .collect();
            let is_result = |path: &String| {
                let name = last_part(path);
                !is_within(path, place) && name.contains('.') && is_copied(change, path)
            };
            !is_moved
                && paths.iter().any(|path| is_within(path, place))
                && paths.iter().any(is_result)
        })
    })
}

/// Directories that people keep nothing in but sources.
const SOURCE_ROOTS: &[&str] = &["/build", "/source", "/sources", "/src", "/usr/src"];

/// Whether a place is where people keep sources, and the container starts nothing there.
fn is_among_sources(view: &View<'_>, place: &str) -> bool {
    let is_source = |path: &str| SOURCE_ROOTS.iter().any(|root| is_within(path, root));
    let mut words = command_words(view).into_iter().flatten();
    is_source(place)
        && !words.any(|word| {
            let is_script = word.rsplit_once('.').is_some_and(|(_, end)| end.len() < 4);
            is_source(&word) || (is_script && !word.starts_with(['/', '-']))
        })
}

/// Whether a place lies beside sources of a compiled program that is started elsewhere, and nothing that
/// the container starts with names it: a program that reads a relative path does not find it there.
pub(super) fn is_behind(view: &View<'_>, index: usize, place: &str) -> bool {
    let state = view.facts.state(index);
    let Some(workdir) = state.and_then(|state| state.workdir.path.as_deref()) else { return false };
    let workdir = workdir.trim_end_matches('/');
    let sources = if is_within(place, workdir) {
        workdir
    } else {
        match SOURCE_ROOTS.iter().find(|root| is_within(place, root)) {
            Some(root) => root,
            None => return false,
        }
    };
    let runtime = view.facts.final_runtime();
    let workdir =
        runtime.get(Setting::Workdir).first().and_then(|setting| text_of(&setting.entry.value));
    let workdir = workdir.unwrap_or_else(|| "/".to_owned());
    let is_named = runtime.entries().iter().any(|entry| entry.entry.to_string().contains(sources));
    let name = format!("/{}", last_part(place));
    let comments = view.text.lines().filter(|line| line.trim_start().starts_with('#'));
    let is_told = comments.into_iter().any(|line| line.contains(&name) || line.contains(place));
    sources.len() > 1
        && is_within(place, sources)
        && !is_within(&workdir, sources)
        && !is_within(sources, &workdir)
        && !is_named
        && !is_told
}

/// Directories that compilers and bundlers of JavaScript turn into something else.
const SOURCES: &[&str] = &[
    "api",
    "app",
    "apps",
    "client",
    "components",
    "css",
    "frontend",
    "hooks",
    "js",
    "lib",
    "packages",
    "pages",
    "scripts",
    "server",
    "src",
    "styles",
    "test",
    "tests",
    "tools",
    "ts",
    "types",
    "ui",
    "utils",
];

/// Whether a build of JavaScript reads something that run time does not: sources, and files beside
/// them, which are settings of tools.
pub(super) fn is_bundled(name: &str) -> bool {
    !DATA.contains(&name) && (SOURCES.contains(&name) || name.contains('.') || name.is_empty())
}

/// Whether the settings of a bundler are copied: it turns pages into files elsewhere.
pub(super) fn is_bundled_by_tool(view: &View<'_>) -> bool {
    const BUNDLERS: &[&str] =
        &["vite.config.", "webpack.config.", "rollup.config.", "angular.json", "parcel", "esbuild"];
    let copies = view.all_pairs();
    copies
        .into_iter()
        .any(|(source, _)| BUNDLERS.iter().any(|bundler| last_part(source).starts_with(bundler)))
}

pub(in crate::checks) const COMPILERS: &[&str] = &[
    "c++", "cc", "clang", "clang++", "cython", "f2py", "g++", "gcc", "gfortran", "nasm", "protoc",
    "rustc",
];

/// Ends of names of sources that they read.
const COMPILED: &[&str] = &["asm", "c", "cc", "cpp", "cxx", "f", "f90", "proto", "pyx", "rs"];

/// Whether a compiler works in a directory, and a later command copies its result out of it.
pub(super) fn is_compiled_there(view: &View<'_>, place: &str) -> bool {
    let compiles = |index: usize| {
        let parts = view.parts(index).unwrap_or_default();
        parts.iter().any(|part| {
            let called = part.commands.iter().filter_map(|command| Called::of(index, command));
            let is_there =
                part.directory.as_deref().is_some_and(|directory| is_within(directory, place));
            let is_compiler = |call: Called| {
                call.is_any(COMPILERS) || call.words.iter().any(|word| word.ends_with("f2py"))
            };
            is_there && called.into_iter().any(is_compiler)
        })
    };
    place.len() > 1 && is_taken_out(view, place) && (0..view.file.instructions.len()).any(compiles)
}

/// Directories that another language's compiler reads in a file for scripts, and the project that
/// `pip install .` packs.
pub(super) fn compiled_directories(view: &View<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for call in view.all_called() {
        let state = view.facts.state(call.instruction);
        let workdir = state.and_then(|state| state.workdir.path.as_deref());
        let is_package = call.is_any(&["pip", "pip3"]) && call.words.iter().any(|word| word == ".");
        let starts_elsewhere = !["python", "python3", "uvicorn", "gunicorn", "hypercorn"]
            .iter()
            .any(|program| commands::starts(view, program));
        if is_package && (starts_elsewhere || starts_copied_module(view)) {
            found.extend(workdir.map(|directory| directory.trim_end_matches('/').to_owned()));
        }
        if call.is_any(&["pip", "pip3"]) && call.words.iter().any(|word| word == "install") {
            let local =
                call.words.iter().filter(|word| word.starts_with(['.', '/']) && word.len() > 2);
            let local = local.filter(|word| !word.contains('*') && !last_part(word).contains('.'));
            let places = local.filter_map(|word| absolute(word, workdir));
            found.extend(places.map(|place| place.trim_end_matches('/').to_owned()));
        }
        if call.is_any(COMPILERS) || call.words.iter().any(|word| word == "grpc_tools.protoc") {
            let sources = call.words.iter().filter(|word| {
                let end = word.rsplit_once('.').map(|(_, end)| end);
                end.is_some_and(|end| COMPILED.contains(&end)) && !word.starts_with('-')
            });
            let directories = sources
                .filter_map(|source| source.rsplit_once('/'))
                .map(|(directory, _)| directory);
            found.extend(directories.filter_map(|directory| absolute(directory, workdir)));
        }
        let flags: &[&str] = match call.name.as_str() {
            "cmake" => &["-S"],
            "maturin" | "cargo" => &["--manifest-path"],
            "make" => &["-C"],
            _ => continue,
        };
        let value = call.words.iter().position(|word| flags.contains(&word.as_str()));
        let path = value.and_then(|place| call.words.get(place + 1));
        let path = path.and_then(|path| absolute(path, workdir));
        found.extend(
            path.map(|path| path.trim_end_matches("/Cargo.toml").trim_end_matches('/').to_owned()),
        );
    }
    // The root and a directory with the whole program in it tell nothing.
    found.retain(|directory| directory.len() > 1);
    found
}

/// Whether the container starts a module that has the name of a copied directory: the package that `pip
/// install .` makes of it has the module too.
fn starts_copied_module(view: &View<'_>) -> bool {
    let runtime = view.facts.final_runtime();
    let started: Vec<String> = [Setting::Entrypoint, Setting::Cmd]
        .into_iter()
        .flat_map(|setting| runtime.get(setting))
        .map(|setting| setting.entry.to_string())
        .collect();
    let copies = view.all_pairs();
    let mut names = copies.map(|(source, _)| last_part(source.trim_end_matches('/')).to_owned());
    names.any(|name| {
        let is_name = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let module = [format!("{name}."), format!("{name}:")];
        is_name
            && started.iter().any(|text| {
                let mut words = text.split(|character: char| {
                    character.is_whitespace() || "\"',[]".contains(character)
                });
                words.any(|word| {
                    module.iter().any(|start| word.starts_with(start)) && word.contains(':')
                })
            })
    })
}

/// Whether no build of the original runs in a directory around a place.
pub(super) fn is_beside_builds(view: &View<'_>, place: &str) -> bool {
    (0..view.file.instructions.len()).all(|index| {
        let parts = view.parts(index).unwrap_or_default();
        parts.iter().all(|part| {
            let called = part.commands.iter().filter_map(|command| Called::of(index, command));
            let builds = called.filter(Called::is_build).count() > 0;
            !builds
                || part.directory.as_deref().is_some_and(|directory| !is_within(place, directory))
        })
    })
}

/// Whether a place is one of tools, or one that builds of the original run in or write to, and that
/// nothing of the container names.
pub(super) fn is_for_builds(change: &Change<'_>, path: &str) -> bool {
    const TOOLS: &[&str] = &[
        "android", "bazel", "cargo", "cmake", "flutter", "go", "gradle", "jdk", "maven", "mvn",
        "protoc", "rust", "rustup", "sdkman", "zig",
    ];
    let before = change.before;
    let name = last_part(path);
    let is_tool = TOOLS.iter().any(|tool| {
        let rest = name.strip_prefix(tool);
        rest.is_some_and(|rest| {
            !rest.starts_with(|character: char| character.is_ascii_alphabetic())
        })
    });
    let is_built_in = (0..before.file.instructions.len()).any(|index| {
        let parts = before.parts(index).unwrap_or_default();
        parts.iter().any(|part| {
            let called = part.commands.iter().filter_map(|command| Called::of(index, command));
            let mut builds = called.filter(Called::is_build).peekable();
            let is_there =
                part.directory.as_deref().is_some_and(|directory| is_within(directory, path));
            builds.peek().is_some()
                && (is_there || builds.any(|build| build.words.iter().any(|word| word == path)))
        })
    });
    let runtime = before.facts.final_runtime();
    let is_named = runtime.entries().iter().any(|entry| entry.entry.to_string().contains(path));
    (is_tool || is_built_in) && !is_named
}
