//! Reading frames from streams that come in any pieces, and writing them.

use std::io::{self, Read, Write};

use probity_acp::{FrameReader, FrameWriter, Skipped};
use proptest::collection::vec;
use proptest::prelude::*;

/// Hands out bytes in pieces of the given sizes, over and over, with interruptions between them.
struct Pieces<'a> {
    bytes: &'a [u8],
    sizes: &'a [usize],
    turn: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.turn += 1;
        if self.turn.is_multiple_of(5) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let size = self.sizes[self.turn % self.sizes.len()].min(buffer.len()).min(self.bytes.len());
        let (piece, rest) = self.bytes.split_at(size);
        buffer[..size].copy_from_slice(piece);
        self.bytes = rest;
        Ok(size)
    }
}

fn read_all(source: impl Read, limit: usize) -> (Vec<String>, Skipped) {
    let mut reader = FrameReader::with_line_limit(source, limit);
    let mut messages = Vec::new();
    while let Some(message) = reader.read().unwrap() {
        messages.push(message.text().to_owned());
    }
    (messages, reader.skipped().clone())
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => "[a-z\u{e9}\u{1f600}]{0,30}".prop_map(|text| format!(r#"{{"method":"{text}"}}"#).into_bytes()),
        1 => "[ \t\r]{0,3}".prop_map(String::into_bytes),
        1 => "[a-z ]{1,40}".prop_map(String::into_bytes),
        1 => Just(b"{\"method\":\"\xff\"}".to_vec()),
        1 => (41_usize..900).prop_map(|size| format!(r#"{{"id":"{}"}}"#, "x".repeat(size)).into_bytes()),
    ]
}

proptest! {
    #[test]
    fn pieces_make_no_difference_and_every_byte_is_accounted_for(
        lines in vec(line(), 0..20),
        half in "[a-z{]{0,9}",
        sizes in vec(1_usize..40, 1..6),
    ) {
        const LIMIT: usize = 200;
        let mut expected = Vec::new();
        let mut bytes = Vec::new();
        let mut passed_over = half.len();
        for line in &lines {
            bytes.extend_from_slice(line);
            bytes.push(b'\n');
            match std::str::from_utf8(line) {
                Ok(text) if text.starts_with('{') && text.len() <= LIMIT => expected.push(text.to_owned()),
                Ok(text) if text.trim().is_empty() => {}
                _ => passed_over += line.len(),
            }
        }
        bytes.extend_from_slice(half.as_bytes());

        let (messages, skipped) = read_all(Pieces { bytes: &bytes, sizes: &sizes, turn: 0 }, LIMIT);
        prop_assert_eq!(messages, expected);
        prop_assert_eq!(skipped.bytes, passed_over as u64);
        prop_assert_eq!(skipped.half, u64::from(!half.is_empty()));
        prop_assert_eq!(skipped.too_long, lines.iter().filter(|line| line.len() > LIMIT).count() as u64);
    }
}

#[test]
fn the_limit_is_the_length_of_the_line_without_its_newline() {
    let text = r#"{"id":1}"#;
    let line = format!("{text}\n");
    assert_eq!(read_all(line.as_bytes(), text.len()).0, [text]);
    let (messages, skipped) = read_all(line.as_bytes(), text.len() - 1);
    assert!(messages.is_empty());
    assert_eq!((skipped.too_long, skipped.bytes), (1, text.len() as u64));
}

#[test]
fn a_hundred_megabytes_without_a_newline_are_counted_and_the_next_message_is_read() {
    let flood = io::repeat(b'x').take(100_000_000);
    let after: &[u8] = b"\n{\"id\":1}\n";
    let (messages, skipped) = read_all(flood.chain(after), 1 << 20);
    assert_eq!(messages, [r#"{"id":1}"#]);
    assert_eq!((skipped.too_long, skipped.bytes), (1, 100_000_000));
}

#[test]
fn noise_between_messages_is_counted_with_a_sample_of_the_last() {
    let stream = "Loaded credentials.\n{\"id\":1}\n\n{\"level\":\"info\"}\n\u{feff}\nlast one \u{e9}\n{\"id\":2}\nhalf";
    let (messages, skipped) = read_all(stream.as_bytes(), 1000);
    assert_eq!(messages, [r#"{"id":1}"#, r#"{"id":2}"#]);
    assert_eq!((skipped.noise, skipped.half, skipped.lines()), (4, 1, 5));
    assert_eq!(skipped.sample.as_deref(), Some("last one \u{e9}"));
}

/// A message that was cut off in the middle must not be continued by the next one.
#[test]
fn after_a_failed_write_nothing_more_is_written() {
    struct Full(Vec<u8>);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let room = 12_usize.saturating_sub(self.0.len());
            if room == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let count = room.min(bytes.len());
            self.0.extend_from_slice(&bytes[..count]);
            Ok(count)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut writer = FrameWriter::new(Full(Vec::new()));
    writer.write(r#"{"id":1}"#).unwrap();
    assert_eq!(writer.write(r#"{"id":2}"#).unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(writer.write("{}").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    assert_eq!(writer.into_inner().0, b"{\"id\":1}\n{\"i");
}

#[test]
fn a_message_is_one_line_of_any_size_and_a_newline_in_it_is_refused() {
    for size in [0, 10, 65_535, 65_536, 1 << 20] {
        let mut writer = FrameWriter::new(Vec::new());
        let text = "x".repeat(size);
        writer.write(&text).unwrap();
        let refused = writer.write("{\n}").unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
        writer.write("{}").unwrap();
        assert_eq!(writer.into_inner(), format!("{text}\n{{}}\n").into_bytes());
    }
}
