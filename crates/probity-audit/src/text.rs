//! Other people's text, made fit to be kept: bounded, and without what steers a terminal.

use probity_agent::{is_unseen, printable};

/// At most this many characters, with an ellipsis where something was cut.
pub(crate) fn bounded(text: &str, most: usize) -> String {
    let kept = printable(text);
    match kept.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", kept.get(..at).unwrap_or_default()),
        None => kept,
    }
}

/// The same on one line, with single spaces between the words.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    bounded(&words.join(" "), most)
}

/// The name of a file without what would begin a new line of a prompt, or steer a terminal.
pub(crate) fn shown_name(name: &str) -> String {
    name.chars().map(|c| if is_unseen(c) { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_and_cleaned() {
        assert_eq!(bounded("a\u{1b}[31mb\nc", 10), "a[31mb\nc");
        assert_eq!(bounded("äöü", 2), "äö…");
        assert_eq!(one_line("  a \n\n b\tc ", 9), "a b c");
    }
}
