//! What is too much to be parsed, seen before the parser sees it.
//!
//! The parser recurses into what is nested and nests what is joined, so both are counted here, over
//! the bytes and without regard to quotes: a text that only looks too deep is left alone as well.

use crate::{Dialect, Opaque};

/// Longer than any script that a person wrote into a Dockerfile.
const MAX_BYTES: usize = 64 * 1024;
/// Parentheses and braces within each other.
const MAX_DEPTH: usize = 64;
/// `&&`, `||` and `|`.
const MAX_OPERATORS: usize = 1000;
/// Lines, `;` and `&`.
const MAX_SEPARATORS: usize = 5000;
/// For each of them the parser reads the rest of the text once more: `$(`, `<(`, `>(`, `<<`, and in
/// zsh `[`.
const MAX_REREADS: usize = 500;

pub(crate) fn check(text: &str, dialect: Dialect) -> Option<Opaque> {
    if text.len() > MAX_BYTES {
        return Some(Opaque::TooLong);
    }
    let (mut depth, mut operators, mut separators, mut rereads) = (0_usize, 0, 0, 0);
    let mut previous = 0;
    for byte in text.bytes() {
        match (previous, byte) {
            (b'$' | b'<' | b'>', b'(') | (b'<', b'<') => rereads += 1,
            (_, b'[') if dialect == Dialect::Zsh => rereads += 1,
            (b'&', b'&') | (_, b'|') => operators += 1,
            (_, b';' | b'\n' | b'&') => separators += 1,
            _ => {}
        }
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Some(Opaque::TooDeep);
        }
        let too_many = operators > MAX_OPERATORS || separators > MAX_SEPARATORS;
        if too_many || rereads > MAX_REREADS {
            return Some(Opaque::TooManyCommands);
        }
        previous = byte;
    }
    None
}
