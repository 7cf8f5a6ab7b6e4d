//! What the container names has to come along: programs and files.

use std::collections::BTreeSet;

use probity_dockerfile::{Arguments, Instruction, Keyword, Setting, Value};

use super::{
    Change, Check, Issue, View,
    base_image::base,
    commands,
    kept::build_inputs::COMPILERS,
    moved::{copied, with_outputs},
    programs, search_path,
    steps::{absolute, expanded, written},
};

pub(crate) const ENTRY_COPIED: Check = Check::new("entry-copied", entry_copied).heuristic();

/// Ends of names that a relative word of a command must have to be a file.
const FILES: &[&str] = &[
    "js", "mjs", "cjs", "ts", "py", "rb", "php", "jar", "war", "sh", "dll", "pl", "toml", "yaml",
    "yml", "json", "conf", "cfg", "ini",
];

/// Files whose names have no end.
const PLAIN_FILES: &[&str] = &[
    "Brewfile",
    "Capfile",
    "Caddyfile",
    "Gemfile",
    "Guardfile",
    "LICENSE",
    "Makefile",
    "Pipfile",
    "Procfile",
    "Rakefile",
    "artisan",
    "gradlew",
    "mvnw",
];

/// What the original builds or copies and the container then names has to be in the final stage.
fn entry_copied(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let mut issues = Vec::new();
    let named: BTreeSet<String> =
        named_paths(change.before).into_iter().chain(built_programs(change.before)).collect();
    for path in named {
        let producers = producers(change.before, &path);
        if !producers.is_empty() && !is_held(change, &path, &producers) {
            let message = format!(
                "the container needs `{path}`, which the final stage neither makes nor copies"
            );
            issues.push(change.issue(check, &message));
        }
    }
    for program in programs::missing(change) {
        let image = base(change.after).unwrap_or_default();
        let message = format!(
            "the container starts `{program}`, which nothing shows to be in a final stage on `{image}`"
        );
        issues.push(change.issue(check, &message));
    }
    issues
}

/// What builds of a single stage put elsewhere than beside their sources, unless a later step moves it on
/// or is what calls it.
fn built_programs(view: &View<'_>) -> Vec<String> {
    const FLEETING: &[&str] = &["/tmp", "/var/tmp", "/dev"];
    if view.facts.stages().len() != 1 {
        return Vec::new();
    }
    let moved: Vec<&String> = view.transfers().iter().map(|(from, _)| from).collect();
    let sources = view.all_pairs();
    let sources: Vec<&String> = sources.map(|(_, place)| place).collect();
    // A program, wherever it is, and not an intermediate file.
    let built_by_go: Vec<String> = with_outputs(view)
        .into_iter()
        .filter(|(text, place)| text.contains("go build") && !place.contains('.'))
        .map(|(_, place)| place)
        .collect();
    let is_result = |place: &String| {
        let name = commands::last_part(place);
        let is_beside = sources.iter().any(|source| source.len() > 1 && is_within(place, source))
            && !built_by_go.contains(place);
        let is_called = view.all_called().any(|call| call.name == name);
        let is_moved = moved.iter().any(|from| is_within(from, place) || is_within(place, from));
        place.len() > 1
            && !is_beside
            && !is_called
            && !is_moved
            && !FLEETING.iter().any(|directory| is_within(place, directory))
    };
    let outputs = with_outputs(view).into_iter().map(|(_, place)| place);
    outputs.chain(go_programs(view)).chain(shared_libraries(view)).filter(is_result).collect()
}

/// Libraries that `gcc -shared -o PATH` writes.
fn shared_libraries(view: &View<'_>) -> Vec<String> {
    let links = view
        .all_called()
        .filter(|call| call.is_any(COMPILERS) && call.words.iter().any(|word| word == "-shared"));
    let outputs = links.filter_map(|call| {
        let place = call.words.iter().position(|word| word == "-o")?;
        call.words.get(place + 1).cloned()
    });
    outputs.filter(|output| output.starts_with('/') && output.contains(".so")).collect()
}

