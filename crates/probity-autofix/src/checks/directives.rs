//! Comments that steer tools: none may change how the file is read, none may silence a finding.

use probity_dockerfile::{Directive, DirectiveName, TokenKind};

use super::{Change, Check, Issue, View};

pub(crate) const DIRECTIVES: Check = Check { name: "directives", run: directives };

fn directives(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let Change { before, after, .. } = change;
    let mut issues = Vec::new();
    for name in [DirectiveName::Syntax, DirectiveName::Escape, DirectiveName::Check] {
        let (old, new) = (value(before, name), value(after, name));
        if old != new {
            let word = format!("{name:?}").to_lowercase();
            let message = format!("the parser directive `{word}` must stay as it was");
            issues.push(change.issue(check, &message).quoting(new.unwrap_or_default()));
        }
    }
    let (old, new) = (silencers(before), silencers(after));
    if let Some(line) = new.get(old.len()..).and_then(|more| more.first()) {
        let message = "a comment that silences findings must not be added";
        issues.push(change.issue(check, message).quoting(line));
    }
    issues
}

fn value<'v>(view: &'v View<'_>, name: DirectiveName) -> Option<&'v str> {
    let found = view.file.directives.iter().find(|directive: &&Directive| directive.name == name);
    found.map(|directive| directive.value.as_str())
}

/// Comments that any of the tools takes for a directive, in the order of the text.
fn silencers<'a>(view: &View<'a>) -> Vec<&'a str> {
    let comments = view.file.tokens.iter().filter(|token| token.kind == TokenKind::Comment);
    let texts = comments.filter_map(|token| token.span.slice(view.text));
    texts
        .filter(|text| {
            let text: String = text.to_lowercase().split_whitespace().collect();
            text.contains("ignore=") || text.contains("disable=")
        })
        .collect()
}
