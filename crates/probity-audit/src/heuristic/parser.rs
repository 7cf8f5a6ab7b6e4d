//! A recovering parser for Aiken: any text gives a module, and the work is linear in its length.
//!
//! The parser never goes back. Text that it cannot parse becomes [`ExprKind::Error`] or is skipped
//! token by token, and each loop either takes a token or ends.

mod expression;
mod item;
mod pattern;
#[cfg(test)]
mod tests;

use super::{
    lexer::{Token, TokenKind, tokens},
    tree::{Module, Span},
};

/// Brackets below brackets; deeper ones are skipped as a whole.
const MAX_DEPTH: usize = 60;

pub(super) fn parse(text: &str) -> Module {
    parse_counting(text).0
}

/// What it took to parse a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effort {
    /// How often a token was looked at.
    pub(super) steps: usize,
    /// Tokens that did not fit anywhere.
    pub(super) skipped: usize,
}

pub(super) fn parse_counting(text: &str) -> (Module, Effort) {
    let mut parser = Parser { text, tokens: tokens(text), at: 0, depth: 0, steps: 0, skipped: 0 };
    let module = parser.module();
    (module, Effort { steps: parser.steps, skipped: parser.skipped })
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    steps: usize,
    skipped: usize,
}

impl<'a> Parser<'a> {
    fn peek(&mut self) -> Token {
        self.ahead(0)
    }

    fn ahead(&mut self, distance: usize) -> Token {
        self.steps += 1;
        let last = self.tokens.len().saturating_sub(1);
        self.tokens[(self.at + distance).min(last)]
    }

    fn word(&self, token: Token) -> &'a str {
        self.text.get(token.start..token.end).unwrap_or_default()
    }

    fn peek_word(&mut self) -> &'a str {
        let token = self.peek();
        self.word(token)
    }

    fn is(&mut self, word: &str) -> bool {
        self.peek_word() == word
    }

    fn is_end(&mut self) -> bool {
        self.peek().kind == TokenKind::End
    }

    /// Takes the next token; at the end it stays there.
    fn advance(&mut self) -> Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.is(word);
        if found {
            self.advance();
        }
        found
    }

    /// A name that begins with a small letter.
    fn lower(&mut self) -> Option<String> {
        self.name(TokenKind::Lower)
    }

    fn upper(&mut self) -> Option<String> {
        self.name(TokenKind::Upper)
    }

    fn name(&mut self, kind: TokenKind) -> Option<String> {
        let token = self.peek();
        if token.kind != kind {
            return None;
        }
        self.advance();
        Some(self.word(token).to_owned())
    }

    fn start(&mut self) -> usize {
        self.peek().start
    }

    /// From `start` to the last token that was taken.
    fn span(&self, start: usize) -> Span {
        let end = self.at.checked_sub(1).and_then(|last| self.tokens.get(last));
        Span { start, end: end.map_or(start, |token| token.end).max(start) }
    }

    /// Elements up to the closing bracket, which is taken. A token that begins no element is skipped,
    /// and the next item of the module ends all brackets that were left open.
    fn until(&mut self, close: &str, mut element: impl FnMut(&mut Self)) {
        while !self.is_end() && !self.begins_item() && !self.eat(close) {
            let before = self.at;
            element(self);
            self.eat(",");
            if self.at == before {
                self.skipped += 1;
                self.advance();
            }
        }
    }

    /// At the first column a keyword begins the next item, whatever was left open before it.
    fn begins_item(&mut self) -> bool {
        let token = self.peek();
        let first_column = token.start == 0
            || self.text.as_bytes().get(token.start - 1).is_some_and(|byte| *byte == b'\n');
        first_column
            && matches!(
                self.word(token),
                "use" | "pub" | "type" | "const" | "fn" | "validator" | "test" | "bench"
            )
    }

    /// Skips a bracket with all that it contains.
    fn skip_balanced(&mut self) {
        let mut open = 0_usize;
        while !self.is_end() {
            match self.peek_word() {
                "(" | "[" | "{" => open += 1,
                ")" | "]" | "}" => open = open.saturating_sub(1),
                _ => {}
            }
            self.advance();
            if open == 0 {
                return;
            }
        }
    }
}
