//! An agent's patch: read strictly, applied strictly, and refused by name.
//!
//! An agent saw the exact text that the patch is applied to, so nothing is guessed: a hunk goes to
//! the line its header names, or else to the only place where its lines occur. What models do get
//! wrong is arithmetic, so miscounted headers are counted again, and the result says so. Line ends
//! are not content: the agent saw the text with `\n` alone, and every line gets its own end back.

use crate::patch::{names::Names, scan::Scanned};

pub use crate::patch::{
    apply::{Applied, Relocated},
    error::{ApplyFailure, PatchError},
    sections::{Section, sections},
};

mod apply;
mod error;
mod header;
mod hunk_body;
pub mod lines;
mod names;
mod scan;
mod sections;

/// A patch of one text file, its line ends taken off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    hunks: Vec<Hunk>,
}

/// Lines that belong together, and where the patch says they stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The first old line, counted from one; without old lines, the line to insert after.
    pub old_start: usize,
    pub lines: Vec<HunkLine>,
    /// Whether the header's counts were wrong.
    pub recounted: bool,
    /// The header's line in the patch, counted from one; zero where the patch was computed.
    pub patch_line: usize,
}

/// One line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkLine {
    pub kind: LineKind,
    /// The text without the leading sign and without its end.
    pub text: String,
    /// Whether the patch says that the file ends here, without a newline.
    pub ends_file: bool,
}

/// What a patch does with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LineKind {
    Context,
    Removed,
    Added,
}

impl Patch {
    /// Reads the one patch of the file at `path`, as its name is known to the agent.
    ///
    /// # Errors
    ///
    /// When the text is not a patch, is one of another file or of several, or asks for anything but
    /// changed lines.
    pub fn parse(text: &str, path: &str) -> Result<Self, PatchError> {
        // A carriage return before a newline is the sender's line end, never content.
        let text = text.replace("\r\n", "\n");
        let scanned = Scanned::new(&text)?;
        scanned.into_patch(&Names::new(path))
    }

    /// The text that the patch makes of `base`.
    ///
    /// # Errors
    ///
    /// When a hunk has no place or no single place, two of them overlap, or nothing would change.
    pub fn apply(&self, base: &str) -> Result<Applied, PatchError> {
        apply::apply(self, base)
    }

    #[must_use]
    pub fn new(hunks: Vec<Hunk>) -> Self {
        Self { hunks }
    }

    #[must_use]
    pub fn hunks(&self) -> &[Hunk] {
        &self.hunks
    }

    /// Whether the counts of any hunk's header were wrong.
    #[must_use]
    pub fn recounted(&self) -> bool {
        self.hunks.iter().any(|hunk| hunk.recounted)
    }

    /// The text of the lines that the patch adds.
    pub fn added(&self) -> impl Iterator<Item = &str> {
        self.lines_of(LineKind::Added)
    }

    /// The text of the lines that the patch removes.
    pub fn removed(&self) -> impl Iterator<Item = &str> {
        self.lines_of(LineKind::Removed)
    }

    fn lines_of(&self, kind: LineKind) -> impl Iterator<Item = &str> {
        let lines = self.hunks.iter().flat_map(|hunk| &hunk.lines);
        lines.filter(move |line| line.kind == kind).map(|line| line.text.as_str())
    }
}

impl Hunk {
    /// The lines that must stand in the file.
    pub(crate) fn old_lines(&self) -> impl Iterator<Item = &HunkLine> {
        self.lines.iter().filter(|line| line.kind != LineKind::Added)
    }
}
