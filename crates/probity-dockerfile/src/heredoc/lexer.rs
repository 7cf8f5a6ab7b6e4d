//! The shell lexer that finds heredoc markers: BuildKit's, with every variable unset and kept.
//!
//! Its rules are not those of a shell: a substitution it does not know, or a quote that does not
//! end, makes the whole line unreadable. The escape character is always the backslash.

use std::ops::Range;

/// What becomes of quotes and of the backslashes before escaped characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    /// Both stay.
    Kept,
    /// Quotes stay, backslashes go.
    Shown,
    /// Both go.
    Removed,
}

/// A word, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct LexedWord {
    pub(super) text: String,
    pub(super) range: Range<usize>,
    /// Whether a substitution with an operator begins in it, as in `a${b:-c}`.
    pub(super) substitutes: bool,
}

pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    quotes: Quotes,
    /// Whether backslashes stay, right now: inside a substitution it depends on its operator.
    raw_escapes: bool,
    depth: usize,
    words: Vec<LexedWord>,
    word: String,
    start: usize,
    substitutes: bool,
}

/// How characters reach the current word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Emit {
    /// Outside of everything: a blank ends the word.
    Top,
    /// Inside a substitution: a blank ends the word even when it is quoted there.
    Split,
    /// Inside double quotes: nothing ends the word.
    Whole,
}

