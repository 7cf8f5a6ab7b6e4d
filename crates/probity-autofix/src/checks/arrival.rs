//! What build stages make has to arrive: outputs that a cache keeps, trees that only a part of was
//! copied of, and places that the container's user cannot read do not.

mod caches;
mod generated;
mod made;
mod order;

use std::collections::BTreeSet;

use probity_dockerfile::{
    Action, Arguments, Instruction, Keyword, Manager, Setting, Target, TokenKind,
};

use super::{
    Change, Check, Issue, View,
    base_image::base,
    belongings::{final_chain, is_within, text_of},
    commands::{self, Called, install_prefix},
    image_kind::{Distribution, ImageKind},
    kept::installed::told_below,
    moved::{self, taken_from_mounts},
    search_path::{is_on_path, pattern_of},
    steps::{absolute, chain_of, expanded},
};

pub(crate) const RESULTS_ARRIVE: Check = Check::new("results-arrive", results_arrive).heuristic();

fn results_arrive(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let mut issues = Vec::new();
    for index in final_chain(change.after) {
        let Some(instruction) = change.after.file.instructions.get(index) else { continue };
        for source in sources(change.after, index, instruction) {
            if let Some(reason) = fault_of(change, index, instruction, &source) {
                issues.push(change.issue(check, &reason).at(change.after, instruction.span));
            }
        }
    }
    for index in final_chain(change.after) {
        let Some(instruction) = change.after.file.instructions.get(index) else { continue };
        let mut mounted = moved::stage_mounts(change.after, index).into_iter();
        let lost = mounted.find(|(source, _)| {
            !source.is_empty() && !made::is_made(change.after, instruction, source)
        });
        issues.extend(lost.map(|(source, _)| {
            let reason = format!("nothing in that stage makes `{source}`");
            change.issue(check, &reason).at(change.after, instruction.span)
        }));
    }
    issues.extend(tree_in_parts(change).map(|reason| change.issue(check, &reason)));
    issues.extend(published_in_parts(change).map(|reason| change.issue(check, &reason)));
    issues.extend(installed_elsewhere(change).map(|reason| change.issue(check, &reason)));
    issues.extend(caches::missed(change).map(|reason| change.issue(check, &reason)));
    issues.extend(generated::lost(change).map(|reason| change.issue(check, &reason)));
    issues.extend(linker_cache(change).map(|reason| change.issue(check, &reason)));
    issues.extend(order::too_early(change).map(|reason| change.issue(check, &reason)));
    issues.extend(order::tools_too_late(change).map(|reason| change.issue(check, &reason)));
    issues.extend(archives(change).map(|reason| change.issue(check, &reason)));
    issues.extend(order::as_user(change).map(|reason| change.issue(check, &reason)));
    issues.extend(order::authorities(change).map(|reason| change.issue(check, &reason)));
    issues.extend(environment_off_path(change).map(|reason| change.issue(check, &reason)));
    issues.extend(certificates(change).map(|reason| change.issue(check, &reason)));
    issues.extend(time_zones(change).map(|reason| change.issue(check, &reason)));
    issues.extend(packages_of_other_stage(change).map(|reason| change.issue(check, &reason)));
    issues.extend(libraries_of_compiler(change).map(|reason| change.issue(check, &reason)));
    issues
}

/// Places where tools of builds keep what they downloaded, and their logins.
const OF_TOOLS: &[&str] = &[
    "/go/pkg",
    "/root/.aws",
    "/root/.cargo/credentials.toml",
    "/root/.cargo/registry",
    "/root/.docker",
    "/root/.gitconfig",
    "/root/.gradle",
    "/root/.m2",
    "/root/.netrc",
    "/root/.npm",
    "/root/.npmrc",
    "/root/.nuget/NuGet",
    "/root/.ssh",
    "/usr/local/cargo/registry",
];

/// What a COPY of the final image takes from other stages.
pub(super) fn sources(view: &View<'_>, index: usize, it: &Instruction) -> Vec<String> {
    let Arguments::Transfer { sources, .. } = &it.arguments else { return Vec::new() };
    if it.flag_value("from").is_none() {
        return Vec::new();
    }
    let sources = sources.iter().map(|source| expanded(view, index, &source.text));
    sources.map(|source| source.trim_end_matches('/').to_owned()).collect()
}

