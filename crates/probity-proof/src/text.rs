//! What programs wrote, made fit for reports and databases.

/// Text without escape sequences and control characters, of at most `cap` bytes: the beginning
/// and the end, with what was left out said between them.
pub(crate) fn clean(bytes: &[u8], cap: usize) -> String {
    let text = without_escapes(&String::from_utf8_lossy(bytes));
    shorten(text, cap)
}

/// At most this many bytes, cut between characters, and saying so.
pub(crate) fn capped(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = floor(text, bytes);
    format!("{}\n[{} more bytes]", text.get(..end).unwrap_or_default(), text.len() - end)
}

/// One line of at most this many characters.
pub(crate) fn one_line(text: &str, characters: usize) -> String {
    let plain = without_escapes(text);
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= characters {
        return line;
    }
    line.chars().take(characters.saturating_sub(1)).chain(['…']).collect()
}

fn shorten(text: String, cap: usize) -> String {
    if text.len() <= cap {
        return text;
    }
    let head = floor(&text, cap / 2);
    let tail = floor(&text, text.len() - cap / 2);
    let (first, last) = (text.get(..head).unwrap_or(""), text.get(tail..).unwrap_or(""));
    format!("{first}\n[{} bytes left out]\n{last}", tail.saturating_sub(head))
}

/// The nearest beginning of a character at or before this byte.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn without_escapes(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\u{1b}' => match rest.next() {
                // A control sequence ends with its first letter or the like.
                Some('[') => {
                    rest.find(|end| ('\u{40}'..='\u{7e}').contains(end));
                }
                // An operating system command ends with a bell or a string terminator.
                Some(']') => {
                    while let Some(inner) = rest.next() {
                        if inner == '\u{7}' {
                            break;
                        }
                        if inner == '\u{1b}' {
                            rest.next_if_eq(&'\\');
                            break;
                        }
                    }
                }
                _ => {}
            },
            '\n' | '\t' => clean.push(character),
            '\r' => {
                if rest.peek() != Some(&'\n') {
                    clean.push('\n');
                }
            }
            other if other.is_control() => {}
            other => clean.push(other),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn escapes_and_controls_are_gone_and_the_words_are_kept() {
        for (given, expected) in [
            (&b"plain\n\ttext"[..], "plain\n\ttext"),
            (b"\x1b[31mred\x1b[0m", "red"),
            (b"\x1b]8;;http://x\x07link\x1b]8;;\x1b\\!", "link!"),
            (b"a\0b\x16c\x0fd", "abcd"),
            (b"one\r\ntwo\rthree", "one\ntwo\nthree"),
            (b"\x1b[", ""),
            (b"\x1b", ""),
            (b"\xff", "\u{fffd}"),
        ] {
            assert_eq!(clean(given, 1000), expected, "{given:?}");
        }
    }

    #[test]
    fn the_ends_of_a_long_text_are_kept_and_characters_stay_whole() {
        let text = format!("begin {} end", "ü".repeat(1000));
        let short = clean(text.as_bytes(), 101);
        assert!(short.len() < 160 && short.starts_with("begin") && short.ends_with(" end"));
        assert!(short.contains("bytes left out"), "{short}");
        assert_eq!(clean(b"abc", 0), "\n[3 bytes left out]\n");
    }
}
