//! Paths that documents quote or link to exist.
//!
//! Guides rot first where they point at files. Not everything with a slash is a path of this
//! repository, though: rules (`tally/…`), methods of protocols, media types and users' files are
//! not, so a quoted word counts only if it begins like one of our paths or ends like a source.

use super::{
    Problem,
    markdown::{self, Kind},
    workspace::Workspace,
};

const DOCUMENTS: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// First components that are ours even if they are gone.
const OURS: &[&str] =
    &["crates", "docs", "script", "xtask", "fuzz", "skills", ".ci", ".github", ".cargo"];

/// First components that come and go with building.
const BUILT: &[&str] = &["target", ".git"];

/// Ends that only files of this repository have in our documents, whatever they begin with.
const SOURCE_ENDS: &[&str] = &[".rs", ".md", ".toml"];

/// Capital names that are real files; other words in capitals are placeholders.
const CAPITALS: &[&str] = &[
    "README",
    "ARCHITECTURE",
    "CONTRIBUTING",
    "CHANGELOG",
    "SECURITY",
    "LICENSE",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "NOTICE",
    "SKILL",
    "AGENTS",
];

pub(crate) fn check(workspace: &Workspace) -> Vec<Problem> {
    let mut problems = Vec::new();
    for document in workspace.files.iter().filter(|path| is_document(path)) {
        let text = match workspace.read(document) {
            Ok(text) => text,
            Err(error) => {
                problems.push(Problem::new(document, None, error, "documents are UTF-8 text"));
                continue;
            }
        };
        for mention in markdown::mentions(&text) {
            let (missing, how) = match mention.kind {
                Kind::Code => (missing_quoted(workspace, mention.text), "quotes"),
                Kind::Link => (missing_linked(workspace, document, mention.text), "links to"),
            };
            if let Some(path) = missing {
                problems.push(Problem::new(
                    document,
                    mention.line,
                    format!("{how} `{path}`, which does not exist"),
                    "a guide that points nowhere misleads: correct the path, or put an example \
                     that is not of this repository into a fenced block",
                ));
            }
        }
    }
    problems
}

fn is_document(path: &str) -> bool {
    DOCUMENTS.contains(&path) || (path.starts_with("docs/") && path.ends_with(".md"))
}

/// The path that a code span names, if it is one of ours and missing.
fn missing_quoted<'text>(workspace: &Workspace, quoted: &'text str) -> Option<&'text str> {
    // In a command line the program is a claim about this repository; its arguments are examples.
    let path = without_position(quoted.split_whitespace().next()?);
    let path = path.strip_prefix("./").unwrap_or(path);
    if !path.contains('/') || !is_plain(path) || path.starts_with(['/', '-']) {
        return None;
    }
    let first = path.split('/').next()?;
    if first == ".." || BUILT.contains(&first) {
        return None;
    }
    let begins_like_ours = OURS.contains(&first) || workspace.root.join(first).exists();
    let ends_like_source =
        !first.starts_with('.') && SOURCE_ENDS.iter().any(|end| path.ends_with(end));
    if !begins_like_ours && !ends_like_source {
        return None;
    }
    let is_there = exists(workspace, path)
        || (!begins_like_ours
            && workspace
                .files
                .iter()
                .any(|file| file.strip_suffix(path).is_some_and(|before| before.ends_with('/'))));
    (!is_there && !path.split('/').any(is_placeholder)).then_some(path)
}

/// The target of a link, if it is a file and missing.
fn missing_linked<'text>(
    workspace: &Workspace,
    document: &str,
    target: &'text str,
) -> Option<&'text str> {
    let path = target.split(['#', '?']).next()?;
    let has_scheme = path.split('/').next()?.contains(':');
    if path.is_empty() || has_scheme {
        return None;
    }
    let mut components: Vec<&str> =
        if path.starts_with('/') { Vec::new() } else { document.split('/').collect() };
    components.pop();
    for component in path.split('/') {
        match component {
            "" | "." => {}
            // Above the root is outside the repository.
            ".." => {
                if components.pop().is_none() {
                    return Some(path);
                }
            }
            name => components.push(name),
        }
    }
    (!exists(workspace, &components.join("/"))).then_some(path)
}

fn exists(workspace: &Workspace, path: &str) -> bool {
    let full = workspace.root.join(path);
    if path.ends_with('/') { full.is_dir() } else { full.exists() }
}

/// Without `:12`, `:12:3`, `:12-14` or `#anchor`.
fn without_position(word: &str) -> &str {
    let word = word.split('#').next().unwrap_or(word);
    let is_position = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_digit())
            && part.chars().all(|character| character.is_ascii_digit() || character == '-')
    };
    let mut path = word;
    while let Some((before, after)) = path.rsplit_once(':') {
        if !is_position(after) {
            break;
        }
        path = before;
    }
    path
}

/// Only characters that our paths are made of: no pattern, no variable, no placeholder, no URL.
fn is_plain(path: &str) -> bool {
    !path.contains("...")
        && path.chars().all(|character| {
            character.is_ascii_alphanumeric() || matches!(character, '/' | '.' | '_' | '-' | '+')
        })
}

/// `DIR`, `NAME.rs`, `YYYY-MM-DD`.
fn is_placeholder(component: &str) -> bool {
    let stem = component.split('.').next().unwrap_or_default();
    stem.contains(|character: char| character.is_ascii_uppercase())
        && !stem.contains(|character: char| character.is_ascii_lowercase())
        && !CAPITALS.contains(&stem)
}

#[cfg(test)]
mod tests;
