//! What is too much to be parsed, seen before the parser sees it.
//!
//! The parser recurses into what is nested and nests what is joined, so both are counted here, over
//! the bytes and without regard to quotes: a text that only looks too deep is left alone as well.
//! What is joined and what is read again is counted by line, since a line end ends both. How many
//! lines there are does not matter: the parser is linear in them.

use crate::{Dialect, Opaque};

/// Parentheses and braces within each other.
pub const MAX_DEPTH: usize = 64;
/// `&&`, `||` and `|` in one line.
pub const MAX_OPERATORS: usize = 1000;
/// For each of them the parser reads the rest of the line once more: `$(`, `<(`, `>(`, `<<`, and in
/// zsh `[`.
pub const MAX_REREADS: usize = 500;
/// What it may read by that, in bytes for each byte of the line.
const MAX_REREAD_BYTES: usize = 32 << 20;

pub(crate) fn check(text: &str, dialect: Dialect) -> Option<Opaque> {
    let (mut depth, mut operators, mut rereads, mut line) = (0_usize, 0, 0_usize, 0_usize);
    let mut previous = 0;
    for byte in text.bytes() {
        line += 1;
        match (previous, byte) {
            (_, b'\n') => (operators, rereads, line) = (0, 0, 0),
            (b'$' | b'<' | b'>', b'(') | (b'<', b'<') => rereads += 1,
            (_, b'[') if dialect == Dialect::Zsh => rereads += 1,
            (b'&', b'&') | (_, b'|') => operators += 1,
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
        let rereads_much = rereads.saturating_mul(line) > MAX_REREAD_BYTES;
        if operators > MAX_OPERATORS || rereads > MAX_REREADS || rereads_much {
            return Some(Opaque::TooManyCommands);
        }
        previous = byte;
    }
    None
}
