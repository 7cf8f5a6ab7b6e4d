//! Names of files and texts of models, made fit for a prompt and a report.

use probity_text::{beginning, is_hidden, stripped};

/// At most this many characters, without what steers a terminal.
pub(crate) fn bounded(text: &str, most: usize) -> String {
    beginning(&stripped(text), most)
}

/// The name of a file without what would begin a new line of a prompt, or steer a terminal.
pub(crate) fn shown_name(name: &str) -> String {
    let is_safe = |character: char| !character.is_control() && !is_hidden(character);
    name.chars().map(|character| if is_safe(character) { character } else { '?' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_and_cleaned() {
        assert_eq!(bounded("a\u{1b}[31mb\nc", 10), "ab\nc");
        assert_eq!(bounded("äöü", 2), "äö…");
        assert_eq!(shown_name("a\nb\u{202e}c d.rs"), "a?b?c d.rs");
    }
}
