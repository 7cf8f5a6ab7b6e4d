//! Comments that steer tools: none may change how the file is read, none may silence a finding.

use probity_dockerfile::{Directive, DirectiveName, Instruction, Keyword, TokenKind};

use super::{Change, Check, Issue, View, steps::written};

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
        || version.strip_prefix('.').is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()))
}

/// People wrote them for people, and no objective asks for fewer.
fn comments_kept(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let news = more_than(comments(change.after), comments(change.before));
    let lost = more_than(comments(change.before), comments(change.after));
    let gone = of_gone_steps(change);
    let is_free = |it: &&str| is_retold(it, &news) || gone.contains(it);
    let lost: Vec<&str> = lost.into_iter().filter(|it| silences(it) || !is_free(it)).collect();
    let message = "this comment of the original is changed or gone";
    lost.first().map(|line| change.issue(check, message).quoting(line)).into_iter().collect()
}

/// Comments right above or within instructions that the proposal no longer has: they go with them.
fn of_gone_steps<'a>(change: &Change<'a>) -> Vec<&'a str> {
    let view = change.before;
    // A stage may get a name.
    let text = |view: &View<'_>, it: &Instruction| match it.keyword {
        Keyword::From => it.rest_text().split_whitespace().next().unwrap_or_default().to_owned(),
        _ => written(view, it),
    };
    let kept: Vec<String> =
        change.after.file.instructions.iter().map(|it| text(change.after, it)).collect();
    let comments = view.file.tokens.iter().filter(|it| it.kind == TokenKind::Comment);
    let gone = comments.filter(|token| {
        let holder = view.file.instructions.iter().find(|it| it.span.end > token.span.start);
        holder.is_some_and(|it| !kept.contains(&text(view, it)))
    });
    gone.filter_map(|token| token.span.slice(view.text)).map(str::trim).collect()
}

/// Whether new comments have most words of one: it was taken apart with its instruction.
fn is_retold(comment: &str, news: &[&str]) -> bool {
    let split = |text: &str| -> Vec<String> {
        let words = text.split(|it: char| !it.is_alphanumeric()).filter(|it| it.len() > 2);
        words.map(str::to_lowercase).collect()
    };
    let known: Vec<String> = news.iter().flat_map(|it| split(it)).collect();
    let words = split(comment);
    let kept = words.iter().filter(|word| known.contains(word)).count();
    kept > 0 && kept * 4 >= words.len() * 3
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
        let lower = text.to_lowercase();
        lower.split(|it: char| !it.is_alphanumeric()).map(str::to_owned).collect()
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
    let is_new = |text: &&str| match known.iter().position(|it| it == text) {
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
