//! How much of a peer's text is shown, and never with our keys in it.

/// How much of a provider's own error text is shown.
pub(crate) const EXCERPT_CHARS: usize = 2_000;

/// Takes a secret out of a text that a peer may have echoed it into.
pub(crate) fn scrub(text: &str, secret: &str) -> String {
    if secret.is_empty() { text.to_owned() } else { text.replace(secret, "[key]") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_out_wherever_it_stands() {
        assert_eq!(scrub("bad key sk-1, really sk-1!", "sk-1"), "bad key [key], really [key]!");
        assert_eq!(scrub("text", ""), "text");
    }
}
