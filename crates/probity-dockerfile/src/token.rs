//! The lossless layer: every byte of the text lies in exactly one token.

use probity_finding::Span;

use crate::{Arguments, Instruction, lines::Piece};

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

/// Cuts the lines of an instruction into tokens.
pub(crate) fn cut(
    text: &str,
    instruction: &Instruction,
    pieces: &[Piece],
    tokens: &mut Vec<Token>,
) {
    let mut marks = marks(instruction).into_iter().peekable();
    for piece in pieces {
        let content = match *piece {
            Piece::Content(span) => span,
            Piece::Left(token) => {
                tokens.push(token);
                continue;
            }
        };
        let mut at = content.start;
        while let Some(&mark) = marks.peek().filter(|mark| mark.span.start < content.end) {
            cut_text(text, Span::new(at, mark.span.start.max(at)), tokens);
            let start = mark.span.start.max(at);
            let end = mark.span.end.min(content.end);
            push(tokens, mark.kind, start, end);
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
    let mut marks = vec![Token { kind: TokenKind::Keyword, span: instruction.keyword_span }];
    let flags = instruction.flags.iter();
    marks.extend(flags.map(|flag| Token { kind: TokenKind::Flag, span: flag.span }));
    if let Arguments::Onbuild(Some(nested)) = &instruction.arguments {
        marks.extend(self::marks(nested));
    }
    marks
}

/// What is neither keyword nor flag: text, and blanks around it.
fn cut_text(text: &str, span: Span, tokens: &mut Vec<Token>) {
    let content = span.slice(text).unwrap_or_default();
    let start = span.end - content.trim_start().len();
    let end = start + content.trim().len();
    push(tokens, TokenKind::Whitespace, span.start, start);
    push(tokens, TokenKind::Text, start, end);
    push(tokens, TokenKind::Whitespace, end, span.end);
}

fn push(tokens: &mut Vec<Token>, kind: TokenKind, start: usize, end: usize) {
    if start < end {
        tokens.push(Token { kind, span: Span::new(start, end) });
    }
}
