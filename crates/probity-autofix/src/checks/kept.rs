//! Files and directories that the original's instructions made and run time needs are still there.

pub(super) mod build_inputs;
pub(super) mod installed;
mod made;
pub(super) mod pages;

use probity_dockerfile::{Action, Manager, PackageCall, Setting};

use self::{
    build_inputs::{
        compiled_directories, is_behind, is_beside_builds, is_bundled, is_bundled_by_tool,
        is_compiled_there, is_for_tools, is_of_tools, is_told_built_in, is_turned_into_result,
    },
    installed::{
        installed_tree, is_installed, told_development, told_outputs, told_paths, told_results,
    },
    made::made,
    pages::{is_of_pages, lost_pages},
};
use super::{
    Change, Check, Issue, View,
    base_image::base,
    belongings::{covers, final_chain, is_matched, is_within, text_of},
    commands::{self, Called, last_part},
    image_kind::ImageKind,
    moved::copied,
    steps::absolute,
};

pub(crate) const PATHS_KEPT: Check = Check::new("paths-kept", paths_kept).heuristic();

/// Directories that programs read while they run, whatever built them.
pub(super) const DATA: &[&str] = &[
    "assets",
    "certs",
    "config",
    "configs",
    "conf",
    "data",
    "etc",
    "fixtures",
    "i18n",
    "locale",
    "locales",
    "migrations",
    "public",
    "resources",
    "schema",
    "seeds",
    "sql",
    "static",
    "templates",
    "views",
    "web",
    "www",
];

fn paths_kept(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let Some(kind) = base(change.before).and_then(|image| ImageKind::of(&image)) else {
        return Vec::new();
    };
    let mut missing = packages(change, &kind);
    missing.extend(copies(change, &kind));
    missing.extend(made(change, &kind));
    missing.extend(manifest(change, &kind));
    missing.extend(named_by_builds(change));
    missing.extend(installed_tree(change));
    missing.extend(told_paths(change));
    missing.extend(told_results(change));
    missing.extend(told_outputs(change));
    missing.extend(lost_pages(change));
    missing.extend(told_development(change));
    missing.sort_unstable();
    missing.dedup();
    missing
        .into_iter()
        .map(|what| {
            let message =
                format!("run time may need {what}, which the final stage neither makes nor copies");
            change.issue(check, &message)
        })
        .collect()
}

/// Whether a COPY of the final image brings all that is at a place.
fn is_held(change: &Change<'_>, path: &str) -> bool {
    let after = change.after;
    is_copied(change, path)
        || final_chain(after).into_iter().any(|index| {
            let instruction = after.file.instructions.get(index);
            instruction.is_some_and(|instruction| {
                instruction.flag_value("from").is_none() && covers(after, index, instruction, path)
            })
        })
}

/// Whether all that is at a place comes from another stage.
fn is_copied(change: &Change<'_>, path: &str) -> bool {
    final_chain(change.after).into_iter().any(|index| {
        let instruction = change.after.file.instructions.get(index);
        let sources = instruction.and_then(|copy| copied(change, index, copy)).unwrap_or_default();
        sources
            .iter()
            .any(|source| is_within(path, source.trim_end_matches('/')) || is_matched(path, source))
    })
}

/// Whether a stage of the final image itself runs something like this.
fn runs_in_final(change: &Change<'_>, is_wanted: impl Fn(&Called) -> bool) -> bool {
    let chain = final_chain(change.after);
    chain.into_iter().flat_map(|index| change.after.called(index)).any(is_wanted)
}

