//! The JSON form of arguments: an array of strings, decoded, with the place of each.

use std::ops::Range;

/// What a text is when it is read as a JSON array.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Array {
    /// Not JSON, or no array: BuildKit takes the text in shell form without a word.
    Not,
    /// The strings, each with its range, quotes included.
    Strings(Vec<(Range<usize>, String)>),
    /// A valid array with something else than strings in it; the range of the first of those.
    Mixed(Range<usize>),
}

/// Reads `text`, which begins with `[` if it is an array at all.
pub(crate) fn array(text: &str) -> Array {
    if !text.starts_with('[') {
        return Array::Not;
    }
    let mut reader = Reader { text, at: 1, open: vec![b'['], strings: Vec::new(), other: None };
    match reader.read() {
        None => Array::Not,
        Some(()) => reader.other.map_or(Array::Strings(reader.strings), Array::Mixed),
    }
}

/// BuildKit's JSON library gives up at this depth.
const DEEPEST: usize = 10_000;

/// Nesting is kept on a heap stack, so that hostile depth cannot overflow ours.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    open: Vec<u8>,
    strings: Vec<(Range<usize>, String)>,
    other: Option<Range<usize>>,
}

impl Reader<'_> {
    fn read(&mut self) -> Option<()> {
        let mut may_close = true;
        while let Some(&container) = self.open.last() {
            self.skip_blanks();
            if may_close && self.peek()? == container + 2 {
                self.close()?;
            } else {
                if container == b'{' {
                    self.string()?;
                    self.skip_blanks();
                    self.take(b':')?;
                    self.skip_blanks();
                }
                if self.value()? {
                    may_close = true;
                    continue;
                }
            }
            may_close = self.after_value()?;
        }
        self.skip_blanks();
        (self.at == self.text.len()).then_some(())
    }

    /// Reads what may stand behind a value; closes containers as long as they end. What follows is
    /// another value, and a container cannot end right behind its comma.
    fn after_value(&mut self) -> Option<bool> {
        while let Some(&container) = self.open.last() {
            self.skip_blanks();
            match self.peek()? {
                b',' => {
                    self.at += 1;
                    return Some(false);
                }
                byte if byte == container + 2 => self.close()?,
                _ => return None,
            }
        }
        Some(false)
    }

    fn close(&mut self) -> Option<()> {
        self.at += 1;
        self.open.pop().map(drop)
    }

    /// Reads a value; says whether it opened a container.
    fn value(&mut self) -> Option<bool> {
        let start = self.at;
        let top = self.open.len() == 1;
        match self.peek()? {
            b'"' => {
                let decoded = self.string()?;
                if top {
                    self.strings.push((start..self.at, decoded));
                }
                return Some(false);
            }
            open @ (b'[' | b'{') => {
                self.at += 1;
                self.open.push(open);
                self.note_other(top, start);
                return (self.open.len() <= DEEPEST).then_some(true);
            }
            b't' => self.literal("true")?,
            b'f' => self.literal("false")?,
            b'n' => self.literal("null")?,
            _ => self.number()?,
        }
        self.note_other(top, start);
        Some(false)
    }

    fn note_other(&mut self, top: bool, start: usize) {
        if top && self.other.is_none() {
            self.other = Some(start..self.at);
        }
    }

    fn literal(&mut self, literal: &str) -> Option<()> {
        self.text.get(self.at..)?.starts_with(literal).then(|| self.at += literal.len())
    }

    fn number(&mut self) -> Option<()> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let leading = self.at;
        self.digits()?;
        if self.text.as_bytes().get(leading) == Some(&b'0') && self.at > leading + 1 {
            return None;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        // A number that no float can hold is an error of decoding, not of the element's type.
        self.text.get(start..self.at)?.parse::<f64>().ok()?.is_finite().then_some(())
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn string(&mut self) -> Option<String> {
        self.take(b'"')?;
        let mut decoded = String::new();
        let mut chars = self.text.get(self.at..)?.char_indices();
        let base = self.at;
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at = base + at + 1;
                    return Some(decoded);
                }
                '\\' => match chars.next()?.1 {
                    c @ ('"' | '\\' | '/') => decoded.push(c),
                    'b' => decoded.push('\u{8}'),
                    'f' => decoded.push('\u{c}'),
                    'n' => decoded.push('\n'),
                    'r' => decoded.push('\r'),
                    't' => decoded.push('\t'),
                    'u' => {
                        let unit = hex(chars.as_str())?;
                        chars.nth(3)?;
                        let pair = chars.as_str().strip_prefix("\\u").and_then(hex);
                        let joined = pair.and_then(|low| surrogates(unit, low));
                        if joined.is_some() {
                            chars.nth(5)?;
                        }
                        let single = joined.or_else(|| char::from_u32(unit));
                        decoded.push(single.unwrap_or(char::REPLACEMENT_CHARACTER));
                    }
                    _ => return None,
                },
                c if c < ' ' => return None,
                c => decoded.push(c),
            }
        }
        None
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }
}

/// The four hexadecimal digits at the beginning of a text.
fn hex(text: &str) -> Option<u32> {
    let digits = text.get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

/// The character that two surrogates stand for.
fn surrogates(high: u32, low: u32) -> Option<char> {
    let both = (0xD800..0xDC00).contains(&high) && (0xDC00..0xE000).contains(&low);
    if !both {
        return None;
    }
    char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
}
