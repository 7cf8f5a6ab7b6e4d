//! Physical lines, and joining those that a continuation binds together.

use probity_finding::Span;

use crate::{Comment, Token, TokenKind, logical::LogicalBuilder};

/// One line of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// Counted from one.
    pub(crate) number: usize,
    /// Without the line end.
    pub(crate) content: Span,
    /// `\n` and every `\r` before it.
    pub(crate) ending: Span,
}

/// Hands out the lines of a text one by one.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    text: &'a str,
    at: usize,
    number: usize,
}

impl<'a> Lines<'a> {
    /// Starts at `at`, which is behind the byte order mark if there is one.
    pub(crate) fn new(text: &'a str, at: usize) -> Self {
        Self { text, at, number: 0 }
    }

    /// The number of the line that was handed out last.
    pub(crate) fn number(&self) -> usize {
        self.number
    }
}

impl Iterator for Lines<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let whole = rest.split_inclusive('\n').next().unwrap_or(rest);
        let content = whole.trim_end_matches(['\r', '\n']);
        let start = self.at;
        self.at += whole.len();
        self.number += 1;
        let middle = start + content.len();
        Some(Line {
            number: self.number,
            content: Span::new(start, middle),
            ending: Span::new(middle, self.at),
        })
    }
}

/// A part of the lines of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece {
    /// Source text that is in the logical line.
    Content(Span),
    /// What the logical line leaves out.
    Left(Token),
}

/// The lines of an instruction joined, heredocs not yet included.
#[derive(Debug)]
pub(crate) struct Joined {
    pub(crate) line: LogicalBuilder,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) inner_comments: Vec<Comment>,
    pub(crate) empty_continuations: Vec<Span>,
}

/// Joins `first`, whose leading blanks are before `start`, with the lines that its continuation asks
/// for. Lines that were read are told to `seen`.
pub(crate) fn join(
    lines: &mut Lines<'_>,
    first: Line,
    start: usize,
    escape: char,
    mut seen: impl FnMut(Line),
) -> Joined {
    let text = lines.text;
    let mut joined = Joined {
        line: LogicalBuilder::default(),
        pieces: Vec::new(),
        inner_comments: Vec::new(),
        empty_continuations: Vec::new(),
    };
    let mut goes_on = joined.add(text, first, start, escape);
    while goes_on && let Some(line) = lines.next() {
        seen(line);
        let content = line.content.slice(text).unwrap_or_default();
        let blanks = content.len() - content.trim_start().len();
        let begin = line.content.start + blanks;
        if content.get(blanks..).is_some_and(|rest| rest.starts_with('#')) {
            joined.leave(TokenKind::Whitespace, Span::new(line.content.start, begin));
            joined.leave(TokenKind::Comment, Span::new(begin, line.content.end));
            joined.leave(TokenKind::LineEnd, line.ending);
            joined.inner_comments.push(comment(text, line, begin));
        } else if blanks == content.len() {
            joined.leave(TokenKind::Whitespace, line.content);
            joined.leave(TokenKind::LineEnd, line.ending);
            joined.empty_continuations.push(line.content);
        } else {
            goes_on = joined.add(text, line, line.content.start, escape);
        }
    }
    joined
}

impl Joined {
    /// Appends a line from `start` on; says whether another one follows.
    fn add(&mut self, text: &str, line: Line, start: usize, escape: char) -> bool {
        let whole = Span::new(start, line.content.end);
        let content = whole.slice(text).unwrap_or_default();
        let kept = continued(content, escape);
        let piece = kept.unwrap_or(content);
        // Even an empty first piece tells where the instruction stands.
        self.line.push(piece, start);
        if !piece.is_empty() {
            self.pieces.push(Piece::Content(Span::new(start, start + piece.len())));
        }
        self.leave(TokenKind::Continuation, Span::new(start + piece.len(), line.content.end));
        self.leave(TokenKind::LineEnd, line.ending);
        kept.is_some()
    }

    fn leave(&mut self, kind: TokenKind, span: Span) {
        if !span.is_empty() {
            self.pieces.push(Piece::Left(Token { kind, span }));
        }
    }
}

/// What stands before the continuation at the end of a line, if the line has one: a single escape
/// character, blanks behind it allowed. Two of them are an escaped escape character.
pub(crate) fn continued(content: &str, escape: char) -> Option<&str> {
    let kept = content.trim_end_matches([' ', '\t']).strip_suffix(escape)?;
    (!kept.ends_with(escape)).then_some(kept)
}

/// The comment on a line whose `#` is at `begin`.
pub(crate) fn comment(text: &str, line: Line, begin: usize) -> Comment {
    let content = line.content.slice(text).unwrap_or_default();
    let mut chars = content.chars();
    chars.next();
    let behind = chars.as_str();
    let start = line.content.end - behind.trim_start().len();
    let end = start + behind.trim().len();
    Comment {
        span: Span::new(begin, line.content.end),
        text: Span::new(start, end),
        line: line.number,
    }
}