/// Directories that package managers of languages fill.
fn packages(change: &Change<'_>, kind: &ImageKind) -> Vec<String> {
    let before = change.before;
    let mut missing = Vec::new();
    for (index, call) in commands::calls(before) {
        let is_global = call.has_flag(&["-g", "--global"]);
        let names = commands::names(call);
        let are_tools = call.manager == Manager::Pip
            && !names.is_empty()
            && names.len() == call.packages.len()
            && names.iter().all(|name| commands::PYTHON_TOOLS.contains(&name.as_str()));
        if call.action != Action::Install || is_global || are_tools {
            continue;
        }
        let names: &[&str] = match (call.manager, kind.language) {
            (Manager::Npm | Manager::Yarn | Manager::Pnpm, Some("node"))
                if runs_on(change, "node") =>
            {
                &["npm", "yarn", "pnpm"]
            }
            (Manager::Composer, Some("php")) => &["composer"],
            (Manager::Pip, Some("python")) => &["pip", "pip3", "python", "python3"],
            _ => continue,
        };
        let is_again = runs_in_final(change, |called| {
            called.is_any(names)
                && called.words.iter().any(|word| matches!(word.as_str(), "install" | "ci" | "i"))
                && !called.words.iter().any(|word| matches!(word.as_str(), "-g" | "--global"))
        });
        let is_there = match (call.manager, &call.target) {
            (Manager::Pip, None) => holds_site_packages(change),
            (Manager::Pip, Some(target)) => is_copied(change, target.trim_end_matches('/')),
            (Manager::Composer, _) => is_copied(change, &below(before, index, "vendor")),
            _ => {
                let directory = below(before, index, &of_prefix(before, call));
                let packages = format!("{}/node_modules", directory.trim_end_matches('/'));
                is_copied(change, &packages) || is_removed(before, &packages)
            }
        };
        if !is_there && !is_again {
            missing.push(format!("the packages that `{}` installs", names.first().unwrap_or(&"")));
        }
    }
    for called in before.all_called() {
        let directory = match called.name.as_str() {
            "bundle" if called.words.iter().any(|word| word == "install") => {
                let runtime = before.facts.final_runtime();
                let mut variables = runtime.get(Setting::Env).iter();
                let path = variables.find(|variable| variable.entry.key == "BUNDLE_PATH");
                let path = path.and_then(|variable| text_of(&variable.entry.value));
                let path = path.unwrap_or_else(|| "/usr/local/bundle".to_owned());
                absolute(
                    &path,
                    before
                        .facts
                        .state(called.instruction)
                        .and_then(|state| state.workdir.path.as_deref()),
                )
                .unwrap_or(path)
            }
            "php" if called.words.iter().any(|word| word == "install") => {
                below(before, called.instruction, "vendor")
            }
            _ => continue,
        };
        let vendored = below(before, called.instruction, "vendor/bundle");
        let is_again =
            runs_in_final(change, |other| other.name == called.name && other.words == called.words);
        let is_vendored = called.name == "bundle"
            && ["vendor/bundle", "set --local deployment", "set deployment"]
                .iter()
                .any(|sign| before.text.contains(sign));
        if is_vendored && !is_copied(change, &vendored) && !is_again {
            missing.push(format!("`{vendored}`"));
        }
        // The images of Ruby keep Bundler's settings beside the gems of the system.
        let has_settings = runs_in_final(change, |other| {
            other.name == "bundle" && other.words.iter().any(|word| word == "config")
        });
        let sets = before
            .all_called()
            .any(|other| other.name == "bundle" && other.words.iter().any(|word| word == "config"));
        let is_settled = is_vendored && (has_settings || !sets || kind.language != Some("ruby"));
        if !is_copied(change, &directory) && !is_settled && !is_again {
            missing.push(format!("`{directory}`"));
        }
    }
    missing
}

/// The directory of `npm --prefix DIRECTORY ci`.
fn of_prefix(view: &View<'_>, call: &PackageCall) -> String {
    let text = call.span.slice(view.text).unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    commands::prefix_of(&words).unwrap_or_default()
}

/// Whether a step of the original removes a place again.
fn is_removed(view: &View<'_>, path: &str) -> bool {
    let parts = (0..view.file.instructions.len()).filter_map(|index| view.parts(index)).flatten();
    parts.into_iter().any(|part| {
        let [command] = part.commands.as_slice() else { return false };
        let words = commands::words(command).unwrap_or_default();
        let mut words = words.iter();
        words.next().is_some_and(|word| word == "rm")
            && words.any(|word| absolute(word, part.directory.as_deref()).as_deref() == Some(path))
    })
}

/// Whether the final image is one of a language, or starts its interpreter.
fn runs_on(change: &Change<'_>, language: &str) -> bool {
    let kind = base(change.after).and_then(|image| ImageKind::of(&image));
    kind.is_none_or(|kind| kind.language == Some(language))
        || ["node", "npm", "npx", "yarn", "pnpm"]
            .iter()
            .any(|program| commands::starts(change.before, program))
}

