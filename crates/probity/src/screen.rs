//! The screens of this process: what `--color`, the usual variables and the terminals say.

mod color;
pub(crate) mod count;
mod question;
mod width;

use std::{
    io::{self, Write as _},
    sync::OnceLock,
};

use probity_report::Screen;

pub(crate) use self::{color::When, question::is_confirmed};
use crate::streams;

/// What `--color` asks for; it holds for every stream of the process.
static ASKED: OnceLock<When> = OnceLock::new();

/// Remembers what `--color` asks for.
pub(crate) fn ask(when: When) {
    // A process reads its command line once, and the first answer stays.
    _ = ASKED.set(when);
}

pub(crate) fn stdout() -> Screen {
    of(streams::stdout().is_terminal(), width::of_stdout())
}

pub(crate) fn stderr() -> Screen {
    of(streams::stderr().is_terminal(), width::of_stderr())
}

/// A report that goes to a file: `--color=always` colors it too, and no line is folded.
pub(crate) fn file() -> Screen {
    of(false, None)
}

fn of(is_terminal: bool, width: Option<usize>) -> Screen {
    let is_colored = ASKED.get().copied().unwrap_or_default().is_colored(is_terminal);
    Screen { is_colored, has_links: is_terminal && is_colored, width }
}

/// Writes a text to standard output, folded.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = streams::stdout().lock();
    out.write_all(stdout().folded(text).as_bytes())?;
    out.flush()
}
