//! Keeps keys and other secrets out of everything that a review leaves behind.

use probity_secrets::{Detector, DetectorError, Options};

use crate::clean::{masked, plain};

/// Values shorter than this are found in ordinary words.
const SHORTEST: usize = 6;

/// Knows the keys of this run, and what secrets look like.
pub struct Redactor {
    detector: Detector,
    hidden: Vec<String>,
}

impl Redactor {
    /// `hidden` are values that the agent was given, or that we use ourselves.
    pub fn new(hidden: &[String]) -> Result<Self, DetectorError> {
        let mut hidden: Vec<String> =
            hidden.iter().filter(|value| value.len() >= SHORTEST).cloned().collect();
        // The longer first, so that a value within another leaves nothing of it standing.
        hidden.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Ok(Self { detector: Detector::new(&Options::default())?, hidden })
    }

    /// A text as a report may show it.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        masked(&self.detector, &self.without_keys(&plain(text)))
    }

    /// A program text: only the keys of this run go, since anything else would change what it does.
    #[must_use]
    pub fn without_keys(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for value in &self.hidden {
            if text.contains(value.as_str()) {
                text = text.replace(value.as_str(), "[key]");
            }
        }
        text
    }

    /// A program text with what looks like a secret masked, if no key of this run is in it.
    #[must_use]
    pub(crate) fn masked_code(&self, code: &str) -> Option<String> {
        let has_key = self.hidden.iter().any(|value| code.contains(value.as_str()));
        (!has_key).then(|| masked(&self.detector, code))
    }

    /// Whether nothing in a text has to be hidden.
    #[must_use]
    pub fn is_clean(&self, text: &str) -> bool {
        !self.hidden.iter().any(|value| text.contains(value.as_str()))
            && self.detector.find(text).is_empty()
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Redactor").field("hidden", &self.hidden.len()).finish()
    }
}
