//! Bytes to lines and columns, in UTF-8 and in UTF-16, and back.

use crate::Span;

/// A place in a text as lines and columns, both counted from zero.
///
/// Whether the column counts bytes or UTF-16 units is the caller's business: it is what the method
/// that made the position says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

/// Knows where the lines of one text begin.
///
/// A line ends with `\n`; a `\r` before it belongs to the line's end, not to its text. A lone `\r` is
/// text, as it is for BuildKit. A byte order mark is three bytes of the first line, so that offsets
/// are those of the file on disk. Every offset and every position is answered: what lies outside is
/// moved to the nearest place inside.
#[derive(Clone, Debug)]
pub struct LineIndex<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        let newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let starts = std::iter::once(0).chain(newlines.map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    #[must_use]
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The number of lines; a text that ends with a newline has an empty last line.
    #[must_use]
    pub fn line_count(&self) -> usize {
        self.starts.len()
    }

    /// Where a line begins, its end included in the range that [`Self::line_span`] gives.
    #[must_use]
    pub fn line_start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.text.len())
    }

    /// The range of a line without its line end.
    #[must_use]
    pub fn line_span(&self, line: usize) -> Span {
        let start = self.line_start(line);
        let mut end = self.line_start(line + 1);
        let bytes = self.text.as_bytes();
        if end > start && bytes[end - 1] == b'\n' {
            end -= 1;
            if end > start && bytes[end - 1] == b'\r' {
                end -= 1;
            }
        }
        Span { start, end }
    }

    /// The text of a line without its line end.
    #[must_use]
    pub fn line_text(&self, line: usize) -> &'a str {
        self.line_span(line).slice(self.text).unwrap_or_default()
    }

    /// Line and byte column of a byte offset.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.floor(offset);
        let line = self.starts.partition_point(|&start| start <= offset).saturating_sub(1);
        Position { line, column: offset - self.line_start(line) }
    }

    /// Line and column in UTF-16 units of a byte offset, as editors count.
    #[must_use]
    pub fn position_utf16(&self, offset: usize) -> Position {
        let Position { line, column } = self.position(offset);
        let start = self.line_start(line);
        let before = self.text.get(start..start + column).unwrap_or_default();
        Position { line, column: before.encode_utf16().count() }
    }

    /// The byte offset of a line and a byte column.
    #[must_use]
    pub fn offset(&self, position: Position) -> usize {
        if position.line >= self.line_count() {
            return self.text.len();
        }
        let start = self.line_start(position.line);
        // A column in or behind the line's end stays on its line.
        let end = self.line_start(position.line + 1).max(start);
        let last =
            if end > start && self.text.as_bytes()[end - 1] == b'\n' { end - 1 } else { end };
        self.floor(start.saturating_add(position.column).min(last))
    }

    /// The byte offset of a line and a column in UTF-16 units.
    ///
    /// A column in the middle of a surrogate pair means the character that the pair stands for.
    #[must_use]
    pub fn offset_utf16(&self, position: Position) -> usize {
        if position.line >= self.line_count() {
            return self.text.len();
        }
        let start = self.line_start(position.line);
        let end = self.line_start(position.line + 1).max(start);
        let line = self.text.get(start..end).unwrap_or_default();
        let line = line.strip_suffix('\n').unwrap_or(line);
        let mut units = 0;
        for (at, char) in line.char_indices() {
            units += char.len_utf16();
            if units > position.column {
                return start + at;
            }
        }
        start + line.len()
    }

    /// The nearest character boundary at or before `offset`, within the text.
    fn floor(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
}
