//! JSON, value by value, onto a stream.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Serializer, ser::Formatter};

use probity_text::is_hidden;

/// Writes one value on one line.
///
/// Characters that could steer a terminal are written as `\u` escapes. The value stays the same, and
/// a report that is looked at before it is parsed does no harm.
pub(crate) fn write_json(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(out, Escaping)).map_err(io::Error::from)
}

/// The items of a JSON array that is written bit by bit, one item a line.
#[derive(Debug, Default)]
pub(crate) struct Items {
    begun: bool,
}

impl Items {
    /// Writes the opening, which `head` ends with `[`, before the first item; else a comma.
    pub(crate) fn push(
        &mut self,
        out: &mut dyn Write,
        head: &str,
        item: &impl Serialize,
    ) -> io::Result<()> {
        out.write_all(if self.begun { b"," } else { head.as_bytes() })?;
        out.write_all(b"\n")?;
        self.begun = true;
        write_json(out, item)
    }

    /// Closes the array, and opens it first if nothing was in it.
    pub(crate) fn end(self, out: &mut dyn Write, head: &str) -> io::Result<()> {
        out.write_all(if self.begun { b"\n" } else { head.as_bytes() })?;
        out.write_all(b"]")
    }
}

struct Escaping;

impl Formatter for Escaping {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        // Nearly all is plain, which is seen faster byte by byte.
        if fragment.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return writer.write_all(fragment.as_bytes());
        }
        let mut rest = fragment;
        while let Some((at, char)) = rest.char_indices().find(|&(_, char)| is_hidden(char)) {
            let (before, behind) = rest.split_at(at);
            writer.write_all(before.as_bytes())?;
            for unit in char.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = behind.get(char.len_utf8()..).unwrap_or_default();
        }
        writer.write_all(rest.as_bytes())
    }
}
