//! Commands, variables and options that do nothing but hand a secret to a tool.

use std::collections::BTreeSet;

use super::{
    run::{is_quoted_singly, is_word_in},
    script::words,
};
use crate::checks::View;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Plumbing {
    /// It writes to this file.
    File(String),
    /// It sets variables that tools read.
    Variables,
    Removal(Vec<String>),
    /// Options of the shell that show nothing.
    Options,
    /// Options of the shell that print what it runs, with every secret.
    Tracing,
}

/// Beginnings of variables that tools take credentials from.
const VARIABLES: &[&str] = &[
    "BUNDLE_",
    "CARGO_REGISTRIES_",
    "COMPOSER_AUTH",
    "GIT_CONFIG_",
    "NETRC",
    "NPM_CONFIG_",
    "NuGetPackageSourceCredentials_",
    "PIP_CONFIG_FILE",
    "PIP_EXTRA_INDEX_URL",
    "PIP_INDEX_URL",
    "POETRY_HTTP_BASIC_",
    "UV_EXTRA_INDEX_URL",
    "UV_INDEX",
    "VSS_NUGET_EXTERNAL_FEED_ENDPOINTS",
    "npm_config_",
];

/// Whether tools take credentials from a variable.
pub(super) fn is_variable(name: &str) -> bool {
    VARIABLES.iter().any(|variable| name.starts_with(variable))
}

/// Options whose value is an address with credentials.
const ADDRESS_OPTIONS: &[&str] =
    &["--index-url", "-i", "--extra-index-url", "--index", "--default-index"];

/// Options whose value is a file with credentials.
const FILE_OPTIONS: &[&str] = &[
    "-s",
    "-gs",
    "--settings",
    "--global-settings",
    "--configfile",
    "--userconfig",
    "--netrc-file",
];

const COMPOSER_LOGIN: &str = "~/.composer/auth.json";

/// Commands that write to a configuration, and its file.
const WRITERS: &[(&str, &str)] = &[
    ("git config", "~/.gitconfig"),
    ("npm config set", "~/.npmrc"),
    ("pnpm config set", "~/.npmrc"),
    ("npm set", "~/.npmrc"),
    ("yarn config set", "~/.yarnrc.yml"),
    ("pip config", "~/.config/pip/pip.conf"),
    ("composer config", COMPOSER_LOGIN),
    ("bundle config", "~/.bundle/config"),
    ("bundle set config", "~/.bundle/config"),
    ("dotnet nuget add source", "~/.nuget/NuGet/NuGet.Config"),
    ("dotnet nuget update source", "~/.nuget/NuGet/NuGet.Config"),
    ("poetry config", "~/.config/pypoetry/auth.toml"),
];

/// Commands that take it back.
const REMOVERS: &[(&str, &str)] = &[
    ("git config --global --unset", "~/.gitconfig"),
    ("git config --global --unset-all", "~/.gitconfig"),
    ("git config --global --remove-section", "~/.gitconfig"),
    ("npm config delete", "~/.npmrc"),
    ("npm config rm", "~/.npmrc"),
    ("composer config --global --unset", COMPOSER_LOGIN),
    ("composer config -g --unset", COMPOSER_LOGIN),
    ("bundle config unset", "~/.bundle/config"),
    ("dotnet nuget remove source", "~/.nuget/NuGet/NuGet.Config"),
];

/// Files that tools read credentials from, and where.
const CREDENTIALS: &[(&str, &[&str])] = &[
    (".npmrc", &["~", "."]),
    (".yarnrc.yml", &["~", "."]),
    (".netrc", &["~"]),
    (".gitconfig", &["~"]),
    (".git-credentials", &["~"]),
    ("pip.conf", &["/etc", "~/.config/pip", "~/.pip"]),
    ("settings.xml", &["~/.m2", "/usr/share/maven/conf"]),
    ("gradle.properties", &["~/.gradle", "/home/gradle/.gradle"]),
    ("auth.json", &["~/.composer", "~/.config/composer", "/tmp", "."]),
    ("nuget.config", &["~/.nuget/nuget", "."]),
    ("credentials.toml", &["~/.cargo", "/usr/local/cargo"]),
    ("config", &["~/.bundle", "/usr/local/bundle"]),
    (".my.cnf", &["~"]),
    (".pgpass", &["~"]),
    (".pypirc", &["~"]),
    (".s3cfg", &["~"]),
    (".sentryclirc", &["~", "."]),
    ("application_default_credentials.json", &["~/.config/gcloud"]),
    ("credentials", &["~/.aws"]),
    ("hosts.yml", &["~/.config/gh"]),
    ("kaggle.json", &["~/.kaggle", "~/.config/kaggle"]),
    ("rclone.conf", &["~/.config/rclone"]),
    ("token", &["~/.cache/huggingface"]),
];

