//! A logical line: the text that BuildKit sees once continuations, comments and blank lines are
//! gone, and the way back from each of its bytes to the source.

use std::ops::Range;

use probity_finding::{Span, TextSlice};

/// The joined text of an instruction and where each piece of it stands in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logical {
    /// The words of the instruction are pieces of it.
    pub text: TextSlice,
    /// Where the first piece begins in the source.
    first: Option<usize>,
    /// Where the others begin: offset in `text`, offset in the source; ascending in both. Most
    /// instructions have none.
    others: Vec<(usize, usize)>,
}

/// A logical line that is being put together.
#[derive(Debug, Default)]
pub(crate) struct LogicalBuilder {
    text: String,
    first: Option<usize>,
    others: Vec<(usize, usize)>,
}

impl LogicalBuilder {
    /// Appends a piece of the source that begins at `source`.
    pub(crate) fn push(&mut self, piece: &str, source: usize) {
        match self.first {
            Some(_) => self.others.push((self.text.len(), source)),
            None => self.first = Some(source),
        }
        self.text.push_str(piece);
    }

    pub(crate) fn finish(mut self) -> Logical {
        self.others.shrink_to_fit();
        Logical { text: self.text.into(), first: self.first, others: self.others }
    }
}

impl From<Logical> for LogicalBuilder {
    fn from(line: Logical) -> Self {
        Self { text: line.text.into(), first: line.first, others: line.others }
    }
}

impl Logical {
    /// The source offset of the byte at `offset`; at the end of the text, the offset behind its
    /// last byte.
    #[must_use]
    pub fn offset(&self, offset: usize) -> usize {
        let offset = offset.min(self.text.len());
        if offset > 0 && offset == self.text.len() {
            return self.offset(offset - 1) + 1;
        }
        let next = self.others.partition_point(|&(at, _)| at <= offset);
        let piece = next.checked_sub(1).and_then(|index| self.others.get(index)).copied();
        let piece = piece.or(self.first.map(|source| (0, source)));
        piece.map_or(0, |(at, source)| source + (offset - at))
    }

    /// The source range of a range of the text. It ends right behind its last byte, so that a word at
    /// the end of a line does not reach over the continuation behind it; and so does an empty range,
    /// which would else leave the word that it is the end of.
    #[must_use]
    pub fn span(&self, range: Range<usize>) -> Span {
        if range.is_empty() {
            let before = range.start.min(self.text.len()).checked_sub(1);
            return Span::at(before.map_or(self.offset(0), |before| self.offset(before) + 1));
        }
        Span::new(self.offset(range.start), self.offset(range.end - 1) + 1)
    }

    /// The text in a range; empty where the range does not fit.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    /// A piece of the line where it says just that, otherwise the text itself.
    pub(crate) fn same_or_own(&self, range: &Range<usize>, text: String) -> TextSlice {
        let written = self.text.slice(range.clone());
        if written == text { written } else { text.into() }
    }

    /// The same for a part of the line, with offsets that begin at zero again.
    #[must_use]
    pub(crate) fn part(&self, range: Range<usize>) -> Self {
        let inside = self.others.iter().filter(|&&(at, _)| range.start < at && at < range.end);
        Self {
            text: self.text.slice(range.clone()),
            first: Some(self.offset(range.start)),
            others: inside.map(|&(at, source)| (at - range.start, source)).collect(),
        }
    }
}
