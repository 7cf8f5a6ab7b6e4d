//! The lexer of the Windows command interpreter.

use crate::{
    Quote, RedirectionKind,
    lexed::builder::{Builder, Draft, DraftKind},
};

/// Tests of `if` that have one operand.
const TESTS: &[&str] = &["cmdextversion", "defined", "errorlevel", "exist"];
/// Comparisons of `if`, written as a word of their own.
const COMPARISONS: &[&str] = &["==", "equ", "neq", "lss", "leq", "gtr", "geq"];

/// Bytes that may end the text of a word or mean something else in it.
const SPECIAL: &[u8] = b" \t\r\n|&^\"%!()<>";

pub(super) fn read(builder: &mut Builder<'_>) {
    let mut lexer = Lexer { bytes: builder.text.as_bytes(), out: builder, at: 0 };
    while lexer.at < lexer.bytes.len() {
        lexer.piece();
    }
}

/// Takes conditions, loops and `call` off the words of a command; nothing if no command is left.
pub(super) fn understood(mut draft: Draft) -> Option<Draft> {
    let mut skip = 0;
    while let Some(word) = draft.words.get(skip) {
        if word.is_bare(&["call", "else"]) {
            skip += 1;
        } else if word.is_bare(&["for"]) {
            let rest = draft.words.get(skip..).unwrap_or_default();
            skip += rest.iter().position(|it| it.is_bare(&["do"])).map_or(rest.len(), |at| at + 1);
        } else if word.is_bare(&["if"]) {
            skip += condition(&draft, skip + 1) + 1;
        } else {
            break;
        }
    }
    draft.words.drain(..skip.min(draft.words.len()));
    (!draft.words.is_empty()).then_some(draft)
}

/// How many words a condition has.
fn condition(draft: &Draft, start: usize) -> usize {
    let is_at = |at: usize, values: &[&str]| {
        draft.words.get(start + at).is_some_and(|word| word.is_bare(values))
    };
    let mut length = 0;
    while is_at(length, &["/i", "not"]) {
        length += 1;
    }
    if is_at(length, TESTS) {
        length + 2
    } else if is_at(length + 1, COMPARISONS) {
        length + 3
    } else {
        length + 1
    }
}

struct Lexer<'b, 't> {
    bytes: &'t [u8],
    out: &'b mut Builder<'t>,
    at: usize,
}

