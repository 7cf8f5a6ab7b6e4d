//! Puts tokens in the place of secrets, for a text that is sent away and comes back edited.
//!
//! A token looks like `PROBITY_K7Q_SECRET_0001_K7Q_END`: letters, digits and underscores, so that
//! shells and Dockerfiles take it for a plain word. The three characters are the mark
//! of the text; it is chosen so that neither the head `PROBITY_K7Q_` nor the tail `_K7Q_END`
//! occurs in the text in any case. Every head or tail in what comes back is therefore a token of
//! ours or a piece of one, and a piece is never mistaken for the text's own.

mod mark;
mod restore;

use std::{collections::HashMap, fmt, ops::Range};

use crate::{Secret, secret::disjoint};
use mark::Mark;

pub use restore::RestoreError;

/// A text whose secrets are replaced by tokens, and what is needed to put them back.
pub struct Tokenized {
    /// The text with tokens.
    pub text: String,
    tokens: Vec<Token>,
    mark: Mark,
}

/// Stands for one value of a secret, wherever it occurs.
pub struct Token {
    pub kind: &'static str,
    pub name: &'static str,
    word: String,
    value: String,
    occurrences: usize,
}

/// A token in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Place in [`Tokenized::tokens`].
    pub token: usize,
    pub kind: &'static str,
    pub range: Range<usize>,
}

/// Replaces every secret by a token. The same text and secrets give the same tokens; the same value
/// gets the same token.
pub fn tokenize(text: &str, secrets: &[Secret]) -> Tokenized {
    let spans = disjoint(text, secrets);
    let mark = Mark::absent_from(text, spans.len());
    let mut tokens: Vec<Token> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut tokenized = String::with_capacity(text.len());
    let mut done = 0;
    for (range, secret) in spans {
        tokenized.push_str(text.get(done..range.start).unwrap_or_default());
        done = range.end;
        let value = text.get(range).unwrap_or_default();
        let index = *known.entry(value).or_insert_with(|| {
            tokens.push(Token {
                kind: secret.kind,
                name: secret.name,
                word: mark.word(tokens.len()),
                value: value.to_owned(),
                occurrences: 0,
            });
            tokens.len() - 1
        });
        if let Some(token) = tokens.get_mut(index) {
            token.occurrences += 1;
            tokenized.push_str(&token.word);
        }
    }
    tokenized.push_str(text.get(done..).unwrap_or_default());
    Tokenized { text: tokenized, tokens, mark }
}

impl Tokenized {
    /// The tokens, in the order of their first occurrence.
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// The edited text with the secrets back in their places, byte for byte.
    ///
    /// It must hold each token as often as the tokenized text did: none lost, none doubled, none
    /// torn, none in another case. Where they stand is the caller's to judge, with
    /// [`Tokenized::tokens_in`].
    pub fn restore(&self, edited: &str) -> Result<String, RestoreError> {
        restore::restore(self, edited)
    }

    /// The whole tokens inside `range` of a text, which is the tokenized one or an edit of it. With
    /// the ranges of instructions this shows whether a token has left its own.
    pub fn tokens_in(&self, text: &str, range: Range<usize>) -> Vec<Placed> {
        let placed = restore::whole_tokens(self, text);
        placed
            .filter(|found| range.start <= found.range.start && found.range.end <= range.end)
            .collect()
    }
}

impl Token {
    /// What stands in the text for the secret.
    pub fn word(&self) -> &str {
        &self.word
    }

    /// How often it stands in the tokenized text.
    pub fn occurrences(&self) -> usize {
        self.occurrences
    }
}

/// Without the values.
impl fmt::Debug for Tokenized {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Tokenized")
            .field("text", &self.text)
            .field("tokens", &self.tokens)
            .finish_non_exhaustive()
    }
}

/// Without the value.
impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Token")
            .field("kind", &self.kind)
            .field("word", &self.word)
            .field("occurrences", &self.occurrences)
            .finish_non_exhaustive()
    }
}
