//! Reading a word: quotes, escapes, and the start of every `$`.

use std::ops::Range;

use super::{
    ExpandError, ExpandErrorKind, ExpandedWord, Expander, Expansion, MAX_DEPTH, MAX_WORK, Operator,
    Reference, words::Words,
};

/// Expands `word` both as one text and as words.
pub(super) fn expand(
    expander: &Expander<'_>,
    word: &str,
) -> Result<(Expansion, Vec<ExpandedWord>), ExpandError> {
    let mut lexer = Lexer {
        expander,
        word,
        position: 0,
        keep_escapes: expander.keep_escapes,
        depth: 0,
        work_left: MAX_WORK,
        words: Words::default(),
        used: Vec::new(),
        unmatched: Vec::new(),
    };
    let mut text = String::new();
    while let Some(character) = lexer.peek() {
        lexer.step(character, &mut text)?;
    }
    // Operands are looked up before the variable they belong to.
    lexer.used.sort_by_key(|reference| reference.range.start);
    lexer.unmatched.sort_by_key(|reference| reference.range.start);
    let expansion = Expansion { text, used: lexer.used, unmatched: lexer.unmatched };
    Ok((expansion, lexer.words.finish()))
}

pub(super) struct Lexer<'l, 'e> {
    pub(super) expander: &'l Expander<'e>,
    word: &'l str,
    position: usize,
    keep_escapes: bool,
    depth: usize,
    work_left: usize,
    words: Words,
    used: Vec<Reference>,
    unmatched: Vec<Reference>,
}

impl<'l, 'e> Lexer<'l, 'e> {
    /// Reads up to `stop` and past it, and returns the expansion of what came before; `None` if the
    /// word ends first.
    pub(super) fn until(
        &mut self,
        stop: char,
        keep_escapes: bool,
    ) -> Result<Option<String>, ExpandError> {
        let outer_keep_escapes = std::mem::replace(&mut self.keep_escapes, keep_escapes);
        // BuildKit collects the words of all levels in one buffer and empties it here, so that in
        // `80${X:-80}` the first two characters never reach a word. What it builds is what counts.
        self.words.drop_word();
        let mut text = String::new();
        while let Some(character) = self.peek() {
            if character == stop {
                self.advance();
                self.keep_escapes = outer_keep_escapes;
                return Ok(Some(text));
            }
            self.step(character, &mut text)?;
        }
        Ok(None)
    }

    /// Reads one character, or the quotes or the reference that it opens.
    fn step(&mut self, character: char, text: &mut String) -> Result<(), ExpandError> {
        let start = self.position;
        match character {
            '$' => {
                let value = self.dollar()?;
                self.add_to_words(&value, start, Words::add);
                text.push_str(&value);
            }
            '\'' | '"' if !self.expander.quotes_are_text => {
                let value =
                    if character == '"' { self.double_quote()? } else { self.single_quote()? };
                self.add_to_words(&value, start, Words::add_protected);
                text.push_str(&value);
            }
            _ if character == self.expander.escape => {
                self.advance();
                let mut value = String::new();
                if self.keep_escapes {
                    value.push(character);
                }
                // An escape at the very end escapes nothing and is dropped.
                value.extend(self.advance());
                if !value.is_empty() {
                    self.add_to_words(&value, start, Words::add_protected);
                }
                text.push_str(&value);
            }
            _ => {
                self.advance();
                self.add_to_words(character.encode_utf8(&mut [0; 4]), start, Words::add);
                text.push(character);
            }
        }
        Ok(())
    }

    /// Only the outermost level makes words; an operand becomes part of one through its reference.
    fn add_to_words(
        &mut self,
        text: &str,
        start: usize,
        add: impl FnOnce(&mut Words, &str, &Range<usize>),
    ) {
        if self.depth == 0 {
            add(&mut self.words, text, &(start..self.position));
        }
    }

