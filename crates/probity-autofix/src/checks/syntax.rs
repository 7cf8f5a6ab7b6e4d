//! A proposal is a Dockerfile, and no more broken than the original was.

use std::collections::HashMap;

use probity_dockerfile::ErrorKind;

use super::{Change, Check, Issue, View};

pub(crate) const PARSES: Check = Check::new("parses", parses);

fn parses(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let Change { before, after, .. } = change;
    if after.facts.stages().is_empty() {
        return vec![change.issue(check, "there is no FROM instruction")];
    }
    let (known, now) = (errors(before), errors(after));
    let is_new = |kind: &ErrorKind| now.get(kind) > known.get(kind);
    let mut issues: Vec<Issue> = after
        .file
        .errors
        .iter()
        .filter(|error| is_new(&error.code))
        .map(|error| change.issue(check, &error.message).at(after, error.span))
        .collect();
    let unexpanded = |view: &View<'_>| view.facts.expansion_errors().len();
    if unexpanded(after) > unexpanded(before) {
        let last = after.facts.expansion_errors().iter().next_back();
        issues.extend(last.map(|error| change.issue(check, &error.message).at(after, error.span)));
    }
    issues
}

fn errors(view: &View<'_>) -> HashMap<ErrorKind, usize> {
    let mut count = HashMap::new();
    for error in &view.file.errors {
        *count.entry(error.code).or_default() += 1;
    }
    count
}
