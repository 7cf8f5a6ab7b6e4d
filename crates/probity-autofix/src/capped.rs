//! Texts that may not be longer than they are worth.

/// The text, or its beginning and an ellipsis.
pub(crate) fn capped(text: &str, most_bytes: usize) -> String {
    if text.len() <= most_bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most_bytes);
    format!("{}…", text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::capped;

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(capped("äöü", 6), "äöü");
        assert_eq!(capped("äöü", 5), "äö…");
        assert_eq!(capped("ä", 0), "…");
    }
}
