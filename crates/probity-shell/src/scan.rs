//! Reading shell text piece by piece, without understanding more than where a piece ends.

/// `function`
const LONGEST_KEYWORD: usize = 8;

/// Whether a word can begin behind this.
pub(crate) fn is_blank(byte: Option<u8>) -> bool {
    byte.is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'('))
}

/// Reads a text from its beginning to its end.
pub(crate) struct Scan<'t> {
    bytes: &'t [u8],
    pub(crate) at: usize,
    /// Here-documents whose bodies begin at the next line end.
    awaited: Vec<HereDocument>,
}

struct HereDocument {
    delimiter: Vec<u8>,
    /// `<<-`
    strips_tabs: bool,
}

impl<'t> Scan<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { bytes: text.as_bytes(), at: 0, awaited: Vec::new() }
    }

    pub(crate) fn awaits_body(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// Goes behind `<<EOF`; a here-string has no body to wait for.
    pub(crate) fn here_marker(&mut self) {
        self.at += 2;
        if self.peek(0) == Some(b'<') {
            self.at += 1;
            return;
        }
        let strips_tabs = self.peek(0) == Some(b'-');
        self.at += usize::from(strips_tabs);
        while matches!(self.peek(0), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let is_end = |byte: &u8| is_blank(Some(*byte)) || matches!(byte, b'<' | b'>' | b')');
        let length = rest.iter().position(is_end).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default();
        let delimiter = word.iter().copied().filter(|byte| !matches!(byte, b'\'' | b'"' | b'\\'));
        self.at += length;
        self.awaited.push(HereDocument { delimiter: delimiter.collect(), strips_tabs });
    }

    /// Goes behind a line end and the bodies that begin there.
    pub(crate) fn line_end(&mut self) {
        self.at += 1;
        for HereDocument { delimiter, strips_tabs } in std::mem::take(&mut self.awaited) {
            while self.at < self.bytes.len() {
                let rest = self.bytes.get(self.at..).unwrap_or_default();
                let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                let line = rest.get(..length).unwrap_or_default();
                let tabs = line.iter().take_while(|byte| strips_tabs && **byte == b'\t').count();
                self.at += length;
                if line.get(tabs..) == Some(delimiter.as_slice()) {
                    break;
                }
                self.at = (self.at + 1).min(self.bytes.len());
            }
        }
    }

    /// What stands here up to a blank or an operator, as far as it can be a keyword.
    pub(crate) fn bare_word(&self) -> &'t str {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let rest = rest.get(..rest.len().min(LONGEST_KEYWORD + 1)).unwrap_or_default();
        let length = rest.iter().position(|byte| is_blank(Some(*byte))).unwrap_or(rest.len());
        rest.get(..length).and_then(|word| std::str::from_utf8(word).ok()).unwrap_or_default()
    }

    pub(crate) fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    pub(crate) fn previous(&self) -> Option<u8> {
        self.bytes.get(self.at.checked_sub(1)?).copied()
    }

    /// Goes behind the next of these; nothing where there is none.
    pub(crate) fn skip_to(&mut self, end: &[u8]) -> Option<()> {
        let rest = self.bytes.get(self.at..)?;
        let found = rest.windows(end.len()).position(|window| window == end)?;
        self.at += found + end.len();
        Some(())
    }

    pub(crate) fn comment(&mut self) {
        while self.peek(0).is_some_and(|byte| byte != b'\n') {
            self.at += 1;
        }
    }

    /// Goes behind one piece of a word: a quotation, an expansion, an escaped character, a byte.
    pub(crate) fn piece(&mut self) -> Option<()> {
        let opening = (self.peek(0)?, self.peek(1));
        self.at += 1;
        // What is open is closed in this order; the nesting costs no stack.
        let mut open = match opening {
            (b'\\', _) => {
                self.at += 1;
                return Some(());
            }
            (b'\'', _) => return self.skip_to(b"'"),
            (b'"', _) => vec![b'"'],
            (b'`', _) => vec![b'`'],
            (b'$', Some(b'(')) => vec![b')'],
            (b'$', Some(b'{')) => vec![b'}'],
            _ => return Some(()),
        };
        if opening.0 == b'$' {
            self.at += 1;
        }
        while let Some(&closing) = open.last() {
            let byte = self.peek(0)?;
            self.at += 1;
            match (byte, self.peek(0)) {
                (b'\\', _) => self.at += 1,
                _ if byte == closing => {
                    open.pop();
                }
                (b'\'', _) if closing != b'"' => self.skip_to(b"'")?,
                (b'"', _) => open.push(b'"'),
                (b'$', Some(b'(')) => {
                    self.at += 1;
                    open.push(b')');
                }
                (b'$', Some(b'{')) => {
                    self.at += 1;
                    open.push(b'}');
                }
                (b'(', _) if closing == b')' => open.push(b')'),
                // A here-document within a substitution ends where this does not look for it.
                (b'<', Some(b'<')) if closing == b')' => return None,
                _ => {}
            }
        }
        Some(())
    }
}
