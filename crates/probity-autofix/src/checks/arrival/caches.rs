//! What a step keeps in a cache mount is gone for the next step that does not mount it.

use probity_dockerfile::{Flag, Keyword};

use super::super::{Change, View, belongings::is_within, commands::Called, steps::absolute};

/// Where tools keep what they downloaded.
const STORES: &[(&str, &[&str])] = &[
    ("/.nuget", &["dotnet"]),
    ("/.m2", &["mvn", "mvnw"]),
    ("/.gradle", &["gradle", "gradlew"]),
    ("/cargo/", &["cargo"]),
    ("/.cargo/", &["cargo"]),
    ("/pkg/mod", &["go"]),
    ("/.cache/pip", &["pip", "pip3"]),
    ("/.npm", &["npm"]),
    ("/pnpm", &["pnpm"]),
];

/// A step that reads what an earlier step has put into a cache, without mounting the cache.
pub(super) fn missed(change: &Change<'_>) -> Option<String> {
    let after = change.after;
    for stage in after.facts.stages() {
        let mut caches: Vec<String> = Vec::new();
        for index in stage.instructions.clone() {
            let Some(instruction) = after.file.instructions.get(index) else { continue };
            if instruction.keyword != Keyword::Run {
                continue;
            }
            let own = mounted(after, index);
            let missing =
                caches.iter().filter(|cache| !own.iter().any(|place| is_within(cache, place)));
            for cache in missing {
                let called = after.called(index);
                if let Some(reader) = called.iter().find(|call| reads(after, index, call, cache)) {
                    return Some(format!(
                        "`{}` reads what an earlier step keeps in the cache `{cache}`, and its RUN does \
                         not mount that cache",
                        reader.name
                    ));
                }
            }
            caches.extend(own);
        }
    }
    None
}

/// The places of the caches that an instruction mounts.
pub(super) fn mounted(view: &View<'_>, index: usize) -> Vec<String> {
    let instruction = view.file.instructions.get(index);
    let flags = instruction.into_iter().flat_map(|instruction| &*instruction.flags);
    flags.filter_map(|flag| cache_of(view, index, flag)).collect()
}

fn cache_of(view: &View<'_>, index: usize, flag: &Flag) -> Option<String> {
    if flag.option("type")?.text.as_str() != "cache" {
        return None;
    }
    let target = ["target", "dst", "destination"].iter().find_map(|name| flag.option(name))?;
    let workdir = view.facts.state(index).and_then(|state| state.workdir.path.as_deref());
    Some(absolute(&target.text, workdir)?.trim_end_matches('/').to_owned())
}

/// Whether a command names a path in the cache, or may not download again what it finds missing.
fn reads(view: &View<'_>, index: usize, it: &Called, cache: &str) -> bool {
    let workdir = view.facts.state(index).and_then(|state| state.workdir.path.as_deref());
    let names = it.words.iter().filter(|word| word.contains('/') && !word.starts_with('-'));
    let mut paths = names.filter_map(|word| absolute(word, workdir));
    // A step that removes or makes the place does not read what was in it.
    let is_named = !it.is_any(&["rm", "mkdir", "chown"])
        && paths.any(|path| path != cache && is_within(&path, cache));
    let mut tools = STORES.iter().filter(|(place, _)| format!("{cache}/").contains(place));
    let is_store = tools.any(|(_, tools)| it.is_any(tools));
    let text =
        view.file.instructions.get(index).map(|instruction| instruction.body_text().to_string());
    let has_no_proxy = it.name == "go" && text.is_some_and(|text| text.contains("GOPROXY=off"));
    is_named || (is_store && (is_offline(it) || has_no_proxy))
}

fn is_offline(it: &Called) -> bool {
    let flags: &[&str] = match it.name.as_str() {
        "dotnet" => &["--no-restore"],
        "mvn" | "mvnw" => &["-o", "--offline"],
        "cargo" => &["--offline", "--frozen"],
        "pip" | "pip3" => &["--no-index"],
        _ => &["--offline"],
    };
    it.words.iter().any(|word| flags.contains(&word.as_str()))
}