/// Whether the directory of Python's packages comes along, wherever it is.
fn holds_site_packages(change: &Change<'_>) -> bool {
    final_chain(change.after).into_iter().any(|index| {
        let instruction = change.after.file.instructions.get(index);
        let sources = instruction.and_then(|copy| copied(change, index, copy)).unwrap_or_default();
        sources.iter().any(|source| {
            let source = source.trim_end_matches('/');
            let is_venv = change.before.text.contains(&format!("{source}/bin"))
                || change.after.all_called().any(|call| {
                    let makes = call.is_any(&["virtualenv"])
                        || call.words.iter().any(|word| word == "venv");
                    makes && call.words.iter().any(|word| is_within(word, source))
                });
            is_venv
                || matches!(
                    last_part(source),
                    "site-packages" | "dist-packages" | ".local" | ".venv" | "venv"
                )
                || matches!(source, "/usr/local" | "/usr/local/lib")
                || source.starts_with("/usr/local/lib/python") && source.matches('/').count() == 4
        })
    })
}

fn below(view: &View<'_>, index: usize, name: &str) -> String {
    let workdir = view.facts.state(index).and_then(|state| state.workdir.path.as_deref());
    format!("{}/{name}", workdir.unwrap_or("/").trim_end_matches('/'))
}

/// What the original copies from the build context, unless only the build reads it.
fn copies(change: &Change<'_>, kind: &ImageKind) -> Vec<String> {
    let before = change.before;
    let is_script = match kind.language {
        // Pages that another server hands out are built as programs are.
        Some("node") => runs_on(change, "node"),
        language => matches!(language, Some("python" | "ruby" | "php" | "perl")),
    };
    let last_build =
        before.all_called().filter(|call| call.is_build()).map(|call| call.instruction).max();
    let mut missing = Vec::new();
    let compiled = compiled_directories(before);
    for index in 0..before.file.instructions.len() {
        let is_built_later = last_build.is_some_and(|build| index < build);
        for (source, target) in before.pairs(index).unwrap_or_default() {
            let name = last_part(source.trim_end_matches('/'));
            let is_all = matches!(source.trim_end_matches('/'), "." | "" | "*");
            let place = placed(source, target, is_all);
            if !is_all && is_of_pages(change, kind, index, (source, &place)) {
                continue;
            }
            // What was compiled or packed into an installed package is not read again.
            if compiled.iter().any(|directory| is_within(&place, directory))
                && !DATA.contains(&name)
            {
                continue;
            }
            let is_needed = match (is_script, is_built_later) {
                (true, true) if kind.language == Some("node") => !is_bundled(name),
                (true, _) => is_all || !is_for_tools(name),
                (false, true) => {
                    let is_read = before.all_called().any(|call| {
                        call.is_build() && call.words.iter().any(|word| is_within(word, target))
                    });
                    let workdir = below(before, index, "");
                    let is_apart = match workdir.trim_end_matches('/') {
                        "" => !is_within(&place, "/root") && is_beside_builds(before, &place),
                        workdir => !is_within(&place, workdir),
                    };
                    let is_data = DATA.contains(&name) && !is_installed(change, &place);
                    is_data || (is_apart && !is_all && !is_read)
                }
                // Whoever copies after the last build copies for run time.
                (false, false) => last_build.is_some(),
            };
            // Authorities are read from the bundle that is made of them.
            let is_bundled = is_within(&place, "/usr/local/share/ca-certificates")
                && is_copied(change, "/etc/ssl/certs/ca-certificates.crt");
            let is_gone = place
                .rsplit_once('/')
                .is_some_and(|(directory, _)| directory.len() > 1 && is_removed(before, directory));
            let is_left = is_of_tools(&place)
                || is_within(&place, "/tmp")
                || is_gone
                || (matches!(name, "public" | "web")
                    && is_bundled_by_tool(before)
                    && takes_pages(change))
                || is_told_built_in(before, index)
                || (is_compiled_there(before, &place) && !DATA.contains(&name))
                || is_turned_into_result(change, index, &place)
                || (!is_script && is_built_later && is_behind(before, index, &place));
            if is_needed && !is_left && !is_held(change, &place) && !is_bundled {
                missing.push(format!("`{place}`"));
            }
        }
    }
    missing
}

