//! The one way to the editor.
//!
//! Threads that read from agents write under the lock and wait if the editor does: that is what
//! stops the agents. While more of an agent's messages are there already, what it writes is put
//! together and leaves in one write. The thread that reads from the editor must not wait, or no cancellation would
//! come through; what it has to say goes through a short queue.

use std::{
    io::{self, Write},
    sync::{
        Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use probity_acp::FrameWriter;

pub(crate) struct Editor {
    writer: Mutex<Writer>,
    gone: AtomicBool,
    answers: Mutex<Answers>,
    changed: Condvar,
}

type Writer = FrameWriter<Box<dyn Write + Send>>;

#[derive(Default)]
struct Answers {
    waiting: Vec<String>,
    bytes: usize,
    /// One is being written.
    busy: bool,
    closed: bool,
}

/// What may wait of our own answers, until who asks so much without reading has to wait too.
const ANSWERS: usize = 4 << 20;

impl Editor {
    pub(crate) fn new(output: Box<dyn Write + Send>) -> Self {
        Self {
            writer: Mutex::new(FrameWriter::new(output)),
            gone: AtomicBool::new(false),
            answers: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Writes a message, and waits as long as that takes. False if nobody reads any more.
    pub(crate) fn write(&self, message: &str) -> bool {
        self.with_writer(|writer| writer.write(message))
    }

    /// The same, but for [`Self::flush`], which has to come before the caller waits for anything.
    pub(crate) fn write_soon(&self, message: &str) -> bool {
        self.with_writer(|writer| writer.write_soon(message))
    }

    pub(crate) fn flush(&self) -> bool {
        self.with_writer(FrameWriter::flush)
    }

    fn with_writer(&self, write: impl FnOnce(&mut Writer) -> io::Result<()>) -> bool {
        if self.gone.load(Ordering::Relaxed) {
            return false;
        }
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let written = write(&mut writer).is_ok();
        if !written {
            self.gone.store(true, Ordering::Relaxed);
        }
        written
    }

    /// Leaves an answer of our own to be written by [`Self::write_answers`].
    pub(crate) fn answer(&self, message: String) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        while answers.bytes > ANSWERS && !answers.closed {
            answers = self.changed.wait(answers).unwrap_or_else(PoisonError::into_inner);
        }
        answers.bytes += message.len();
        answers.waiting.push(message);
        self.changed.notify_all();
    }

    /// Writes answers until there are no more; false if nobody reads any more.
    pub(crate) fn write_answers(&self, write: impl Fn(&str) -> bool) -> bool {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if answers.waiting.is_empty() {
                if answers.closed {
                    return true;
                }
                answers = self.changed.wait(answers).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let batch = std::mem::take(&mut answers.waiting);
            answers.bytes = 0;
            answers.busy = true;
            self.changed.notify_all();
            drop(answers);
            let written = batch.iter().all(|message| write(message));
            answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
            answers.busy = false;
            answers.closed |= !written;
            self.changed.notify_all();
            if !written {
                return false;
            }
        }
    }

    /// No more answers come. Waits for those that wait, but not longer than this.
    pub(crate) fn finish(&self, patience: Duration) {
        let until = Instant::now() + patience;
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.closed = true;
        self.changed.notify_all();
        while answers.busy || !answers.waiting.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.changed.wait_timeout(answers, left);
            answers = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
