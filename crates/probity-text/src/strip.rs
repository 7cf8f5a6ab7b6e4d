//! Texts without what steers a terminal or misleads a reader.

use crate::hidden::is_hidden;

/// The text without escape sequences and without characters that nobody sees.
///
/// Line ends and tabs stay; `\r\n` and a lone `\r` become `\n`.
#[must_use]
pub fn stripped(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\x1b' => skip_escape(&mut rest),
            // The same sequences, introduced by one character of the C1 set.
            '\u{9b}' => skip_until_final(&mut rest),
            '\r' => {
                if rest.peek() != Some(&'\n') {
                    kept.push('\n');
                }
            }
            hidden if is_hidden(hidden) => {}
            shown => kept.push(shown),
        }
    }
    kept
}

/// The stripped text on one line with single spaces between its words: at most this many
/// characters, and an ellipsis where something was cut.
#[must_use]
pub fn one_line(text: &str, characters: usize) -> String {
    let stripped = stripped(text);
    let mut line = String::new();
    let mut room = characters;
    for word in stripped.split_whitespace() {
        let space = if line.is_empty() { "" } else { " " };
        for character in space.chars().chain(word.chars()) {
            if room == 0 {
                line.truncate(line.trim_end().len());
                line.push('…');
                return line;
            }
            line.push(character);
            room -= 1;
        }
    }
    line
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn skip_escape(rest: &mut Rest<'_>) {
    match rest.peek() {
        Some('[') => {
            rest.next();
            skip_until_final(rest);
        }
        // Texts for the terminal itself, such as titles and links, end with BEL or ST.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            rest.next();
            skip_string(rest);
        }
        Some(' '..='/') => {
            rest.next();
            rest.next();
        }
        Some('0'..='~') => {
            rest.next();
        }
        _ => {}
    }
}

fn skip_until_final(rest: &mut Rest<'_>) {
    while let Some(&character) = rest.peek() {
        if !matches!(character, ' '..='?') {
            break;
        }
        rest.next();
    }
    if matches!(rest.peek(), Some('@'..='~')) {
        rest.next();
    }
}

fn skip_string(rest: &mut Rest<'_>) {
    while let Some(&character) = rest.peek() {
        match character {
            // An unterminated one must not swallow the rest of the text.
            '\n' => return,
            '\x07' | '\u{9c}' => {
                rest.next();
                return;
            }
            '\x1b' => {
                rest.next();
                rest.next_if_eq(&'\\');
                return;
            }
            _ => {
                rest.next();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sequences_and_hidden_characters_go_and_the_words_stay() {
        for (text, expected) in [
            ("plain\n\ttext", "plain\n\ttext"),
            ("a\x1b[31;1mred\x1b[0mb", "aredb"),
            ("\u{9b}31mred", "red"),
            ("\x1b]0;title\x07after\x1b]8;;http://x\x1b\\link", "afterlink"),
            ("\x1b]0;never ended\nnext", "\nnext"),
            ("a\0b\x08c\x7f\x16\x0f", "abc"),
            ("one\r\ntwo\rthree\ttab", "one\ntwo\nthree\ttab"),
            ("\x1b(Bplain\x1b", "plain"),
            ("\x1b[", ""),
            ("pay\u{202e}lla \u{2066}x\u{2069}", "paylla x"),
            ("zero\u{200b}width \u{e0041}\u{e0042}tags", "zerowidth tags"),
            ("ü 👩\u{200d}💻", "ü 👩\u{200d}💻"),
        ] {
            assert_eq!(stripped(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_line_is_short_and_its_words_stand_one_space_apart() {
        for (text, most, expected) in [
            ("", 5, ""),
            ("  a \n\t b\r\n", 9, "a b"),
            ("abcdef", 6, "abcdef"),
            ("abcdefg", 6, "abcdef…"),
            ("ab cdef", 3, "ab…"),
            ("a\n  b\x1b[1mc d", 4, "a bc…"),
            ("one\u{2028}line", 20, "oneline"),
            ("äöü", 2, "äö…"),
            ("a", 0, "…"),
        ] {
            assert_eq!(one_line(text, most), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left_whatever_came(text in any::<String>(), most in 0_usize..80) {
            prop_assert!(!stripped(&text).contains(is_hidden));
            let line = one_line(&text, most);
            prop_assert!(line.chars().count() <= most + 1);
            prop_assert!(!line.contains(['\n', '\t', '\r']) && !line.contains(is_hidden));
            prop_assert_eq!(stripped(&stripped(&text)), stripped(&text));
        }
    }
}
