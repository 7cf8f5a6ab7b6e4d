//! JSON with a line for each member and element. Every token stays as it is written.

/// What can come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    /// The first element of an array, or its end.
    FirstValue,
    Key,
    /// The first key of an object, or its end.
    FirstKey,
    Colon,
    CommaOrEnd,
    Nothing,
}

/// The text in its layout, with a newline at its end; nothing for what is not JSON.
pub(super) fn pretty(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len() * 2);
    // The bytes that end what is open; the nesting costs no stack.
    let mut open: Vec<u8> = Vec::new();
    let mut expect = Expect::Value;
    let mut rest = text.trim_matches(is_space);
    while let Some(byte) = rest.bytes().next() {
        let length = match (byte, expect) {
            (b'}', Expect::FirstKey) | (b']', Expect::FirstValue) => {
                open.pop();
                1
            }
            (b'}' | b']', Expect::CommaOrEnd) => {
                if open.pop() != Some(byte) {
                    return None;
                }
                new_line(&mut out, open.len());
                1
            }
            (b',', Expect::CommaOrEnd) => 1,
            (b':', Expect::Colon) => 1,
            (b'"', Expect::FirstKey | Expect::Key) => string(rest)?,
            (_, Expect::Value | Expect::FirstValue) => value(rest)?,
            _ => return None,
        };
        if matches!(expect, Expect::FirstKey | Expect::FirstValue) && !matches!(byte, b'}' | b']') {
            new_line(&mut out, open.len());
        }
        out.push_str(rest.get(..length)?);
        expect = match (byte, expect) {
            (b',', Expect::CommaOrEnd) => {
                new_line(&mut out, open.len());
                if open.last() == Some(&b'}') { Expect::Key } else { Expect::Value }
            }
            (b':', Expect::Colon) => {
                out.push(' ');
                Expect::Value
            }
            (_, Expect::FirstKey | Expect::Key) if byte == b'"' => Expect::Colon,
            (b'{', _) => {
                open.push(b'}');
                Expect::FirstKey
            }
            (b'[', _) => {
                open.push(b']');
                Expect::FirstValue
            }
            _ if open.is_empty() => Expect::Nothing,
            _ => Expect::CommaOrEnd,
        };
        rest = rest.get(length..)?.trim_start_matches(is_space);
    }
    out.push('\n');
    (expect == Expect::Nothing).then_some(out)
}

fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\r' | '\n')
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

/// The length of a value, or of the bracket that opens it.
fn value(rest: &str) -> Option<usize> {
    if rest.starts_with(['{', '[']) {
        return Some(1);
    }
    if rest.starts_with('"') {
        return string(rest);
    }
    let is_end = |letter: char| is_space(letter) || matches!(letter, ',' | ']' | '}' | ':');
    let word = rest.get(..rest.find(is_end).unwrap_or(rest.len()))?;
    let is_known = matches!(word, "true" | "false" | "null") || is_number(word);
    is_known.then_some(word.len())
}

fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let is_padded = digits.len() > 1
        && digits.starts_with('0')
        && digits.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    let is_plain = word.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    is_plain
        && digits.starts_with(|letter: char| letter.is_ascii_digit())
        && !is_padded
        && !word.ends_with('.')
        && !word.contains(".e")
        && word.parse::<f64>().is_ok()
}

/// The length of a string with its quotes.
fn string(rest: &str) -> Option<usize> {
    let mut bytes = rest.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => return Some(at + 1),
            b'\\' => {
                let (_, escaped) = bytes.next()?;
                if !b"\"\\/bfnrtu".contains(&escaped) {
                    return None;
                }
            }
            0..=0x1f => return None,
            _ => {}
        }
    }
    None
}