/// What all COPYs of the final image take from other stages.
fn taken(view: &View<'_>, chain: &[usize]) -> Vec<String> {
    let copied = chain.iter().filter_map(|index| {
        let instruction = view.file.instructions.get(*index)?;
        Some(sources(view, *index, instruction))
    });
    let mounted = chain.iter().flat_map(|index| taken_from_mounts(view, *index));
    copied.flatten().chain(mounted.map(|(source, _)| source)).collect()
}

fn fault_of(change: &Change<'_>, index: usize, it: &Instruction, source: &str) -> Option<String> {
    let after = change.after;
    if let Some(cache) = caches_of(after, it).into_iter().find(|cache| is_within(source, cache)) {
        return Some(format!(
            "`{source}` is in the cache `{cache}`, which is not a part of the stage; copy the result \
             out of it in the same RUN"
        ));
    }
    let is_of_tools = OF_TOOLS.iter().any(|tool| is_within(source, tool));
    if is_of_tools
        && !change
            .before
            .facts
            .final_runtime()
            .entries()
            .iter()
            .any(|entry| entry.entry.to_string().contains(source))
    {
        return Some(format!(
            "`{source}` holds caches or credentials of tools, which the final stage must not get"
        ));
    }
    if !made::is_made(after, it, source) || made::is_no_longer_made(change, it, source) {
        return Some(format!("nothing in that stage makes `{source}`"));
    }
    let state = after.facts.state(index);
    let Arguments::Transfer { destination: Some(destination), .. } = &it.arguments else {
        return None;
    };
    let workdir = state.and_then(|state| state.workdir.path.as_deref());
    let target = absolute(&destination.text, workdir.or(Some("/"))).unwrap_or_default();
    let runtime = after.facts.final_runtime();
    let user = runtime.get(Setting::User).first().and_then(|setting| text_of(&setting.entry.value));
    let is_root = user.is_none_or(|user| matches!(user.split(':').next(), Some("0" | "root")));
    if !is_root && is_within(&target, "/root") {
        return Some(format!("the user of the container cannot read `{target}`"));
    }
    // Gradle's start scripts may have been copied with their tree.
    let tree = source.trim_end_matches("/bin");
    let is_installed = moved::transfers(change.before)
        .iter()
        .any(|(from, to)| from.contains("/build/install/") && to == tree);
    let is_part = source.ends_with("/bin") && (source.contains("/build/install/") || is_installed);
    let beside = format!("{}/lib", source.trim_end_matches("/bin"));
    let has_rest = taken(after, &final_chain(after)).contains(&beside);
    (is_part && !has_rest).then(|| {
        format!("the programs in `{source}` need what is beside it; copy the whole directory")
    })
}

/// Python's packages are taken from stages that lack what another stage installs.
fn packages_of_other_stage(change: &Change<'_>) -> Option<String> {
    let after = change.after;
    let chain = final_chain(after);
    let givers: Vec<usize> = chain
        .iter()
        .filter_map(|index| {
            let instruction = after.file.instructions.get(*index)?;
            let mut sources = sources(after, *index, instruction).into_iter();
            let is_packages = sources.any(|source| commands::last_part(&source) == "site-packages");
            if is_packages { stage_of(after, instruction) } else { None }
        })
        .collect();
    let is_missed = |index: usize| {
        !chain.contains(&index)
            && !givers.iter().any(|giver| chain_of(after, *giver).contains(&index))
    };
    let mut calls = commands::calls(after).filter(|(_, call)| {
        call.manager == Manager::Pip && call.action == Action::Install && call.target.is_none()
    });
    let (_, call) = calls.find(|(index, _)| is_missed(*index))?;
    let text = call.span.slice(after.text).unwrap_or_default();
    (!givers.is_empty()).then(|| {
        format!(
            "the packages of `{text}` are in another stage than those that the final stage copies"
        )
    })
}

/// The stage from which a COPY takes something.
pub(super) fn stage_of(view: &View<'_>, it: &Instruction) -> Option<usize> {
    let references = view.facts.graph().references().iter();
    let mut here = references.filter(|reference| {
        it.span.start <= reference.span.start && reference.span.end <= it.span.end
    });
    here.find_map(|reference| match reference.target {
        Target::Stage(stage) | Target::StageIndex(stage) => Some(stage),
        _ => None,
    })
}

