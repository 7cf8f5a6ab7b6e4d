//! What goes to one agent: written at once while it reads, queued in bounded memory while not.
//!
//! Nobody who sends ever waits. A pipe that is full leaves the rest in the queue, and a thread of
//! the connection's own carries it on when the agent reads again.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, ErrorKind, Write as _},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

pub(crate) struct Outgoing {
    limit: usize,
    inner: Mutex<Inner>,
    wake: Condvar,
}

struct Inner {
    pipe: Pipe,
    queue: VecDeque<u8>,
    /// One line, so that a message and its newline leave in one write.
    line: Vec<u8>,
}

enum Pipe {
    /// The agent is not there yet.
    Awaited,
    Open(File),
    /// To be closed when the queue is empty.
    Closing(File),
    Closed,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotSent {
    /// Too much is waiting already.
    Full,
    /// Nobody will read it.
    Closed,
}

impl Outgoing {
    pub(crate) fn new(limit: usize) -> Self {
        let inner = Inner { pipe: Pipe::Awaited, queue: VecDeque::new(), line: Vec::new() };
        Self { limit, inner: Mutex::new(inner), wake: Condvar::new() }
    }

    /// Takes the pipe, unless it was closed before it was there. Gives what [`Self::carry_on`] needs.
    pub(crate) fn attach(&self, pipe: File) -> io::Result<Option<File>> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        let other = pipe.try_clone()?;
        let mut inner = self.lock();
        match inner.pipe {
            Pipe::Awaited => {
                inner.pipe = Pipe::Open(pipe);
                Ok(Some(other))
            }
            _ => Ok(None),
        }
    }

    /// Sends one message, all or nothing.
    pub(crate) fn send(&self, message: &str) -> Result<(), NotSent> {
        self.send_within(self.limit, message)
    }

    /// Sends what somebody may be waiting for, such as a cancellation or an answer: there is room
    /// for it when there is none for more requests.
    pub(crate) fn send_urgent(&self, message: &str) -> Result<(), NotSent> {
        self.send_within(self.limit.saturating_mul(2), message)
    }

    /// Sends what was counted already while it was held.
    pub(super) fn send_held(&self, message: &str) -> Result<(), NotSent> {
        self.send_within(usize::MAX, message)
    }

    fn send_within(&self, limit: usize, message: &str) -> Result<(), NotSent> {
        let mut inner = self.lock();
        let Inner { pipe, queue, line } = &mut *inner;
        let Pipe::Open(pipe) = pipe else { return Err(NotSent::Closed) };
        // One message is always taken, however long: that is what the limit for lines is for.
        if !queue.is_empty() && queue.len().saturating_add(message.len()) > limit {
            return Err(NotSent::Full);
        }
        line.clear();
        line.extend_from_slice(message.as_bytes());
        line.push(b'\n');
        let mut written = 0;
        if queue.is_empty() {
            while let Some(rest) = line.get(written..).filter(|rest| !rest.is_empty()) {
                match pipe.write(rest) {
                    Ok(count) => written += count,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(_) => return Err(NotSent::Closed),
                }
            }
        }
        let rest = line.get(written..).unwrap_or_default();
        if !rest.is_empty() {
            queue.extend(rest);
            self.wake.notify_all();
        }
        if line.capacity() > SPARE {
            *line = Vec::new();
        }
        Ok(())
    }

    /// No more comes; what waits is still written, if the agent reads it.
    pub(crate) fn close(&self) {
        let mut inner = self.lock();
        inner.pipe = match std::mem::replace(&mut inner.pipe, Pipe::Closed) {
            Pipe::Open(pipe) | Pipe::Closing(pipe) if !inner.queue.is_empty() => {
                Pipe::Closing(pipe)
            }
            _ => Pipe::Closed,
        };
        self.wake.notify_all();
    }

    /// Nobody reads any more: what waits is thrown away.
    pub(crate) fn abandon(&self) {
        let mut inner = self.lock();
        inner.pipe = Pipe::Closed;
        inner.queue = VecDeque::new();
        self.wake.notify_all();
    }

    /// Empties the queue as fast as the agent reads, until the pipe is closed.
    pub(crate) fn carry_on(&self, pipe: File) {
        loop {
            let mut inner = self.lock();
            while inner.queue.is_empty() && matches!(inner.pipe, Pipe::Open(_)) {
                inner = self.wake.wait(inner).unwrap_or_else(PoisonError::into_inner);
            }
            if inner.queue.is_empty() || matches!(inner.pipe, Pipe::Closed) {
                inner.pipe = Pipe::Closed;
                return;
            }
            drop(inner);
            await_room(&pipe);
            if !self.write_queued(&pipe) {
                self.abandon();
                return;
            }
        }
    }

    /// Whether there is somebody to write to.
    fn write_queued(&self, mut pipe: &File) -> bool {
        let mut inner = self.lock();
        while !inner.queue.is_empty() {
            match pipe.write(inner.queue.as_slices().0) {
                Ok(count) => drop(inner.queue.drain(..count)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(_) => return false,
            }
        }
        if inner.queue.capacity() > SPARE {
            inner.queue = VecDeque::new();
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Memory that is kept for the next message.
const SPARE: usize = 1 << 20;

/// Waits until the pipe takes something, or for a moment: somebody may have closed it meanwhile.
fn await_room(pipe: &File) {
    let moment = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    let mut waited = [PollFd::new(pipe, PollFlags::OUT)];
    // A poll that fails, because of a signal, is a shorter wait.
    poll(&mut waited, Some(&moment)).unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use std::{
        fs::File,
        io::{BufRead as _, BufReader, Read as _},
        os::fd::OwnedFd,
        sync::Arc,
        thread,
    };

    use super::{NotSent, Outgoing};

    #[test]
    fn nobody_waits_for_an_agent_that_does_not_read_and_nothing_is_lost_when_it_does() {
        let (reading, writing) = std::io::pipe().unwrap();
        let outgoing = Arc::new(Outgoing::new(1 << 20));
        let other = outgoing.attach(File::from(OwnedFd::from(writing))).unwrap().unwrap();
        let carrier = Arc::clone(&outgoing);
        let carrying = thread::spawn(move || carrier.carry_on(other));
        let message = "x".repeat(1000);
        let mut sent = 0;
        while outgoing.send(&message).is_ok() {
            sent += 1;
        }
        assert_eq!(outgoing.send(&message), Err(NotSent::Full));
        assert!(sent > 1000, "{sent}");
        outgoing.close();
        assert_eq!(outgoing.send(&message), Err(NotSent::Closed));
        let lines: Vec<String> = BufReader::new(reading).lines().map(Result::unwrap).collect();
        assert_eq!(lines.len(), sent);
        assert!(lines.iter().all(|line| *line == message));
        carrying.join().unwrap();
    }

    #[test]
    fn one_message_longer_than_the_limit_is_taken() {
        let (mut reading, writing) = std::io::pipe().unwrap();
        let outgoing = Arc::new(Outgoing::new(10));
        let other = outgoing.attach(File::from(OwnedFd::from(writing))).unwrap().unwrap();
        let message = "x".repeat(300_000);
        assert_eq!(outgoing.send(&message), Ok(()));
        assert_eq!(outgoing.send("more"), Err(NotSent::Full));
        let carrier = Arc::clone(&outgoing);
        thread::spawn(move || carrier.carry_on(other));
        outgoing.close();
        let mut text = String::new();
        reading.read_to_string(&mut text).unwrap();
        assert_eq!(text, message + "\n");
    }
}
