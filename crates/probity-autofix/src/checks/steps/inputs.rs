//! What the steps of the original were given: files of the build context, and their owners.

use probity_dockerfile::{Arguments, Instruction, Keyword};

use super::{
    super::{
        Change, Check, Issue, View,
        base_image::base,
        belongings::{final_chain, is_within},
        commands::{self, NODE_TOOLS, is_context_mount},
        image_kind::ImageKind,
        kept::{
            DATA,
            build_inputs::is_told_built_in,
            pages::{is_of_pages, is_taken_out},
        },
    },
    absolute, chain_of,
    dispensable::is_given,
    is_part, is_source, only_prepares, written,
};

/// A build step finds in its stage what the original had copied and installed before it.
pub(super) fn without_input(check: &Check, change: &Change<'_>) -> Option<Issue> {
    let (before, after) = (change.before, change.after);
    let kind = base(before).and_then(|image| ImageKind::of(&image));
    let is_beside_node = kind.as_ref().is_some_and(|kind| kind.language != Some("node"));
    let finals: Vec<_> =
        final_chain(after).into_iter().filter_map(|index| after.pairs(index)).flatten().collect();
    let built_in: Vec<_> = (0..before.file.instructions.len())
        .filter(|index| is_told_built_in(before, *index))
        .filter_map(|index| before.pairs(index))
        .flatten()
        .collect();
    for stage in after.facts.stages() {
        let chain = chain_of(after, stage.index);
        for index in stage.instructions.clone() {
            let called = after.called(index);
            // Pages are made beside a program of another language, of their own sources.
            let are_pages = is_beside_node && called.iter().all(|call| call.is_any(NODE_TOOLS));
            let is_builder = !are_pages && called.iter().any(|call| call.is_build());
            let text = after.written().get(index);
            let Some(old) = text.and_then(|text| before.position(text)) else { continue };
            let is_run = after
                .file
                .instructions
                .get(index)
                .is_some_and(|instruction| instruction.keyword == Keyword::Run);
            if !is_run || only_prepares(change, index) {
                continue;
            }
            let mounted = mounted(after, index);
            let has = |pair: &(String, String), limit: usize| {
                let earlier = chain.iter().filter(|candidate| **candidate < limit);
                let copies = earlier.filter_map(|earlier| after.pairs(*earlier)).flatten();
                let mut own = copies.chain(&mounted);
                own.any(|other| is_source(&pair.0, &other.0))
            };
            // What only the container reads may be missing where it is built, if it arrives itself.
            let is_missing = |pair: &(String, String)| {
                let is_data = DATA.contains(&commands::last_part(pair.0.trim_end_matches('/')))
                    && !built_in.contains(&pair);
                let is_final = finals.iter().any(|other| is_part(pair, other));
                let is_for_run_time = is_data
                    || is_out_of_reach(before, old, &pair.1)
                    || is_told_for_run_time(before, &pair.1)
                    || is_of_other_package(before, called, &pair.0);
                if !is_builder {
                    return !has(pair, index) && has(pair, usize::MAX);
                }
                let arrives = has(pair, index) || is_for_run_time && is_final;
                !arrives && !is_read_by_another(before, old, pair)
            };
            // A compiler does not read pages whose results the original copies past it.
            let are_pages = |earlier: usize, (source, place): &(String, String)| {
                let is_of_pages = kind
                    .as_ref()
                    .is_some_and(|kind| is_of_pages(change, kind, earlier, (source, place)));
                is_of_pages && is_taken_out(before, place)
            };
            let needed = (0..old).flat_map(|earlier| {
                let own = before.pairs(earlier).unwrap_or_default();
                own.iter().filter(move |pair| !are_pages(earlier, pair))
            });
            if let Some((source, _)) = needed.into_iter().find(|pair| is_missing(pair)) {
                let message = format!(
                    "this step runs in a stage without `{source}`, which was copied before it"
                );
                let issue = change.issue(check, &message);
                let span = after.file.instructions.get(index)?.span;
                return Some(issue.at(after, span));
            }
        }
    }
    None
}

/// Whether `npm --prefix` builds one package, and a source is of another with its own manifest.
fn is_of_other_package(view: &View<'_>, called: &[commands::Called], source: &str) -> bool {
    let prefixes: Vec<String> = called
        .iter()
        .filter(|call| call.is_build())
        .filter_map(|call| {
            let words: Vec<&str> = call.words.iter().map(String::as_str).collect();
            commands::prefix_of(&words)
        })
        .collect();
    let source = source.trim_start_matches("./");
    let Some(package) = source.split('/').next() else { return false };
    let manifest = format!("{package}/package.json");
    let has_manifest =
        view.all_pairs().any(|(source, _)| source.trim_start_matches("./") == manifest);
    let builds = called.iter().filter(|call| call.is_build()).count();
    has_manifest
        && !prefixes.is_empty()
        && prefixes.len() == builds
        && prefixes.iter().all(|prefix| prefix != package)
}

/// Whether another build of the original reads a source by name, and this one names nothing of it.
fn is_read_by_another(view: &View<'_>, index: usize, pair: &(String, String)) -> bool {
    let source = pair.0.trim_start_matches("./").trim_end_matches('/');
    if matches!(source, "" | "." | "*") {
        return false;
    }
    let names = |call: &commands::Called| {
        call.words.iter().any(|word| is_within(word.trim_start_matches("./"), source))
    };
    let installs = ["bundle", "composer", "npm", "pip", "pip3"];
    let is_build =
        |call: &commands::Called| (call.is_build() || call.is_any(&installs)) && names(call);
    let own = view.called(index);
    let text = view
        .file
        .instructions
        .get(index)
        .map(|instruction| written(view, instruction))
        .unwrap_or_default();
    !own.iter().any(names)
        && !text.contains(source)
        && view.all_called().any(|call| call.instruction != index && is_build(call))
}

