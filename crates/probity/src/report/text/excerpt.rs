//! The few lines of a file that are shown below a finding.
//!
//! The renderer walks all of the source that it is given, for each finding. So it is given a window,
//! and of a long line only what is around the mark; a report then costs what it shows.

use std::ops::Range;

use probity_finding::{LineIndex, Span};

use crate::report::{place, visible};

/// Where a mark reaches over more lines than this, only its first line is shown.
const MOST_LINES: usize = 30;
/// How far apart, in lines, two places may be to share an excerpt.
const NEAR: usize = 6;
/// Lines longer than this are cut.
const LONG_LINE: usize = 400;
/// How much of a long line is kept before and behind the start of the mark.
const KEPT: Range<usize> = 80..240;

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
    pub(crate) fn new(lines: &LineIndex<'_>, spans: &[Span]) -> Self {
        let spans: Vec<Span> = spans.iter().map(|&span| shown_part(lines, span)).collect();
        let line_of = |offset| lines.position(offset).line;
        let first = spans.iter().map(|span| line_of(span.start)).min().unwrap_or(0);
        let last = spans.iter().map(|span| line_of(span.end)).max().unwrap_or(first);

        let mut source = String::new();
        let mut shown = Vec::new();
        for line in first..=last {
            let part = LinePart::new(lines, line, &spans);
            let start = source.len();
            part.write(&mut source);
            shown.push((part, start));
            source.push('\n');
        }
        let offset = |at: usize| {
            let line = line_of(at).saturating_sub(first);
            shown.get(line).map(|(part, start)| start + part.offset(at)).unwrap_or(0)
        };
        let marks = spans.iter().map(|span| offset(span.start)..offset(span.end)).collect();
        Self { source, first_line: first + 1, marks }
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

/// The part of one line that is shown.
struct LinePart<'a> {
    text: &'a str,
    /// Where the part begins in the file.
    start: usize,
    cut_before: bool,
    cut_behind: bool,
}

const CUT: &str = "…";

impl<'a> LinePart<'a> {
    fn new(lines: &LineIndex<'a>, line: usize, spans: &[Span]) -> Self {
        let whole = lines.line_span(line);
        let text = lines.line_text(line);
        let (text, start) = match text.strip_prefix('\u{feff}') {
            Some(rest) if line == 0 => (rest, whole.start + '\u{feff}'.len_utf8()),
            _ => (text, whole.start),
        };
        if text.len() <= LONG_LINE {
            return Self { text, start, cut_before: false, cut_behind: false };
        }
        let focus = spans
            .iter()
            .map(|span| span.start)
            .find(|at| (start..=whole.end).contains(at))
            .map_or(0, |at| at - start);
        let from = text.floor_char_boundary(focus.saturating_sub(KEPT.start));
        let to = text.floor_char_boundary(focus.saturating_add(KEPT.end));
        Self {
            text: text.get(from..to).unwrap_or_default(),
            start: start + from,
            cut_before: from > 0,
            cut_behind: to < text.len(),
        }
    }

    fn write(&self, source: &mut String) {
        if self.cut_before {
            source.push_str(CUT);
        }
        source.push_str(&visible::line(self.text));
        if self.cut_behind {
            source.push_str(CUT);
        }
    }

    /// Where an offset of the file is in what [`Self::write`] has written.
    fn offset(&self, at: usize) -> usize {
        let at = self.text.floor_char_boundary(at.saturating_sub(self.start));
        let before = visible::line(self.text.get(..at).unwrap_or_default()).len();
        before + if self.cut_before { CUT.len() } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, span: Span) -> (String, usize, String) {
        let excerpt = Excerpt::new(&LineIndex::new(text), &[span]);
        let mark = excerpt.source[excerpt.marks[0].clone()].to_owned();
        (excerpt.source, excerpt.first_line, mark)
    }

    #[test]
    fn marks_move_with_what_is_made_visible() {
        let text = "\u{feff}a\r\n\x1bb\0c\u{202e}d\r\n";
        let got = marked(text, Span::new(text.find('c').unwrap(), text.len()));
        assert_eq!(got, ("␛b␀c<U+202E>d\n".to_owned(), 2, "c<U+202E>d".to_owned()));
        assert_eq!(marked(text, Span::new(0, 4)), ("a\n".to_owned(), 1, "a".to_owned()));
        assert_eq!(marked("", Span::new(0, 9)), ("\n".to_owned(), 1, String::new()));
    }

    #[test]
    fn long_lines_and_long_spans_are_cut_around_the_mark() {
        let text = format!("{}x{}", "ä".repeat(5000), "ö".repeat(5000));
        let (source, _, mark) = marked(&text, Span::new(10_000, 10_001));
        assert_eq!(mark, "x");
        assert!(source.len() < 2 * LONG_LINE, "{}", source.len());
        assert!(source.starts_with("…ä") && source.ends_with("ö…\n"), "{source}");

        let text = "line\n".repeat(1000);
        let got = marked(&text, Span::new(1, text.len()));
        assert_eq!(got, ("line\n".to_owned(), 1, "ine".to_owned()));
    }
}
