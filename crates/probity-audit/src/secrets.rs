//! Secrets in what is sent away and in what is kept.

use probity_secrets::{Confidence, Detector, DetectorError, Options, mask_same_length};

#[derive(Debug)]
pub struct Secrets {
    detector: Detector,
}

impl Secrets {
    pub fn new() -> Result<Self, DetectorError> {
        Ok(Self { detector: Detector::new(&Options::default())? })
    }

    /// Without what has the form of a secret. A name that promises one is not enough: contracts are
    /// full of hashes and tokens, and a model that is not shown those cannot judge anything.
    #[must_use]
    pub fn mask(&self, text: &str) -> String {
        let mut secrets = self.detector.find(text);
        secrets.retain(|secret| secret.confidence >= Confidence::Medium);
        mask_same_length(text, &secrets)
    }
}