/// The caches that RUN steps of the stage mount from which a COPY takes something.
fn caches_of(view: &View<'_>, it: &Instruction) -> Vec<String> {
    let stage = stage_of(view, it).and_then(|stage| view.facts.stages().get(stage));
    let indices = stage.map(|stage| stage.instructions.clone()).unwrap_or_default();
    indices.flat_map(|index| caches::mounted(view, index)).collect()
}

/// What `make install` and the like put below a prefix comes along whole, or something of it where the
/// prefix is shared.
fn tree_in_parts(change: &Change<'_>) -> Option<String> {
    let after = change.after;
    let chain = final_chain(after);
    let mut copied = taken(after, &chain);
    // What a stage moved aside is taken where it was installed.
    copied.extend(chain.iter().flat_map(|index| {
        let instruction = after.file.instructions.get(*index);
        instruction.and_then(|copy| moved::copied(change, *index, copy)).unwrap_or_default()
    }));
    for index in (0..after.file.instructions.len()).filter(|index| !chain.contains(index)) {
        let called = after.called(index);
        let installs = called.iter().any(Called::installs_tree);
        let is_staged =
            called.iter().any(|call| call.words.iter().any(|word| word.contains("DESTDIR=")))
                || after.text.contains("DESTDIR=");
        if !installs || is_staged {
            continue;
        }
        let prefix = install_prefix(after, index).unwrap_or_else(|| "/usr/local".to_owned());
        let prefix = prefix.as_str();
        let is_shared = matches!(prefix, "/usr/local" | "/usr");
        let is_taken = copied
            .iter()
            .any(|source| is_within(prefix, source) || (is_shared && is_within(source, prefix)));
        if !is_taken && !is_told_whole(change.before, prefix, &copied) {
            return Some(format!(
                "a build stage installs into `{prefix}`, and the final stage does not take it whole"
            ));
        }
    }
    None
}

/// `dotnet publish -o DIRECTORY` writes a program in many files.
fn published_in_parts(change: &Change<'_>) -> Option<String> {
    let after = change.after;
    let taken = taken(after, &final_chain(after));
    let publishes = after.all_called().filter(|call| {
        call.name == "dotnet" && call.words.first().is_some_and(|word| word == "publish")
    });
    let publishes =
        publishes.filter(|call| !call.words.iter().any(|word| word.contains("PublishSingleFile")));
    let mut directories = publishes.filter_map(|call| {
        let place =
            call.words.iter().position(|word| matches!(word.as_str(), "-o" | "--output"))?;
        let state = after.facts.state(call.instruction);
        let workdir = state.and_then(|state| state.workdir.path.as_deref());
        absolute(call.words.get(place + 1)?, workdir)
            .map(|path| path.trim_end_matches('/').to_owned())
    });
    directories.find_map(|directory| {
        let is_whole = taken.iter().any(|path| is_within(&directory, path.trim_end_matches("/*")));
        let part = taken.iter().find(|path| is_within(path, &directory))?;
        (!is_whole).then(|| {
            format!("the program in `{directory}` has more files than `{part}`; copy the whole directory")
        })
    })
}

/// Whether comments tell what an install puts below its prefix, and all of that is taken: every directory, or
/// each named file of at least two directories.
fn is_told_whole(view: &View<'_>, prefix: &str, copied: &[String]) -> bool {
    let told = told_below(view, prefix);
    let directory_of = |place: &str| {
        let rest = place.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('/'));
        let first = rest.and_then(|rest| rest.split('/').next()).unwrap_or_default();
        format!("{prefix}/{first}")
    };
    let holds =
        |place: &str| copied.iter().any(|source| is_within(place, source.trim_end_matches('/')));
    let is_taken = |place: &String| {
        let is_part = copied.iter().any(|source| is_within(source.trim_end_matches('/'), place));
        holds(place) || is_part
    };
    let directories: BTreeSet<String> = told.iter().map(|place| directory_of(place)).collect();
    !told.is_empty()
        && (directories.iter().all(|directory| holds(directory))
            || (directories.len() > 1 && told.iter().all(is_taken)))
}

