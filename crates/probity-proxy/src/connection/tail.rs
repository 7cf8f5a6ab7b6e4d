//! The end of what an agent wrote to its standard error.

use std::{
    collections::VecDeque,
    io::{ErrorKind, Read},
    sync::{Mutex, PoisonError},
};

use crate::store::{STDERR_LINE, STDERR_TOTAL};

pub(crate) struct Tail {
    limit: usize,
    kept: Mutex<VecDeque<u8>>,
}

impl Tail {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, kept: Mutex::new(VecDeque::new()) }
    }

    /// Reads to the end, and shows each line; an agent must never wait for somebody to read its log.
    pub(crate) fn follow(&self, mut source: impl Read, mut show: impl FnMut(&str)) {
        let mut chunk = vec![0; 16 << 10];
        let mut lines = Lines::default();
        loop {
            match source.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => {
                    let news = chunk.get(..count).unwrap_or_default();
                    self.push(news);
                    lines.take(news, &mut show);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        lines.end(&mut show);
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let news = bytes.get(bytes.len().saturating_sub(self.limit)..).unwrap_or_default();
        let surplus = (kept.len() + news.len()).saturating_sub(self.limit).min(kept.len());
        kept.drain(..surplus);
        kept.extend(news);
    }

    pub(crate) fn text(&self) -> String {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(kept.make_contiguous()).trim().to_owned()
    }
}

/// Bytes into lines, each cut at its limit, and all of them together too.
#[derive(Default)]
struct Lines {
    line: Vec<u8>,
    shown: usize,
}

impl Lines {
    fn take(&mut self, bytes: &[u8], show: &mut impl FnMut(&str)) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, is_whole) = match piece.split_last() {
                Some((b'\n', text)) => (text, true),
                _ => (piece, false),
            };
            let room = STDERR_LINE.saturating_sub(self.line.len());
            self.line.extend(text.iter().take(room));
            if is_whole {
                self.end(show);
            }
        }
    }

    fn end(&mut self, show: &mut impl FnMut(&str)) {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() || self.shown > STDERR_TOTAL {
            return;
        }
        self.shown += line.len() + 1;
        match self.shown > STDERR_TOTAL {
            true => show("(more of its standard error is not shown)"),
            false => show(String::from_utf8_lossy(&line).trim_end()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let tail = Tail::new(5);
        for (news, expected) in [("ab", "ab"), ("cdef", "bcdef"), ("0123456789", "56789")] {
            tail.follow(news.as_bytes(), |_| {});
            assert_eq!(tail.text(), expected);
        }
    }

    #[test]
    fn lines_are_shown_as_they_come_and_within_bounds() {
        let shown = |text: &str| {
            let mut lines = Vec::new();
            Tail::new(5).follow(text.as_bytes(), |line| lines.push(line.to_owned()));
            lines
        };
        assert_eq!(shown("one\n\ntwo\r\nlast"), ["one", "two", "last"]);
        let long = shown(&format!("{}\nnext\n", "x".repeat(3 * STDERR_LINE)));
        assert_eq!((long[0].len(), long[1].as_str()), (STDERR_LINE, "next"));
        let flood = shown(&"a line of no use\n".repeat(STDERR_TOTAL / 8));
        let total: usize = flood.iter().map(String::len).sum();
        assert!(total <= STDERR_TOTAL + 100, "{total}");
        assert_eq!(flood.last().unwrap(), "(more of its standard error is not shown)");
    }
}
