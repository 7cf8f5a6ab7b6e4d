//! Private keys in armour: PEM, OpenSSH, PGP, SSH2, PuTTY, and tokens made of JSON in base64.

use std::ops::Range;

use crate::{base64, boundary};

/// Longest armour looked through for its end.
const BLOCK: usize = 32 * 1024;
/// Shorter bodies are `...` and other stand-ins.
const SHORTEST_BODY: usize = 40;
/// Longest part of a JSON web token.
const LONGEST_PART: usize = 8 * 1024;

/// The keyword is `-----BEGIN `; the secret is what stands between the two lines of dashes, so that
/// a report still shows what was there.
pub(crate) fn block(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let label = text.get(hit.end..text.len().min(hit.end + 64))?;
    let label = label.get(..find(label, b"-----")?)?;
    if find(label, b"PRIVATE KEY").is_none() || label.contains(&b'\n') {
        return None;
    }
    armour(text, hit.end + label.len() + 5, b"-----")
}

/// The keyword is `"private_key"`, and the armour its value.
pub(crate) fn in_json(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    let rest = text.get(hit.end..text.len().min(hit.end + 32))?;
    let is_sign = |byte: &&u8| byte.is_ascii_whitespace() || matches!(byte, b':' | b'"');
    let sign = rest.iter().take_while(is_sign).count();
    let begin = hit.end + sign..hit.end + sign + BEGIN.len();
    if text.get(begin.clone())? == BEGIN { block(text, begin) } else { None }
}

/// The keyword is `---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----`.
pub(crate) fn ssh2(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    armour(text, hit.end, b"----")
}

/// The keyword is `Private-Lines:`; the secret is the lines up to the code that seals them.
pub(crate) fn putty(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let line = text.get(hit.end..text.len().min(hit.end + 16))?;
    let start = hit.end + line.iter().position(|byte| *byte == b'\n')? + 1;
    armour(text, start, b"Private-")
}

/// The keyword is base64 of `-----BEGIN`; the secret is the whole run, if its header is one of a
/// private key.
pub(crate) fn in_base64(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let header = base64::decode(text.get(hit.start..hit.start + 64)?)?;
    if find(&header, b"PRIVATE KEY").is_none() || !boundary::before(text, hit.start) {
        return None;
    }
    let rest = text.get(hit.start..text.len().min(hit.start + BLOCK))?;
    let is_base64 = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    Some(hit.start..hit.start + rest.iter().take_while(is_base64).count())
}

/// From `start` to the next `end`. Without an end the key was cut off: what looks like one is
/// taken.
fn armour(text: &[u8], start: usize, end: &[u8]) -> Option<Range<usize>> {
    let rest = text.get(start..text.len().min(start + BLOCK))?;
    let body = rest.get(..find(rest, end).unwrap_or(rest.len()))?;
    let length = body.iter().take_while(|byte| in_armour(**byte)).count();
    let body = body.get(..length)?;
    let Trimmed { leading, length } = trim(body);
    let range = start + leading..start + leading + length;
    let value = text.get(range.clone())?;
    let coded = value.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
    let varied = crate::entropy::shannon(value) >= 3.0;
    (coded >= SHORTEST_BODY && varied).then_some(range)
}

struct Trimmed {
    leading: usize,
    length: usize,
}

/// Without the blanks and quotes around it. An escaped line break is a blank too.
fn trim(body: &[u8]) -> Trimmed {
    let mut rest = body;
    loop {
        rest = match rest {
            [b'\\', b'n' | b'r', inner @ ..] => inner,
            [first, inner @ ..] if is_filling(*first) => inner,
            _ => break,
        };
    }
    let leading = body.len() - rest.len();
    loop {
        rest = match rest {
            [inner @ .., b'\\', b'n' | b'r'] => inner,
            [inner @ .., last] if is_filling(*last) => inner,
            _ => break,
        };
    }
    Trimmed { leading, length: rest.len() }
}

/// Base64, and what headers like `Proc-Type: 4,ENCRYPTED` and quoted lines are written with.
fn in_armour(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || byte.is_ascii_whitespace()
        || matches!(byte, b'+' | b'/' | b'=' | b'-' | b':' | b',' | b'.' | b'\\' | b'"' | b'\'')
        || matches!(byte, b'(' | b')' | b'#' | b'>' | b'|' | b'@' | b';')
}

fn is_filling(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'\\' | b';' | b',')
}

/// The keyword is `eyJ`, base64 of `{"`. Three parts, of which the first names an algorithm.
pub(crate) fn json_web_token(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let follows_word = matches!(text.get(..hit.start)?, [.., b'-' | b'.']);
    if text.get(hit.clone())? != b"eyJ" || follows_word || !boundary::before(text, hit.start) {
        return None;
    }
    let header = part(text, hit.start)?;
    let payload = part(text, header.end + 1)?;
    let signature = part(text, payload.end + 1)?;
    let dotted = text.get(header.end) == Some(&b'.') && text.get(payload.end) == Some(&b'.');
    let decoded = base64::decode(text.get(header)?)?;
    let names_algorithm = find(&decoded, b"\"alg\"").is_some();
    (dotted && names_algorithm && payload.len() >= 8 && signature.len() >= 16)
        .then_some(hit.start..signature.end)
}

fn part(text: &[u8], start: usize) -> Option<Range<usize>> {
    let rest = text.get(start..text.len().min(start + LONGEST_PART))?;
    let length = rest.iter().take_while(|byte| boundary::in_word(**byte) || **byte == b'-').count();
    Some(start..start + length)
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}
