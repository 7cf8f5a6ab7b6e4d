//! The value that is assigned to a name.

use std::ops::Range;

/// As much of a value as is judged.
const JUDGED: usize = 512;
/// Longest value; what goes on behind that is not taken.
const LONGEST: usize = 64 * 1024;
/// How far back the beginning of the line is looked for.
const LINE: usize = 256;

/// The value behind `name`, without its quotes; at most [`JUDGED`] bytes of it.
pub(super) fn of(text: &[u8], name: &Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(name.end..text.len().min(name.end + JUDGED))?;
    let sign = sign(text, name, rest)?;
    let at = name.end + sign;
    let rest = rest.get(sign..)?;
    let (quote, skipped) = match rest {
        [b'\\', quote @ (b'"' | b'\''), ..] => (Quote::Escaped(*quote), 2),
        [quote @ (b'"' | b'\'' | b'`'), ..] => (Quote::Plain(*quote), 1),
        _ => (Quote::None, 0),
    };
    let body = rest.get(skipped..)?;
    let length = match quote {
        Quote::None => unquoted_length(body),
        Quote::Plain(quote) => quoted_length(body, quote)?,
        Quote::Escaped(quote) => body
            .iter()
            .position(|byte| *byte == quote || byte.is_ascii_whitespace() || *byte == b'\\')
            .unwrap_or(body.len()),
    };
    // `password = get(…)` and `token: config[…]` are code.
    let is_code = quote == Quote::None && matches!(body.get(length), Some(b'(' | b'[' | b'{'));
    let has_blank = matches!(quote, Quote::Escaped(_))
        && body.get(length).is_some_and(|byte| matches!(byte, b' ' | b'\t'));
    (length > 0 && !is_code && !has_blank).then_some(at + skipped..at + skipped + length)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    None,
    Plain(u8),
    /// `\"`: within a text that is quoted itself.
    Escaped(u8),
}

/// Up to the quote that ends it, over escaped ones; nothing where a quoted value holds a tab or goes
/// on in the next line, which is prose or code.
fn quoted_length(body: &[u8], quote: u8) -> Option<usize> {
    let mut at = 0;
    while let Some(byte) = body.get(at) {
        match byte {
            b'\\' if quote != b'\'' && body.get(at + 1).is_some_and(u8::is_ascii_graphic) => {
                at += 2
            }
            b'\t' => return None,
            b'\n' | b'\r' => break,
            byte if *byte == quote => break,
            _ => at += 1,
        }
    }
    Some(at.min(body.len()))
}

/// The value of a header: behind blanks, up to the next blank or quote.
pub(super) fn behind_blank(text: &[u8], from: usize) -> Option<Range<usize>> {
    let rest = text.get(from..text.len().min(from + JUDGED))?;
    let blank = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let body = rest.get(blank..)?;
    let length = body.iter().position(|byte| ends(*byte)).unwrap_or(body.len());
    (blank > 0 && length > 0).then_some(from + blank..from + blank + length)
}

/// The rest of a value that is longer than what was judged.
pub(super) fn to_its_end(text: &[u8], judged: Range<usize>) -> Range<usize> {
    let Some(rest) = text.get(judged.end..text.len().min(judged.end + LONGEST)) else {
        return judged;
    };
    let more = rest.iter().take_while(|byte| !ends(**byte)).count();
    if judged.len() + 16 < JUDGED { judged } else { judged.start..judged.end + more }
}

/// Length of what stands between name and value, or nothing where no value is assigned.
fn sign(text: &[u8], name: &Range<usize>, rest: &[u8]) -> Option<usize> {
    let quotes = rest.iter().take_while(|byte| matches!(byte, b'"' | b'\'' | b'\\' | b']')).count();
    let behind_quotes = rest.get(quotes..)?;
    let blanks = blanks(behind_quotes);
    let behind = behind_quotes.get(blanks..)?;
    let width = match behind {
        [b'=', b'=', ..] | [b':', b':', ..] | [b'=', b'~', ..] => return None,
        [b':', b'=', ..] | [b'=', b'>', ..] => 2,
        [b'=' | b':', ..] => 1,
        [b',', ..] if quotes > 0 => 1,
        _ if behind.starts_with(b"value=") && quotes > 0 => 6,
        _ if quotes == 0 && blanks > 0 && is_set_by_blank(text, name) => 0,
        _ => return None,
    };
    let until_sign = quotes + blanks + width;
    Some(until_sign + self::blanks(rest.get(until_sign..)?))
}

fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().take(4).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// `--password value`, `ENV PASSWORD value`, and `machine … login … password value`.
fn is_set_by_blank(text: &[u8], name: &Range<usize>) -> bool {
    if text.get(name.clone()).is_some_and(|name| name.starts_with(b"--")) {
        return true;
    }
    let Some(head) = text.get(name.start.saturating_sub(LINE)..name.start) else { return false };
    let line = head.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let line = head.get(line..).unwrap_or_default().trim_ascii_start();
    line.trim_ascii_end().eq_ignore_ascii_case(b"ENV")
        || line.windows(7).any(|window| window == b" login ")
}

/// An ampersand ends a value in a command and in a query, and is part of it everywhere else.
fn unquoted_length(body: &[u8]) -> usize {
    let mut length = 0;
    loop {
        let rest = body.get(length..).unwrap_or_default();
        length += rest.iter().position(|byte| ends(*byte)).unwrap_or(rest.len());
        let [b'&', behind @ ..] = body.get(length..).unwrap_or_default() else { return length };
        let word = behind.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        if word == 0 || behind.get(word) == Some(&b'=') {
            return length;
        }
        length += 1;
    }
}

fn ends(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(byte, b'"' | b'\'' | b'`' | b';' | b',' | b'|' | b'<' | b'>' | b'&')
        || matches!(byte, b'(' | b')' | b'{' | b'}' | b'[' | b']' | b'\\')
}