    fn single_quote(&mut self) -> Result<String, ExpandError> {
        let start = self.position;
        let mut text = self.opening_quote();
        while let Some(character) = self.advance() {
            if character != '\'' {
                text.push(character);
                continue;
            }
            if self.expander.keep_quotes {
                text.push(character);
            }
            return Ok(text);
        }
        Err(self.error(ExpandErrorKind::UnclosedSingleQuote, start))
    }

    fn double_quote(&mut self) -> Result<String, ExpandError> {
        let start = self.position;
        let mut text = self.opening_quote();
        while let Some(character) = self.peek() {
            if character == '$' {
                let value = self.dollar()?;
                text.push_str(&value);
                continue;
            }
            self.advance();
            if character == '"' {
                if self.expander.keep_quotes {
                    text.push(character);
                }
                return Ok(text);
            }
            if character != self.expander.escape {
                text.push(character);
                continue;
            }
            if self.keep_escapes {
                text.push(character);
            }
            match self.peek() {
                None => {}
                Some(next) if next == '"' || next == '$' || next == self.expander.escape => {
                    self.advance();
                    text.push(next);
                }
                Some(_) => text.push(character),
            }
        }
        Err(self.error(ExpandErrorKind::UnclosedDoubleQuote, start))
    }

    fn opening_quote(&mut self) -> String {
        let quote = self.advance();
        if self.expander.keep_quotes { String::from_iter(quote) } else { String::new() }
    }

    /// Reads a reference, the position being at its `$`.
    fn dollar(&mut self) -> Result<String, ExpandError> {
        let start = self.position;
        self.advance();
        if self.peek() == Some('{') {
            if self.depth == MAX_DEPTH {
                return Err(self.error(ExpandErrorKind::TooDeep, start));
            }
            self.depth += 1;
            let value = self.braced(start)?;
            self.depth -= 1;
            self.spend(value.len(), start)?;
            return Ok(value);
        }
        let name_range = self.name();
        if name_range.is_empty() {
            return Ok("$".to_owned());
        }
        let value = match self.look_up(start, name_range.clone(), None) {
            Some(value) => value.to_owned(),
            None if self.expander.keep_unset => self.slice(start..name_range.end).to_owned(),
            None => String::new(),
        };
        self.spend(value.len(), start)?;
        Ok(value)
    }

    /// Reads a name: digits, or one special parameter, or letters, digits and underscores. It may
    /// be empty.
    pub(super) fn name(&mut self) -> Range<usize> {
        let start = self.position;
        match self.peek() {
            Some(first) if first.is_numeric() => self.skip_while(char::is_numeric),
            Some('@' | '*' | '#' | '?' | '-' | '$' | '!') => {
                self.advance();
            }
            _ => self.skip_while(|character| character.is_alphanumeric() || character == '_'),
        }
        start..self.position
    }

    /// Looks a variable up and records the reference, which began at `start` and ends here.
    pub(super) fn look_up(
        &mut self,
        start: usize,
        name_range: Range<usize>,
        operator: Option<Operator>,
    ) -> Option<&'e str> {
        let name = self.slice(name_range.clone());
        let value = (self.expander.variables)(name);
        let reference =
            Reference { name: name.to_owned(), range: start..self.position, name_range, operator };
        match value {
            Some(_) => self.used.push(reference),
            None => self.unmatched.push(reference),
        }
        value
    }

    pub(super) fn spend(&mut self, work: usize, start: usize) -> Result<(), ExpandError> {
        match self.work_left.checked_sub(work) {
            Some(left) => self.work_left = left,
            None => return Err(self.error(ExpandErrorKind::TooLarge, start)),
        }
        Ok(())
    }

    pub(super) fn error(&self, kind: ExpandErrorKind, start: usize) -> ExpandError {
        ExpandError { kind, range: start..self.position }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.word.get(self.position..).and_then(|rest| rest.chars().next())
    }

    pub(super) fn advance(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.position += character.len_utf8();
        Some(character)
    }

    pub(super) fn slice(&self, range: Range<usize>) -> &'l str {
        self.word.get(range).unwrap_or_default()
    }

    fn skip_while(&mut self, accept: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&accept) {
            self.advance();
        }
    }
}
