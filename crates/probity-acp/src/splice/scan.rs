//! Finding values by path in a text that is known to be JSON.
//!
//! The text was checked when its envelope was read, so this only has to find places fast, and to
//! stay within the text whatever it meets. It does not recurse into what it does not look for: a
//! value is skipped by counting brackets, however deep it is.

use std::ops::Range;

use crate::envelope::unquote;

/// The places of all values at any of the paths, in the order of the text: one pass over it.
pub(super) fn locate(text: &str, paths: &[&str]) -> Vec<Range<usize>> {
    let mut search = Search { text, open: paths.to_vec(), found: Vec::new() };
    search.descend(skip_space(text.as_bytes(), 0), 0);
    search.found
}

/// The places of all string literals, keys too, in the order of the text.
pub(crate) fn string_literals(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(ahead) = memchr::memchr(b'"', bytes.get(at..).unwrap_or_default()) {
        let start = at + ahead;
        at = skip_string(bytes, start);
        found.push(start..at);
    }
    found
}

/// One pass over a text.
struct Search<'a> {
    text: &'a str,
    /// What is left of the paths that lead to where the search is; the innermost level comes last.
    open: Vec<&'a str>,
    found: Vec<Range<usize>>,
}

impl Search<'_> {
    /// Looks for the open paths, from the one numbered `level` on, in the value at `at`; gives the
    /// position after that value.
    ///
    /// Recursion is as deep as the longest path.
    fn descend(&mut self, at: usize, level: usize) -> usize {
        let bytes = self.text.as_bytes();
        match bytes.get(at) {
            Some(b'{') => {
                let mut at = skip_space(bytes, at + 1);
                while bytes.get(at) == Some(&b'"') {
                    let key_end = skip_string(bytes, at);
                    let key = self.text.get(at..key_end).unwrap_or_default();
                    at = skip_space(bytes, key_end);
                    at = skip_space(bytes, at + 1);
                    at = self.value(at, level, |step| step == "*" || is_key(key, step));
                    at = skip_separator(bytes, at);
                }
                at + 1
            }
            Some(b'[') => {
                let mut at = skip_space(bytes, at + 1);
                while at < bytes.len() && bytes.get(at) != Some(&b']') {
                    at = self.value(at, level, |step| step == "*");
                    at = skip_separator(bytes, at);
                }
                at + 1
            }
            _ => skip_value(bytes, at),
        }
    }

    /// Takes the paths whose first step leads to the value at `at`, and looks into it if one of them
    /// goes on; gives the position after the value.
    fn value(&mut self, at: usize, level: usize, leads_here: impl Fn(&str) -> bool) -> usize {
        let (inner, place) = (self.open.len(), self.found.len());
        let mut is_end = false;
        for index in level..inner {
            let Some(path) = self.open.get(index).copied() else { break };
            let (step, rest) = match path.split_once('.') {
                Some((step, rest)) => (step, Some(rest)),
                None => (path, None),
            };
            if leads_here(step) {
                match rest {
                    Some(rest) => self.open.push(rest),
                    None => is_end = true,
                }
            }
        }
        let end = if self.open.len() > inner {
            self.descend(at, inner)
        } else {
            skip_value(self.text.as_bytes(), at)
        };
        self.open.truncate(inner);
        if is_end {
            // A value comes before those inside of it.
            self.found.insert(place, at..end);
        }
        end
    }
}

fn skip_separator(bytes: &[u8], at: usize) -> usize {
    let at = skip_space(bytes, at);
    if bytes.get(at) == Some(&b',') { skip_space(bytes, at + 1) } else { at }
}

fn is_key(literal: &str, key: &str) -> bool {
    unquote(literal).is_some_and(|name| name == key)
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// The position after the value at `at`.
fn skip_value(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(b'"') => skip_string(bytes, at),
        Some(b'{' | b'[') => skip_brackets(bytes, at),
        _ => {
            let rest = bytes.get(at..).unwrap_or_default();
            let length = rest
                .iter()
                .position(|byte| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace());
            // At least one byte, so that every caller makes headway.
            at + length.unwrap_or(rest.len()).max(1)
        }
    }
}

fn skip_brackets(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = skip_string(bytes, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// The position after the string literal that begins at `at`.
fn skip_string(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        match memchr::memchr2(b'"', b'\\', rest) {
            None => return bytes.len(),
            Some(found) if rest.get(found) == Some(&b'"') => return at + found + 1,
            Some(found) => at += found + 2,
        }
    }
}