pub(super) fn of(command: &str) -> Option<Plumbing> {
    let all = words(command);
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    match all.as_slice() {
        ["set", flags @ ..] => {
            let prints =
                |flag: &&str| *flag == "xtrace" || (flag.starts_with('-') && flag.contains('x'));
            return Some(if flags.iter().any(prints) {
                Plumbing::Tracing
            } else {
                Plumbing::Options
            });
        }
        ["rm", rest @ ..] => {
            let files = rest.iter().filter(|word| !word.starts_with('-'));
            // Composer's home is elsewhere in its own images.
            let files = files.map(|file| {
                if file.ends_with("/auth.json") { COMPOSER_LOGIN.to_owned() } else { normal(file) }
            });
            return Some(Plumbing::Removal(files.collect()));
        }
        _ => {}
    }
    if let Some((_, file)) = REMOVERS.iter().find(|(start, _)| command.starts_with(start)) {
        return Some(Plumbing::Removal(vec![(*file).to_owned()]));
    }
    if let Some((_, file)) = WRITERS.iter().find(|(start, _)| command.starts_with(start)) {
        return Some(Plumbing::File((*file).to_owned()));
    }
    if matches!(all.first(), Some(&("echo" | "printf" | "cat"))) {
        let place = all.iter().position(|word| word.starts_with('>'))?;
        let glued = all.get(place)?.trim_start_matches('>');
        let file = if glued.is_empty() { all.get(place + 1)? } else { glued };
        return Some(Plumbing::File(normal(file)));
    }
    let set = assignments(command)?;
    let is_known = |word: &String| {
        let (variable, value) = word.split_once('=').unwrap_or((word, ""));
        let value = value.trim_matches('"');
        let is_value =
            value.strip_prefix("${").is_some_and(|rest| rest.find('}') == Some(rest.len() - 1));
        is_value || VARIABLES.iter().any(|prefix| variable.starts_with(prefix))
    };
    set.iter().all(is_known).then_some(Plumbing::Variables)
}

/// Whether a command gives what another one has set a new value: the same key of the same tool.
pub(super) fn overwrites(command: &str, earlier: &str) -> bool {
    let key = |text: &str| {
        let (start, _) = WRITERS.iter().find(|(start, _)| text.starts_with(start))?;
        let rest = words(text.strip_prefix(start)?);
        let word = rest.iter().find(|word| !word.starts_with('-'))?.clone();
        Some((*start, word.split('=').next().unwrap_or_default().to_owned()))
    };
    key(command).is_some() && key(command) == key(earlier)
}

/// The assignments of a command that does nothing else.
pub(super) fn assignments(command: &str) -> Option<Vec<String>> {
    let all = words(command);
    let is_export = all.first().is_some_and(|word| word == "export");
    let rest = all.get(usize::from(is_export)..)?;
    let is_pair = |word: &String| word.split_once('=').is_some_and(|(name, _)| is_name(name));
    let fits = rest.iter().all(|word| is_pair(word) || (is_export && is_name(word)));
    (fits && !rest.is_empty()).then(|| rest.iter().filter(|word| is_pair(word)).cloned().collect())
}

