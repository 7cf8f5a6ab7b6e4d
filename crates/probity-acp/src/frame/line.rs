//! Lines from a stream in bounded memory.

use std::io::{self, ErrorKind, Read};
use std::ops::Range;

/// What comes next. A line is a range of the reader's own buffer, valid until the next call.
pub(super) enum Line {
    Whole(Range<usize>),
    /// A line over the limit, thrown away as it came but for its beginning.
    TooLong {
        bytes: u64,
        head: Vec<u8>,
    },
    /// Bytes before the end of the stream that no newline follows.
    Half {
        bytes: u64,
    },
    End,
}

/// How much of a line over the limit is kept: enough for what a message says before its payload.
pub(super) const HEAD_BYTES: usize = 4096;

/// The buffer's usual size: four times what a pipe hands over at once.
const USUAL: usize = 256 * 1024;

#[derive(Debug)]
pub(super) struct LineReader<R> {
    source: R,
    limit: usize,
    /// Always initialised to its whole length; what was read lies in `start..end`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes after `start` that are known to hold no newline.
    searched: usize,
    /// Bytes thrown away so far of a line over the limit, while its newline has not come, and its
    /// beginning.
    discarded: Option<(u64, Vec<u8>)>,
}

impl<R: Read> LineReader<R> {
    pub(super) fn new(source: R, limit: usize) -> Self {
        Self { source, limit, buffer: Vec::new(), start: 0, end: 0, searched: 0, discarded: None }
    }

    pub(super) fn bytes(&self, line: &Range<usize>) -> &[u8] {
        self.buffer.get(line.clone()).unwrap_or_default()
    }

    /// Whether the next line is here already, so that nobody has to wait for it.
    pub(super) fn has_line(&self) -> bool {
        let unread = self.buffer.get(self.start..self.end).unwrap_or_default();
        let fresh = unread.get(self.searched..).unwrap_or_default();
        memchr::memchr(b'\n', fresh).is_some()
    }

    pub(super) fn next_line(&mut self) -> io::Result<Line> {
        loop {
            let unread = self.buffer.get(self.start..self.end).unwrap_or_default();
            let fresh = unread.get(self.searched..).unwrap_or_default();
            if let Some(at) = memchr::memchr(b'\n', fresh) {
                let length = self.searched + at;
                let line = self.start..self.start + length;
                self.start = line.end + 1;
                self.searched = 0;
                if let Some((before, head)) = self.discarded.take() {
                    return Ok(Line::TooLong { bytes: before + length as u64, head });
                }
                if length > self.limit {
                    let head = head(self.bytes(&line));
                    return Ok(Line::TooLong { bytes: length as u64, head });
                }
                return Ok(Line::Whole(line));
            }
            self.searched = unread.len();
            if self.discarded.is_some() || self.searched > self.limit {
                let (bytes, _) = self.discarded.get_or_insert_with(|| (0, head(unread)));
                *bytes += self.searched as u64;
                (self.start, self.end, self.searched) = (0, 0, 0);
            }
            if self.fill()? == 0 {
                let rest = (self.end - self.start) as u64;
                (self.start, self.end, self.searched) = (0, 0, 0);
                return Ok(match (self.discarded.take(), rest) {
                    (Some((bytes, head)), _) => Line::TooLong { bytes, head },
                    (None, 0) => Line::End,
                    (None, bytes) => Line::Half { bytes },
                });
            }
        }
    }

    /// Reads once, after making room; the number of bytes read is 0 at the end of the stream.
    fn fill(&mut self) -> io::Result<usize> {
        self.make_room();
        loop {
            let room = self.buffer.get_mut(self.end..).unwrap_or_default();
            match self.source.read(room) {
                Ok(count) => {
                    // A source that claims more than it was given room for is not believed.
                    let count = count.min(room.len());
                    self.end += count;
                    return Ok(count);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn make_room(&mut self) {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            // One huge line must not cost its memory for ever.
            if self.buffer.len() > 4 * USUAL {
                self.buffer = Vec::new();
            }
        }
        if self.buffer.len() - self.end >= USUAL / 4 {
            return;
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buffer.len() - self.end < USUAL / 4 {
            let wanted = (self.buffer.len() * 2).clamp(USUAL, self.limit.saturating_add(2 * USUAL));
            self.buffer.resize(wanted.max(self.end + USUAL / 4), 0);
        }
    }
}

fn head(line: &[u8]) -> Vec<u8> {
    line.get(..HEAD_BYTES).unwrap_or(line).to_vec()
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};

    use super::{Line, LineReader, USUAL};

    #[test]
    fn memory_is_bounded_by_the_limit_and_given_back() {
        const LIMIT: usize = 3 * 1024 * 1024;
        let line = |length: u64| io::repeat(b'x').take(length).chain(&b"\n"[..]);
        let stream = line(50_000_000).chain(line(LIMIT as u64)).chain(line(10)).chain(line(10));
        let mut reader = LineReader::new(stream, LIMIT);
        let mut lengths = Vec::new();
        loop {
            match reader.next_line().unwrap() {
                Line::Whole(line) => lengths.push(line.len()),
                Line::TooLong { bytes, head } => {
                    assert_eq!((bytes, head), (50_000_000, vec![b'x'; super::HEAD_BYTES]));
                }
                Line::Half { .. } => lengths.push(0),
                Line::End => break,
            }
            assert!(reader.buffer.len() <= LIMIT + 2 * USUAL, "{}", reader.buffer.len());
        }
        assert_eq!(lengths, [LIMIT, 10, 10]);
        assert!(reader.buffer.len() <= USUAL, "{}", reader.buffer.len());
    }
}
