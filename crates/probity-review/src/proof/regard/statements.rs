//! The statements of a test in whichever language, as far as its text tells.

use super::super::constant::without_text;

/// A part of a source up to the end of a line, a semicolon or a brace.
pub(in crate::proof) struct Statement<'a> {
    pub(in crate::proof) text: &'a str,
    pub(in crate::proof) first: u32,
    pub(in crate::proof) last: u32,
    /// Those that decide whether this one runs, outermost first.
    pub(in crate::proof) above: Vec<usize>,
}

pub(in crate::proof) fn statements(bare: &str, indented: bool) -> Vec<Statement<'_>> {
    let mut found: Vec<Statement<'_>> = Vec::new();
    // What is open: the statement before the brace, and the parentheses around it.
    let mut open: Vec<(usize, i32)> = Vec::new();
    let (mut start, mut line, mut first, mut depth) = (0, 1, 1, 0_i32);
    for (at, character) in bare.char_indices().chain([(bare.len(), '\n')]) {
        let ends = match character {
            '(' | '[' => {
                depth += 1;
                false
            }
            ')' | ']' => {
                depth -= 1;
                false
            }
            '{' | '}' => !indented,
            '\n' | ';' => depth <= 0,
            _ => false,
        };
        if ends {
            let text = bare.get(start..at).unwrap_or_default();
            if !text.trim().is_empty() {
                let above = match indented {
                    true => above_by_indentation(&found, text),
                    false => open.iter().map(|(statement, _)| *statement).collect(),
                };
                let text = if indented { text } else { text.trim() };
                found.push(Statement { text, first, last: line, above });
            }
            start = at + character.len_utf8();
            first = line;
        }
        match character {
            '{' if !indented => {
                open.push((begun(&found), depth));
                depth = 0;
            }
            '}' if !indented => depth = open.pop().map_or(0, |(_, around)| around),
            '\n' => {
                line += 1;
                if bare.get(start..=at).is_none_or(|text| text.trim().is_empty()) {
                    first = line;
                }
            }
            _ => {}
        }
    }
    found
}

/// The statement that the last one belongs to: behind braces in a list it goes on.
fn begun(found: &[Statement<'_>]) -> usize {
    let last = found.len().saturating_sub(1);
    let Some(level) = found.last().map(|it| &it.above) else { return last };
    let goes_on = |it: &Statement<'_>| !it.text.contains(is_word);
    found.iter().rposition(|it| it.above == *level && !goes_on(it)).unwrap_or(last)
}

/// The statements before this one that are further to the left, each of them than the one before.
fn above_by_indentation(found: &[Statement<'_>], text: &str) -> Vec<usize> {
    let indentation = |text: &str| text.len() - text.trim_start().len();
    let mut limit = indentation(text);
    let mut above = Vec::new();
    for (number, statement) in found.iter().enumerate().rev() {
        if indentation(statement.text) < limit {
            limit = indentation(statement.text);
            above.push(number);
        }
    }
    above.reverse();
    above
}

/// Both sides of an assignment.
pub(in crate::proof) fn assigned(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_i32;
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'<' => depth += 1,
            b')' | b']' | b'>' => depth -= 1,
            b'=' if depth <= 0 => {
                let next = bytes.get(at + 1);
                let previous = at.checked_sub(1).and_then(|it| bytes.get(it));
                if matches!(next, Some(b'=' | b'>')) || matches!(previous, Some(b'=' | b'!')) {
                    return None;
                }
                let left = text.get(..at)?.trim_end_matches([':', '+', '-', '*', '/', ' ']);
                return Some((left, text.get(at + 1..)?.trim()));
            }
            _ => {}
        }
    }
    None
}

pub(in crate::proof) fn declares_function(text: &str) -> bool {
    let first = words(text).find(|it| !["export", "pub", "async", "defer", "go"].contains(it));
    first.is_some_and(|it| {
        ["func", "fn", "function", "def", "class", "test", "it", "describe", "mod"].contains(&it)
    })
}

pub(in crate::proof) fn words(text: &str) -> impl Iterator<Item = &str> {
    let literal = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
    text.split(|end: char| !is_word(end)).filter(move |word| !word.is_empty() && !literal(word))
}

pub(in crate::proof) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The source with comments and strings blanked, which look different in Python.
pub(in crate::proof) fn without_words(source: &str, indented: bool) -> String {
    if indented { without_text_of_python(source) } else { without_text(source) }
}

fn without_text_of_python(source: &str) -> String {
    let mut bare = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '"' | '\'' => {
                let long = rest.get(..3).filter(|it| it.chars().all(|quote| quote == first));
                let quote = long.or_else(|| rest.get(..1)).unwrap_or_default();
                string_length(rest, quote)
            }
            _ => 0,
        };
        if length == 0 {
            bare.push(first);
        } else {
            let blanked = rest.get(..length).unwrap_or_default().chars();
            bare.extend(blanked.map(|it| if it == '\n' { '\n' } else { ' ' }));
        }
        rest = rest.get(length.max(first.len_utf8())..).unwrap_or_default();
    }
    bare
}

fn string_length(text: &str, quote: &str) -> usize {
    let mut at = quote.len();
    while let Some(behind) = text.get(at..) {
        if behind.starts_with(quote) {
            return at + quote.len();
        }
        let Some(next) = behind.chars().next() else { break };
        if next == '\n' && quote.len() == 1 {
            break;
        }
        at += next.len_utf8();
        if next == '\\' {
            at += behind.chars().nth(1).map_or(0, char::len_utf8);
        }
    }
    text.len().min(at)
}