/// An install of Python packages into the system of a stage of which only an environment is taken.
fn installed_elsewhere(change: &Change<'_>) -> Option<String> {
    let after = change.after;
    let chain = final_chain(after);
    let copied = taken(after, &chain);
    let environment =
        &environments(after).into_iter().find(|environment| copied.contains(environment))?;
    let takes_system =
        copied.iter().any(|source| source.contains("site-packages") || source == "/usr/local");
    for (index, call) in commands::calls(after) {
        let is_install = call.manager == Manager::Pip && call.action == Action::Install;
        if !is_install || takes_system || chain.contains(&index) || call.target.is_some() {
            continue;
        }
        let name = call.name_span.slice(after.text).unwrap_or_default();
        let runs = after
            .file
            .instructions
            .get(index)
            .map(|instruction| instruction.body_text().to_string());
        // Variables of the stages below hold too.
        let stage = after.facts.stage_of(index).map(|stage| chain_of(after, stage.index));
        let stage = stage.unwrap_or_default().into_iter();
        let mut stage = stage.filter_map(|step| after.file.instructions.get(step));
        let is_active = stage.any(|instruction| {
            instruction.keyword == Keyword::Env
                && instruction.body_text().contains(&format!("{environment}/bin"))
        }) || runs.is_some_and(|text| {
            text.contains(&format!("{environment}/bin/activate"))
                || text.contains(&format!("{environment}/bin/"))
                || text.contains("--prefix")
        });
        let are_tools = !call.packages.is_empty()
            && commands::names(call).len() == call.packages.len()
            && commands::names(call)
                .iter()
                .all(|package| commands::PYTHON_TOOLS.contains(&package.as_str()));
        if !name.contains('/') && !is_active && !are_tools {
            return Some(format!(
                "`pip install` puts packages beside `{environment}`, and the final stage takes only that"
            ));
        }
    }
    None
}

/// The environments of Python that a file makes.
fn environments(view: &View<'_>) -> Vec<String> {
    let makers = view
        .all_called()
        .filter(|call| call.words.iter().any(|word| word == "venv") || call.name == "virtualenv");
    makers
        .filter_map(|call| call.words.last().map(|word| word.trim_end_matches('/').to_owned()))
        .collect()
}

/// Commands find what is in a new environment by the search path alone.
fn environment_off_path(change: &Change<'_>) -> Option<String> {
    let after = change.after;
    let olds = environments(change.before);
    let copied = taken(after, &final_chain(after));
    let mut new = environments(after).into_iter().filter(|environment| !olds.contains(environment));
    let lost = new.find(|environment| {
        let programs = format!("{environment}/bin");
        copied.contains(environment)
            && !is_on_path(after, &programs)
            && !change.before.text.contains(&programs)
    })?;
    Some(format!("the programs in `{lost}/bin` are not on PATH of the final stage"))
}

/// ADD unpacks an archive of the build context, and COPY does not.
fn archives(change: &Change<'_>) -> Option<String> {
    const ENDS: &[&str] = &[".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".txz"];
    let archives = |view: &View<'_>, keyword: Keyword| -> Vec<String> {
        let all =
            view.file.instructions.iter().filter(|instruction| instruction.keyword == keyword);
        let all = all.filter(|instruction| instruction.flag_value("from").is_none());
        let sources = all.flat_map(|instruction| match &instruction.arguments {
            Arguments::Transfer { sources, .. } => {
                sources.iter().map(|source| source.text.to_string()).collect()
            }
            _ => Vec::new(),
        });
        sources.filter(|source| ENDS.iter().any(|ending| source.ends_with(ending))).collect()
    };
    let unpacked = archives(change.before, Keyword::Add);
    let copied = archives(change.after, Keyword::Copy);
    let lost = copied.into_iter().find(|archive| unpacked.contains(archive))?;
    Some(format!("ADD unpacks `{lost}`, and COPY does not"))
}

/// The linker finds new libraries by a cache that every image has of its own.
fn linker_cache(change: &Change<'_>) -> Option<String> {
    let after = change.after;
    let is_run = change.before.all_called().any(|call| call.name == "ldconfig");
    let chain = final_chain(after);
    let brings = |index: &usize| {
        taken(after, &[*index]).iter().any(|source| {
            let source = source.trim_end_matches('*');
            source.ends_with("/usr/local") || source.contains("/lib/") || source.ends_with("/lib")
        })
    };
    let last = chain.iter().copied().filter(brings).max()?;
    let runs_later =
        after.all_called().any(|call| call.name == "ldconfig" && call.instruction >= last);
    let variables = after.facts.final_runtime();
    let mut variables = variables.get(Setting::Env).iter();
    let is_told = variables.any(|variable| variable.entry.key == "LD_LIBRARY_PATH");
    (is_run && !is_told && !runs_later)
        .then(|| "the final image gets libraries and does not run `ldconfig` afterwards".to_owned())
}

