//! What a word behind `install` asks for: a name with a version, a file, or an address.

use probity_shell::{PartKind, Word};

use crate::facts::packages::{
    PackageKind, Version,
    managers::{Manager, Row, Spelling},
};

/// Reads one argument of a package manager.
pub(super) fn kind(row: &Row, word: &Word) -> PackageKind {
    let value = Value::of(word);
    if value.text.is_empty() || value.is_one_expansion() {
        return PackageKind::Unknown;
    }
    // What stands behind a `;` in Python is a condition, not a part of the name.
    let text = value.text.as_str();
    if text.contains("://") || text.starts_with("git@") {
        return PackageKind::Remote;
    }
    if is_local(row, text) {
        return PackageKind::Local;
    }
    let (name, version) = match row.spelling {
        Spelling::Equals => split_at(text, "="),
        Spelling::Apk => compared(text, &['=', '<', '>', '~']),
        Spelling::Zypper => compared(text, &['=', '<', '>']),
        Spelling::Dash => dash(text),
        Spelling::Python => python(text),
        Spelling::At => at(text),
        Spelling::Colon => colon(text),
    };
    PackageKind::Named { name: name.to_owned(), version }
}

/// Whether a word is the version of the package before it. A name of Composer has a slash in it, or
/// is one of the platform, which begins with a letter.
pub(super) fn is_bare_version(row: &Row, word: &Word) -> bool {
    let text = Value::of(word).text;
    let is_number = |text: &str| text.starts_with(|it: char| it.is_ascii_digit());
    row.manager == Manager::Composer
        && !text.contains('/')
        && (is_number(&text)
            || text.strip_prefix('v').is_some_and(is_number)
            || text.starts_with(['^', '~', '*', '<', '>', '=', '!', '@', EXPANSION])
            || text.starts_with("dev-"))
}

/// Stands for an expansion in a text: no manager's name or version has it.
const EXPANSION: char = '\u{0}';

/// The value of a word with a placeholder for each part that is only known when it runs.
struct Value {
    text: String,
}

impl Value {
    fn of(word: &Word) -> Self {
        let texts = word.parts().iter().map(|part| match &part.kind {
            PartKind::Text(text) | PartKind::Glob(text) | PartKind::Brace(text) => text.to_string(),
            PartKind::Tilde(text) => format!("{text}/"),
            _ => EXPANSION.to_string(),
        });
        Self { text: texts.collect() }
    }

    /// Nothing but expansions: neither a name nor a version can be told.
    fn is_one_expansion(&self) -> bool {
        self.text.chars().all(|char| char == EXPANSION)
    }
}

fn is_local(row: &Row, text: &str) -> bool {
    let path = text.split(['[', ';']).next().unwrap_or_default();
    let looks_like_path = path == "."
        || path == ".."
        || ["./", "../", "/", "~/", "file:"].iter().any(|prefix| path.starts_with(prefix));
    let is_archive = row.archives.iter().any(|ending| path.ends_with(ending));
    // A Go package below the module is a path; one of a repository has a host with a dot in it.
    let is_go_path = row.manager == Manager::Go && (path == "..." || path.starts_with("./"));
    // No name of a Python package has a slash.
    let is_python_path = row.spelling == Spelling::Python && path.contains('/');
    looks_like_path || is_archive || is_go_path || is_python_path
}

/// A version that is certain: an expansion counts, since whoever set it chose one.
fn exact(version: &str) -> Version {
    if version.is_empty() { Version::None } else { Version::Exact(shown(version)) }
}

fn range(version: &str) -> Version {
    if version.is_empty() { Version::None } else { Version::Range(shown(version)) }
}

/// A version as a message can show it.
fn shown(version: &str) -> String {
    version.replace(EXPANSION, "$")
}

fn split_at<'t>(text: &'t str, separator: &str) -> (&'t str, Version) {
    match text.split_once(separator) {
        Some((name, version)) => (name, exact(version)),
        // `name/bookworm` takes whatever that release has.
        None => match text.split_once('/') {
            Some((name, release)) => (name, range(release)),
            None => (text, Version::None),
        },
    }
}

fn compared<'t>(text: &'t str, signs: &[char]) -> (&'t str, Version) {
    let Some(start) = text.find(signs) else {
        let name = text.split('@').next().unwrap_or(text);
        return (name, Version::None);
    };
    let (name, version) = text.split_at(start);
    let bare = version.trim_start_matches(signs);
    let is_exact = version.starts_with('=') && !bare.ends_with('*');
    (name, if is_exact { exact(bare) } else { range(version) })
}

/// `name-1.2-3.el9`: the version begins at the first dash that a digit or a variable follows.
fn dash(text: &str) -> (&str, Version) {
    let start = text.match_indices('-').find(|(at, _)| {
        text[at + 1..].starts_with(|char: char| char.is_ascii_digit() || char == EXPANSION)
    });
    match start {
        Some((at, _)) if !text.starts_with('@') => (&text[..at], exact(&text[at + 1..])),
        // A stream of a module, `@nodejs:18`, is a choice of versions.
        _ => match text.strip_prefix('@').and_then(|group| group.split_once(':')) {
            Some((_, stream)) => (text, range(stream)),
            None => (text, Version::None),
        },
    }
}

fn python(text: &str) -> (&str, Version) {
    let requirement = text.split(';').next().unwrap_or(text).trim();
    // A single `=` compares nothing, and pip refuses it.
    let is_single = |at: usize| {
        let sign = requirement.get(at..).unwrap_or_default();
        sign.starts_with('=') && !sign.starts_with("==")
    };
    let start = requirement.find(['=', '<', '>', '~', '!']).filter(|&at| !is_single(at));
    let Some(start) = start else {
        let name = requirement.split('[').next().unwrap_or(requirement);
        return (name, Version::None);
    };
    let (name, version) = requirement.split_at(start);
    let name = name.split('[').next().unwrap_or(name).trim();
    let bare = version.trim_start_matches('=').trim();
    let is_exact = version.starts_with("==") && !version.contains(',') && !bare.ends_with('*');
    (name, if is_exact { exact(bare) } else { range(version) })
}

/// The `@` of `@scope/name` is no version.
fn at(text: &str) -> (&str, Version) {
    let scope = usize::from(text.starts_with('@'));
    let Some(separator) = text[scope..].find('@').map(|at| at + scope) else {
        return (text, Version::None);
    };
    let version = &text[separator + 1..];
    let is_exact = version
        .trim_start_matches('v')
        .starts_with(|char: char| char.is_ascii_digit() || char == EXPANSION);
    (&text[..separator], if is_exact { exact(version) } else { range(version) })
}

fn colon(text: &str) -> (&str, Version) {
    match text.split_once(':') {
        Some((name, version)) if version.starts_with(['^', '~', '>', '<', '*']) => {
            (name, range(version))
        }
        Some((name, version)) => (name, exact(version)),
        None => (text, Version::None),
    }
}
