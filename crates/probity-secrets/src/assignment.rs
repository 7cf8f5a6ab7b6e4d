//! Values assigned to a name that promises a secret: `API_KEY=…`, `"password": "…"`, `--token …`.
//!
//! Here the format says nothing, so the name must promise, the value must look random, and nothing
//! about either may say that it is public. This is the only place that guesses.

mod name;
mod value;

use std::ops::Range;

use crate::{base64, entropy, harmless, placeholder};

/// What kind of value the name promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Promise {
    /// Chosen by people: shorter, and with marks in it.
    Password,
    /// Made by machines.
    Key,
}

/// Longest password that somebody types.
const LONGEST_CHOSEN: usize = 64;

/// The keyword is a word for a password.
pub(crate) fn password(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    assigned(text, hit, Promise::Password)
}

/// The keyword is a word for a key or token.
pub(crate) fn key(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    assigned(text, hit, Promise::Key)
}

/// The keyword is `bearer` or `token` behind `Authorization`.
pub(crate) fn authorization(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let range = value::behind_blank(text, hit.end)?;
    let value = text.get(range.clone())?;
    let scheme = value.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let header = text.get(hit.start.saturating_sub(24)..hit.start)?.to_ascii_lowercase();
    let in_header = header.windows(4).any(|window| window == b"auth") || scheme < value.len();
    (in_header && is_secret(value, Promise::Key)).then_some(range)
}

fn assigned(text: &[u8], hit: Range<usize>, promise: Promise) -> Option<Range<usize>> {
    let name = name::around(text, &hit)?;
    let range = value::of(text, &name)?;
    let value = text.get(range.clone())?;
    if harmless::is_uuid(value) {
        return (is_random_uuid(value) && name::is_of_a_token(text, &name)).then_some(range);
    }
    if value.contains(&b' ') {
        return is_phrase(value, promise).then_some(range);
    }
    let weak = promise == Promise::Password
        && name::is_shouted(text, &name)
        && range.start <= name.end + 2
        && is_weak(value);
    (weak || is_secret(value, promise)).then(|| value::to_its_end(text, range))
}

/// A word and a number, as people choose them. Only a variable of the environment makes a password
/// of that: in code and prose it is a name.
fn is_weak(value: &[u8]) -> bool {
    (6..=LONGEST_CHOSEN).contains(&value.len())
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().filter(|byte| byte.is_ascii_alphabetic()).count() >= 3
        && value.iter().all(u8::is_ascii_graphic)
        && !harmless::is_of_a_kind(value)
        && !placeholder::in_simple_password(value)
}

/// Identifiers are made in several ways, and the one that nobody can guess serves as a token too.
fn is_random_uuid(value: &[u8]) -> bool {
    value.get(14) == Some(&b'4')
        && matches!(value.get(19), Some(b'8' | b'9' | b'a'..=b'b' | b'A'..=b'B'))
        && entropy::shannon(value) >= 3.0
}

/// Words in quotes are prose more often than a password; one of them must look like one.
fn is_phrase(value: &[u8], promise: Promise) -> bool {
    const MOST_WORDS: usize = 6;
    let mut words = value.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    promise == Promise::Password
        && words.clone().count() <= MOST_WORDS
        && words.any(|word| {
            let inside = word.iter().any(u8::is_ascii_digit) && classes(word) >= 3;
            inside && word.len() >= 8 && is_secret(word, promise)
        })
}

/// The cheap questions come first: most values are short words.
fn is_secret(value: &[u8], promise: Promise) -> bool {
    let random = entropy::looks_random(value) && is_mixed(value);
    let looks_secret = random || (promise == Promise::Password && is_chosen_with_care(value));
    looks_secret
        && !harmless::is_public(value)
        && !placeholder::in_password(value, b"")
        && !is_known_text(value)
}

/// Too short to look random, but of more kinds of characters than words are.
fn is_chosen_with_care(value: &[u8]) -> bool {
    match classes(value) {
        0 | 1 => false,
        2 => (10..=LONGEST_CHOSEN).contains(&value.len()) && has_digits_inside(value),
        _ => (8..=LONGEST_CHOSEN).contains(&value.len()),
    }
}

/// Random values of some length have a digit, or capitals among small letters; words do not.
fn is_mixed(value: &[u8]) -> bool {
    let digits = value.iter().any(u8::is_ascii_digit);
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    (digits && letters) || classes(value) >= 3 || entropy::shannon(value) >= 4.2
}

/// How many of small letters, capitals, digits and marks there are.
fn classes(value: &[u8]) -> usize {
    [
        value.iter().any(u8::is_ascii_lowercase),
        value.iter().any(u8::is_ascii_uppercase),
        value.iter().any(u8::is_ascii_digit),
        value.iter().any(u8::is_ascii_punctuation),
    ]
    .iter()
    .filter(|present| **present)
    .count()
}

/// A digit that is not just the number at the end of a word.
fn has_digits_inside(value: &[u8]) -> bool {
    let end = value.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |last| last + 1);
    let inside = value.get(..end).unwrap_or_default();
    inside.iter().any(u8::is_ascii_digit) && entropy::shannon(value) >= 3.0
}

/// Base64 of prose or of a stand-in is as public as the text itself. Base64 of anything else that
/// can be read is a secret that somebody wrapped, as the manifests of Kubernetes ask for.
fn is_known_text(value: &[u8]) -> bool {
    let Some(decoded) = base64::decode(value) else { return false };
    let readable = decoded.iter().all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace());
    readable
        && decoded.len() >= 6
        && (decoded.contains(&b' ') || placeholder::in_password(decoded.trim_ascii(), b""))
}
