//! How wide a text is on a screen.

use unicode_width::UnicodeWidthStr as _;

/// The columns that a text takes; escape sequences take none, wide characters two.
pub fn shown_width(text: &str) -> usize {
    if text.contains('\u{1b}') {
        return anstream::adapter::strip_str(text).map(str::width).sum();
    }
    text.width()
}

/// The text with spaces up to a width.
pub fn padded(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(shown_width(text));
    format!("{text}{}", " ".repeat(missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_as_wide_as_it_looks() {
        let rows = [
            ("", 0),
            ("Dockerfile", 10),
            ("grün", 4),
            ("日本語", 6),
            ("e\u{301}", 1),
            ("\u{1b}[1mbold\u{1b}[0m", 4),
            ("\u{1b}]8;;https://example.org/\u{1b}\\DL3008\u{1b}]8;;\u{1b}\\", 6),
        ];
        for (text, expected) in rows {
            assert_eq!(shown_width(text), expected, "{text:?}");
            assert_eq!(shown_width(&padded(text, 12)), 12, "{text:?}");
        }
    }
}
