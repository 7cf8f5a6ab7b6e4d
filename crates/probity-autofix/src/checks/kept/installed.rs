//! What `make install` and the like put below a prefix, as far as the container or a comment names it.

use probity_dockerfile::TokenKind;

use super::{
    super::{
        Change, View,
        belongings::{final_chain, is_within},
        commands::{self, Called},
        moved::copied,
    },
    is_around,
};

/// Places below the prefix of `make install` that the container or a comment on installing names.
pub(super) fn installed_tree(change: &Change<'_>) -> Vec<String> {
    const PARTS: &[&str] = &["bin", "etc", "lib", "libexec", "sbin", "share"];
    let before = change.before;
    let Some(prefix) = installs_into(before) else { return Vec::new() };
    let comments = before.file.tokens.iter().filter(|it| it.kind == TokenKind::Comment);
    let comments = comments.filter_map(|it| it.span.slice(before.text));
    let tells = comments.filter(|it| it.contains("install") || it.contains(&prefix));
    let runtime = before.facts.final_runtime();
    let values = runtime.entries().iter().map(|it| it.entry.to_string());
    let texts = values.chain(tells.map(str::to_owned)).collect::<Vec<String>>().join(" ");
    let words = texts.split(|it: char| it.is_whitespace() || "\"'`=:,;()[]".contains(it));
    let places = words.filter_map(|word| {
        let word = word.split('*').next()?.trim_end_matches(['/', '.']);
        let (first, rest) = word.split_once('/')?;
        match PARTS.contains(&first) && !rest.is_empty() {
            true => Some(format!("{prefix}/{word}")),
            false => (is_within(word, &prefix) && word != prefix).then(|| word.to_owned()),
        }
    });
    places
        .filter(|it| !is_around(change, it) && !is_library_around(change, it))
        .map(|it| format!("`{it}`"))
        .collect()
}

/// The prefix below which a file installs what it builds.
fn installs_into(view: &View<'_>) -> Option<String> {
    commands::all(view).find(Called::installs_tree)?;
    let prefix = commands::all(view).find_map(|it| it.prefix().map(str::to_owned));
    Some(prefix.unwrap_or_else(|| "/usr/local".to_owned()))
}

/// Whether a COPY brings a library by a pattern, or by another number of its version.
fn is_library_around(change: &Change<'_>, path: &str) -> bool {
    let Some((stem, _)) = path.split_once(".so") else { return false };
    final_chain(change.after).into_iter().any(|index| {
        let it = change.after.file.instructions.get(index);
        let places = it.and_then(|it| copied(change, index, it)).unwrap_or_default();
        places.iter().any(|place| place.starts_with(stem))
    })
}