/// `go build -o DIRECTORY/ ./cmd/one ./cmd/two` makes a program of each package.
fn go_programs(view: &View<'_>) -> Vec<String> {
    let builds = view
        .all_called()
        .filter(|call| call.name == "go" && call.words.first().is_some_and(|word| word == "build"));
    let programs = builds.flat_map(|call| {
        let output = call
            .words
            .iter()
            .position(|word| word == "-o")
            .and_then(|place| call.words.get(place + 1));
        let directory =
            output.filter(|output| output.ends_with('/') && output.starts_with('/')).cloned();
        let packages =
            call.words.iter().filter(|word| word.starts_with("./") && !word.ends_with("..."));
        let names = packages.map(|package| commands::last_part(package.trim_end_matches('/')));
        let places = directory
            .map(|directory| names.map(|name| format!("{directory}{name}")).collect::<Vec<_>>());
        places.unwrap_or_default()
    });
    programs.collect()
}

/// Files and directories that commands, volumes and the search path name.
fn named_paths(view: &View<'_>) -> Vec<String> {
    let runtime = view.facts.final_runtime();
    let workdir =
        runtime.get(Setting::Workdir).first().and_then(|setting| text_of(&setting.entry.value));
    let mut paths = Vec::new();
    let mut last = String::new();
    let copied: BTreeSet<&String> = view.all_pairs().map(|(_, target)| target).collect();
    for word in words_of_commands(view) {
        let is_class_path = matches!(last.as_str(), "-cp" | "-classpath" | "--class-path");
        last.clone_from(&word);
        let word = match word.split_once('=') {
            Some((flag, value)) if flag.starts_with('-') => value,
            _ => word.as_str(),
        };
        let extension = word.rsplit_once('.').map(|(_, extension)| extension);
        let is_file = extension.is_some_and(|end| FILES.contains(&end)) && !word.starts_with('-');
        // A class path is several paths, and `lib/*` is all that is in a directory.
        let is_plain =
            word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-:*".contains(&byte));
        if is_plain && (is_class_path || word.starts_with('/')) && word.contains([':', '*']) {
            let parts = word.split(':').map(|part| part.trim_end_matches("/*"));
            let parts = parts
                .filter(|part| (part.starts_with('/') || is_class_path) && !part.contains('*'));
            paths.extend(parts.filter_map(|part| absolute(part, workdir.as_deref())));
            continue;
        }
        if word.contains(['$', ':', '*', '>', '<', '|', ';', '&']) || word.len() < 2 {
            continue;
        }
        if is_file && let Some(place) = on_search_path(view, word) {
            paths.push(place);
            continue;
        }
        let is_relative = word.starts_with("./") && word.len() > 2;
        let place = absolute(word, workdir.as_deref());
        let is_source = place.is_some_and(|place| copied.contains(&place));
        if word.starts_with('/') || is_file || is_relative || is_source {
            paths.extend(absolute(word, workdir.as_deref()));
        }
    }
    let variables =
        runtime.get(Setting::Env).iter().filter_map(|setting| text_of(&setting.entry.value));
    paths.extend(
        variables
            .filter(|variable| variable.starts_with('/') && !variable.contains([':', '$', ' '])),
    );
    let volumes = runtime.get(Setting::Volume).iter().map(|entry| entry.entry.key.clone());
    paths.extend(volumes.filter(|path| path.starts_with('/')));
    if programs::bare_program(view).is_some() || programs::is_wrapped(view) {
        paths.extend(search_path::named(view).into_iter().filter(|path| path.len() > 1));
    }
    paths.iter_mut().for_each(|path| path.truncate(path.trim_end_matches('/').len()));
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// The words of all commands: those of `sh -c "migrate && exec node dist/main.js"` as well, and `bin/server`
/// as what it is, a path.
fn words_of_commands(view: &View<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for words in command_words(view) {
        for (place, word) in words.into_iter().enumerate() {
            let is_program = place == 0 && word.contains('/') && !word.starts_with(['/', '.', '-']);
            if word.contains(' ') {
                let parts = word.split_whitespace().map(|part| part.trim_matches([';', '"', '\'']));
                found.extend(parts.map(str::to_owned));
            } else if is_program {
                found.push(format!("./{word}"));
            } else {
                found.push(word);
            }
        }
    }
    found
}

/// The place on the search path that a COPY gives a script which a command names without a directory.
fn on_search_path(view: &View<'_>, word: &str) -> Option<String> {
    if word.contains('/') {
        return None;
    }
    let places =
        search_path::directories(view).into_iter().map(|directory| format!("{directory}/{word}"));
    places.into_iter().find(|place| {
        let mut all = view.file.instructions.iter().enumerate();
        all.any(|(index, instruction)| covers(view, index, instruction, place))
    })
}

pub(super) fn command_words(view: &View<'_>) -> Vec<Vec<String>> {
    let runtime = view.facts.final_runtime();
    let settings = [Setting::Entrypoint, Setting::Cmd, Setting::Healthcheck];
    let entries = settings.into_iter().flat_map(|setting| runtime.get(setting));
    entries
        .filter_map(|entry| match &entry.entry.value {
            Value::Command(command) => Some(programs::words_of(command)),
            Value::Healthcheck(check) => check.command.as_ref().map(programs::words_of),
            _ => None,
        })
        .collect()
}

pub(super) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => text.value.clone(),
        _ => None,
    }
}