/// Nobody nests substitutions deeper than this, and recursion must end somewhere.
const DEEPEST: usize = 100;

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str, quotes: Quotes) -> Self {
        Self {
            text,
            at: 0,
            quotes,
            raw_escapes: quotes == Quotes::Kept,
            depth: 0,
            words: Vec::new(),
            word: String::new(),
            start: 0,
            substitutes: false,
        }
    }

    /// The words, or nothing if the text cannot be read.
    pub(super) fn words(mut self) -> Option<Vec<LexedWord>> {
        self.until(None, Emit::Top)?;
        self.finish_word(self.text.len());
        Some(self.words)
    }

    /// Reads up to and over `stop`.
    fn until(&mut self, stop: Option<char>, emit: Emit) -> Option<()> {
        while let Some(c) = self.peek() {
            if Some(c) == stop {
                self.next();
                return Some(());
            }
            match c {
                '\'' => self.single_quoted(emit)?,
                '"' => self.double_quoted(emit)?,
                '$' => self.dollar(if emit == Emit::Whole { emit } else { Emit::Split })?,
                '<' => self.angle(emit),
                '\\' => {
                    if self.raw_escapes {
                        self.emit_quoted('\\', emit);
                    }
                    self.next();
                    if let Some(c) = self.peek() {
                        self.emit_quoted(c, emit);
                        self.next();
                    }
                }
                c => {
                    self.emit(c, emit);
                    self.next();
                }
            }
        }
        stop.is_none().then_some(())
    }

    fn single_quoted(&mut self, emit: Emit) -> Option<()> {
        self.quote('\'', emit);
        loop {
            match self.peek()? {
                '\'' => {
                    self.quote('\'', emit);
                    return Some(());
                }
                c => {
                    self.emit_quoted(c, emit);
                    self.next();
                }
            }
        }
    }

    fn double_quoted(&mut self, emit: Emit) -> Option<()> {
        let inside = if emit == Emit::Split { emit } else { Emit::Whole };
        self.quote('"', emit);
        loop {
            match self.peek()? {
                '"' => {
                    self.quote('"', emit);
                    return Some(());
                }
                '$' => self.dollar(inside)?,
                '\\' => {
                    if self.raw_escapes {
                        self.emit_quoted('\\', emit);
                    }
                    self.next();
                    match self.peek()? {
                        c @ ('"' | '$' | '\\') => {
                            self.emit_quoted(c, emit);
                            self.next();
                        }
                        // The backslash is literal, and BuildKit keeps it twice in the raw reading.
                        _ => self.emit_quoted('\\', emit),
                    }
                }
                c => {
                    self.emit_quoted(c, emit);
                    self.next();
                }
            }
        }
    }

    /// Reads `<` and `<<`; blanks behind the latter belong to the word.
    fn angle(&mut self, emit: Emit) {
        self.emit_quoted('<', emit);
        self.next();
        if self.peek() != Some('<') {
            return;
        }
        self.emit_quoted('<', emit);
        self.next();
        while let Some(c @ (' ' | '\t' | '\r' | '\n')) = self.peek() {
            self.emit_quoted(c, emit);
            self.next();
        }
    }

    fn dollar(&mut self, emit: Emit) -> Option<()> {
        self.pass('$', emit);
        if self.peek() != Some('{') {
            self.name(emit);
            return Some(());
        }
        self.pass('{', emit);
        if matches!(self.peek()?, '{' | '}' | ':') {
            return None;
        }
        self.name(emit);
        let mut operator = self.peek()?;
        if operator == '}' {
            self.pass('}', emit);
            return Some(());
        }
        self.substitutes = true;
        match operator {
            ':' => {
                self.pass(':', emit);
                operator = self.peek()?;
                self.pass(operator, emit);
                self.nested('}', emit, matches!(operator, '#' | '%'))?;
            }
            '+' | '-' | '?' | '#' | '%' => {
                self.pass(operator, emit);
                self.nested('}', emit, matches!(operator, '#' | '%'))?;
            }
            '/' => {
                self.pass('/', emit);
                if self.peek() == Some('/') {
                    self.next();
                }
                self.nested('/', emit, true)?;
                self.emit('/', emit);
                self.nested('}', emit, true)?;
            }
            _ => return None,
        }
        self.emit('}', emit);
        Some(())
    }

    /// Reads the word of a substitution up to `stop`.
    fn nested(&mut self, stop: char, emit: Emit, raw_escapes: bool) -> Option<()> {
        if self.depth == DEEPEST {
            return None;
        }
        self.depth += 1;
        let before = std::mem::replace(&mut self.raw_escapes, raw_escapes);
        let read = self.until(Some(stop), emit);
        self.raw_escapes = before;
        self.depth -= 1;
        read
    }

    /// Reads the name of a variable.
    fn name(&mut self, emit: Emit) {
        let Some(first) = self.peek() else { return };
        if first.is_numeric() {
            while let Some(c) = self.peek().filter(|c| c.is_numeric()) {
                self.pass(c, emit);
            }
        } else if matches!(first, '@' | '*' | '#' | '?' | '-' | '$' | '!') {
            self.pass(first, emit);
        } else {
            while let Some(c) = self.peek().filter(|&c| c.is_alphanumeric() || c == '_') {
                self.pass(c, emit);
            }
        }
    }

    fn quote(&mut self, quote: char, emit: Emit) {
        if self.quotes != Quotes::Removed {
            self.emit_quoted(quote, emit);
        }
        self.next();
    }

    fn pass(&mut self, c: char, emit: Emit) {
        self.emit(c, emit);
        self.next();
    }

    /// Emits a character that a quote or a backslash protects, unless a substitution is around it.
    fn emit_quoted(&mut self, c: char, emit: Emit) {
        self.emit(c, if emit == Emit::Split { emit } else { Emit::Whole });
    }

    fn emit(&mut self, c: char, emit: Emit) {
        if emit != Emit::Whole && c.is_whitespace() {
            self.finish_word(self.at);
            return;
        }
        if self.word.is_empty() {
            self.start = self.at;
        }
        self.word.push(c);
    }

    fn finish_word(&mut self, end: usize) {
        if !self.word.is_empty() {
            let text = std::mem::take(&mut self.word);
            let substitutes = std::mem::take(&mut self.substitutes);
            self.words.push(LexedWord { text, range: self.start..end, substitutes });
        }
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn next(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }
}
