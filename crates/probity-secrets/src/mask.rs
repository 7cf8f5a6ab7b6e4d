//! Hides secrets in text that is printed.

use crate::{Secret, secret::disjoint};

/// The text with every byte of every secret replaced by `*`.
///
/// Length in bytes and lines stay as they are, so that spans, carets and line numbers of the
/// original are right in the masked text too. A character of several bytes becomes as many stars.
/// The price is that the length of a secret can be seen. Line breaks inside a secret, as in a
/// private key, are kept.
pub fn mask_same_length(text: &str, secrets: &[Secret]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut done = 0;
    for (range, _) in disjoint(text, secrets) {
        masked.push_str(text.get(done..range.start).unwrap_or_default());
        let value = text.get(range.clone()).unwrap_or_default();
        masked.extend(value.bytes().map(|byte| match byte {
            b'\n' | b'\r' => char::from(byte),
            _ => '*',
        }));
        done = range.end;
    }
    masked.push_str(text.get(done..).unwrap_or_default());
    masked
}
