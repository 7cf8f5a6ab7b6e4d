//! The lexer of PowerShell.

use crate::{
    Quote, RedirectionKind,
    lexed::builder::{Builder, Draft, DraftKind, Mode},
};

/// Words that begin a statement which is not a command. Its blocks contain commands.
const KEYWORDS: &[&str] = &[
    "begin", "catch", "class", "data", "do", "else", "elseif", "end", "enum", "filter", "finally",
    "for", "foreach", "function", "if", "param", "process", "switch", "trap", "try", "until",
    "using", "while",
];

/// Keywords that go on with the statement behind a block.
const GOING_ON: &[&str] = &["catch", "else", "elseif", "finally", "until", "while"];

const ASSIGNMENTS: &[&str] = &["=", "+=", "-=", "*=", "/=", "%=", "??="];

/// Bytes that may end the text of a word or mean something else in it.
const SPECIAL: &[u8] = b" \t\r\n;`'\"@(){}$|&>=+-*/%";

pub(super) fn read(builder: &mut Builder<'_>) {
    let mut lexer = Lexer { bytes: builder.text.as_bytes(), out: builder, at: 0 };
    while lexer.at < lexer.bytes.len() {
        match lexer.out.mode() {
            Mode::Plain => lexer.plain(),
            mode => lexer.quoted(mode),
        }
    }
}