impl Lexer<'_, '_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn piece(&mut self) {
        let (Some(byte), next) = (self.peek(0), self.peek(1)) else { return };
        let start = self.at;
        let is_in_word = self.out.is_in_word();
        let is_first = !is_in_word && self.out.words().is_empty();
        self.at += 1;
        match (byte, next) {
            (b' ' | b'\t' | b'\r', _) => self.out.end_word(),
            (b'\n', _) => self.out.end_statement(),
            (b'|', Some(b'|')) | (b'&', Some(b'&')) => {
                self.at += 1;
                self.out.end_stage();
            }
            (b'&', _) => self.out.end_statement(),
            (b'|', _) => self.out.end_stage(),
            (b'^', _) => self.escaped(start),
            (b'"', _) => self.string(start),
            (b'%' | b'!', _) => self.variable(start, byte),
            (b'(', _) if !is_in_word && self.can_begin_block() => self.out.open(start, b')'),
            (b')', _) if self.out.close(b')', self.at, false) => {}
            (b'1' | b'2', Some(b'>')) if !is_in_word => {
                self.at += 1;
                self.redirection(RedirectionKind::Output);
            }
            (b'>', _) => self.redirection(RedirectionKind::Output),
            (b'<', _) => self.redirection(RedirectionKind::Input),
            (b'@', _) if is_first => {}
            (b':', _) if is_first => self.comment(),
            _ if is_first && self.is_remark(start) => self.comment(),
            _ => self.bare(start),
        }
    }

    /// Text that means itself, up to the next byte that may mean something else.
    fn bare(&mut self, start: usize) {
        while self.peek(0).is_some_and(|byte| !SPECIAL.contains(&byte)) {
            self.at += 1;
        }
        self.out.push_plain(start..self.at, Quote::None);
    }

    /// Whether a parenthesis groups commands here: at the start of one, or behind `if`, `else`, `do`.
    fn can_begin_block(&self) -> bool {
        let words = self.out.words();
        let is_loop = words.first().is_some_and(|word| word.is_bare(&["for"]));
        let is_condition = words.first().is_some_and(|word| word.is_bare(&["if", "else"]));
        words.is_empty()
            || is_condition
            || is_loop && words.last().is_some_and(|word| word.is_bare(&["do"]))
    }

    fn is_remark(&self, start: usize) -> bool {
        let word = self.bytes.get(start..start + 3).unwrap_or_default();
        let ends = self.bytes.get(start + 3).is_none_or(|byte| !byte.is_ascii_alphanumeric());
        word.eq_ignore_ascii_case(b"rem") && ends
    }

    fn comment(&mut self) {
        while self.peek(0).is_some_and(|byte| byte != b'\n') {
            self.at += 1;
        }
    }

    /// `^` takes the meaning of the next character, and a line end.
    fn escaped(&mut self, start: usize) {
        let rest = self.out.text.get(self.at..).unwrap_or_default();
        match rest.chars().next() {
            Some('\n') => self.at += 1,
            Some('\r') if rest.starts_with("\r\n") => self.at += 2,
            Some(letter) => {
                self.at += letter.len_utf8();
                let text = DraftKind::Text(letter.to_string());
                self.out.push(start..self.at, Quote::None, text);
            }
            None => self.out.push_plain(start..self.at, Quote::None),
        }
    }

    /// A string ends with its quote or its line. Variables in it are expanded.
    fn string(&mut self, start: usize) {
        self.out.push_plain(self.at..self.at, Quote::Double);
        self.out.begin_word_at(start);
        while let Some(byte) = self.peek(0) {
            let piece = self.at;
            match byte {
                b'\n' => return,
                b'"' => {
                    self.at += 1;
                    return self.out.extend_word(self.at);
                }
                b'%' | b'!' => {
                    self.at += 1;
                    self.variable_in(piece, byte, Quote::Double);
                }
                _ => {
                    while self.peek(0).is_some_and(|it| !matches!(it, b'\n' | b'"' | b'%' | b'!')) {
                        self.at += 1;
                    }
                    self.out.push_plain(piece..self.at, Quote::Double);
                }
            }
        }
    }

    fn variable(&mut self, start: usize, mark: u8) {
        self.variable_in(start, mark, Quote::None);
    }

    /// `%NAME%`, `%NAME:a=b%`, `!NAME!`, `%1`, `%~dp0`, `%%i`, or the mark itself.
    fn variable_in(&mut self, start: usize, mark: u8, quote: Quote) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let argument = match (mark, rest) {
            (b'%', [b'%', b'~', ..]) => 2 + letters(rest.get(2..)),
            (b'%', [b'%', byte, ..]) if byte.is_ascii_alphabetic() => 2,
            (b'%', [b'~', ..]) => 1 + letters(rest.get(1..)),
            (b'%', [b'0'..=b'9' | b'*', ..]) => 1,
            _ => 0,
        };
        let is_end = |byte: &u8| *byte == mark || matches!(byte, b'\n' | b'"' | b' ' | b'&' | b'|');
        let length = match argument {
            0 => rest.iter().position(is_end).filter(|at| *at > 0 && rest.get(*at) == Some(&mark)),
            _ => None,
        };
        let (end, name) = match length {
            Some(length) => (self.at + length + 1, self.out.text.get(self.at..self.at + length)),
            None if argument > 0 => {
                (self.at + argument, self.out.text.get(self.at..self.at + argument))
            }
            None => return self.out.push_plain(start..self.at, quote),
        };
        let name = name.unwrap_or_default().trim_start_matches('%').to_owned();
        self.at = end;
        self.out.push(start..end, quote, DraftKind::Variable(name));
    }

    /// `> file`, `>> file`, `2>&1`, `< file`; the first character is read.
    fn redirection(&mut self, kind: RedirectionKind) {
        match self.peek(0) {
            Some(b'>') => {
                self.at += 1;
                self.out.redirect(RedirectionKind::Append);
            }
            Some(b'&') => {
                self.at += 1 + usize::from(self.peek(1).is_some_and(|byte| byte.is_ascii_digit()));
                self.out.end_word();
            }
            _ => self.out.redirect(kind),
        }
    }
}

fn letters(rest: Option<&[u8]>) -> usize {
    rest.unwrap_or_default().iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()
}
