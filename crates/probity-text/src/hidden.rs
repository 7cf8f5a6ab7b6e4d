//! Which characters a reader does not see, or sees as something else than they are.

/// Whether a character has no business in a text for people, wherever it stands.
///
/// Tabs and line ends have; the joiners U+200C and U+200D have too, since scripts and emoji need
/// them.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    is_control(character) && !matches!(character, '\t' | '\n' | '\r') || is_misleading(character)
}

/// The control characters of ASCII and of the C1 set.
pub(crate) fn is_control(character: char) -> bool {
    matches!(character, '\0'..='\x1f' | '\x7f'..='\u{9f}')
}

/// Marks of the writing direction, line ends that only some programs honor, characters without
/// width, byte order marks in the middle of a text, tags that only a machine reads, and what is
/// not a character at all.
pub(crate) fn is_misleading(character: char) -> bool {
    matches!(
        character,
        '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}
