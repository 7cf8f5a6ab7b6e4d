//! What agents write to their standard error, on ours: each line with the agent's name before it.
//!
//! Nobody has to read our standard error, so that writing there may wait for ever. The lines go
//! through a queue, and what finds no room in it is left out.

use std::{
    io::Write as _,
    sync::mpsc::{Sender, SyncSender, channel, sync_channel},
    thread,
    time::Duration,
};

use probity_text::visible;

use crate::streams;

/// Lines that may wait for a slow reader.
const QUEUE: usize = 1024;

/// How long the last lines may take at our own end.
const GRACE: Duration = Duration::from_millis(300);

pub(super) struct Relay {
    /// `None` where nobody wants to see it.
    queue: Option<SyncSender<Item>>,
}

enum Item {
    Line(String),
    /// Answered when all before it is written.
    End(Sender<()>),
}

impl Relay {
    pub(super) fn start() -> Self {
        if !tracing::enabled!(tracing::Level::WARN) {
            return Self { queue: None };
        }
        let (queue, waiting) = sync_channel(QUEUE);
        let write = move || {
            for item in waiting {
                // With stderr gone, or the end no longer waited for, there is nobody to tell.
                match item {
                    Item::Line(line) => drop(streams::stderr().write_all(line.as_bytes())),
                    Item::End(answer) => drop(answer.send(())),
                }
            }
        };
        let thread = thread::Builder::new().name("relay".to_owned()).spawn(write);
        Self { queue: thread.is_ok().then_some(queue) }
    }

    pub(super) fn line(&self, agent: &str, line: &str) {
        if let Some(queue) = &self.queue {
            // A full queue has a reader that does not read: the line is left out.
            drop(queue.try_send(Item::Line(format!("{agent}: {}\n", visible::line(line)))));
        }
    }

    /// Waits for the last lines, but not for a reader that does not read.
    pub(super) fn finish(&self) {
        let (answer, answered) = channel();
        let sent = self.queue.as_ref().map(|queue| queue.try_send(Item::End(answer)));
        if let Some(Ok(())) = sent
            && answered.recv_timeout(GRACE).is_err()
        {
            tracing::debug!("the last lines of the agents were not read");
        }
    }
}
