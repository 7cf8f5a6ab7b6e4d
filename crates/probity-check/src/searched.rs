//! A detector that remembers what it found last, so that a rule and a report share one search.

use std::sync::{Mutex, PoisonError};

use probity_secrets::{FindSecrets, Secret};
use sha2::{Digest as _, Sha256};

/// Searches a text once, however often it is asked about the same text in a row.
#[derive(Debug)]
pub(crate) struct Searched<'d> {
    detector: &'d dyn FindSecrets,
    /// What was found, by the hash of the text: a copy of it would stay as long as the file is checked.
    last: Mutex<Option<([u8; 32], Vec<Secret>)>>,
}

impl<'d> Searched<'d> {
    pub(crate) fn new(detector: &'d dyn FindSecrets) -> Self {
        Self { detector, last: Mutex::new(None) }
    }
}

impl FindSecrets for Searched<'_> {
    fn find(&self, text: &str) -> Vec<Secret> {
        let hash: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((known, secrets)) if *known == hash => secrets.clone(),
            _ => {
                tracing::trace!("searching {} bytes for secrets", text.len());
                let secrets = self.detector.find(text);
                *last = Some((hash, secrets.clone()));
                secrets
            }
        }
    }
}
