//! Whether a token begins or ends at a place, or is a piece of something longer.

/// A token can begin at `start`: the byte before it is not part of a longer word. The last digit of
/// a percent escape and the letter of `\n` look like letters, but are not part of a word.
pub(crate) fn before(text: &[u8], start: usize) -> bool {
    let Some(head) = text.get(..start) else { return false };
    match head {
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., last] => !in_word(*last),
        [] => true,
    }
}

/// A token can end at `end`.
pub(crate) fn after(text: &[u8], end: usize) -> bool {
    text.get(end).is_none_or(|next| !in_word(*next))
}

/// Letters, digits and the underscore.
pub(crate) fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
