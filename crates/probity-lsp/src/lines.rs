//! Byte offsets to positions of the protocol and back, in any of its encodings.
//!
//! The protocol ends lines at `\n`, `\r\n` and a lone `\r`; BuildKit knows no lone `\r`. That is why
//! this index is not the one of probity-finding: a client counts lines by the protocol's rule.

use gen_lsp_types::{Position, PositionEncodingKind, Range};
use probity_finding::Span;

/// What a column counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    Utf16,
    Utf32,
}

impl Encoding {
    /// UTF-8 if the client offers it, because it costs nothing here; otherwise the client's first
    /// choice that we know; otherwise what the protocol demands of everybody.
    pub(crate) fn negotiated<'a>(offered: impl Iterator<Item = &'a str> + Clone) -> Self {
        let known = |name: &str| match name {
            "utf-8" => Some(Self::Utf8),
            "utf-16" => Some(Self::Utf16),
            "utf-32" => Some(Self::Utf32),
            _ => None,
        };
        let mut choices = offered.clone().filter_map(known);
        if choices.clone().any(|choice| choice == Self::Utf8) {
            return Self::Utf8;
        }
        choices.next().unwrap_or(Self::Utf16)
    }

    pub(crate) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn width(self, char: char) -> usize {
        match self {
            Self::Utf8 => char.len_utf8(),
            Self::Utf16 => char.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    /// The length of a text in units of the encoding.
    pub(crate) fn length(self, text: &str) -> usize {
        match self {
            Self::Utf8 => text.len(),
            Self::Utf16 => text.encode_utf16().count(),
            Self::Utf32 => text.chars().count(),
        }
    }
}

/// Knows where the lines of one text begin. Every position is answered: what lies outside is moved
/// to the nearest place inside.
#[derive(Clone, Debug)]
pub(crate) struct Lines<'a> {
    text: &'a str,
    encoding: Encoding,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str, encoding: Encoding) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            let ends = match byte {
                b'\n' => true,
                b'\r' => bytes.get(at + 1) != Some(&b'\n'),
                _ => false,
            };
            if ends {
                starts.push(at + 1);
            }
        }
        Self { text, encoding, starts }
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }

    pub(crate) fn count(&self) -> usize {
        self.starts.len()
    }

    /// The line that a byte lies on, counted from zero.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset).saturating_sub(1)
    }

    /// A line without its end.
    pub(crate) fn line_span(&self, line: usize) -> Span {
        let Some(&start) = self.starts.get(line) else { return Span::at(self.text.len()) };
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        let content = self.text.get(start..end).unwrap_or_default();
        Span::new(start, start + content.trim_end_matches(['\r', '\n']).len())
    }

    pub(crate) fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        // A position never lies inside a character or between `\r` and `\n`.
        let bytes = self.text.as_bytes();
        let is_half = |at: usize| {
            at > 0 && bytes.get(at - 1) == Some(&b'\r') && bytes.get(at) == Some(&b'\n')
        };
        while !self.text.is_char_boundary(offset) || is_half(offset) {
            offset -= 1;
        }
        let line = self.line_of(offset);
        let start = self.starts.get(line).copied().unwrap_or_default();
        let before = self.text.get(start..offset).unwrap_or_default();
        Position::new(small(line), small(self.encoding.length(before)))
    }

    pub(crate) fn range(&self, span: Span) -> Range {
        Range::new(self.position(span.start), self.position(span.end))
    }

    /// A column behind the line's end means its end; one in the middle of a character its start.
    pub(crate) fn offset(&self, position: Position) -> usize {
        let line = usize::try_from(position.line).unwrap_or(usize::MAX);
        let column = usize::try_from(position.character).unwrap_or(usize::MAX);
        if line >= self.count() {
            return self.text.len();
        }
        let span = self.line_span(line);
        let mut units = 0;
        for (at, char) in span.slice(self.text).unwrap_or_default().char_indices() {
            units += self.encoding.width(char);
            if units > column {
                return span.start + at;
            }
        }
        span.end
    }

    pub(crate) fn span(&self, range: Range) -> Span {
        Span::new(self.offset(range.start), self.offset(range.end))
    }
}

/// The protocol's numbers have 32 bits; no document comes near them.
pub(crate) fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "aé😀\te\u{301}\r\nb\rc\n";

    #[test]
    fn every_encoding_counts_its_own_units() {
        let after_emoji = "aé😀".len();
        for (encoding, column, end) in
            [(Encoding::Utf8, 7, 11), (Encoding::Utf16, 4, 7), (Encoding::Utf32, 3, 6)]
        {
            let lines = Lines::new(TEXT, encoding);
            assert_eq!(lines.position(after_emoji), Position::new(0, column));
            assert_eq!(lines.offset(Position::new(0, column)), after_emoji);
            assert_eq!(lines.position(lines.line_span(0).end), Position::new(0, end));
            assert_eq!(lines.offset(Position::new(0, 99)), lines.line_span(0).end);
            assert_eq!(lines.position(lines.line_span(0).end + 1), Position::new(0, end));
            assert_eq!(lines.count(), 4, "a lone carriage return ends a line too");
            assert_eq!(lines.offset(Position::new(2, 0)), TEXT.find('c').unwrap());
            assert_eq!(lines.offset(Position::new(9, 0)), TEXT.len());
        }
        // The middle of a surrogate pair, and of a character of several bytes.
        assert_eq!(Lines::new(TEXT, Encoding::Utf16).offset(Position::new(0, 3)), "aé".len());
        assert_eq!(Lines::new(TEXT, Encoding::Utf8).offset(Position::new(0, 2)), 1);
    }

    #[test]
    fn the_encoding_is_one_that_the_client_offers() {
        for (offered, chosen) in [
            (&[][..], Encoding::Utf16),
            (&["utf-16"], Encoding::Utf16),
            (&["utf-32", "utf-16"], Encoding::Utf32),
            (&["utf-16", "utf-8"], Encoding::Utf8),
            (&["utf-7"], Encoding::Utf16),
        ] {
            assert_eq!(Encoding::negotiated(offered.iter().copied()), chosen, "{offered:?}");
        }
    }
}
