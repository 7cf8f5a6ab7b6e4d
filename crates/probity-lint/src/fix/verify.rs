//! What a fix must not change: the syntax that was right, and, if it is safe, the image and the
//! comments.

use std::collections::HashMap;

use probity_dockerfile::{Dockerfile, ErrorKind, Facts, ImageContract, TokenKind, parse};

/// What is compared before and after.
#[derive(Debug)]
pub(super) struct Snapshot {
    contract: ImageContract,
    errors: HashMap<ErrorKind, usize>,
    /// In their order, without the blanks around them.
    comments: Vec<String>,
}

impl Snapshot {
    pub(super) fn of(file: &Dockerfile<'_>, facts: &Facts) -> Self {
        let is_comment = |kind| matches!(kind, TokenKind::Comment | TokenKind::Directive);
        let comments = file.tokens.iter().filter(|token| is_comment(token.kind));
        let comment = |span: probity_finding::Span| span.slice(file.text).unwrap_or_default();
        Self {
            contract: facts.contract().clone(),
            errors: errors(file),
            comments: comments.map(|token| comment(token.span).trim().to_owned()).collect(),
        }
    }

    /// Why `text` is not acceptable in place of what this was taken of.
    pub(super) fn objection(&self, text: &str, must_be_safe: bool) -> Option<String> {
        let file = parse(text);
        self.new_error(&file).or_else(|| {
            let after = must_be_safe.then(|| Self::of(&file, &Facts::of(&file)))?;
            self.difference(&after)
        })
    }

    /// Errors are told apart by their kind: a fix may move them, but not add to them.
    fn new_error(&self, file: &Dockerfile<'_>) -> Option<String> {
        let more = |kind, count| count > self.errors.get(kind).copied().unwrap_or_default();
        let now = errors(file);
        let new = file
            .errors
            .iter()
            .find(|error| now.get(&error.code).is_some_and(|&count| more(&error.code, count)))?;
        Some(format!("it makes a syntax error in line {}: {}", new.line, new.message))
    }

    fn difference(&self, after: &Self) -> Option<String> {
        let differences = self.contract.differences(&after.contract);
        if !differences.is_empty() || self.contract != after.contract {
            return Some(match differences.is_empty() {
                true => "it changes what is built".to_owned(),
                false => format!("it changes what is built: {}", differences.join("; ")),
            });
        }
        let pairs = self.comments.iter().zip(&after.comments);
        let same = pairs.take_while(|(before, after)| before == after).count();
        match (self.comments.get(same), after.comments.get(same)) {
            (None, None) => None,
            (Some(lost), _) => Some(format!("it loses or changes the comment `{lost}`")),
            (None, Some(new)) => Some(format!("it makes a comment of `{new}`")),
        }
    }
}

fn errors(file: &Dockerfile<'_>) -> HashMap<ErrorKind, usize> {
    let mut count = HashMap::new();
    for error in &file.errors {
        *count.entry(error.code).or_default() += 1;
    }
    count
}
