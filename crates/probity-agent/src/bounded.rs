//! Other people's text, made fit to be shown: short, on a terminal harmless, without our keys.

/// How much of a provider's own error text is shown.
pub(crate) const EXCERPT_CHARS: usize = 2_000;

/// The beginning of a text, in one line, without control characters.
///
/// What comes from an agent may hold escape sequences that rewrite the reader's terminal.
pub(crate) fn excerpt(text: &str, most: usize) -> String {
    let mut shown = String::new();
    let mut characters = 0;
    for word in text.split(|c: char| c.is_whitespace() || is_unseen(c)).filter(|w| !w.is_empty()) {
        if !shown.is_empty() {
            shown.push(' ');
            characters += 1;
        }
        for c in word.chars() {
            if characters >= most {
                shown.truncate(shown.trim_end().len());
                shown.push('…');
                return shown;
            }
            shown.push(c);
            characters += 1;
        }
    }
    shown
}

/// The end of a text of several lines, fit for a terminal; for what a process said last.
pub(crate) fn tail(text: &str, most: usize) -> String {
    let start = text.ceil_char_boundary(text.len().saturating_sub(most));
    printable(text.get(start..).unwrap_or_default())
}

/// A text without the characters that do something to a terminal.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !is_unseen(*c)).collect()
}

/// Takes a secret out of a text that a peer may have echoed it into.
pub(crate) fn scrub(text: &str, secret: &str) -> String {
    if secret.is_empty() { text.to_owned() } else { text.replace(secret, "[key]") }
}

/// Control characters, line separators, and those that turn the direction of the text around them.
#[must_use]
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{feff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_one_short_harmless_line() {
        for (text, most, shown) in [
            ("", 5, ""),
            ("  a \n\t b\r\n", 9, "a b"),
            ("abcdef", 6, "abcdef"),
            ("abcdefg", 6, "abcdef…"),
            ("ab cdef", 3, "ab…"),
            ("\u{1b}[31mred\u{1b}[0m", 20, "[31mred [0m"),
            ("pay\u{202e}lla", 20, "pay lla"),
            ("one\u{2028}line", 20, "one line"),
            ("äöü", 2, "äö…"),
        ] {
            assert_eq!(excerpt(text, most), shown, "{text:?}");
        }
    }

    #[test]
    fn a_tail_keeps_the_end_and_its_lines() {
        assert_eq!(tail("one\ntwo\u{7}\nthree", 9), "wo\nthree");
        assert_eq!(tail("aä", 1), "", "never half a character");
        assert_eq!(tail("short", 100), "short");
    }

    #[test]
    fn a_key_is_taken_out_wherever_it_stands() {
        assert_eq!(scrub("bad key sk-1, really sk-1!", "sk-1"), "bad key [key], really [key]!");
        assert_eq!(scrub("text", ""), "text");
    }
}