/// The instructions of the original that make a path or copy something to it.
fn producers(view: &View<'_>, path: &str) -> Vec<String> {
    let all = view.file.instructions.iter().enumerate();
    let is_cache = is_cache_of_downloads(view, path);
    // The engine makes the directory of a volume; a build that works around it fills it by chance.
    let volumes = view.facts.final_runtime();
    let is_volume =
        volumes.get(Setting::Volume).iter().any(|volume| is_within(path, &volume.entry.key));
    let makes = |index: usize, instruction: &Instruction| match instruction.keyword {
        Keyword::Run => {
            instruction.body_text().contains(path)
                || (!is_volume && builds_around(view, index, path))
                || (is_cache && downloads(view, index))
        }
        Keyword::Copy | Keyword::Add => covers(view, index, instruction, path),
        _ => false,
    };
    let mut found: Vec<String> = all
        .filter(|(index, instruction)| makes(*index, instruction))
        .map(|(_, instruction)| written(view, instruction))
        .collect();
    // `mv build/install/app ${APP_HOME}` makes what is in the tree.
    let trees = view.transfers().iter().map(|(_, to)| to);
    let mut trees = trees.filter(|to| to.matches('/').count() > 1 && !is_system_place(to));
    found.extend(trees.find(|to| is_within(path, to.trim_end_matches('/'))).cloned());
    found
}

/// A directory that an image has anyway.
fn is_system_place(path: &str) -> bool {
    let places =
        ["/usr/bin", "/usr/local", "/usr/local/bin", "/usr/lib", "/usr/sbin", "/usr/share"];
    places.contains(&path.trim_end_matches('/'))
}

/// Whether a variable tells libraries to keep models and browsers at a place.
fn is_cache_of_downloads(view: &View<'_>, path: &str) -> bool {
    const VARIABLES: &[&str] = &[
        "HF_HOME",
        "HF_HUB_CACHE",
        "NLTK_DATA",
        "PLAYWRIGHT_BROWSERS_PATH",
        "PUPPETEER_CACHE_DIR",
        "SENTENCE_TRANSFORMERS_HOME",
        "STATIC_ROOT",
        "TIKTOKEN_CACHE_DIR",
        "TORCH_HOME",
        "TRANSFORMERS_CACHE",
    ];
    view.facts.final_runtime().get(Setting::Env).iter().any(|setting| {
        let value = text_of(&setting.entry.value).unwrap_or_default();
        VARIABLES.contains(&setting.entry.key.as_str()) && value.trim_end_matches('/') == path
    })
}

/// Whether a RUN calls a program that may download with such a library.
fn downloads(view: &View<'_>, index: usize) -> bool {
    view.called(index).iter().any(|call| match call.name.as_str() {
        "python" | "python3" => {
            !call.words.iter().any(|word| matches!(word.as_str(), "pip" | "venv"))
        }
        "playwright" | "npx" | "huggingface-cli" => true,
        _ => false,
    })
}

/// Whether a build runs in a directory around the path, or names one as its output.
fn builds_around(view: &View<'_>, index: usize, path: &str) -> bool {
    let workdir = view.facts.state(index).and_then(|state| state.workdir.path.as_deref());
    let is_around = |directory: &str| directory.len() > 1 && is_within(path, directory);
    view.called(index).iter().any(|call| {
        let is_build = call.is_build();
        let is_named = |word: &String| {
            let value = word.rsplit_once('=').map_or(word.as_str(), |(_, value)| value);
            is_around(value.trim_end_matches('/'))
        };
        // `java -Djarmode=layertools … extract --destination DIRECTORY`
        let makes = is_build || call.words.iter().any(|word| word == "extract");
        (is_build && workdir.is_some_and(is_around)) || (makes && call.words.iter().any(is_named))
    })
}

