//! Writing messages, one a line.

use std::io::{self, Error, ErrorKind, Write};

/// Writes each message whole, with its newline, and flushes.
///
/// Threads that share one put it behind a mutex; the lock is then what keeps lines apart.
#[derive(Debug)]
pub struct FrameWriter<W> {
    sink: W,
    buffer: Vec<u8>,
    broken: bool,
}

/// Up to this size a message and its newline leave in one write; above, the copy costs more than
/// the second call.
const ONE_WRITE: usize = 64 * 1024;

impl<W: Write> FrameWriter<W> {
    pub fn new(sink: W) -> Self {
        Self { sink, buffer: Vec::new(), broken: false }
    }

    /// Writes one message.
    ///
    /// A text that holds a newline is refused, since it would be read as two messages. After a
    /// failed write every further one fails too: half a line may be out, and whatever came next
    /// would be read as its end.
    pub fn write(&mut self, message: &str) -> io::Result<()> {
        if self.broken {
            return Err(Error::new(ErrorKind::BrokenPipe, "an earlier message was cut short"));
        }
        if memchr::memchr(b'\n', message.as_bytes()).is_some() {
            return Err(Error::new(ErrorKind::InvalidInput, "a message must not hold a newline"));
        }
        let result = self.write_line(message.as_bytes());
        self.broken = result.is_err();
        result
    }

    pub fn into_inner(self) -> W {
        self.sink
    }

    fn write_line(&mut self, message: &[u8]) -> io::Result<()> {
        if message.len() < ONE_WRITE {
            self.buffer.clear();
            self.buffer.extend_from_slice(message);
            self.buffer.push(b'\n');
            self.sink.write_all(&self.buffer)?;
        } else {
            self.sink.write_all(message)?;
            self.sink.write_all(b"\n")?;
        }
        self.sink.flush()
    }
}
