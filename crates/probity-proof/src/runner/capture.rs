//! Runs a process to its end and keeps the beginning and the end of what it wrote.
//!
//! A process that writes a hundred megabytes is read to its end: to stop it would take away the
//! last words, which say how the test went. Its time is what bounds it.

use std::{
    collections::VecDeque,
    fs::File,
    io::Read,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use probity_sandbox::{Backend, Exit, SpawnError, Spec, Stream, Streams, spawn};

/// Kept of each end of each stream; enough for the events of a test around any noise.
const KEPT: usize = 1 << 20;

/// How long a pipe may stay open after the process has ended.
const REST: Duration = Duration::from_secs(2);

/// How often the flag that ends a process is looked at.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: Exit,
    pub(crate) duration: Duration,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Ran {
    /// Ended by one of the signals of a crash. Contained processes have it as a code above 128.
    pub(crate) fn crashed(&self) -> bool {
        let signal = match self.exit {
            Exit::Signal(signal) => signal,
            Exit::Code(code) => code - 128,
            _ => 0,
        };
        // V8 ends by the last one when memory is exhausted.
        [libc::SIGSEGV, libc::SIGABRT, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP]
            .contains(&signal)
    }
}

/// A process that is still there when the flag is set is killed.
pub(crate) fn run(backend: &Backend, mut spec: Spec, stop: &AtomicBool) -> Result<Ran, SpawnError> {
    spec.streams = Streams { stdin: Stream::Null, stdout: Stream::Pipe, stderr: Stream::Pipe };
    let began = Instant::now();
    let mut child = spawn(backend, &spec)?;
    let stdout = Reading::of(child.stdout.take())?;
    let stderr = Reading::of(child.stderr.take())?;
    let exit = loop {
        if let Some(exit) = child.wait_timeout(LOOK) {
            break exit;
        }
        if stop.load(Ordering::SeqCst) {
            child.kill();
            break child.wait();
        }
    };
    let duration = began.elapsed();
    Ok(Ran { exit, duration, stdout: stdout.end(), stderr: stderr.end() })
}

#[derive(Default)]
struct Ends {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

struct Reading {
    ends: Arc<Mutex<Ends>>,
    done: mpsc::Receiver<()>,
}

impl Reading {
    fn of(pipe: Option<File>) -> Result<Self, SpawnError> {
        let ends = Arc::new(Mutex::new(Ends::default()));
        let (finished, done) = mpsc::channel();
        let theirs = Arc::clone(&ends);
        let thread = thread::Builder::new().spawn(move || {
            read(pipe, &theirs);
            // Whoever waits may have given up.
            finished.send(()).ok();
        });
        let failed = |source| SpawnError::Io { what: "a thread for the output".to_owned(), source };
        thread.map_err(failed)?;
        Ok(Self { ends, done })
    }

    /// All of it if the pipe ends soon, else what there is.
    fn end(self) -> Vec<u8> {
        self.done.recv_timeout(REST).ok();
        let Ends { head: mut bytes, tail, dropped } = std::mem::take(&mut *lock(&self.ends));
        if dropped > 0 {
            bytes.extend(format!("\n[{dropped} bytes left out]\n").bytes());
        }
        bytes.extend(tail);
        bytes
    }
}

fn read(pipe: Option<File>, ends: &Mutex<Ends>) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = pipe.read(&mut buffer) {
        let Some(chunk) = buffer.get(..count) else { return };
        let mut ends = lock(ends);
        let room = KEPT.saturating_sub(ends.head.len()).min(count);
        let (first, rest) = chunk.split_at(room);
        ends.head.extend_from_slice(first);
        ends.tail.extend(rest);
        let excess = ends.tail.len().saturating_sub(KEPT);
        ends.tail.drain(..excess);
        ends.dropped += excess as u64;
    }
}

fn lock(ends: &Mutex<Ends>) -> MutexGuard<'_, Ends> {
    ends.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{Duration, Exit, Ran};

    #[test]
    fn crashes_are_told_from_ends_that_somebody_wanted() {
        for (exit, crashed) in [
            (Exit::Signal(libc::SIGSEGV), true),
            (Exit::Code(128 + libc::SIGABRT), true),
            (Exit::Code(128 + libc::SIGTRAP), true),
            (Exit::Code(128 + libc::SIGKILL), false),
            (Exit::Code(1), false),
            (Exit::Timeout, false),
        ] {
            let (stdout, stderr) = (Vec::new(), Vec::new());
            let ran = Ran { exit, duration: Duration::ZERO, stdout, stderr };
            assert_eq!(ran.crashed(), crashed, "{exit:?}");
        }
    }
}
