//! Cutting the text behind a keyword into words, in each of the ways that BuildKit does.

use std::ops::Range;

use probity_finding::TextSlice;

use crate::{
    Logical, Word,
    compact::{compact_range, wide_range},
};

impl Word {
    /// The text of a range of a logical line, as it is.
    pub(crate) fn of(line: &Logical, range: Range<usize>) -> Self {
        let text = line.text.slice(range.clone());
        Self::new(line, range, text)
    }

    /// A word whose text is another one than the range says: quotes are gone, or escapes.
    pub(crate) fn new(line: &Logical, range: Range<usize>, text: TextSlice) -> Self {
        Self { in_line: compact_range(&range), span: line.span(range), text }
    }

    /// Where the word stands in [`crate::Instruction::line`].
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        wide_range(&self.in_line)
    }

    /// The same for a part of this word, whose text stands in the line as it is.
    pub(crate) fn part(&self, line: &Logical, range: Range<usize>) -> Self {
        let whole = self.range();
        let end = (whole.start + range.end).min(whole.end);
        let text = self.text.slice(range.clone());
        Self::new(line, (whole.start + range.start).min(end)..end, text)
    }
}

/// The blanks that separate keywords and plain words; other spaces are letters to BuildKit.
pub(crate) const BLANKS: [char; 5] = ['\t', '\u{b}', '\u{c}', '\r', ' '];

/// The range without the spaces, of any kind, at its ends.
pub(crate) fn trim(line: &Logical, range: Range<usize>) -> Range<usize> {
    let text = line.slice(range.clone());
    let start = range.start + (text.len() - text.trim_start().len());
    start..start + text.trim().len()
}

/// Words between blanks; quotes mean nothing.
pub(crate) fn plain(line: &Logical, range: Range<usize>) -> Vec<Word> {
    let text = line.slice(range.clone());
    let mut words = Vec::new();
    let mut at = range.start;
    for part in text.split(BLANKS) {
        if !part.is_empty() {
            words.push(Word::of(line, at..at + part.len()));
        }
        at += part.len() + 1;
    }
    words
}

/// Words between spaces, where quotes and the escape character bind. Both stay in the text, but for
/// an escape character at the very end.
pub(crate) fn quoted(line: &Logical, range: Range<usize>, escape: char) -> Vec<Word> {
    let text = line.slice(range.clone());
    let mut words = Vec::new();
    let mut start = None;
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
            continue;
        }
        let Some(open) = quote else {
            if c.is_whitespace() {
                if let Some(start) = start.take() {
                    words.push(range.start + start..range.start + at);
                }
                continue;
            }
            start.get_or_insert(at);
            if matches!(c, '\'' | '"') {
                quote = Some(c);
            }
            escaped = c == escape;
            continue;
        };
        if c == open {
            quote = None;
        } else if c == escape && open != '\'' {
            escaped = true;
        }
    }
    if let Some(start) = start {
        // An escape character with nothing behind it escapes nothing and is dropped.
        let end = text.len() - if escaped { escape.len_utf8() } else { 0 };
        if start < end {
            words.push(range.start + start..range.start + end);
        }
    }
    words.into_iter().map(|range| Word::of(line, range)).collect()
}
