//! How wide a screen is, and how wide a text is on it.

use std::env;

use unicode_width::UnicodeWidthStr as _;

use crate::streams::{self, Stream};

/// A screen that is narrower than this cannot show anything, so its width is a mistake.
const LEAST: usize = 20;

pub(super) fn of_stdout() -> Option<usize> {
    named().or_else(|| of_terminal(streams::stdout()))
}

pub(super) fn of_stderr() -> Option<usize> {
    named().or_else(|| of_terminal(streams::stderr()))
}

/// `COLUMNS`, which holds for pipes too: who exports it wants this width.
fn named() -> Option<usize> {
    usable(env::var("COLUMNS").ok()?.trim().parse().ok()?)
}

fn of_terminal(stream: Stream) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream.descriptor()).ok()?;
    usable(usize::from(size.ws_col))
}

fn usable(width: usize) -> Option<usize> {
    (width >= LEAST).then_some(width)
}

/// The columns that a text takes; escape sequences take none, wide characters two.
pub(crate) fn shown_width(text: &str) -> usize {
    if text.contains('\u{1b}') {
        return anstream::adapter::strip_str(text).map(str::width).sum();
    }
    text.width()
}

/// The text with spaces up to a width.
pub(crate) fn padded(text: &str, width: usize) -> String {
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

    #[test]
    fn a_width_that_shows_nothing_is_not_used() {
        assert_eq!([0, 1, 19, 20, 300].map(usable), [None, None, None, Some(20), Some(300)]);
    }
}
