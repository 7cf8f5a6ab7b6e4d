//! Base64 to bytes, of both alphabets.

/// The bytes, or nothing where a byte is of neither alphabet. Padding is not insisted on: tokens
/// are cut without it.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let end = text.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
    let mut bytes = Vec::with_capacity(end / 4 * 3 + 3);
    let mut bits = 0_u32;
    let mut count = 0;
    for byte in text.get(..end)? {
        bits = (bits << 6) | u32::from(value(*byte)?);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some(bytes)
}

fn value(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_alphabets_with_and_without_padding() {
        for (text, expected) in [
            ("aGVsbG8=", Some(b"hello".as_slice())),
            ("aGVsbG8", Some(b"hello".as_slice())),
            ("_-8=", Some([0xFF, 0xEF].as_slice())),
            ("/+8", Some([0xFF, 0xEF].as_slice())),
            ("", Some(b"".as_slice())),
            ("a b", None),
        ] {
            assert_eq!(decode(text.as_bytes()).as_deref(), expected, "{text}");
        }
    }
}
