//! The lossless layer: every byte of the text lies in exactly one token.

use probity_finding::Span;

/// A run of bytes and what it is. The tokens of a file follow each other without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

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
