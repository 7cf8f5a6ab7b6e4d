//! What programs wrote, made fit for reports and databases.

pub(crate) use probity_text::{capped, one_line};

/// Stripped text of at most `cap` bytes: the beginning and the end, with what was left out said
/// between them.
pub(crate) fn clean(bytes: &[u8], cap: usize) -> String {
    probity_text::both_ends(&probity_text::stripped(&String::from_utf8_lossy(bytes)), cap)
}
