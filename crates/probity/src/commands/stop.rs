//! Ctrl-C where agents are asked: the open question is given up, and the work ends in order.

use std::{
    io::Read as _,
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
    thread,
};

use probity_agent::Cancel;

use crate::{commands::exec::signals, exit::Exit};

/// Whether somebody has called the work off.
pub(crate) struct Stop {
    pub(crate) cancel: Cancel,
    /// The same for tests, which no agent runs.
    pub(crate) tests: Arc<AtomicBool>,
    /// The number of the signal, or 0.
    signal: Arc<AtomicU8>,
}

impl Stop {
    /// From now on a signal ends the work in order, and a second one ends it at once.
    pub(crate) fn listen() -> Self {
        let stop = Self::by(Cancel::new());
        let Ok(mut signals) = signals::catch() else { return stop };
        let (cancel, signal) = (stop.cancel.clone(), Arc::clone(&stop.signal));
        let tests = Arc::clone(&stop.tests);
        let wait = move || {
            let mut number = [0];
            if signals.read_exact(&mut number).is_err() {
                return;
            }
            let [first] = number;
            signal.store(first, Ordering::SeqCst);
            cancel.cancel();
            tests.store(true, Ordering::SeqCst);
            // Somebody may be asked on the terminal just now, which no flag ends. What is left
            // behind is removed at the next start.
            if signals.read_exact(&mut number).is_ok() {
                process::exit(code(first).into());
            }
        };
        if let Err(error) = thread::Builder::new().name("signals".to_owned()).spawn(wait) {
            tracing::warn!("agents cannot be cancelled cleanly: {error}");
        }
        stop
    }

    /// Somebody else calls the work off, and signals do what they always do.
    pub(crate) fn by(cancel: Cancel) -> Self {
        Self { cancel, tests: Arc::default(), signal: Arc::default() }
    }

    /// As a shell tells of a program that a signal has ended.
    pub(crate) fn called_off(&self) -> Option<Exit> {
        let signal = self.signal.load(Ordering::SeqCst);
        (signal != 0).then(|| Exit::Program(code(signal)))
    }
}

fn code(signal: u8) -> u8 {
    signal.saturating_add(128)
}
