//! The text of JSON string literals that an agent cut into chunks.
//!
//! JavaScript cuts strings between UTF-16 units, so that one character may come as an escaped half
//! in each of two chunks. A strict reader would lose both chunks.

/// Joins chunks; remembers half a character from one to the next.
#[derive(Debug, Default)]
pub(super) struct Unescaper {
    high: Option<u32>,
}

impl Unescaper {
    /// Appends the text of `escaped`, the inside of a valid JSON string literal.
    pub(super) fn push(&mut self, escaped: &str, text: &mut String) {
        let mut rest = escaped;
        while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
            let (plain, escape) = rest.split_at(at);
            self.plain(plain, text);
            rest = self.escape(escape, text);
        }
        self.plain(rest, text);
    }

    fn plain(&mut self, plain: &str, text: &mut String) {
        if !plain.is_empty() {
            self.lone(text);
            text.push_str(plain);
        }
    }

    /// Takes the escape at the beginning of `rest` and gives what follows it.
    fn escape<'a>(&mut self, rest: &'a str, text: &mut String) -> &'a str {
        let mut characters = rest.chars();
        characters.next();
        let character = match characters.next() {
            Some('u') => {
                let digits = rest.get(2..6).unwrap_or_default();
                let unit = u32::from_str_radix(digits, 16).unwrap_or(0xfffd);
                self.unit(unit, text);
                return rest.get(6..).unwrap_or_default();
            }
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some(other) => other,
            None => char::REPLACEMENT_CHARACTER,
        };
        self.lone(text);
        text.push(character);
        characters.as_str()
    }

    fn unit(&mut self, unit: u32, text: &mut String) {
        match (self.high, unit) {
            (Some(high), 0xdc00..=0xdfff) => {
                self.high = None;
                let point = 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00);
                text.push(char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            (_, 0xd800..=0xdbff) => {
                self.lone(text);
                self.high = Some(unit);
            }
            _ => {
                self.lone(text);
                text.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
    }

    /// A half that nothing followed is shown as such.
    fn lone(&mut self, text: &mut String) {
        if self.high.take().is_some() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Unescaper;

    #[test]
    fn chunks_join_whatever_they_were_cut_through() {
        for (chunks, expected) in [
            (&["a\\nb", "\\\"c\\\\\\/"][..], "a\nb\"c\\/"),
            (&["\\ud83d\\ude00"], "\u{1f600}"),
            (&["x\\ud83d", "\\ude00y"], "x\u{1f600}y"),
            (&["x\\ud83d", "", "y"], "x\u{fffd}y"),
            (&["\\ud83d\\ud83d\\ude00"], "\u{fffd}\u{1f600}"),
            (&["\\ude00", "\\t"], "\u{fffd}\t"),
            (&["\u{e9}\\u00e9\u{1f600}"], "\u{e9}\u{e9}\u{1f600}"),
        ] {
            let (mut unescaper, mut text) = (Unescaper::default(), String::new());
            for chunk in chunks {
                unescaper.push(chunk, &mut text);
            }
            assert_eq!(text, expected, "{chunks:?}");
        }
    }
}
