//! Writing messages, one a line, alone or as many at once as are there.

use std::io::{self, Error, ErrorKind, Write};

/// Writes each message whole, with its newline, and flushes.
///
/// Threads that share one put it behind a mutex; the lock is then what keeps lines apart.
#[derive(Debug)]
pub struct FrameWriter<W> {
    sink: W,
    /// Lines that wait to be written.
    buffer: Vec<u8>,
    broken: bool,
}

/// Up to this size lines leave in one write; above, the copy costs more than the second call.
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
        self.write_soon(message)?;
        self.flush()
    }

    /// The same, but whoever calls it sees to it that [`Self::flush`] comes soon: many short
    /// messages cost one write.
    pub fn write_soon(&mut self, message: &str) -> io::Result<()> {
        if self.broken {
            return Err(Error::new(ErrorKind::BrokenPipe, "an earlier message was cut short"));
        }
        if memchr::memchr(b'\n', message.as_bytes()).is_some() {
            return Err(Error::new(ErrorKind::InvalidInput, "a message must not hold a newline"));
        }
        let result = self.put(message.as_bytes());
        self.broken = result.is_err();
        result
    }

    /// Writes what waits.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let result = self.sink.write_all(&self.buffer).and_then(|()| self.sink.flush());
        self.buffer.clear();
        self.broken = result.is_err();
        result
    }

    pub fn into_inner(self) -> W {
        self.sink
    }

    fn put(&mut self, message: &[u8]) -> io::Result<()> {
        if self.buffer.len() + message.len() >= ONE_WRITE {
            self.sink.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        if message.len() >= ONE_WRITE {
            self.sink.write_all(message)?;
            self.sink.write_all(b"\n")?;
            return self.sink.flush();
        }
        self.buffer.extend_from_slice(message);
        self.buffer.push(b'\n');
        Ok(())
    }
}
