//! The commands that read a secret variable, as far as the text shows.

use std::collections::BTreeSet;

use probity_dockerfile::Keyword;

use super::{declared, run::is_word_in};
use crate::checks::{
    View,
    commands::{self, Called},
    steps::written,
};

/// Words in the names of variables, and the package managers that read those.
const FAMILIES: &[(&[&str], &[&str])] = &[
    (&["npm", "node", "yarn", "pnpm"], &["npm", "yarn", "pnpm"]),
    (
        &["pip", "pypi", "poetry", "uv", "pipenv"],
        &["pip", "pip3", "poetry", "uv", "pipenv", "python", "python3"],
    ),
    (&["bundle", "bundler", "gem", "gems", "rubygems"], &["bundle", "gem"]),
    (&["composer", "packagist"], &["composer"]),
    (&["cargo"], &["cargo"]),
    (&["maven", "mvn"], &["mvn", "mvnw"]),
    (&["gradle"], &["gradle", "gradlew"]),
    (&["nuget"], &["dotnet", "nuget"]),
];

/// What package managers are called with when they download.
const DOWNLOADS: &[&str] = &[
    "add", "build", "ci", "download", "fetch", "i", "install", "package", "publish", "restore",
    "sync",
];

/// Commands that read no variable unless their words name it.
const INERT: &[&str] = &[
    "addgroup",
    "adduser",
    "apk",
    "apt",
    "apt-get",
    "cat",
    "cd",
    "chmod",
    "chown",
    "conda",
    "cp",
    "curl",
    "dnf",
    "echo",
    "groupadd",
    "ldconfig",
    "ln",
    "mamba",
    "microdnf",
    "mkdir",
    "mv",
    "printf",
    "rm",
    "sed",
    "tar",
    "test",
    "touch",
    "true",
    "unzip",
    "update-ca-certificates",
    "useradd",
    "wget",
    "yum",
];

/// The RUNs of a file that need a secret: those that name it, and the downloads of the package manager
/// that it is for. Without such programs, any program may read it.
pub(super) fn of(view: &View<'_>, name: &str, moved: &BTreeSet<String>) -> Vec<usize> {
    let all = view.file.instructions.iter().enumerate();
    let seen: Vec<usize> = all
        .filter(|(_, it)| it.keyword == Keyword::Run)
        .filter(|(index, _)| view.facts.scope(*index).get(name).is_some())
        .map(|(index, _)| index)
        .collect();
    let names = |index: &usize| {
        let run = view.file.instructions.get(*index);
        run.is_some_and(|it| is_word_in(&written(view, it), name))
    };
    let downloads = |index: &usize| {
        let called = commands::of_instruction(view, *index);
        called.iter().any(|it| is_download_for(it, name))
    };
    let certain: Vec<usize> =
        seen.iter().copied().filter(|it| names(it) || downloads(it)).collect();
    // ENV hands it on under another name.
    let is_handed_on = declared(view).any(|(_, pair)| {
        let value = pair.value.as_ref().map(|it| it.text.as_str()).unwrap_or_default();
        pair.key.text != name && moved.contains(pair.key.text.as_str()) && is_word_in(value, name)
    });
    if !certain.is_empty() || is_handed_on {
        return certain;
    }
    let may_read = |index: &usize| {
        let called = commands::of_instruction(view, *index);
        called.is_empty() || called.iter().any(|it| !it.is_any(INERT))
    };
    seen.into_iter().filter(may_read).collect()
}

/// The secrets in the value that a file gives a variable.
pub(super) fn secrets_in<'n>(
    view: &View<'_>,
    variable: &str,
    names: &'n BTreeSet<String>,
) -> Vec<&'n String> {
    let value = declared(view).find_map(|(_, pair)| {
        let value = pair.value.as_ref().map(|it| it.text.to_string());
        value.filter(|_| pair.key.text == variable)
    });
    let value = value.unwrap_or_default();
    names.iter().filter(|name| *name != variable && is_word_in(&value, name)).collect()
}

/// Whether a variable is for downloads of packages, going by its name.
pub(super) fn is_for_packages(name: &str) -> bool {
    !tools(name).is_empty()
}

fn tools(name: &str) -> Vec<&'static str> {
    let parts: Vec<String> = name.split('_').map(str::to_ascii_lowercase).collect();
    let is_of = |words: &[&str]| parts.iter().any(|part| words.contains(&part.as_str()));
    let families = FAMILIES.iter().filter(|(words, _)| is_of(words));
    families.flat_map(|(_, tools)| tools.iter().copied()).collect()
}

fn is_download_for(called: &Called, name: &str) -> bool {
    let is_plain_yarn = called.name == "yarn" && called.words.is_empty();
    let says = called.words.iter().any(|word| DOWNLOADS.contains(&word.as_str()));
    // `npm run build` is a script of the project.
    let says = says && !called.words.iter().any(|word| word == "run");
    called.is_any(&tools(name)) && (says || is_plain_yarn)
}
