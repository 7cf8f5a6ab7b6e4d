//! A detector that remembers what it found last, so that a rule and a report share one search.

use std::sync::{Mutex, PoisonError};

use probity_secrets::{FindSecrets, Secret};

/// Searches a text once, however often it is asked about the same text in a row.
#[derive(Debug)]
pub(super) struct Searched<'d> {
    detector: &'d dyn FindSecrets,
    last: Mutex<Option<(String, Vec<Secret>)>>,
}

impl<'d> Searched<'d> {
    pub(super) fn new(detector: &'d dyn FindSecrets) -> Self {
        Self { detector, last: Mutex::new(None) }
    }
}

impl FindSecrets for Searched<'_> {
    fn find(&self, text: &str) -> Vec<Secret> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((known, secrets)) if known == text => secrets.clone(),
            _ => {
                let secrets = self.detector.find(text);
                *last = Some((text.to_owned(), secrets.clone()));
                secrets
            }
        }
    }
}
