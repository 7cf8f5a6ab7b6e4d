//! The few lines of a file that are shown below a finding.
//!
//! The renderer walks all of the source that it is given, for each finding. So it is given a window
//! of lines, and no line that nobody could read anyway; a report then costs what it shows.

use std::ops::Range;

use probity_finding::{LineIndex, Span};
use probity_text::visible;

use crate::place;

/// Where a mark reaches over more lines than this, only its first line is shown.
pub(crate) const MOST_LINES: usize = 30;
/// How far apart, in lines, two places may be to share an excerpt.
const NEAR: usize = 6;
/// Lines longer than this are not shown; the renderer shows a part of those that are too wide.
const LONGEST_LINE: usize = 4096;

/// Lines with every character made visible, and the marks in them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) source: String,
    /// The number of the first line, from 1.
    pub(crate) first_line: usize,
    /// The spans as byte ranges of `source`, in the order in which they were given.
    pub(crate) marks: Vec<Range<usize>>,
}

impl Excerpt {
    /// An excerpt that shows all of `spans`, which are near one another.
    ///
    /// A character of the file is a character of the excerpt, so that the renderer counts columns as
    /// they are in the file. The byte order mark is left out, since it has no column.
    pub(crate) fn new(lines: &LineIndex<'_>, spans: &[Span]) -> Option<Self> {
        let spans: Vec<Span> = spans.iter().map(|&span| shown_part(lines, span)).collect();
        let line_of = |offset| lines.position(offset).line;
        let first = spans.iter().map(|span| line_of(span.start)).min()?;
        let last = spans.iter().map(|span| line_of(span.end)).max()?;
        if (first..=last).any(|line| lines.line_span(line).len() > LONGEST_LINE) {
            return None;
        }

        let mut source = String::new();
        let mut starts = Vec::new();
        for line in first..=last {
            starts.push(source.len());
            source.push_str(&visible_line(lines, line, usize::MAX));
            source.push('\n');
        }
        let offset = |at: usize| {
            let position = lines.position(at);
            let start = starts.get(position.line.saturating_sub(first)).copied().unwrap_or(0);
            start + visible_line(lines, position.line, position.column).len()
        };
        let marks = spans.iter().map(|span| offset(span.start)..offset(span.end)).collect();
        Some(Self { source, first_line: first + 1, marks })
    }
}

/// Whether two places fit one excerpt.
pub(crate) fn is_near(lines: &LineIndex<'_>, a: Span, b: Span) -> bool {
    let [a, b] = [a, b].map(|span| {
        let span = shown_part(lines, span);
        (lines.position(span.start).line, lines.position(span.end).line)
    });
    a.0 <= b.1 + NEAR && b.0 <= a.1 + NEAR
}

/// What of a span is marked: not the line end behind it, and not more lines than one can look at.
fn shown_part(lines: &LineIndex<'_>, span: Span) -> Span {
    let span = place::trimmed(lines, span);
    let first = lines.position(span.start).line;
    if lines.position(span.end).line - first < MOST_LINES {
        return span;
    }
    Span::new(span.start, lines.line_span(first).end.max(span.start))
}

/// The first `columns` bytes of a line as they are shown.
fn visible_line(lines: &LineIndex<'_>, line: usize, columns: usize) -> String {
    let text = lines.line_text(line);
    let text = text.get(..columns).unwrap_or(text);
    let text = if line == 0 { text.trim_start_matches('\u{feff}') } else { text };
    visible::one_for_one(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, span: Span) -> Option<(String, usize, String)> {
        let excerpt = Excerpt::new(&LineIndex::new(text), &[span])?;
        let mark = excerpt.source[excerpt.marks[0].clone()].to_owned();
        Some((excerpt.source, excerpt.first_line, mark))
    }

    #[test]
    fn marks_move_with_what_is_made_visible() {
        let text = "\u{feff}a\r\n\x1bb\0c\u{202e}d\r\n";
        for (text, span, source, line, mark) in [
            (text, Span::new(text.find('c').unwrap(), text.len()), "␛b␀c�d\n", 2, "c�d"),
            (text, Span::new(0, 4), "a\n", 1, "a"),
            ("", Span::new(0, 9), "\n", 1, ""),
            ("a\n", Span::new(70, 90), "\n", 2, ""),
        ] {
            let expected = Some((source.to_owned(), line, mark.to_owned()));
            assert_eq!(marked(text, span), expected, "{text:?} {span:?}");
        }
    }

    #[test]
    fn what_is_too_long_to_look_at_is_not_shown() {
        let text = "line\n".repeat(1000);
        let first_line = Some(("line\n".to_owned(), 1, "ine".to_owned()));
        assert_eq!(marked(&text, Span::new(1, text.len())), first_line);
        assert_eq!(marked(&"x".repeat(5000), Span::new(2, 3)), None);
    }
}
