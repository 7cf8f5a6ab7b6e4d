//! Texts that may not be longer than they are worth; characters stay whole.

/// At most this many characters of the text, and an ellipsis where something was cut.
#[must_use]
pub fn beginning(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The last bytes of a text, for what a process said before it ended.
#[must_use]
pub fn ending(text: &str, bytes: usize) -> &str {
    let start = text.ceil_char_boundary(text.len().saturating_sub(bytes));
    text.get(start..).unwrap_or_default()
}

/// At most this many bytes of the text, and how many are missing.
#[must_use]
pub fn capped(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes);
    format!("{}\n[{} more bytes]", text.get(..end).unwrap_or_default(), text.len() - end)
}

/// At most this many bytes, half from the beginning and half from the end, and how many are
/// missing between them.
#[must_use]
pub fn both_ends(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(bytes / 2);
    let tail = text.floor_char_boundary(text.len() - bytes / 2);
    let (first, last) = (text.get(..head).unwrap_or(""), text.get(tail..).unwrap_or(""));
    format!("{first}\n[{} bytes left out]\n{last}", tail - head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_ends_between_characters_and_says_so() {
        for (text, most, expected) in
            [("", 0, ""), ("äöü", 3, "äöü"), ("äöü", 2, "äö…"), ("äöü", 0, "…")]
        {
            assert_eq!(beginning(text, most), expected);
        }
    }

    #[test]
    fn an_ending_never_begins_with_half_a_character() {
        assert_eq!(ending("one\ntwo", 3), "two");
        assert_eq!(ending("aä", 1), "");
        assert_eq!(ending("short", 100), "short");
    }

    #[test]
    fn a_cap_says_how_much_is_missing() {
        assert_eq!(capped("aüb", 2), "a\n[3 more bytes]");
        assert_eq!(capped("aüb", 4), "aüb");
    }

    #[test]
    fn both_ends_of_a_long_text_are_kept() {
        assert_eq!(both_ends("begin üüü end", 8), "begi\n[8 bytes left out]\n end");
        assert_eq!(both_ends("aüüb", 3), "a\n[4 bytes left out]\nb");
        assert_eq!(both_ends("abc", 0), "\n[3 bytes left out]\n");
        assert_eq!(both_ends("abc", 3), "abc");
    }
}
