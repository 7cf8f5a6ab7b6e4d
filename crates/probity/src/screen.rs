//! The screen that a text is written for: whether it has colors, and how wide it is.
//!
//! This is the one place that knows escape sequences for people. A text for a pipe or a file has neither
//! colors nor folded lines, unless a flag or a variable asks for them.

pub(crate) mod color;
pub(crate) mod count;
mod diff;
mod fold;
mod question;
mod table;
mod width;

use std::{
    io::{self, Write as _},
    sync::OnceLock,
};

use anstyle::Style;

use self::fold::{fold, fold_flush};
pub(crate) use self::{
    color::{Paint, When},
    question::is_confirmed,
    table::Table,
    width::{padded, shown_width},
};

use crate::streams;

/// What `--color` asks for; it holds for every stream of the process.
static ASKED: OnceLock<When> = OnceLock::new();

/// Remembers what `--color` asks for.
pub(crate) fn ask(when: When) {
    // A process reads its command line once, and the first answer stays.
    _ = ASKED.set(when);
}

/// How a text may look where it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Screen {
    pub(crate) is_colored: bool,
    /// Whether somebody can click on a link.
    pub(crate) has_links: bool,
    /// In columns; without it lines stay whole.
    pub(crate) width: Option<usize>,
}

impl Screen {
    /// For files, and for tests that are not about the screen.
    pub(crate) const PLAIN: Self = Self { is_colored: false, has_links: false, width: None };

    pub(crate) fn stdout() -> Self {
        Self::of(streams::stdout().is_terminal(), width::of_stdout())
    }

    pub(crate) fn stderr() -> Self {
        Self::of(streams::stderr().is_terminal(), width::of_stderr())
    }

    /// A report that goes to a file: `--color=always` colors it too, and no line is folded.
    pub(crate) fn file() -> Self {
        Self::of(false, None)
    }

    fn of(is_terminal: bool, width: Option<usize>) -> Self {
        let is_colored = ASKED.get().copied().unwrap_or_default().is_colored(is_terminal);
        Self { is_colored, has_links: is_terminal && is_colored, width }
    }

    /// The style of a paint; without colors one that writes nothing.
    pub(crate) fn style(self, paint: Paint) -> Style {
        if self.is_colored { paint.style() } else { Style::new() }
    }

    pub(crate) fn painted(self, paint: Paint, text: &str) -> String {
        let style = self.style(paint);
        format!("{style}{text}{style:#}")
    }

    /// A text that leads to a URL where somebody can click on it.
    pub(crate) fn linked(self, text: &str, url: Option<&str>) -> String {
        match url {
            Some(url) if self.has_links && !url.contains(char::is_control) => {
                format!("\u{1b}]8;;{url}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\")
            }
            _ => text.to_owned(),
        }
    }

    /// The text with its long lines folded between words, as far as the screen is wide.
    pub(crate) fn folded(self, text: &str) -> String {
        match self.width {
            Some(width) => fold(text, width),
            None => text.to_owned(),
        }
    }

    /// The same for a text that begins after `before` columns, and goes on below its start.
    pub(crate) fn folded_after(self, before: usize, text: &str) -> String {
        match self.width.and_then(|width| width.checked_sub(before)) {
            Some(width) => fold_flush(text, width),
            None => text.to_owned(),
        }
    }
}

/// Writes a text to standard output, folded.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = streams::stdout().lock();
    out.write_all(Screen::stdout().folded(text).as_bytes())?;
    out.flush()
}