/// Whether a command names a variable that is set for it alone: the shell expands its words before.
pub(super) fn is_used_too_early(command: &str) -> bool {
    let all = words(command);
    let is_set = |word: &&String| word.split_once('=').is_some_and(|(name, _)| is_name(name));
    let count = all.iter().take_while(is_set).count();
    let (set, rest) = all.split_at_checked(count).unwrap_or_default();
    set.iter().filter_map(|word| word.split_once('=')).any(|(name, _)| {
        rest.iter().any(|word| {
            word.contains(&format!("${{{name}}}")) || word.contains(&format!("${name}"))
        })
    })
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A path as two can be compared by.
fn normal(path: &str) -> String {
    let path = path.trim_matches('"');
    for home in ["$HOME/", "${HOME}/", "/root/"] {
        if let Some(rest) = path.strip_prefix(home) {
            return format!("~/{rest}");
        }
    }
    path.trim_start_matches("./").to_owned()
}

/// The addresses in a text, without credentials.
pub(super) fn addresses(text: &str) -> BTreeSet<String> {
    let starts = text.match_indices("//").map(|(start, _)| start + 2);
    let found = starts.filter_map(|start| {
        let rest = text.get(start..)?;
        let end = rest.find(|c: char| c.is_whitespace() || "\"'\\,;".contains(c));
        let address = rest.get(..end.unwrap_or(rest.len()))?;
        let address = address.split(":_").next()?.split(".insteadOf").next()?;
        let host = address.split_once('@').map_or(address, |(_, host)| host);
        let host = host.trim_end_matches('/');
        host.contains('.').then(|| host.to_owned())
    });
    found.collect()
}

/// The same, each with what the option or variable makes of it: an index beside the usual one, or in
/// its place.
pub(super) fn addresses_of(name: &str, text: &str) -> BTreeSet<String> {
    let is_beside = name.to_ascii_lowercase().contains("extra");
    let found = addresses(text).into_iter();
    found.map(|address| if is_beside { format!("beside {address}") } else { address }).collect()
}

/// A command without the options and variables that hand it an address with a secret, and the addresses.
pub(super) fn without_addresses(
    command: &str,
    names: &BTreeSet<String>,
) -> (String, BTreeSet<String>) {
    let has_secret = |text: &str| names.iter().any(|name| is_word_in(text, name));
    let mut found = BTreeSet::new();
    let mut kept: Vec<String> = Vec::new();
    let all = words(command);
    let mut rest = all.iter().peekable();
    while let Some(word) = rest.next() {
        let (option, value) = word.split_once('=').unwrap_or((word, ""));
        let is_variable = kept.is_empty()
            && !value.is_empty()
            && (names.contains(option)
                || VARIABLES.iter().any(|variable| option.starts_with(variable)));
        if is_variable || (ADDRESS_OPTIONS.contains(&option) && has_secret(value)) {
            if has_secret(value) {
                found.extend(addresses_of(option, value));
            }
            continue;
        }
        if ADDRESS_OPTIONS.contains(&word.as_str())
            && let Some(value) = rest.next_if(|next| has_secret(next))
        {
            found.extend(addresses_of(word, value));
            continue;
        }
        kept.push(word.clone());
    }
    (kept.join(" "), found)
}

/// Whether a text names secrets only as text that a tool will read: in single quotes, or escaped.
pub(super) fn is_literal(command: &str, names: &BTreeSet<String>) -> bool {
    names.iter().all(|name| {
        let reference = format!("${{{name}}}");
        command.match_indices(&reference).all(|(start, _)| {
            let is_escaped = command.get(..start).is_some_and(|before| before.ends_with('\\'));
            is_escaped || is_quoted_singly(command, start)
        })
    })
}

/// Whether a tool reads credentials from this path.
pub(super) fn is_credentials(path: &str, view: &View<'_>) -> bool {
    let lower = normal(path).to_lowercase();
    let (directory, file) = lower.rsplit_once('/').unwrap_or((".", &lower));
    let mut workdirs = view
        .file
        .instructions
        .iter()
        .filter(|instruction| instruction.keyword == probity_dockerfile::Keyword::Workdir);
    let is_here = |place: &str| match place {
        "." => workdirs
            .any(|workdir| workdir.body_text().trim_end_matches('/').to_lowercase() == directory),
        place => place == directory,
    };
    let row = CREDENTIALS.iter().find(|(name, _)| *name == file);
    row.is_some_and(|(_, places)| places.iter().copied().any(is_here))
}

/// A command without the option or the variable that names the file of a mount, if it has one.
pub(super) fn without_path(command: &str, path: &str) -> Option<String> {
    let all = words(command);
    let is_path = |word: &str| word.trim_matches('"') == path;
    match all.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["ln", "-s" | "-sf", source, file] | ["ln", source, file]
            if is_path(source) && normal(file).contains('.') =>
        {
            return Some("set -a".to_owned());
        }
        ["cp", source, file] if is_path(source) => return Some(format!("echo ${{FILE}} > {file}")),
        _ => {}
    }
    let mut kept: Vec<&str> = Vec::new();
    let mut is_found = false;
    let mut rest = all.iter().map(String::as_str).peekable();
    while let Some(word) = rest.next() {
        let (option, value) = word.split_once('=').unwrap_or((word, ""));
        let is_variable = VARIABLES.iter().any(|variable| option.starts_with(variable));
        let is_own = is_path(value) && (FILE_OPTIONS.contains(&option) || is_variable);
        if is_own || (FILE_OPTIONS.contains(&word) && rest.next_if(|next| is_path(next)).is_some())
        {
            is_found = true
        } else {
            kept.push(word)
        }
    }
    let kept = match kept.as_slice() {
        ["export"] | [] => "set -a".to_owned(),
        kept => kept.join(" "),
    };
    is_found.then_some(kept)
}
