//! What the container or a comment names: trees that `make install` puts below a prefix, and sources that
//! a program reads while it runs.

use probity_dockerfile::{Setting, TokenKind};

use super::{
    super::{
        Change, View,
        belongings::{covers, final_chain, is_within, text_of},
        commands::{self, Called},
        moved::copied,
        steps::absolute,
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

/// Words of comments that tell what a program reads while it runs.
const READ: &[&str] = &[
    "at run time",
    "at runtime",
    "at start",
    "from disk",
    "loads",
    "loaded",
    "not embedded",
    "reads",
    "read from",
    "served from",
    "serves",
    "while it runs",
];

/// Directories and files that a comment says the program reads, where the sources bring them.
pub(super) fn told_paths(change: &Change<'_>) -> Vec<String> {
    let before = change.before;
    let runtime = before.facts.final_runtime();
    let workdir = runtime.get(Setting::Workdir).first().and_then(|it| text_of(&it.entry.value));
    let comments = before.file.tokens.iter().filter(|it| it.kind == TokenKind::Comment);
    let comments = comments.filter_map(|it| it.span.slice(before.text));
    let tells = comments.filter(|it| READ.iter().any(|word| it.contains(word)));
    let words =
        tells.flat_map(|it| it.split(|it: char| it.is_whitespace() || "\"'`,;()".contains(it)));
    let paths = words.filter_map(|word| {
        let is_plain = word.contains('/') && !word.contains([':', '*', '$', '@', '<']);
        let path = absolute(word.trim_end_matches(['.', '/']), workdir.as_deref())?;
        let all = before.file.instructions.iter().enumerate();
        let is_source = all
            .clone()
            .any(|(index, it)| it.flag_value("from").is_none() && covers(before, index, it, &path));
        (is_plain && path.len() > 1 && is_source).then_some(path)
    });
    paths.filter(|it| !is_around(change, it)).map(|it| format!("`{it}`")).collect()
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
