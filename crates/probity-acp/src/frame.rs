//! Frames: one JSON-RPC message a line, read with a limit and written whole.

mod line;
mod writer;

use std::io::{self, Read};
use std::ops::Range;

use crate::envelope::{Envelope, Layout};
use line::{HEAD_BYTES, Line, LineReader};
pub use writer::FrameWriter;

/// The longest line that is taken unless the caller says otherwise; other implementations of the
/// protocol stop at the same length.
pub const LINE_LIMIT: usize = 32 * 1024 * 1024;

/// Reads messages from a stream on which other things may be written too.
///
/// Real agents write log lines, prompts and progress bars between their messages. What is not a
/// message is counted and skipped, never answered and never an error. Memory is bounded by the limit
/// for lines, whatever comes.
#[derive(Debug)]
pub struct FrameReader<R> {
    lines: LineReader<R>,
    skipped: Skipped,
}

/// What a [`FrameReader`] comes to.
#[derive(Debug)]
pub enum Frame<'a> {
    Message(Envelope<'a>),
    /// A line that is no message, though somebody may wait for an answer to it.
    Broken(Broken),
}

/// The beginning of a line that cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The line is over the limit; else it is not UTF-8, not JSON, or not JSON-RPC.
    pub is_too_long: bool,
    pub head: String,
}

/// What a [`FrameReader`] has passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Lines that are not UTF-8, not JSON, or not JSON-RPC.
    pub noise: u64,
    /// Lines over the limit.
    pub too_long: u64,
    /// Lines that the end of the stream cut short.
    pub half: u64,
    /// The bytes of all these lines, without their newlines.
    pub bytes: u64,
    /// The beginning of the last line of noise, for a person to read.
    pub sample: Option<String>,
}

impl Skipped {
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.noise + self.too_long + self.half
    }
}

/// How much of a line of noise is kept; enough to recognise it.
const SAMPLE_BYTES: usize = 200;

impl<R: Read> FrameReader<R> {
    pub fn new(source: R) -> Self {
        Self::with_line_limit(source, LINE_LIMIT)
    }

    /// `limit` counts the bytes of a line without its newline.
    pub fn with_line_limit(source: R, limit: usize) -> Self {
        Self { lines: LineReader::new(source, limit), skipped: Skipped::default() }
    }

    /// The next message, or `None` at the end of the stream.
    ///
    /// An error of the stream is handed on; reading can go on after it, nothing is lost.
    pub fn read(&mut self) -> io::Result<Option<Envelope<'_>>> {
        loop {
            match self.step()? {
                Step::End => return Ok(None),
                Step::Broken(_) => {}
                Step::Message(line, layout) => return Ok(self.envelope(&line, layout)),
            }
        }
    }

    /// The same, for who wants to say something to whoever wrote what is no message.
    pub fn read_frame(&mut self) -> io::Result<Option<Frame<'_>>> {
        Ok(match self.step()? {
            Step::End => None,
            Step::Broken(broken) => Some(Frame::Broken(broken)),
            Step::Message(line, layout) => self.envelope(&line, layout).map(Frame::Message),
        })
    }

    /// Whether the next line is here already, so that reading it waits for nobody.
    pub fn has_line(&self) -> bool {
        self.lines.has_line()
    }

    fn step(&mut self) -> io::Result<Step> {
        loop {
            match self.lines.next_line()? {
                Line::End => return Ok(Step::End),
                Line::Whole(line) => match classify(self.lines.bytes(&line)) {
                    Class::Message(layout) => return Ok(Step::Message(line, layout)),
                    Class::Blank => {}
                    Class::Noise => {
                        self.skip_noise(&line);
                        let bytes = self.lines.bytes(&line);
                        let head = bytes.get(..HEAD_BYTES).unwrap_or(bytes);
                        return Ok(Step::Broken(Broken::new(false, head)));
                    }
                },
                Line::TooLong { bytes, head } => {
                    self.skipped.too_long += 1;
                    self.skipped.bytes += bytes;
                    return Ok(Step::Broken(Broken::new(true, &head)));
                }
                Line::Half { bytes } => {
                    self.skipped.half += 1;
                    self.skipped.bytes += bytes;
                }
            }
        }
    }

    fn envelope(&self, line: &Range<usize>, layout: Layout) -> Option<Envelope<'_>> {
        // The line was valid UTF-8 a moment ago; asking again is how the borrow checker is told.
        std::str::from_utf8(self.lines.bytes(line))
            .ok()
            .map(|text| Envelope::from_layout(text, layout))
    }

    /// What was passed over so far.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn skip_noise(&mut self, line: &Range<usize>) {
        let bytes = self.lines.bytes(line);
        let start = bytes.get(..SAMPLE_BYTES).unwrap_or(bytes);
        self.skipped.sample = Some(String::from_utf8_lossy(start).into_owned());
        self.skipped.bytes += bytes.len() as u64;
        self.skipped.noise += 1;
    }
}

enum Step {
    Message(Range<usize>, Layout),
    Broken(Broken),
    End,
}

impl Broken {
    fn new(is_too_long: bool, head: &[u8]) -> Self {
        Self { is_too_long, head: String::from_utf8_lossy(head).into_owned() }
    }
}

enum Class {
    Message(Layout),
    Blank,
    Noise,
}

fn classify(line: &[u8]) -> Class {
    if line.trim_ascii().is_empty() {
        return Class::Blank;
    }
    match std::str::from_utf8(line).ok().and_then(Layout::of) {
        Some(layout) => Class::Message(layout),
        None => Class::Noise,
    }
}