/// Whether a COPY or ADD puts something at the path, or a directory around it.
pub(super) fn covers(view: &View<'_>, index: usize, it: &Instruction, path: &str) -> bool {
    let Arguments::Transfer { sources, destination: Some(destination), .. } = &it.arguments else {
        return false;
    };
    let workdir = view.facts.state(index).and_then(|state| state.workdir.path.as_deref());
    let target = absolute(&expanded(view, index, &destination.text), workdir);
    let Some(target) = target else { return false };
    let place = target.trim_end_matches('/');
    sources.iter().any(|source| {
        let name = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let is_file = PLAIN_FILES.contains(&name)
            || name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && !end.is_empty());
        if is_file {
            path == place || path == format!("{place}/{name}")
        } else {
            is_within(path, place)
        }
    })
}

pub(super) fn is_within(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a source with one `*` in its last part stands for a file.
pub(super) fn is_matched(path: &str, source: &str) -> bool {
    let Some((before, after)) = source.split_once('*') else { return false };
    let rest = path.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    rest.is_some_and(|rest| !rest.contains('/'))
}

fn is_held(change: &Change<'_>, path: &str, producers: &[String]) -> bool {
    let before = change.before;
    let is_filled = (0..before.file.instructions.len()).any(|index| fills(before, index, path));
    final_chain(change.after).into_iter().any(|index| {
        let Some(instruction) = change.after.file.instructions.get(index) else { return false };
        let holds = copied(change, index, instruction).is_some_and(|sources| {
            let mut sources = sources.iter().map(|source| source.trim_end_matches('/'));
            sources.any(|source| {
                is_within(path, source) || is_within(source, path) || is_matched(path, source)
            })
        });
        let is_named = if is_filled {
            fills(change.after, index, path)
        } else {
            instruction.body_text().contains(path) || is_made(change.after, index, path)
        };
        let makes = instruction.keyword == Keyword::Run && is_named;
        // What the final stage copies of the build context is compared with the original elsewhere.
        let copies = matches!(instruction.keyword, Keyword::Copy | Keyword::Add)
            && instruction.flag_value("from").is_none()
            && covers(change.after, index, instruction, path);
        holds || makes || copies || producers.contains(&written(change.after, instruction))
    })
}

/// Whether a command of a RUN writes something below a place, beyond making the directory.
fn fills(view: &View<'_>, index: usize, path: &str) -> bool {
    const MAKERS: &[&str] = &[
        "addgroup", "adduser", "chgrp", "chmod", "chown", "groupadd", "install", "ln", "mkdir",
        "rm", "test", "touch", "useradd", "usermod",
    ];
    let is_run = |instruction: &&Instruction| instruction.keyword == Keyword::Run;
    if view.file.instructions.get(index).filter(is_run).is_none() {
        return false;
    }
    let below = format!("{}/", path.trim_end_matches('/'));
    let mut commands =
        view.facts.scripts(&view.file, index).iter().flat_map(|script| &script.commands);
    commands.any(|command| {
        let name = commands::name_of(command).unwrap_or_default();
        !MAKERS.contains(&name.as_ref())
            && command
                .words
                .iter()
                .any(|word| word.text().trim_start_matches('"').starts_with(&below))
    })
}

/// Whether a command makes a directory, named from where it runs.
fn is_made(view: &View<'_>, index: usize, path: &str) -> bool {
    let workdir = view.facts.state(index).and_then(|state| state.workdir.path.as_deref());
    view.called(index).iter().any(|call| {
        call.is_any(&["mkdir", "install"])
            && call.words.iter().any(|word| absolute(word, workdir).as_deref() == Some(path))
    })
}

/// The instructions that make the final image: those of its stage and of the stages below.
pub(super) fn final_chain(view: &View<'_>) -> Vec<usize> {
    let stages = view.facts.stages();
    let mut chain = Vec::new();
    let mut next = stages.len().checked_sub(1);
    while let Some(stage) = next.and_then(|index| stages.get(index)) {
        chain.extend(stage.instructions.clone());
        next = match stage.base {
            probity_dockerfile::Base::Stage(below) if below < stage.index => Some(below),
            _ => None,
        };
    }
    chain
}
