//! What the detector reports: where a secret stands and what it is, never the secret.

use std::ops::Range;

/// A secret in a text. It holds no copy of the value, so that printing it can betray nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// Stable name of the kind, in kebab-case: `github-personal-token`.
    pub kind: &'static str,
    /// The kind for people: `GitHub personal access token`.
    pub name: &'static str,
    /// Bytes of the secret alone, without its key and its quotes; on character boundaries.
    pub range: Range<usize>,
    pub confidence: Confidence,
}

/// How sure the detector is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// The format is a vendor's own and the value looks made up: hidden and kept on the machine, but
    /// not worth a finding.
    FormatOnly,
    /// The name of a variable promises a secret and the value looks random.
    Low,
    /// The format fits and so does the context, or a checksum that should fit does not.
    Medium,
    /// A published format that nothing else has, or a checksum that fits.
    High,
}

/// A kind of secret that the detector knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretKind {
    pub id: &'static str,
    pub name: &'static str,
}

/// Sorted ranges without overlaps, inside the text and on character boundaries.
///
/// Masking and tokenizing take ranges from outside. A range that is cut too wide hides a character
/// too many; one that is dropped would show a secret.
pub(crate) fn disjoint<'a>(text: &str, secrets: &'a [Secret]) -> Vec<(Range<usize>, &'a Secret)> {
    let mut spans: Vec<(Range<usize>, &Secret)> = secrets
        .iter()
        .map(|secret| (on_boundaries(text, &secret.range), secret))
        .filter(|(range, _)| !range.is_empty())
        .collect();
    spans.sort_by_key(|(range, _)| (range.start, range.end));
    let mut merged: Vec<(Range<usize>, &Secret)> = Vec::with_capacity(spans.len());
    for (range, secret) in spans {
        match merged.last_mut() {
            Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
            _ => merged.push((range, secret)),
        }
    }
    merged
}

/// The smallest range of whole characters that holds `range`, cut to the text.
pub(crate) fn on_boundaries(text: &str, range: &Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(range.start.min(text.len()));
    let end = text.ceil_char_boundary(range.end.min(text.len()));
    start..end.max(start)
}
