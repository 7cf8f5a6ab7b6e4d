//! `# tally ignore=…` and `# hadolint ignore=…`.

use probity_dockerfile::{Dockerfile, Keyword};
use probity_finding::Span;

use crate::engine::directive::{Ignore, Named, Scope, check::names};

/// A comment that wants to be a directive and is none.
#[derive(Debug)]
pub(crate) struct Invalid {
    pub(crate) span: Span,
    pub(crate) message: String,
}

/// A directive whose scope still has to be found in the file.
#[derive(Debug)]
pub(crate) struct Parsed {
    span: Span,
    rules: Vec<Named>,
    reach: Reach,
    has_reason: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Next,
    Stage,
    Global,
}

/// Reads a comment that stands at `span`; nothing where it is no directive of ours.
pub(crate) fn parse(comment: &str, span: Span) -> Option<Result<Parsed, Invalid>> {
    let text = comment.trim_start_matches('#').trim_start();
    let (tool, rest) = split_word(text)?;
    let hadolint = tool.eq_ignore_ascii_case("hadolint");
    if !hadolint && !tool.eq_ignore_ascii_case("tally") {
        return None;
    }
    let (reach, rest) = match split_word(rest) {
        Some((word, rest)) if word.eq_ignore_ascii_case("global") => (Reach::Global, rest),
        Some((word, rest)) if word.eq_ignore_ascii_case("stage") => (Reach::Stage, rest),
        _ => (Reach::Next, rest),
    };
    let (key, value) = rest.split_once('=')?;
    let key = key.trim_end();
    if !key.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-') {
        return None;
    }
    if key.eq_ignore_ascii_case("shell") {
        return None;
    }
    if !key.eq_ignore_ascii_case("ignore") {
        let message = format!("unknown directive `{key}`, expected ignore or shell");
        return Some(Err(Invalid { span, message }));
    }
    let offset = span.start + (comment.len() - value.len());
    let (list, has_reason) = split_reason(value);
    let rules: Vec<Named> = names(list, offset).collect();
    if rules.is_empty() {
        let message = format!("`{key}=` names no rule");
        return Some(Err(Invalid { span, message }));
    }
    Some(Ok(Parsed { span, rules, reach, has_reason }))
}

/// The list of rules, and whether a reason follows it, as `;reason=…` or as `# …`.
fn split_reason(value: &str) -> (&str, bool) {
    if let Some((list, rest)) = value.split_once(';') {
        let reason = rest.split(';').filter_map(|part| part.split_once('=')).any(|(key, text)| {
            key.trim().eq_ignore_ascii_case("reason") && !text.trim().is_empty()
        });
        return (list, reason);
    }
    match value.split_once('#') {
        Some((list, why)) => (list, !why.trim().is_empty()),
        None => (value, false),
    }
}

/// The first word and what follows the blanks behind it.
fn split_word(text: &str) -> Option<(&str, &str)> {
    let end = text.find(char::is_whitespace)?;
    let (word, rest) = text.split_at(end);
    Some((word, rest.trim_start()))
}

/// The indices of all FROMs.
pub(crate) fn froms(file: &Dockerfile<'_>) -> Vec<usize> {
    let all = file.instructions.iter().enumerate();
    all.filter(|(_, it)| it.keyword == Keyword::From).map(|(index, _)| index).collect()
}

impl Parsed {
    /// Finds what the directive stands above, or in.
    pub(crate) fn placed(self, file: &Dockerfile<'_>, froms: &[usize]) -> Ignore {
        let next = file.instructions.partition_point(|i| i.span.end <= self.span.start);
        let there = next < file.instructions.len();
        let scope = match self.reach {
            Reach::Global => Scope::File,
            _ if !there => Scope::Nowhere,
            Reach::Next => Scope::Instruction(next),
            Reach::Stage => {
                let end = froms.get(froms.partition_point(|&from| from <= next));
                Scope::Stage(next, end.copied().unwrap_or(file.instructions.len()))
            }
        };
        Ignore {
            span: self.span,
            all: self.rules.iter().any(|named| named.name.eq_ignore_ascii_case("all")),
            rules: self.rules,
            scope,
            has_reason: self.has_reason,
            buildkit_only: false,
        }
    }
}
