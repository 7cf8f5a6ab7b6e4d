//! Comments that steer tools: none may change how the file is read, none may silence a finding.

use probity_dockerfile::{Directive, DirectiveName, TokenKind};

use super::{Change, Check, Issue, View};

pub(crate) const DIRECTIVES: Check = Check::new("directives", directives);
pub(crate) const COMMENTS_ADDED: Check = Check::new("comments-added", comments_added);
pub(crate) const COMMENTS_KEPT: Check = Check::new("comments-kept", comments_kept);

fn directives(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let Change { before, after, .. } = change;
    let mut issues = Vec::new();
    for name in [DirectiveName::Syntax, DirectiveName::Escape, DirectiveName::Check] {
        let (old, new) = (value(before, name), value(after, name));
        let is_stable = name == DirectiveName::Syntax
            && old.is_none_or(is_stable)
            && new.is_some_and(is_stable);
        if old != new && !is_stable {
            let word = format!("{name:?}").to_lowercase();
            let message = format!("the parser directive `{word}` must stay as it was");
            issues.push(change.issue(check, &message).quoting(new.unwrap_or_default()));
        }
    }
    let silencers = |view| comments(view).into_iter().filter(|text| silences(text)).collect();
    if let Some(line) = more_than(silencers(after), silencers(before)).first() {
        let message = "a comment that silences findings must be neither added nor changed";
        issues.push(change.issue(check, message).quoting(line));
    }
    issues
}

/// The parser of Docker by its own name, which mounts and `--parents` need.
fn is_stable(syntax: &str) -> bool {
    let syntax = syntax.strip_suffix("-labs").unwrap_or(syntax);
    let version = syntax.strip_prefix("docker/dockerfile:1").unwrap_or("-");
    version.is_empty()
        || version
            .strip_prefix('.')
            .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Parts of comments that tools and lawyers read.
const READ_BY_TOOLS: &[&str] = &[
    "ignore=",
    "ignore:",
    ":ignore",
    "disable=",
    "skip=",
    "renovate:",
    "spdx-",
    "license",
    "copyright",
];

/// No image depends on a comment for people, and a conversion may have no place for it.
fn comments_kept(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let is_read = |text: &&&str| {
        let text: String = text.to_lowercase().split_whitespace().collect();
        READ_BY_TOOLS.iter().any(|part| text.contains(part))
    };
    let lost = more_than(comments(change.before), comments(change.after));
    let message = "this comment of the original, which tools or lawyers read, is changed or gone";
    let first = lost.iter().find(is_read);
    first.map(|line| change.issue(check, message).quoting(line)).into_iter().collect()
}

/// Words by which a comment addresses a reader or a checker of the file.
const ADDRESS: &[&str] = &[
    "ai",
    "approve",
    "approved",
    "assistant",
    "bypass",
    "checker",
    "instruction",
    "instructions",
    "linter",
    "llm",
    "merge",
    "model",
    "please",
    "prompt",
    "review",
    "reviewed",
    "reviewer",
    "reviewers",
    "trust",
    "trusted",
    "you",
    "your",
];
const LONGEST_COMMENT: usize = 120;

/// A comment says what a line is for; it does not ask anybody for anything.
fn comments_added(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let new = more_than(comments(change.after), comments(change.before));
    let split = |text: &str| -> Vec<String> {
        // A trust store is a file.
        let lower = text.to_lowercase().replace("trust store", "truststore");
        lower.split(|character: char| !character.is_alphanumeric()).map(str::to_owned).collect()
    };
    // A file about models may tell of a model.
    let known = split(change.before.text);
    let speaks = |text: &&str| {
        let is_address = |word: &String| ADDRESS.contains(&word.as_str()) && !known.contains(word);
        text.chars().count() > LONGEST_COMMENT || split(text).iter().any(is_address)
    };
    let message =
        "a new comment must describe the file in a few words, and not speak to its reader";
    new.into_iter()
        .find(speaks)
        .map(|line| change.issue(check, message).quoting(line))
        .into_iter()
        .collect()
}

/// What the first holds beyond the second, each as often as it does.
fn more_than<'t>(all: Vec<&'t str>, mut known: Vec<&'t str>) -> Vec<&'t str> {
    let is_new = |text: &&str| match known.iter().position(|other| other == text) {
        Some(place) => {
            known.swap_remove(place);
            false
        }
        None => true,
    };
    all.into_iter().filter(is_new).collect()
}

fn value<'v>(view: &'v View<'_>, name: DirectiveName) -> Option<&'v str> {
    let found = view.file.directives.iter().find(|directive: &&Directive| directive.name == name);
    found.map(|directive| directive.value.as_str())
}

fn comments<'a>(view: &View<'a>) -> Vec<&'a str> {
    let comments = view.file.tokens.iter().filter(|token| token.kind == TokenKind::Comment);
    comments.filter_map(|token| token.span.slice(view.text)).map(str::trim).collect()
}

/// Whether any of the tools takes a comment for a directive that silences.
fn silences(comment: &str) -> bool {
    let text: String = comment.to_lowercase().split_whitespace().collect();
    text.contains("ignore=") || text.contains("disable=")
}
