//! Where a finding is, in the lines and columns that a format counts.

use probity_finding::{LineIndex, Position, Span};

/// What one column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A character, as people count.
    Character,
    /// A UTF-16 unit, as editors, Java and JavaScript count.
    Utf16,
}

/// A range with lines and columns from 1; the end column is the first behind the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRange {
    pub line: usize,
    pub column: usize,
    pub end_line: usize,
    pub end_column: usize,
}

impl LineRange {
    /// The place of exactly these bytes.
    ///
    /// A byte order mark is no part of the text for whoever counts characters, so it has no column.
    pub fn exact(lines: &LineIndex<'_>, span: Span, unit: Unit) -> Self {
        let start = position(lines, span.start, unit);
        let end = position(lines, span.end, unit);
        Self {
            line: start.line + 1,
            column: start.column + 1,
            end_line: end.line + 1,
            end_column: end.column + 1,
        }
    }

    /// The place as it is shown: see [`trimmed`].
    pub fn shown(lines: &LineIndex<'_>, span: Span, unit: Unit) -> Self {
        Self::exact(lines, trimmed(lines, span), unit)
    }
}

/// The range without the line ends at its end.
///
/// Whoever marks an instruction with its line end means that line, not the next one's first column.
pub fn trimmed(lines: &LineIndex<'_>, span: Span) -> Span {
    let end = span.end.min(lines.text().len());
    let kept = lines
        .text()
        .get(span.start..end)
        .map(|text| text.trim_end_matches(['\r', '\n']).len())
        .unwrap_or(end.saturating_sub(span.start));
    Span { start: span.start, end: span.start + kept }
}

fn position(lines: &LineIndex<'_>, offset: usize, unit: Unit) -> Position {
    let Position { line, column } = lines.position(offset);
    let start = lines.line_start(line);
    let before = lines.text().get(start..start + column).unwrap_or_default();
    let before = if line == 0 { before.trim_start_matches('\u{feff}') } else { before };
    let column = match unit {
        Unit::Character => before.chars().count(),
        Unit::Utf16 => before.encode_utf16().count(),
    };
    Position { line, column }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_what_the_format_counts() {
        let text = "\u{feff}FROM a\r\n# 😀 ü x\r\n";
        let lines = LineIndex::new(text);
        let x = text.find('x').unwrap();
        for (span, unit, expected) in [
            (Span::new(3, 7), Unit::Character, (1, 1, 1, 5)),
            (Span::new(x, x + 1), Unit::Character, (2, 7, 2, 8)),
            (Span::new(x, x + 1), Unit::Utf16, (2, 8, 2, 9)),
            (Span::new(3, 11), Unit::Character, (1, 1, 1, 7)),
            (Span::new(text.len(), 900), Unit::Utf16, (3, 1, 3, 1)),
            (Span::new(900, 901), Unit::Utf16, (3, 1, 3, 1)),
        ] {
            let place = LineRange::shown(&lines, span, unit);
            let got = (place.line, place.column, place.end_line, place.end_column);
            assert_eq!(got, expected, "{span:?} {unit:?}");
        }
        let exact = LineRange::exact(&lines, Span::new(3, 11), Unit::Character);
        assert_eq!((exact.end_line, exact.end_column), (2, 1));
    }
}