/// Whether variables or comments of a file tell that its program asks others by TLS.
pub(super) fn speaks_tls(view: &View<'_>) -> bool {
    let runtime = view.facts.final_runtime();
    let mut variables =
        runtime.get(Setting::Env).iter().map(|setting| pattern_of(&setting.entry.value));
    let comments = view.file.tokens.iter().filter(|token| token.kind == TokenKind::Comment);
    let mut comments = comments.filter_map(|token| token.span.slice(view.text));
    let tells = |text: &str| {
        let text = text.to_lowercase();
        let mut words =
            text.split(|character: char| character.is_whitespace() || ",.;()".contains(character));
        words.any(|word| matches!(word, "https" | "native-tls" | "reqwest" | "tls"))
    };
    variables.any(|variable| variable.contains("https://")) || comments.any(tells)
}

/// A program that speaks TLS to others reads certificates, which the smallest images lack.
fn certificates(change: &Change<'_>) -> Option<String> {
    let before = change.before;
    let speaks = speaks_tls(before);
    let new = base(change.after).and_then(|image| ImageKind::of(&image))?;
    let lacks = matches!(new.name.as_str(), "scratch" | "busybox" | "debian" | "ubuntu");
    let brings = final_chain(change.after).into_iter().any(|index| {
        let instruction = change.after.file.instructions.get(index);
        let text =
            instruction.map(|instruction| instruction.body_text().to_string()).unwrap_or_default();
        text.contains("ca-certificates") || text.contains("/etc/ssl")
    });
    (speaks && lacks && !brings && base(before).as_deref() != base(change.after).as_deref())
        .then(|| "the program speaks TLS, and the final image has no certificates".to_owned())
}

/// A time zone by name is read from files that small images lack.
fn time_zones(change: &Change<'_>) -> Option<String> {
    const CONTINENTS: &[&str] = &[
        "Africa/",
        "America/",
        "Asia/",
        "Atlantic/",
        "Australia/",
        "Europe/",
        "Indian/",
        "Pacific/",
    ];
    let runtime = change.before.facts.final_runtime();
    let mut variables =
        runtime.get(Setting::Env).iter().map(|setting| pattern_of(&setting.entry.value));
    let zone = variables
        .find(|variable| CONTINENTS.iter().any(|continent| variable.starts_with(continent)))?;
    let new = base(change.after).and_then(|image| ImageKind::of(&image))?;
    let has_files = match new.distribution {
        // These run times have the zones themselves, or their images do.
        Some(Distribution::Alpine | Distribution::Ubuntu) => match new.language {
            Some("java" | "node" | "php" | "python") => true,
            Some("dotnet") => !new.is_musl(),
            _ => false,
        },
        Some(Distribution::Bare) => new.name.contains("-debian"),
        _ => true,
    };
    let brings = final_chain(change.after).into_iter().any(|index| {
        let instruction = change.after.file.instructions.get(index);
        instruction.is_some_and(|instruction| {
            let text = instruction.body_text();
            matches!(instruction.keyword, Keyword::Run | Keyword::Copy)
                && (text.contains("tzdata") || text.contains("/usr/share/zoneinfo"))
        })
    });
    (!has_files && !brings).then(|| {
        format!("the container's time zone is `{zone}`, and nothing shows that the final image has tzdata")
    })
}

/// The images of GCC have a newer C++ library than the distribution below them.
fn libraries_of_compiler(change: &Change<'_>) -> Option<String> {
    let old = base(change.before).and_then(|image| ImageKind::of(&image))?;
    let new = base(change.after).and_then(|image| ImageKind::of(&image))?;
    let text = change.after.text;
    let is_cpp = ["g++", "c++", "CXX", ".cpp", ".cc"].iter().any(|sign| text.contains(sign));
    let brings = text.contains("/usr/local/lib64") || text.contains("-static");
    (old.name == "gcc" && new.name != "gcc" && is_cpp && !brings).then(|| {
        "the compiler's C++ library in `/usr/local/lib64` is newer than that of the final image; copy \
         it, or link it statically"
            .to_owned()
    })
}