/// Places from which tools read settings and certificates without being told.
const SETTINGS: &[&str] = &[
    "/etc/apk",
    "/etc/apt",
    "/etc/gitconfig",
    "/etc/npmrc",
    "/etc/pip.conf",
    "/etc/pki",
    "/etc/ssl",
    "/etc/yum.repos.d",
    "/home",
    "/root",
    "/usr/local/etc/npmrc",
    "/usr/local/share/ca-certificates",
    "/usr/share/maven",
];

/// Whether the comment above the COPY of an authority tells whom the container asks, and nothing of the build.
fn is_told_for_run_time(view: &View<'_>, place: &str) -> bool {
    const BUILDS: &[&str] = &[
        "artifactory",
        "build",
        "download",
        "feed",
        "install",
        "maven",
        "mirror",
        "nexus",
        "npm",
        "nuget",
        "pip",
        "proxy",
        "registry",
        "repository",
        "restore",
    ];
    if !is_within(place, "/usr/local/share/ca-certificates") {
        return false;
    }
    let copies = (0..view.file.instructions.len())
        .filter(|index| view.pairs(*index).unwrap_or_default().iter().any(|(_, to)| to == place));
    let comments = copies.filter_map(|index| {
        let instruction = view.file.instructions.get(index)?;
        let above = view.text.get(..instruction.span.start)?.lines().rev();
        let above = above.take_while(|line| line.trim_start().starts_with('#'));
        let text = above.collect::<Vec<_>>().join(" ").to_lowercase();
        (!text.is_empty()).then_some(text)
    });
    comments.into_iter().any(|text| !BUILDS.iter().any(|word| text.contains(word)))
}

/// Whether a build step does not see a place: it runs elsewhere, and neither it nor a variable names it.
fn is_out_of_reach(view: &View<'_>, index: usize, place: &str) -> bool {
    let is_around = |directory: &str| is_within(place, directory) || is_within(directory, place);
    let parts = view.parts(index).unwrap_or_default();
    let runs_there = parts.iter().any(|part| part.directory.as_deref().is_none_or(is_around));
    let text = view
        .file
        .instructions
        .get(index)
        .map(|instruction| written(view, instruction))
        .unwrap_or_default();
    let variables = view.facts.scope(index).variables();
    let is_named = text.contains(place)
        || variables
            .iter()
            .any(|variable| variable.value.as_ref().is_some_and(|value| value.contains(place)));
    let is_setting = SETTINGS.iter().any(|setting| is_within(place, setting));
    !parts.is_empty() && !runs_there && !is_named && !is_setting
}

/// What a RUN mounts of the build context, each source with the place of its mount.
pub(super) fn mounted(view: &View<'_>, index: usize) -> Vec<(String, String)> {
    let Some(instruction) = view.file.instructions.get(index) else { return Vec::new() };
    let workdir = view.facts.state(index).and_then(|state| state.workdir.path.as_deref());
    let values = instruction.flags.iter().filter(|flag| is_context_mount(flag));
    let values = values.filter_map(|flag| flag.value.as_ref()).map(|it| it.text.as_str());
    values
        .filter_map(|value| {
            let option = |names: &[&str]| {
                let mut pairs = value.split(',').filter_map(|part| part.split_once('='));
                pairs.find(|(name, _)| names.contains(name)).map(|(_, value)| value)
            };
            let source = option(&["source", "src"]).unwrap_or(".");
            let target = absolute(option(&["target", "dst", "destination"])?, workdir)?;
            Some((source.to_owned(), target.trim_end_matches('/').to_owned()))
        })
        .collect()
}

/// Whether what a COPY gives to a user is given to it in the final image too, and modes are kept.
pub(super) fn keeps_owner(change: &Change<'_>, index: usize, old: &Instruction) -> bool {
    let after = change.after;
    let flag = |instruction: &Instruction, name: &str| {
        instruction.flag_value(name).map(|value| value.text.to_string())
    };
    let chmod = flag(old, "chmod");
    let keeps_mode = chmod.is_none()
        || after.file.instructions.iter().any(|instruction| flag(instruction, "chmod") == chmod);
    let Some(owner) = flag(old, "chown") else { return keeps_mode };
    let user = owner.split(':').next().unwrap_or_default().to_owned();
    let places = change.before.pairs(index).unwrap_or_default();
    let mut places = places.iter().map(|(_, place)| place);
    let finals = final_chain(after);
    let sources = change.before.pairs(index).unwrap_or_default();
    // A stage hands on what it gave to a user by the same COPY.
    let is_repeated = (0..after.file.instructions.len()).any(|index| {
        let Some(instruction) = after.file.instructions.get(index) else { return false };
        let own = after.pairs(index).unwrap_or_default();
        flag(instruction, "chown").as_ref() == Some(&owner)
            && sources.iter().all(|(source, _)| own.iter().any(|other| is_source(source, &other.0)))
    });
    let gives = |place: &String| {
        finals.iter().any(|index| {
            let Some(instruction) = after.file.instructions.get(*index) else { return false };
            let Arguments::Transfer { destination: Some(destination), .. } = &instruction.arguments
            else {
                return false;
            };
            let workdir = after.facts.state(*index).and_then(|state| state.workdir.path.as_deref());
            let target = absolute(&destination.text, workdir.or(Some("/"))).unwrap_or_default();
            let target = target.trim_end_matches('/');
            let is_user = flag(instruction, "chown")
                .is_some_and(|value| value.split(':').next() == Some(&user));
            is_user && (is_within(target, place) || is_within(place, target))
        }) || is_given(after, &owner, place)
    };
    keeps_mode && (is_repeated || places.all(gives))
}
