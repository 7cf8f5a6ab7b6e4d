//! Puts the secrets back, or says why not.

use std::collections::HashMap;

use super::{Placed, Token, Tokenized};

/// Why an edited text is refused. Kinds are named, values never.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    #[error("the token of a {kind} occurs {found} times instead of {expected}: it was lost")]
    Lost { kind: &'static str, expected: usize, found: usize },
    #[error("the token of a {kind} occurs {found} times instead of {expected}: it was duplicated")]
    Doubled { kind: &'static str, expected: usize, found: usize },
    #[error("the token of a {kind} was split: a part of it is at byte {at}")]
    Torn { kind: &'static str, at: usize },
    #[error("the token of a {kind} at byte {at} is written in another case")]
    CaseAltered { kind: &'static str, at: usize },
}

pub(super) fn restore(tokenized: &Tokenized, edited: &str) -> Result<String, RestoreError> {
    let placed: Vec<Placed> = whole_tokens(tokenized, edited).collect();
    let mut counts: HashMap<usize, usize> = HashMap::new();
    for place in &placed {
        *counts.entry(place.token).or_default() += 1;
    }
    let found = |index| counts.get(&index).copied().unwrap_or_default();
    refuse_pieces(tokenized, edited, &placed, &found)?;
    for (index, token) in tokenized.tokens.iter().enumerate() {
        let (kind, expected, found) = (token.kind, token.occurrences, found(index));
        if found < expected {
            return Err(RestoreError::Lost { kind, expected, found });
        }
        if found > expected {
            return Err(RestoreError::Doubled { kind, expected, found });
        }
    }
    let mut restored = String::with_capacity(edited.len());
    let mut done = 0;
    for Placed { token, range, .. } in placed {
        restored.push_str(edited.get(done..range.start).unwrap_or_default());
        let value = tokenized.tokens.get(token).map(|token| token.value.as_str());
        restored.push_str(value.unwrap_or_default());
        done = range.end;
    }
    restored.push_str(edited.get(done..).unwrap_or_default());
    Ok(restored)
}

/// Every token that stands whole in the text, in its order.
pub(super) fn whole_tokens<'a>(
    tokenized: &'a Tokenized,
    text: &'a str,
) -> impl Iterator<Item = Placed> + 'a {
    let words: HashMap<&str, usize> =
        tokenized.tokens.iter().enumerate().map(|(at, token)| (token.word.as_str(), at)).collect();
    let length = tokenized.mark.word_length();
    occurrences(tokenized, text, tokenized.mark.head()).filter_map(move |start| {
        let word = text.get(start..start + length)?;
        let token = *words.get(word)?;
        let kind = tokenized.tokens.get(token)?.kind;
        Some(Placed { token, kind, range: start..start + length })
    })
}

/// Heads and tails occur in tokens only, so one that is not part of a whole token is a piece.
fn refuse_pieces(
    tokenized: &Tokenized,
    text: &str,
    placed: &[Placed],
    found: &impl Fn(usize) -> usize,
) -> Result<(), RestoreError> {
    let bytes = text.as_bytes();
    for at in occurrences(tokenized, text, tokenized.mark.head()) {
        if placed.binary_search_by_key(&at, |place| place.range.start).is_ok() {
            continue;
        }
        let rest = bytes.get(at..).unwrap_or_default();
        let (kind, shared) = most_alike(tokenized, found, |word| common(word.iter(), rest.iter()));
        if shared == tokenized.mark.word_length() {
            return Err(RestoreError::CaseAltered { kind, at });
        }
        return Err(RestoreError::Torn { kind, at });
    }
    let tail = tokenized.mark.tail();
    for at in occurrences(tokenized, text, tail) {
        let end = at + tail.len();
        if placed.binary_search_by_key(&end, |place| place.range.end).is_ok() {
            continue;
        }
        let before = bytes.get(..end).unwrap_or_default();
        let (kind, _) =
            most_alike(tokenized, found, |word| common(word.iter().rev(), before.iter().rev()));
        return Err(RestoreError::Torn { kind, at });
    }
    Ok(())
}

/// Where `wanted` stands in the text, in any case. A text without tokens has no pieces of them.
fn occurrences<'a>(
    tokenized: &Tokenized,
    text: &'a str,
    wanted: &'a [u8],
) -> impl Iterator<Item = usize> + use<'a> {
    let text = if tokenized.tokens.is_empty() { "" } else { text };
    let windows = text.as_bytes().windows(wanted.len()).enumerate();
    windows.filter(|(_, window)| window.eq_ignore_ascii_case(wanted)).map(|(at, _)| at)
}

/// The kind of the token that a piece most probably comes from, and how much they share. Of tokens
/// that share as much, it comes from one that is missing.
fn most_alike(
    tokenized: &Tokenized,
    found: &impl Fn(usize) -> usize,
    shared: impl Fn(&[u8]) -> usize,
) -> (&'static str, usize) {
    let measured = |(index, token): (usize, &Token)| {
        (shared(token.word.as_bytes()), found(index) < token.occurrences, token.kind)
    };
    let tokens = tokenized.tokens.iter().enumerate().rev().map(measured);
    let alike = tokens.max_by_key(|(shared, missing, _)| (*shared, *missing));
    alike.map_or(("secret", 0), |(shared, _, kind)| (kind, shared))
}

/// How many bytes two sequences have in common from their start, in any case.
fn common<'a>(a: impl Iterator<Item = &'a u8>, b: impl Iterator<Item = &'a u8>) -> usize {
    a.zip(b).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count()
}
