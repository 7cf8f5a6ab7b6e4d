//! The lossless layer: every byte of the text lies in exactly one token.

use probity_finding::Span;

use crate::{Arguments, Instruction, lines::Piece};

/// A run of bytes and what it is. The tokens of a file follow each other without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

/// The tokens of a file, each as its kind and its length: where it stands follows from those before it. A
/// file has several on every line, and whole spans would be six times as large.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    all: Vec<Packed>,
    /// Behind the last byte of the last token.
    end: usize,
}

/// The kind and the length of a token in four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packed {
    kind: TokenKind,
    /// The three bytes of the length, the lowest first.
    length: [u8; 3],
}

impl Packed {
    /// The beginning of what is `length` bytes long, as much of it as one token can be.
    fn of(kind: TokenKind, length: usize) -> Self {
        let [low, middle, high, ..] = length.min(LONGEST).to_le_bytes();
        Self { kind, length: [low, middle, high] }
    }

    fn len(self) -> usize {
        let [low, middle, high] = self.length;
        usize::from(low) | usize::from(middle) << 8 | usize::from(high) << 16
    }
}

/// The most bytes of one token.
const LONGEST: usize = (1 << 24) - 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// The byte order mark at the very beginning.
    Bom,
    /// Blanks between other tokens, the blank lines inside a continuation included.
    Whitespace,
    /// `\n` with every `\r` before it, or the `\r`s at the end of the text.
    LineEnd,
    /// From `#` to the end of the line, without the line end.
    Comment,
    /// A parser directive, from `#` to the end of the line.
    Directive,
    /// The name of an instruction, known or not; also the one behind `ONBUILD`.
    Keyword,
    /// A flag, or the part of it that stands on one line.
    Flag,
    /// The part of the arguments that stands on one line, without the blanks around it.
    Text,
    /// The escape character at the end of a line, and the blanks behind it, without the line end.
    Continuation,
    /// Everything between the instruction's lines and the terminator of a heredoc.
    HeredocBody,
    /// The terminator of a heredoc, with the tabs that `<<-` allows before it.
    HeredocEnd,
}

impl Tokens {
    /// In the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = Token> {
        let mut start = 0;
        self.all.iter().map(move |token| {
            let span = Span::new(start, start + token.len());
            start = span.end;
            Token { kind: token.kind, span }
        })
    }

    #[must_use]
    pub fn last(&self) -> Option<Token> {
        let last = self.all.last()?;
        Some(Token { kind: last.kind, span: Span::new(self.end - last.len(), self.end) })
    }

    /// Appends what begins where the last token ends. What is longer than 16 MiB becomes several tokens.
    pub(crate) fn push(&mut self, kind: TokenKind, span: Span) {
        let mut left = span.len();
        debug_assert!(left == 0 || self.end == span.start, "tokens follow each other without gaps");
        while left > 0 {
            let token = Packed::of(kind, left);
            self.all.push(token);
            left -= token.len();
        }
        self.end += span.len();
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.all.shrink_to_fit();
    }
}

/// Cuts the lines of an instruction into tokens.
pub(crate) fn cut(text: &str, instruction: &Instruction, pieces: &[Piece], tokens: &mut Tokens) {
    let mut marks = marks(instruction).into_iter().peekable();
    for piece in pieces {
        let content = match *piece {
            Piece::Content(span) => span,
            Piece::Left(token) => {
                tokens.push(token.kind, token.span);
                continue;
            }
        };
        let mut at = content.start;
        while let Some(&mark) = marks.peek().filter(|mark| mark.span.start < content.end) {
            cut_text(text, Span::new(at, mark.span.start.max(at)), tokens);
            let start = mark.span.start.max(at);
            let end = mark.span.end.min(content.end);
            tokens.push(mark.kind, Span::new(start, end.max(start)));
            at = end.max(at);
            if mark.span.end > content.end {
                break;
            }
            marks.next();
        }
        cut_text(text, Span::new(at, content.end), tokens);
    }
}

/// The keywords and flags, in order. Those that reach over a continuation are cut by it.
fn marks(instruction: &Instruction) -> Vec<Token> {
    let mut marks = vec![Token { kind: TokenKind::Keyword, span: instruction.keyword_span() }];
    let flags = instruction.flags.iter();
    marks.extend(flags.map(|flag| Token { kind: TokenKind::Flag, span: flag.span }));
    if let Arguments::Onbuild(Some(nested)) = &instruction.arguments {
        marks.extend(self::marks(nested));
    }
    marks
}

/// What is neither keyword nor flag: text, and blanks around it.
fn cut_text(text: &str, span: Span, tokens: &mut Tokens) {
    let content = span.slice(text).unwrap_or_default();
    let start = span.end - content.trim_start().len();
    let end = start + content.trim().len();
    tokens.push(TokenKind::Whitespace, Span::new(span.start, start));
    tokens.push(TokenKind::Text, Span::new(start, end));
    tokens.push(TokenKind::Whitespace, Span::new(end, span.end));
}
