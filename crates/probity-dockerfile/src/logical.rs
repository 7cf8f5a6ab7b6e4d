//! A logical line: the text that BuildKit sees once continuations, comments and blank lines are
//! gone, and the way back from each of its bytes to the source.

use std::ops::Range;

use probity_finding::{Span, TextSlice};

use crate::compact::compact;

/// The joined text of an instruction and where each piece of it stands in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logical {
    /// The words of the instruction are pieces of it.
    pub text: TextSlice,
    /// Where the pieces behind the first one begin. Most instructions have none.
    others: Box<[Piece]>,
    /// Where the first piece begins in the source.
    first: u32,
}

/// A piece of a logical line. The offsets of a line's pieces ascend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    /// Where it begins in the logical line.
    at: u32,
    /// Where it begins in the source.
    source: u32,
}

/// A logical line that is being put together.
#[derive(Debug, Default)]
pub(crate) struct LogicalBuilder {
    text: String,
    pieces: Vec<Piece>,
}

impl LogicalBuilder {
    /// Appends a piece of the source that begins at `source`.
    pub(crate) fn push(&mut self, piece: &str, source: usize) {
        self.pieces.push(Piece { at: compact(self.text.len()), source: compact(source) });
        self.text.push_str(piece);
    }

    pub(crate) fn finish(self) -> Logical {
        let (first, others) = match self.pieces.split_first() {
            Some((first, others)) => (first.source, others.into()),
            None => Default::default(),
        };
        Logical { text: self.text.into(), others, first }
    }

    /// The same for a line of this source: a line of one piece needs no copy of its own.
    pub(crate) fn finish_in(self, source: &TextSlice) -> Logical {
        match *self.pieces {
            [Piece { source: first, .. }] => {
                let start = first as usize;
                let text = source.slice(start..start + self.text.len());
                Logical { text, others: Box::default(), first }
            }
            _ => self.finish(),
        }
    }
}

impl From<Logical> for LogicalBuilder {
    fn from(line: Logical) -> Self {
        let mut pieces = vec![Piece { at: 0, source: line.first }];
        pieces.extend(line.others);
        Self { text: line.text.into(), pieces }
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
        let next = self.others.partition_point(|piece| piece.at as usize <= offset);
        let piece = next.checked_sub(1).and_then(|index| self.others.get(index)).copied();
        let Piece { at, source } = piece.unwrap_or(Piece { at: 0, source: self.first });
        source as usize + (offset - at as usize)
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
        let inside = |piece: &&Piece| {
            let at = piece.at as usize;
            range.start < at && at < range.end
        };
        let begin = compact(range.start);
        let others = self.others.iter().filter(inside);
        Self {
            text: self.text.slice(range.clone()),
            others: others.map(|piece| Piece { at: piece.at - begin, ..*piece }).collect(),
            first: compact(self.offset(range.start)),
        }
    }
}

#[cfg(test)]
mod tests {
    use probity_finding::TextSlice;

    use crate::{parse, parse_shared};

    /// Continued lines, directives, heredocs, ONBUILD and what does not parse.
    const TEXT: &str = "# escape=`\nFROM a AS é\nRUN b `\n  # c\n  d\nRUN <<E\ne\nE\n  ONBUILD RUN f\n\
                        COPY [\"a b\",\"/c\"]\nENV A=b `\n\nfoo\nLABEL \"x y\"='z'";

    #[test]
    fn a_shared_text_gives_the_same_tree() {
        let shared = TextSlice::from(TEXT);
        let (own, same) = (parse(TEXT), parse_shared(&shared));
        assert_eq!(format!("{own:?}"), format!("{same:?}"));
    }
}
