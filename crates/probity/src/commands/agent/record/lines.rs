//! Lines out of pieces, in bounded memory.

use probity_acp::LINE_LIMIT;

/// What stands between two newlines.
pub(crate) enum Line<'a> {
    Text(&'a str),
    /// Over the limit, or no text.
    Unusable {
        bytes: usize,
    },
}

/// The line that is not complete yet.
#[derive(Default)]
pub(crate) struct Lines {
    begun: Vec<u8>,
    /// Bytes of a line over the limit that were let go.
    dropped: usize,
}

impl Lines {
    /// Gives every line that this piece completes.
    pub(crate) fn feed(&mut self, piece: &[u8], mut take: impl FnMut(Line<'_>)) {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            let (text, complete) = match part.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (part, false),
            };
            if self.dropped > 0 || self.begun.len() + text.len() > LINE_LIMIT {
                self.dropped += self.begun.len() + text.len();
                self.begun = Vec::new();
            } else {
                self.begun.extend_from_slice(text);
            }
            if complete {
                self.finish(&mut take);
            }
        }
    }

    /// Gives what no newline followed.
    pub(crate) fn finish(&mut self, mut take: impl FnMut(Line<'_>)) {
        let begun = std::mem::take(&mut self.begun);
        let bytes = std::mem::take(&mut self.dropped) + begun.len();
        let text = std::str::from_utf8(&begun);
        match text.map(|text| text.strip_suffix('\r').unwrap_or(text)) {
            Ok(text) if bytes == begun.len() => {
                if !text.trim().is_empty() {
                    take(Line::Text(text));
                }
            }
            _ => take(Line::Unusable { bytes }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<String> {
        let mut seen = Vec::new();
        let mut lines = Lines::default();
        let mut take = |line: Line<'_>| {
            seen.push(match line {
                Line::Text(text) => text.to_owned(),
                Line::Unusable { bytes } => format!("({bytes})"),
            });
        };
        for piece in pieces {
            lines.feed(piece, &mut take);
        }
        lines.finish(&mut take);
        seen
    }

    #[test]
    fn lines_are_put_together_however_they_were_cut() {
        assert_eq!(lines(&[b"a", b"b\nc\r\n\n", b"d"]), ["ab", "c", "d"]);
        assert_eq!(lines(&[b"\xc3", b"\xa9\n", b"\xff\n"]), ["\u{e9}", "(1)"]);
    }

    #[test]
    fn a_line_over_the_limit_is_counted_and_let_go() {
        let piece = vec![b'x'; LINE_LIMIT / 2 + 1];
        let over = format!("({})", piece.len() * 3);
        assert_eq!(lines(&[&piece, &piece, &piece, b"\nnext\n"]), [over.as_str(), "next"]);
        assert_eq!(lines(&[&piece[..10], &piece[..20]]), ["x".repeat(30)]);
    }
}
