//! Texts of strangers, made fit for a file, a database and a reader.

use probity_secrets::{Detector, mask_same_length};

/// Without escape sequences and control characters; line ends and tabs stay, `\r\n` becomes `\n`.
#[must_use]
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(char) = rest.next() {
        match char {
            '\x1b' => skip_escape(&mut rest),
            // The same sequences, introduced by one character of the C1 set.
            '\u{9b}' => skip_until_final(&mut rest),
            '\n' | '\t' => plain.push(char),
            '\r' => match rest.peek() {
                Some('\n') => {}
                _ => plain.push('\n'),
            },
            char if char.is_control() => {}
            char => plain.push(char),
        }
    }
    plain
}

/// At most this many bytes, cut between characters, and saying so.
#[must_use]
pub(crate) fn capped(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes);
    let left = text.len() - end;
    format!("{}\n[{left} more bytes]", text.get(..end).unwrap_or_default())
}

/// One line of at most this many characters.
#[must_use]
pub(crate) fn one_line(text: &str, chars: usize) -> String {
    let plain = plain(text);
    let words: Vec<&str> = plain.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= chars {
        return line;
    }
    line.chars().take(chars.saturating_sub(1)).chain(['…']).collect()
}

/// With the secrets in it hidden.
#[must_use]
pub(crate) fn masked(detector: &Detector, text: &str) -> String {
    mask_same_length(text, &detector.find(text))
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
    while let Some(&char) = rest.peek() {
        if !matches!(char, ' '..='?') {
            break;
        }
        rest.next();
    }
    if matches!(rest.peek(), Some('@'..='~')) {
        rest.next();
    }
}

fn skip_string(rest: &mut Rest<'_>) {
    while let Some(&char) = rest.peek() {
        match char {
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
    use super::*;

    #[test]
    fn escape_sequences_and_control_characters_go_and_the_text_stays() {
        for (text, expected) in [
            ("a\x1b[31;1mred\x1b[0mb", "aredb"),
            ("\u{9b}31mred", "red"),
            ("\x1b]0;title\x07after\x1b]8;;http://x\x1b\\link", "afterlink"),
            ("\x1b]0;never ended\nnext", "\nnext"),
            ("a\0b\x08c\x7f", "abc"),
            ("one\r\ntwo\rthree\ttab", "one\ntwo\nthree\ttab"),
            ("\x1b(Bplain\x1b", "plain"),
            ("ü😀", "ü😀"),
        ] {
            assert_eq!(plain(text), expected, "{text:?}");
        }
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(capped("aüb", 2), "a\n[3 more bytes]");
        assert_eq!(capped("aüb", 4), "aüb");
        assert_eq!(one_line("a\n  b\x1b[1mc d", 5), "a bc…");
    }
}
