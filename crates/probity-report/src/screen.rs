//! The screen that a text is written for: whether it has colors, and how wide it is.
//!
//! This is the one place that knows escape sequences for people. A text for a pipe or a file has neither
//! colors nor folded lines, unless somebody asks for them.

mod color;
mod diff;
mod fold;
mod table;
mod width;

use anstyle::Style;

use self::fold::{fold, fold_flush};
pub use self::{
    color::Paint,
    table::Table,
    width::{padded, shown_width},
};

/// How a text may look where it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    pub is_colored: bool,
    /// Whether somebody can click on a link.
    pub has_links: bool,
    /// In columns; without it lines stay whole.
    pub width: Option<usize>,
}

impl Screen {
    /// For files, and for tests that are not about the screen.
    pub const PLAIN: Self = Self { is_colored: false, has_links: false, width: None };

    /// The style of a paint; without colors one that writes nothing.
    pub fn style(self, paint: Paint) -> Style {
        if self.is_colored { paint.style() } else { Style::new() }
    }

    pub fn painted(self, paint: Paint, text: &str) -> String {
        let style = self.style(paint);
        format!("{style}{text}{style:#}")
    }

    /// A text that leads to a URL where somebody can click on it.
    pub fn linked(self, text: &str, url: Option<&str>) -> String {
        match url {
            Some(url) if self.has_links && !url.contains(char::is_control) => {
                format!("\u{1b}]8;;{url}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\")
            }
            _ => text.to_owned(),
        }
    }

    /// The text with its long lines folded between words, as far as the screen is wide.
    pub fn folded(self, text: &str) -> String {
        match self.width {
            Some(width) => fold(text, width),
            None => text.to_owned(),
        }
    }

    /// The same for a text that begins after `before` columns, and goes on below its start.
    pub fn folded_after(self, before: usize, text: &str) -> String {
        match self.width.and_then(|width| width.checked_sub(before)) {
            Some(width) => fold_flush(text, width),
            None => text.to_owned(),
        }
    }
}
