//! From bytes to text, or to the finding that says why there is none.

use probity_finding::{Finding, Span};

use super::{Outcome, problem};

/// UTF-8 without a NUL byte. An empty file is text; what it lacks is for the parser to say. Bytes that
/// are not UTF-8 become signs, so that the rest of the file can be checked, and one finding.
pub(super) fn text(bytes: Vec<u8>) -> Outcome<(String, Option<Finding>)> {
    if let Some(encoding) = foreign_encoding(&bytes) {
        return Err(problem::foreign_encoding(encoding));
    }
    if let Some(offset) = bytes.iter().position(|byte| *byte == 0) {
        return Err(problem::binary(offset, line_of(&bytes, offset)));
    }
    let error = match String::from_utf8(bytes) {
        Ok(text) => return Ok((text, None)),
        Err(error) => error,
    };
    let bytes = error.as_bytes();
    // All before it is text, so that the first sign is at the same offset.
    let offset = error.utf8_error().valid_up_to();
    let byte = bytes.get(offset).copied().unwrap_or_default();
    let stray = bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
    let place = Span::new(offset, offset + char::REPLACEMENT_CHARACTER.len_utf8());
    let finding = problem::not_utf8(byte, stray, place);
    Ok((String::from_utf8_lossy(bytes).into_owned(), Some(finding)))
}

/// Text whatever the bytes are: as their mark says, and else UTF-8 with signs for what is not.
pub(super) fn any(bytes: &[u8]) -> String {
    let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let (pairs, _) = bytes.as_chunks::<2>();
        let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// The encoding that a byte order mark announces, unless it is UTF-8.
fn foreign_encoding(bytes: &[u8]) -> Option<&'static str> {
    // The mark of UTF-32 begins with that of UTF-16, so it is asked for first.
    [
        (&[0xff, 0xfe, 0, 0][..], "UTF-32 (little endian)"),
        (&[0, 0, 0xfe, 0xff], "UTF-32 (big endian)"),
        (&[0xff, 0xfe], "UTF-16 (little endian)"),
        (&[0xfe, 0xff], "UTF-16 (big endian)"),
    ]
    .into_iter()
    .find_map(|(mark, encoding)| bytes.starts_with(mark).then_some(encoding))
}

/// The number of the line, from 1, that holds the byte at `offset`.
fn line_of(bytes: &[u8], offset: usize) -> usize {
    bytes.iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}
