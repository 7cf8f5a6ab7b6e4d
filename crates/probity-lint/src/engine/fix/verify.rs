//! What a fix must not change: the syntax that was right, in the file and in its shell texts, the
//! comments that have a line of their own, and, if it is safe, the image and where the comments stand.

use std::{collections::HashMap, hash::Hash};

use probity_dockerfile::{Dockerfile, Facts, ImageContract, TokenKind};
use probity_finding::LineIndex;
use probity_shell::ShellError;

use super::Comments;
use crate::{
    Rejection,
    engine::parsed::{Detached, Parsed},
};

/// Why a text cannot take the place of another, in words.
#[derive(Debug)]
pub(super) struct Objection(pub(super) String);

/// What is compared before and after.
#[derive(Debug)]
pub(super) struct Snapshot {
    contract: ImageContract,
    shell_errors: HashMap<String, usize>,
    /// In their order, without the blanks around them.
    comments: Vec<String>,
    rule: Comments,
}

impl Snapshot {
    pub(super) fn of(file: &Dockerfile<'_>, facts: &Facts, rule: Comments) -> Self {
        let is_comment = |kind| matches!(kind, TokenKind::Comment | TokenKind::Directive);
        let comments = file.tokens.iter().filter(|token| is_comment(token.kind));
        let comment = |span: probity_finding::Span| span.slice(file.text).unwrap_or_default();
        Self {
            contract: facts.contract().clone(),
            shell_errors: counted(shell_errors(file, facts).map(|error| error.message.clone())),
            comments: comments.map(|token| comment(token.span).trim().to_owned()).collect(),
            rule,
        }
    }

    /// What was parsed of `text`, or why it is not acceptable in place of what this was taken of.
    pub(super) fn judge(&self, text: &str, must_be_safe: bool) -> Result<Detached, Objection> {
        let parsed = Parsed::of(text);
        let Parsed { file, facts } = &parsed;
        // Only a file that BuildKit accepts is fixed, and so must be what becomes of it.
        if let Some(Rejection { line, reason }) = Rejection::of(file, facts) {
            let place = line.map(|line| format!(" in line {line}")).unwrap_or_default();
            return Err(Objection(format!("it makes a syntax error{place}: {reason}")));
        }
        let objection = self.new_shell_error(file, facts).or_else(|| {
            if must_be_safe {
                self.difference(&Self::of(file, facts, self.rule))
            } else {
                self.lost_comment(text)
            }
        });
        match objection {
            Some(why) => Err(Objection(why)),
            None => Ok(parsed.detached()),
        }
    }

    /// Errors in shell texts, which the parser of the file takes as they are, are told apart by their
    /// message: a fix may move them, but not add to them.
    fn new_shell_error(&self, file: &Dockerfile<'_>, facts: &Facts) -> Option<String> {
        let now = counted(shell_errors(file, facts).map(|error| error.message.clone()));
        let mut errors = shell_errors(file, facts);
        let new = errors.find(|error| has_more(&now, &self.shell_errors, &error.message))?;
        let line = LineIndex::new(file.text).position(new.span.start).line;
        Some(format!("it breaks the shell script in line {line}: {}", new.message))
    }

    /// The first comment that is no longer there, in the order of the text. It may have become one of a
    /// script in a heredoc.
    fn lost_comment(&self, text: &str) -> Option<String> {
        if self.rule == Comments::MayGo {
            return None;
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = text.lines().map(str::trim);
        let is_lost = |comment: &&String| !lines.any(|line| line == comment.as_str());
        let lost = self.comments.iter().find(is_lost)?;
        Some(format!("it loses or changes the comment `{lost}`"))
    }

    fn difference(&self, after: &Self) -> Option<String> {
        let differences = self.contract.differences(&after.contract);
        if !differences.is_empty() || self.contract != after.contract {
            return Some(if differences.is_empty() {
                "it changes what is built".to_owned()
            } else {
                format!("it changes what is built: {}", differences.join("; "))
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

fn shell_errors<'f>(
    file: &'f Dockerfile<'_>,
    facts: &'f Facts,
) -> impl Iterator<Item = &'f ShellError> {
    let scripts = (0..file.instructions.len()).flat_map(|index| facts.scripts(file, index));
    scripts.flat_map(|script| script.errors())
}

fn counted<K: Eq + Hash>(keys: impl Iterator<Item = K>) -> HashMap<K, usize> {
    let mut count = HashMap::new();
    for key in keys {
        *count.entry(key).or_default() += 1;
    }
    count
}

fn has_more<K: Eq + Hash>(now: &HashMap<K, usize>, before: &HashMap<K, usize>, key: &K) -> bool {
    now.get(key) > before.get(key)
}
