//! What a session has cost, counted as it goes by.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use crate::Process;

/// The figures of one session, for a person to read at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFigures {
    pub session: String,
    pub lasted: Duration,
    pub prompts: u64,
    /// Messages and bytes from the editor to the agent.
    pub sent: (u64, u64),
    /// Messages and bytes from the agent to the editor.
    pub received: (u64, u64),
    /// How often the agent asked the editor for something.
    pub asked: u64,
    /// What its process has taken until the end of the session, where that can be seen.
    pub usage: Option<Usage>,
}

/// What a process and all it started have taken of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    pub cpu: Duration,
    /// Bytes, each process at its largest.
    pub memory: u64,
}

#[derive(Debug)]
pub(crate) struct Counters {
    began: Instant,
    pub(crate) prompts: AtomicU64,
    pub(crate) asked: AtomicU64,
    sent: (AtomicU64, AtomicU64),
    received: (AtomicU64, AtomicU64),
    usage: Mutex<Option<Usage>>,
}

impl Counters {
    pub(crate) fn new() -> Self {
        let pair = || (AtomicU64::new(0), AtomicU64::new(0));
        Self {
            began: Instant::now(),
            prompts: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            sent: pair(),
            received: pair(),
            usage: Mutex::default(),
        }
    }

    pub(crate) fn sent(&self, bytes: usize) {
        self.sent.0.fetch_add(1, Relaxed);
        self.sent.1.fetch_add(bytes as u64, Relaxed);
    }

    pub(crate) fn received(&self, bytes: usize) {
        self.received.0.fetch_add(1, Relaxed);
        self.received.1.fetch_add(bytes as u64, Relaxed);
    }

    /// Looks at the process, which has to be done while it lives.
    pub(crate) fn measure(&self, process: Option<&dyn Process>) {
        if let Some(usage) = process.and_then(Process::usage) {
            *self.usage.lock().unwrap_or_else(PoisonError::into_inner) = Some(usage);
        }
    }

    pub(crate) fn figures(&self, session: &str) -> SessionFigures {
        let pair = |pair: &(AtomicU64, AtomicU64)| (pair.0.load(Relaxed), pair.1.load(Relaxed));
        SessionFigures {
            session: session.to_owned(),
            lasted: self.began.elapsed(),
            prompts: self.prompts.load(Relaxed),
            sent: pair(&self.sent),
            received: pair(&self.received),
            asked: self.asked.load(Relaxed),
            usage: *self.usage.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }
}
