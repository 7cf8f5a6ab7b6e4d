//! What is too much to be parsed, seen before the parser sees it.
//!
//! The parser recurses into what is nested and nests what is joined, so both are counted here, over
//! the bytes and without regard to quotes: a text that only looks too deep is left alone as well.

use crate::Opaque;

/// Longer than any script that a person wrote into a Dockerfile.
const MAX_BYTES: usize = 64 * 1024;
/// Parentheses, braces and backticks within each other.
const MAX_DEPTH: usize = 64;
/// `&&`, `||` and `|`.
const MAX_OPERATORS: usize = 1000;
/// Lines, `;` and `&`.
const MAX_SEPARATORS: usize = 5000;

pub(crate) fn check(text: &str) -> Option<Opaque> {
    if text.len() > MAX_BYTES {
        return Some(Opaque::TooLong);
    }
    let (mut depth, mut operators, mut separators) = (0_usize, 0_usize, 0_usize);
    let mut previous = 0;
    for byte in text.bytes() {
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth = depth.saturating_sub(1),
            b'&' if previous == b'&' => operators += 1,
            b'|' => operators += 1,
            b';' | b'\n' | b'&' => separators += 1,
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Some(Opaque::TooDeep);
        }
        if operators > MAX_OPERATORS || separators > MAX_SEPARATORS {
            return Some(Opaque::TooManyCommands);
        }
        previous = byte;
    }
    None
}