/// Whether the final stage takes a directory that bundlers write pages to.
fn takes_pages(change: &Change<'_>) -> bool {
    const PAGES: &[&str] = &["public", "static", "www", "client", "assets", "build", "dist"];
    final_chain(change.after).into_iter().any(|index| {
        let instruction = change.after.file.instructions.get(index);
        let sources = instruction.and_then(|copy| copied(change, index, copy)).unwrap_or_default();
        sources.iter().any(|source| PAGES.contains(&last_part(source.trim_end_matches('/'))))
    })
}

/// Places within copied sources that a build is given by name: `-DSTYLES=/src/styles`.
fn named_by_builds(change: &Change<'_>) -> Vec<String> {
    let before = change.before;
    let sources: Vec<&String> =
        before.all_pairs().map(|(_, target)| target).filter(|target| target.len() > 1).collect();
    let values = before.all_called().filter(|call| call.is_build()).flat_map(|call| &call.words);
    let values = values.filter_map(|word| {
        let (name, value) = word.rsplit_once('=')?;
        let is_of_tool = name.starts_with("-DCMAKE_") || name.starts_with("--");
        let is_source =
            sources.iter().any(|source| is_within(value, source) && value != source.as_str());
        (is_source && !is_of_tool).then(|| value.trim_end_matches('/').to_owned())
    });
    values.filter(|value| !is_around(change, value)).map(|it| format!("`{it}`")).collect()
}

/// `npm start` reads from `package.json` what to start, and `bundle exec` from the Gemfile where it is.
fn manifest(change: &Change<'_>, kind: &ImageKind) -> Option<String> {
    let before = change.before;
    let is_started = ["npm", "yarn", "pnpm"].iter().any(|tool| commands::starts(before, tool));
    let last = before.file.instructions.len().checked_sub(1)?;
    let path = below(before, last, "package.json");
    let is_copied = (0..=last).any(|index| {
        before
            .file
            .instructions
            .get(index)
            .is_some_and(|instruction| covers(before, index, instruction, &path))
    });
    if kind.language == Some("node") && is_started && is_copied && !is_held(change, &path) {
        return Some(format!("`{path}`"));
    }
    let path = below(before, last, "Gemfile");
    let is_copied = (0..=last).any(|index| {
        before
            .file
            .instructions
            .get(index)
            .is_some_and(|instruction| covers(before, index, instruction, &path))
    });
    let is_lost = commands::starts(before, "bundle") && is_copied && !is_held(change, &path);
    is_lost.then(|| format!("`{path}`"))
}

/// Where a source ends up: a file in the directory, a directory's files in its place.
fn placed(source: &str, target: &str, is_all: bool) -> String {
    let name = last_part(source.trim_end_matches('/'));
    // `Gemfile`, `Rakefile`, `Procfile`, `.env`, `.npmrc`
    let is_hidden = name.starts_with(".env")
        || (name.starts_with('.') && (name.ends_with("rc") || name.ends_with("-version")));
    let is_file = is_hidden
        || (name.ends_with("file")
            && name.starts_with(|character: char| character.is_ascii_uppercase()))
        || name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && !end.is_empty());
    let is_named = last_part(target).rsplit_once('.').is_some_and(|(stem, _)| !stem.is_empty());
    if is_file && !is_all && !is_named { format!("{target}/{name}") } else { target.to_owned() }
}

/// The directories that a RUN makes.
fn made_directories(view: &View<'_>, index: usize) -> Vec<String> {
    let parts = view.parts(index).unwrap_or_default();
    let words = parts.iter().flat_map(|part| {
        let called = part.commands.iter().filter_map(|command| Called::of(index, command));
        let makers = called.filter(|call| {
            call.name == "mkdir"
                || (call.name == "install" && call.words.iter().any(|word| word == "-d"))
        });
        let words = makers.flat_map(|call| call.words);
        words.filter_map(|word| absolute(&word, part.directory.as_deref())).collect::<Vec<_>>()
    });
    words.collect()
}

/// Whether something at a place, or below it, comes along.
fn is_around(change: &Change<'_>, path: &str) -> bool {
    let after = change.after;
    is_held(change, path)
        || final_chain(after).into_iter().any(|index| {
            let Some(instruction) = after.file.instructions.get(index) else { return false };
            let sources = copied(change, index, instruction).unwrap_or_default();
            let targets = after.pairs(index).unwrap_or_default().iter().map(|(_, to)| to.clone());
            let made = made_directories(after, index);
            let mut all = sources.into_iter().chain(targets).chain(made);
            all.any(|place| is_within(place.trim_end_matches('/'), path))
        })
}
