//! What all processes of one session bear, by which those are found that left its group.
//!
//! Twofold: a variable, and a soft limit on the size of files that no other session has. The limit
//! is a petabyte, so that it limits nothing; it survives an emptied environment.

use std::sync::atomic::{AtomicU64, Ordering};

/// The variable's name.
const VARIABLE: &str = "PROBITY_SESSION";

#[derive(Debug, Clone)]
pub(super) struct Mark {
    pub(super) name: String,
    number: u64,
}

impl Mark {
    pub(super) fn next() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let process = u64::from(std::process::id());
        let number = (1 << 42) + (process << 10) + count % 1024;
        // Ended by a letter, lest the first be found in the name of the tenth.
        Self { name: format!("probity-{process}-{count}s"), number }
    }

    pub(super) fn variable(&self) -> String {
        format!("{VARIABLE}={}", self.name)
    }

    /// As `ulimit -f` takes it.
    pub(super) fn blocks(&self) -> String {
        self.number.to_string()
    }

    /// As `/proc` shows it: shells do not agree on the size of a block.
    pub(super) fn bytes(&self) -> [String; 2] {
        [512, 1024].map(|block| self.number.saturating_mul(block).to_string())
    }
}
