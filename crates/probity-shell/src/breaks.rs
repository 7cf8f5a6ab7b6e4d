//! Line ends in place of operators, for texts of many commands.
//!
//! The parser takes a chain of `&&` up to a length only, and for every `$(` it reads the rest of the
//! line once more. A RUN is one line, however many commands it has. So the parser gets a copy in
//! which each command has its own line, and what joined them is read from the text itself: every
//! offset is the same in both.

/// Texts with fewer operators are parsed as they are written.
const FEW: usize = 200;

/// The copy; none where the text has few commands or is not understood well enough.
pub(crate) fn with_line_ends(text: &str) -> Option<String> {
    let operators = text.bytes().filter(|byte| matches!(byte, b';' | b'&' | b'|' | b'(')).count();
    // The body of a here-document begins at the line end behind it, so lines cannot be added.
    if operators < FEW || text.contains("<<") {
        return None;
    }
    let mut scan = Scan { bytes: text.as_bytes(), at: 0 };
    let mut copy = text.as_bytes().to_vec();
    // The last byte that is not blank; a line end counts, since nothing is joined to that.
    let mut before = b'\n';
    while let Some(byte) = scan.peek(0) {
        let start = scan.at;
        let is_joined = !matches!(before, b'\n' | b';' | b'&' | b'|' | b'(');
        match (byte, scan.peek(1)) {
            (b'&', Some(b'&')) | (b'|', Some(b'|')) => {
                scan.at += 2;
                if is_joined {
                    copy.get_mut(start..start + 2)?.copy_from_slice(b"\n ");
                }
            }
            (b';', Some(b';' | b'&')) => scan.at += 2,
            (b';', _) => {
                scan.at += 1;
                if is_joined {
                    *copy.get_mut(start)? = b'\n';
                }
            }
            (b'(', Some(b'(')) => scan.skip_to(b"))")?,
            (b'[', Some(b'[')) if is_blank(scan.previous()) => scan.skip_to(b"]]")?,
            (b'#', _) if is_blank(scan.previous()) => scan.comment(),
            _ => scan.piece()?,
        }
        if !matches!(byte, b' ' | b'\t') {
            before = byte;
        }
    }
    String::from_utf8(copy).ok()
}

/// Whether a word can begin behind this.
fn is_blank(byte: Option<u8>) -> bool {
    byte.is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'('))
}

/// Reads a text from its beginning to its end.
struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl Scan<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn previous(&self) -> Option<u8> {
        self.bytes.get(self.at.checked_sub(1)?).copied()
    }

    /// Goes behind the next of these; nothing where there is none.
    fn skip_to(&mut self, end: &[u8]) -> Option<()> {
        let rest = self.bytes.get(self.at..)?;
        let found = rest.windows(end.len()).position(|window| window == end)?;
        self.at += found + end.len();
        Some(())
    }

    fn comment(&mut self) {
        while self.peek(0).is_some_and(|byte| byte != b'\n') {
            self.at += 1;
        }
    }

    /// Goes behind one piece of a word: a quotation, an expansion, an escaped character, a byte.
    fn piece(&mut self) -> Option<()> {
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
                _ => {}
            }
        }
        Some(())
    }
}