/// Takes keywords, assignments and expressions out of the words of a command; nothing for a statement
/// that has no command of its own.
pub(super) fn understood(mut draft: Draft) -> Option<Draft> {
    if draft.words.first().is_some_and(|word| word.is_bare(&["return"])) {
        draft.words.remove(0);
    }
    while draft.words.get(1).is_some_and(|word| word.is_bare(ASSIGNMENTS)) {
        let mut words = std::mem::take(&mut draft.words).into_iter();
        let target = words.next()?;
        draft.words = words.skip(1).collect();
        // A bare word behind the operator is a command whose output is assigned.
        let is_value = draft.words.first().is_some_and(|word| word.bare().is_none());
        let is_last = !draft.words.get(1).is_some_and(|word| word.is_bare(ASSIGNMENTS));
        let value = (is_value && is_last && !draft.is_called).then(|| draft.words.remove(0));
        draft.assigned.push((target, value));
    }
    let Some(first) = draft.words.first() else {
        return (!draft.assigned.is_empty()).then_some(draft);
    };
    if first.is_bare(KEYWORDS) {
        draft.words.clear();
        return (!draft.assigned.is_empty()).then_some(draft);
    }
    // A statement that begins with a string or a comparison is an expression.
    let is_string = first.parts.first().is_some_and(|part| part.quote != Quote::None);
    if is_string && !draft.is_called {
        draft.words.clear();
    }
    Some(draft)
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

    /// One piece outside quotes.
    fn plain(&mut self) {
        let (Some(byte), next) = (self.peek(0), self.peek(1)) else { return };
        let start = self.at;
        let is_in_word = self.out.is_in_word();
        self.at += 1;
        match (byte, next) {
            (b' ' | b'\t' | b'\r', _) => self.out.end_word(),
            (b'\n' | b';', _) => self.out.end_statement(),
            (b'`', Some(b'\n' | b'\r')) => {
                self.out.end_word();
                self.at += 1 + usize::from(next == Some(b'\r') && self.peek(1) == Some(b'\n'));
            }
            (b'`', _) => self.escaped(start, Quote::None),
            (b'#', _) if !is_in_word => self.skip_to(b"\n", false),
            (b'<', Some(b'#')) if !is_in_word => self.skip_to(b"#>", true),
            (b'\'', _) => self.literal(start, b"'"),
            (b'"', _) => self.open_string(start, 1, Mode::Quoted),
            (b'@', Some(quote @ (b'\'' | b'"'))) if self.begins_here_string() => match quote {
                b'"' => self.open_string(start, 2, Mode::HereString),
                _ => self.literal(start, b"\n'@"),
            },
            (b'@', Some(b'(')) => self.open(start, 2, b')'),
            (b'@', Some(b'{')) => self.open(start, 2, b'}'),
            (b'(', _) => self.open(start, 1, b')'),
            (b'{', _) => self.open(start, 1, b'}'),
            (b')' | b'}', _) => {
                if !self.out.close(byte, self.at, true) {
                    self.out.end_statement();
                }
            }
            (b'$', _) => self.variable(start, Quote::None),
            (b'|', Some(b'|')) | (b'&', Some(b'&')) => {
                self.at += 1;
                self.out.end_stage();
            }
            (b'|', _) => self.out.end_stage(),
            (b'&', _) if self.is_before_command() => {
                if let Some(draft) = self.out.draft() {
                    draft.is_called = true;
                }
            }
            (b'&', _) => self.out.end_statement(),
            (b'.', Some(b' ')) if self.is_before_command() => {}
            (b'>', _) => self.redirection(),
            (b'1'..=b'6' | b'*', Some(b'>')) if !is_in_word => {
                self.at += 1;
                self.redirection();
            }
            (b'=', _) if self.is_target() => self.assignment(start, 1),
            (b'+' | b'-' | b'*' | b'/' | b'%', Some(b'=')) if self.is_target() => {
                self.assignment(start, 2);
            }
            _ => self.bare(start),
        }
    }

    /// One piece of a string with expansions.
    fn quoted(&mut self, mode: Mode) {
        let (Some(byte), next) = (self.peek(0), self.peek(1)) else { return };
        let start = self.at;
        self.at += 1;
        match (byte, next, mode) {
            (b'"', Some(b'"'), Mode::Quoted) => {
                self.at += 1;
                self.out.push(start..self.at, Quote::Double, DraftKind::Text("\"".to_owned()));
            }
            (b'"', _, Mode::Quoted) => self.close_string(),
            (b'\n', Some(b'"'), Mode::HereString) if self.peek(1) == Some(b'@') => {
                self.at += 2;
                self.close_string();
            }
            (b'`', _, _) => self.escaped(start, Quote::Double),
            (b'$', _, _) => self.variable(start, Quote::Double),
            _ => {
                while self.peek(0).is_some_and(|it| !matches!(it, b'"' | b'\n' | b'`' | b'$')) {
                    self.at += 1;
                }
                self.out.push_plain(start..self.at, Quote::Double);
            }
        }
    }

    /// Text that means itself, up to the next byte that may mean something else.
    fn bare(&mut self, start: usize) {
        if self.out.is_after_block() && !self.goes_on(start) {
            self.out.end_statement();
        }
        while self.peek(0).is_some_and(|byte| !SPECIAL.contains(&byte)) {
            self.at += 1;
        }
        self.out.push_plain(start..self.at, Quote::None);
    }

    /// Whether the word here goes on with the statement whose block has just ended. Only a statement
    /// that begins with a keyword ends with its block.
    fn goes_on(&self, start: usize) -> bool {
        let is_keyword = self.out.words().first().is_some_and(|word| word.is_bare(KEYWORDS));
        let rest = self.bytes.get(start..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count().min(8);
        let word = rest.get(..length).unwrap_or_default();
        !is_keyword || GOING_ON.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
    }

    fn escaped(&mut self, start: usize, quote: Quote) {
        let rest = self.out.text.get(self.at..).unwrap_or_default();
        let Some(letter) = rest.chars().next() else {
            return self.out.push_plain(start..self.at, quote);
        };
        self.at += letter.len_utf8();
        let value = match letter {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '0' => '\0',
            other => other,
        };
        self.out.push(start..self.at, quote, DraftKind::Text(value.to_string()));
    }

    /// A string without expansions. A doubled quote stands for one.
    fn literal(&mut self, start: usize, end: &[u8]) {
        let is_here_string = end.len() > 1;
        self.at = start + if is_here_string { 2 } else { 1 };
        let content = self.at;
        let mut pieces = content;
        loop {
            self.skip_to(end, true);
            let is_closed = self.at >= pieces + end.len()
                && self.bytes.get(..self.at).unwrap_or_default().ends_with(end);
            if is_closed && !is_here_string && self.peek(0) == Some(b'\'') {
                self.out.push_plain(pieces..self.at, Quote::Single);
                self.at += 1;
                pieces = self.at;
                continue;
            }
            let last = if is_closed { self.at - end.len() } else { self.at };
            self.out.push_plain(pieces..last.max(pieces), Quote::Single);
            break;
        }
        self.out.begin_word_at(start);
        self.out.extend_word(self.at);
    }

    fn open_string(&mut self, start: usize, length: usize, mode: Mode) {
        self.at = start + length;
        self.out.push_plain(self.at..self.at, Quote::Double);
        self.out.begin_word_at(start);
        self.out.set_mode(mode);
    }

    fn close_string(&mut self) {
        self.out.set_mode(Mode::Plain);
        self.out.extend_word(self.at);
    }

    fn open(&mut self, start: usize, length: usize, close: u8) {
        self.at = start + length;
        self.out.open(start, close);
    }

    fn begins_here_string(&self) -> bool {
        matches!((self.peek(1), self.peek(2)), (Some(b'\n'), _) | (Some(b'\r'), Some(b'\n')))
    }

    /// `$x`, `$env:X`, `${x}`, `$(…)`, or a dollar sign.
    fn variable(&mut self, start: usize, quote: Quote) {
        match self.peek(0) {
            Some(b'(') => return self.open(start, 2, b')'),
            Some(b'{') => {
                let rest = self.bytes.get(self.at..).unwrap_or_default();
                let is_end = |byte: &u8| matches!(byte, b'}' | b'\n');
                let length = rest.iter().position(is_end).unwrap_or(rest.len());
                let name = self.out.text.get(self.at + 1..self.at + length);
                let name = name.unwrap_or_default().to_owned();
                self.at = (self.at + length + 1).min(self.bytes.len());
                return self.out.push(start..self.at, quote, DraftKind::Variable(name));
            }
            Some(b'_' | b'?' | b'$' | b'^') => self.at += 1,
            _ => {}
        }
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        while self.peek(0).is_some_and(|byte| {
            // `$env:X` has a colon, but `$x::Y` and `"$x: "` do not.
            is_name(byte) || byte == b':' && self.peek(1).is_some_and(is_name)
        }) {
            self.at += 1;
        }
        match self.out.text.get(start + 1..self.at) {
            None | Some("") => self.out.push_plain(start..self.at, quote),
            Some(name) => {
                let name = DraftKind::Variable(name.to_owned());
                self.out.push(start..self.at, quote, name);
            }
        }
    }

    /// Whether a command can begin here: at the start of a statement or behind an assignment.
    fn is_before_command(&self) -> bool {
        let words = self.out.words();
        !self.out.is_in_word() && words.last().is_none_or(|word| word.is_bare(ASSIGNMENTS))
    }

    /// Whether what was read of the statement can be assigned to.
    fn is_target(&self) -> bool {
        let is_variable = |word: &super::builder::DraftWord| {
            let is_type = word.parts.first().is_some_and(
                |part| matches!(&part.kind, DraftKind::Text(text) if text.starts_with('[')),
            );
            let starts = word.parts.first().map(|part| (part.quote, &part.kind));
            is_type || matches!(starts, Some((Quote::None, DraftKind::Variable(_))))
        };
        match (self.out.words(), self.out.word()) {
            ([], Some(word)) => is_variable(word),
            ([only], None) => is_variable(only) || self.out.is_in_braces(),
            _ => false,
        }
    }

    fn assignment(&mut self, start: usize, length: usize) {
        self.at = start + length;
        self.out.end_word();
        self.out.push_plain(start..self.at, Quote::None);
        self.out.end_word();
    }

    /// `> file`, `>> file`, `2>&1`; the first `>` is read.
    fn redirection(&mut self) {
        let kind = match self.peek(0) {
            Some(b'>') => {
                self.at += 1;
                RedirectionKind::Append
            }
            Some(b'&') => {
                self.at += 1 + usize::from(self.peek(1).is_some_and(|byte| byte.is_ascii_digit()));
                return self.out.end_word();
            }
            _ => RedirectionKind::Output,
        };
        self.out.redirect(kind);
    }

    /// Moves to the next `end`, or behind it. If the text has no further `end`, moves to the end of the
    /// text.
    fn skip_to(&mut self, end: &[u8], is_behind: bool) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let found = rest.windows(end.len()).position(|window| window == end);
        self.at += match found {
            Some(found) if is_behind => found + end.len(),
            Some(found) => found,
            None => rest.len(),
        };
    }
}
