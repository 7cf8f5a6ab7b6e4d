//! The values of the secrets of one text, to hide them wherever they are quoted.

use aho_corasick::AhoCorasick;

use crate::Secret;

/// Knows the secrets of one text by their values. One pass over a quotation finds all of them, so a
/// text of many secrets and many quotations does not cost their product.
pub struct SecretValues {
    /// None where the search could not be built.
    search: Option<AhoCorasick>,
}

impl SecretValues {
    #[must_use]
    pub fn of(text: &str, secrets: &[Secret]) -> Self {
        let values = secrets.iter().filter_map(|secret| text.get(secret.range.clone()));
        let values = values.filter(|value| !value.is_empty());
        Self { search: AhoCorasick::builder().ascii_case_insensitive(true).build(values).ok() }
    }

    /// The quotation with a `*` for every byte of a value, in whatever case it is quoted. Without a
    /// search nothing is known to be harmless, so everything is hidden.
    #[must_use]
    pub fn hide(&self, quotation: &str) -> String {
        let Some(search) = &self.search else { return "*".repeat(quotation.len()) };
        let mut bytes = quotation.as_bytes().to_vec();
        for hit in search.find_overlapping_iter(quotation) {
            if let Some(value) = bytes.get_mut(hit.range()) {
                value.fill(b'*');
            }
        }
        // Values are whole characters, so what is left of the others is whole too.
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl std::fmt::Debug for SecretValues {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SecretValues").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Confidence;

    #[test]
    fn overlapping_values_are_hidden_in_any_case() {
        let text = "abcdé cdéf";
        let secret = |range| Secret { kind: "x", name: "x", range, confidence: Confidence::High };
        let values = SecretValues::of(text, &[secret(0..6), secret(7..12)]);
        let rows = [
            ("x abcdé y", "x ****** y"),
            ("ABcdé", "******"),
            ("abcdéf", "*******"),
            ("abc dé", "abc dé"),
        ];
        for (quoted, hidden) in rows {
            assert_eq!(values.hide(quoted), hidden, "{quoted}");
        }
        assert_eq!(SecretValues::of(text, &[]).hide("abcdé"), "abcdé");
    }
}
