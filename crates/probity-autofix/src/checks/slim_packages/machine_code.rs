//! Machine code in the final stage, which runs on the C library alone that it was linked with.

use probity_dockerfile::{Base, Keyword, TokenKind};

use super::super::{
    Change, View,
    arrival::{sources, stage_of},
    belongings::{final_chain, is_within},
    commands::{self, Called},
    image_kind::ImageKind,
    steps::chain_of,
};

/// Whether the final stage holds code that was built for the C library of the original.
pub(super) fn has_native_code(change: &Change<'_>, new: &ImageKind) -> bool {
    let view = change.before;
    let chain = final_chain(view);
    let copies = copies_machine_code(view);
    let installs = chain.iter().any(|index| {
        let calls = view.facts.package_calls(&view.file, *index).iter();
        let called = view.called(*index);
        calls.into_iter().any(|call| {
            // Without scripts no package compiles anything.
            commands::is_language_manager(call.manager) && !call.has_flag(&["--ignore-scripts"])
        }) || called.iter().any(|call| call.is_any(&["bundle", "poetry", "uv"]))
    });
    let installs = installs && !is_told_pure(view);
    // Debian's directories of libraries, as in `LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libjemalloc.so.2`.
    let names_library = chain.iter().any(|index| {
        let instruction = view.file.instructions.get(*index);
        instruction.is_some_and(|instruction| {
            instruction.keyword != Keyword::Run && instruction.body_text().contains("-linux-gnu/")
        })
    });
    // Packages that a stage installs beside what it copies may have no files for the other library.
    let copies_any = chain.iter().any(|index| {
        let instruction = view.file.instructions.get(*index);
        instruction.is_some_and(|instruction| instruction.flag_value("from").is_some())
    });
    let copies = copies || (copies_any && installs) || names_library;
    match new.language {
        Some("java" | "dotnet") => false,
        Some("python" | "ruby") => copies || installs,
        _ => copies,
    }
}

/// Whether the final stage takes machine code from another stage or image.
pub(crate) fn copies_machine_code(view: &View<'_>) -> bool {
    final_chain(view).iter().any(|index| brings_machine_code(view, *index))
}

/// Whether a comment says that no package has machine code.
fn is_told_pure(view: &View<'_>) -> bool {
    const TELLS: &[&str] = &[
        "all pure",
        "no compiled",
        "no machine code",
        "no native",
        "nothing is compiled",
        "nothing native",
        "only pure",
        "plain javascript",
        "plain python",
        "pure javascript",
        "pure python",
    ];
    let comments = view.file.tokens.iter().filter(|token| token.kind == TokenKind::Comment);
    let mut comments =
        comments.filter_map(|comment| comment.span.slice(view.text)).map(str::to_lowercase);
    comments.any(|comment| TELLS.iter().any(|tell| comment.contains(tell)))
}

/// Tools that turn programs and pages into other text.
const BUNDLERS: &[&str] =
    &["npm", "npx", "yarn", "pnpm", "bun", "tsc", "webpack", "vite", "esbuild"];

/// Places of bundlers that keep packages beside the program.
const WITH_PACKAGES: &[&str] = &["node_modules", "standalone", ".output"];

/// Whether a COPY may bring machine code from another stage. Of a stage that only has tools of Node at work,
/// that is in packages alone; bundles and pages are text.
fn brings_machine_code(view: &View<'_>, index: usize) -> bool {
    let Some(instruction) = view.file.instructions.get(index) else { return false };
    if instruction.flag_value("from").is_none() {
        return false;
    }
    // Another image may hold anything.
    let Some(stage) = stage_of(view, instruction) else { return true };
    let stages = view.facts.stages();
    let root = stages.get(stage).and_then(|stage| stages.get(stage.root)).map(|stage| &stage.base);
    let is_of_node = match root {
        Some(Base::Image(image)) => {
            ImageKind::of(image).is_some_and(|kind| kind.language == Some("node"))
        }
        _ => false,
    };
    let steps = chain_of(view, stage);
    let called: Vec<&Called> = steps.iter().flat_map(|index| view.called(*index)).collect();
    let compiles = called.iter().any(|call| {
        let is_packer = |word: &String| matches!(word.as_str(), "pkg" | "nexe" | "--compile");
        call.words.iter().any(is_packer) || (call.is_build() && !call.is_any(BUNDLERS))
    });
    // Composer fetches text.
    let is_composer = matches!(root, Some(Base::Image(image)) if image.starts_with("composer"));
    if is_composer && called.iter().all(|call| call.is_any(&["composer", "mkdir", "cp", "rm"])) {
        return false;
    }
    if !is_of_node || compiles {
        return true;
    }
    if is_told_pure(view) {
        return false;
    }
    let packages: Vec<String> = steps
        .iter()
        .filter_map(|index| view.facts.state(*index)?.workdir.path.as_deref())
        .map(|workdir| format!("{}/node_modules", workdir.trim_end_matches('/')))
        .collect();
    sources(view, index, instruction).iter().any(|source| {
        let name = commands::last_part(source);
        let is_program = !name.contains('.') && commands::starts(view, name);
        let is_part = source.split('/').any(|part| WITH_PACKAGES.contains(&part));
        is_program || is_part || packages.iter().any(|directory| is_within(directory, source))
    })
}
