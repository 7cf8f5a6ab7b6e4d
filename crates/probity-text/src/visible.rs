//! Characters that would steer a terminal or mislead a reader, made visible.
//!
//! Paths, messages and source text come from strangers. An escape sequence in them could repaint
//! the screen, and a bidirectional override could show code in an order in which it does not run.
//! What comes out of here holds only characters that XML 1.0 allows.

use std::{borrow::Cow, fmt::Write as _};

use crate::hidden::{is_control, is_misleading};

/// The text on one line: line ends are made visible too. Tabs stay.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    except(text, &['\t'])
}

/// The text with its line ends and tabs; `\r\n` becomes `\n`.
#[must_use]
pub fn block(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        return Cow::Owned(except(&text.replace("\r\n", "\n"), &['\t', '\n']).into_owned());
    }
    except(text, &['\t', '\n'])
}

/// The text with every hidden character made visible that is not in `kept`.
#[must_use]
pub fn except<'a>(text: &'a str, kept: &[char]) -> Cow<'a, str> {
    let is_shown = |char: char| is_control(char) && !kept.contains(&char) || is_misleading(char);
    if !text.contains(is_shown) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        match picture(char) {
            _ if !is_shown(char) => shown.push(char),
            Some(picture) => shown.push(picture),
            // Writing to a string cannot fail.
            None => _ = write!(shown, "<U+{:04X}>", u32::from(char)),
        }
    }
    Cow::Owned(shown)
}

/// The text with one character for each of its characters, so that columns stay what they are.
#[must_use]
pub fn one_for_one(text: &str) -> String {
    let shown = |char: char| match char {
        '\t' => char,
        _ if is_control(char) || is_misleading(char) => {
            picture(char).unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        _ => char,
    };
    text.chars().map(shown).collect()
}

/// The picture that Unicode has for a control character.
fn picture(char: char) -> Option<char> {
    match char {
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(char)),
        '\x7f' => Some('\u{2421}'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_get_pictures_and_the_rest_stays() {
        for (text, expected) in [
            ("plain ü 😀\ttab", "plain ü 😀\ttab"),
            ("\x1b[31m\0\x7f", "␛[31m␀␡"),
            ("a\nb\r\nc\r", "a␊b␍␊c␍"),
            ("\u{9b}31m", "<U+009B>31m"),
            ("\u{202e}evil\u{2069}\u{feff}", "<U+202E>evil<U+2069><U+FEFF>"),
        ] {
            assert_eq!(line(text), expected);
        }
        assert_eq!(block("a\nb\r\nc\rd\x07"), "a\nb\nc␍d␇");
    }
}
