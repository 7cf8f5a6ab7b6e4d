//! A text without its line continuations, as the shell and the builder read it: a token may be torn
//! in two by one.

use std::ops::Range;

use memchr::memchr_iter;

/// The joined text and where it was joined.
pub(crate) struct Joined {
    pub(crate) text: String,
    /// Where a continuation stood in the joined text, and how many bytes were taken out up to there.
    cuts: Vec<(usize, usize)>,
}

impl Joined {
    /// Nothing where no continuation stands between two characters that could be of one token.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut found = Self { text: String::new(), cuts: Vec::new() };
        let (mut done, mut removed) = (0, 0);
        for newline in memchr_iter(b'\n', bytes) {
            let Some(start) = continuation(bytes, newline) else { continue };
            if !is_glued(bytes, start, newline + 1) || start < done {
                continue;
            }
            found.text.push_str(text.get(done..start)?);
            done = newline + 1;
            removed += done - start;
            found.cuts.push((found.text.len(), removed));
        }
        if found.cuts.is_empty() {
            return None;
        }
        found.text.push_str(text.get(done..)?);
        Some(found)
    }

    /// The range in the original, where a continuation stands within it.
    pub(crate) fn torn(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let is_torn = self.cuts.iter().any(|(at, _)| range.start < *at && *at < range.end);
        is_torn.then(|| self.original(range.start)..self.original(range.end - 1) + 1)
    }

    fn original(&self, offset: usize) -> usize {
        let index = self.cuts.partition_point(|(at, _)| *at <= offset);
        let cut = index.checked_sub(1).and_then(|index| self.cuts.get(index));
        offset + cut.map_or(0, |(_, removed)| *removed)
    }
}

/// Where the continuation that ends with this line break begins: the escape, and blanks behind it.
fn continuation(bytes: &[u8], newline: usize) -> Option<usize> {
    let line = bytes.get(..newline)?;
    let blanks = line.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    let escape = (newline - blanks).checked_sub(1)?;
    matches!(bytes.get(escape), Some(b'\\' | b'`')).then_some(escape)
}

/// Whether what stands on both sides could be one word.
fn is_glued(bytes: &[u8], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).and_then(|at| bytes.get(at));
    let sides = [before, bytes.get(end)];
    sides.iter().all(|side| {
        side.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_-+/=.:@~".contains(byte))
    })
}
