//! The flags between a keyword and its arguments.

use std::ops::Range;

use crate::{Flag, FlagOption, Logical, Word};

/// Characters as BuildKit sees them once quotes and escape characters are gone, each with its place in the
/// logical line.
type Bare = Vec<(usize, char)>;

/// Reads the flags at the beginning of `body`; says where they end.
pub(crate) fn flags(line: &Logical, body: Range<usize>, escape: char) -> (Vec<Flag>, usize) {
    let mut flags = Vec::new();
    let mut at = body.start;
    loop {
        let rest = line.slice(at..body.end);
        let next = rest.trim_start_matches(is_space);
        at += rest.len() - next.len();
        if !next.starts_with("--") {
            return (flags, at);
        }
        let (bare, end) = bare_word(line, at..body.end, escape);
        if bare.len() == 2 {
            return (flags, end);
        }
        flags.push(flag(line, at..end, &bare));
        at = end;
    }
}

/// Reads a word up to a space that nothing protects.
fn bare_word(line: &Logical, range: Range<usize>, escape: char) -> (Bare, usize) {
    let mut bare = Bare::new();
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in line.slice(range.clone()).char_indices() {
        let place = range.start + at;
        if std::mem::take(&mut escaped) {
            bare.push((place, c));
            continue;
        }
        match c {
            c if c == escape => escaped = true,
            c if quote == Some(c) => quote = None,
            '\'' | '"' if quote.is_none() => quote = Some(c),
            c if quote.is_none() && is_space(c) => return (bare, place),
            c => {
                bare.push((place, c));
                if quote.is_none() && hides_space(c) {
                    return (bare, place + c.len_utf8());
                }
            }
        }
    }
    (bare, range.end)
}

/// BuildKit reads flags byte by byte, so that the spaces are those of one byte.
fn is_space(c: char) -> bool {
    matches!(c, '\t'..='\r' | ' ')
}

/// Whether a byte of the character is a space when it is taken for a character of its own, as BuildKit
/// does: `à` ends a flag.
fn hides_space(c: char) -> bool {
    !c.is_ascii() && c.encode_utf8(&mut [0; 4]).bytes().any(|byte| matches!(byte, 0x85 | 0xA0))
}

fn flag(line: &Logical, range: Range<usize>, bare: &[(usize, char)]) -> Flag {
    let behind_dashes = bare.get(2..).unwrap_or_default();
    let equals = behind_dashes.iter().position(|&(_, c)| c == '=');
    let (name, value) = behind_dashes.split_at(equals.unwrap_or(behind_dashes.len()));
    let name_end = value.first().map_or(range.end, |&(at, _)| at);
    let name = bare_text(line, (range.start + 2).min(name_end)..name_end, name);
    let value = value.split_first().map(|(&(at, _), value)| (at + 1..range.end, value));
    let options = match (name.text.as_str(), &value) {
        ("mount" | "device", Some((_, value))) => options(line, value),
        _ => Vec::new(),
    };
    let value = value.map(|(range, value)| bare_text(line, range, value));
    Flag { span: line.span(range), name, value, options: options.into() }
}

fn bare_text(line: &Logical, range: Range<usize>, bare: &[(usize, char)]) -> Word {
    let text: String = bare.iter().map(|&(_, c)| c).collect();
    let text = line.same_or_own(&range, text);
    Word::new(line, range, text)
}

/// Cuts a value at its commas. Double quotes that survived as characters bind a field.
fn options(line: &Logical, value: &[(usize, char)]) -> Vec<FlagOption> {
    let mut options = Vec::new();
    let mut field = Bare::new();
    let mut quoted = false;
    let mut begin = value.first().map_or(0, |&(at, _)| at);
    for (index, &(at, c)) in value.iter().enumerate() {
        match c {
            '"' if field.is_empty() && !quoted => quoted = true,
            '"' if quoted => {
                let next = value.get(index + 1).map(|&(_, c)| c);
                quoted = !matches!(next, None | Some(','));
                if quoted {
                    field.push((at, c));
                }
            }
            ',' if !quoted => {
                options.push(option(line, &std::mem::take(&mut field), begin));
                begin = at + 1;
            }
            c => field.push((at, c)),
        }
    }
    if !value.is_empty() {
        options.push(option(line, &field, begin));
    }
    options
}

fn option(line: &Logical, field: &[(usize, char)], begin: usize) -> FlagOption {
    let equals = field.iter().position(|&(_, c)| c == '=').unwrap_or(field.len());
    let (key, value) = field.split_at(equals);
    let mut key = bare_text(line, bounds(key, begin), key);
    let lower = key.text.to_lowercase();
    if key.text != lower {
        key.text = lower.into();
    }
    let value =
        value.split_first().map(|(&(at, _), value)| bare_text(line, bounds(value, at + 1), value));
    FlagOption { span: line.span(bounds(field, begin)), key, value }
}

/// From the first to behind the last character; empty at `begin` if there is none.
fn bounds(bare: &[(usize, char)], begin: usize) -> Range<usize> {
    match (bare.first(), bare.last()) {
        (Some(&(first, _)), Some(&(last, c))) => first..last + c.len_utf8(),
        _ => begin..begin,
    }
}
