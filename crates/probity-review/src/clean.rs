//! Texts of strangers, made fit for a file, a database and a reader.

use probity_secrets::{Detector, mask_same_length};
pub(crate) use probity_text::{capped, one_line, stripped as plain};

/// With the secrets in it hidden.
#[must_use]
pub(crate) fn masked(detector: &Detector, text: &str) -> String {
    mask_same_length(text, &detector.find(text))
}
