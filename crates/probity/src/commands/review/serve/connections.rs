//! The connections that are open: a bounded number, each for a bounded time.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Of one browser, several at once; more than this nobody needs.
const MOST: usize = 32;
/// A browser sends its head at once; whoever has not sent all of it by now is cut off.
const HEAD_TIME: Duration = Duration::from_secs(5);
/// For an answer, from the end of the head to the last byte.
const ANSWER_TIME: Duration = Duration::from_secs(60);

#[derive(Default)]
pub(super) struct Connections {
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    admitted: u64,
    /// The oldest first.
    streams: Vec<Admitted>,
}

struct Admitted {
    number: u64,
    stream: TcpStream,
    /// Whether it has said nothing yet that could be answered.
    is_idle: bool,
}

impl Connections {
    /// Takes a connection in. If there are too many, the oldest that is idle has to go.
    pub(super) fn admit(self: &Arc<Self>, stream: TcpStream) -> io::Result<Connection> {
        let kept = stream.try_clone()?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.streams.len() >= MOST {
            let idle = open.streams.iter().position(|admitted| admitted.is_idle);
            let dropped = open.streams.remove(idle.unwrap_or(0));
            if let Err(error) = dropped.stream.shutdown(Shutdown::Both) {
                tracing::debug!("a connection was closed before: {error}");
            }
        }
        open.admitted += 1;
        let number = open.admitted;
        open.streams.push(Admitted { number, stream: kept, is_idle: true });
        drop(open);
        let deadline = Instant::now() + HEAD_TIME;
        Ok(Connection { stream, number, deadline, all: Arc::clone(self) })
    }
}

/// One of them, which is taken off the list when it is done.
pub(super) struct Connection {
    stream: TcpStream,
    number: u64,
    deadline: Instant,
    all: Arc<Connections>,
}

impl Connection {
    /// The head is read, so this is not one of the idle any more.
    pub(super) fn begin_answer(&mut self) {
        self.deadline = Instant::now() + ANSWER_TIME;
        let mut open = self.all.open.lock().unwrap_or_else(PoisonError::into_inner);
        let own = open.streams.iter_mut().find(|admitted| admitted.number == self.number);
        if let Some(own) = own {
            own.is_idle = false;
        }
    }

    /// What is left of the time, in all and not for each byte.
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer)
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut open = self.all.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.streams.retain(|admitted| admitted.number != self.number);
    }
}
