//! How wide a screen is.

use std::env;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_that_shows_nothing_is_not_used() {
        assert_eq!([0, 1, 19, 20, 300].map(usable), [None, None, None, Some(20), Some(300)]);
    }
}
