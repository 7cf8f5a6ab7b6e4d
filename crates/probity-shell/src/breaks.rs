//! Line ends in place of operators, for texts of many commands.
//!
//! The parser takes a chain of `&&` up to a length only, and for every `$(` it reads the rest of the
//! line once more. A RUN is one line, however many commands it has. So the parser gets a copy in
//! which each command has its own line, and what joined them is read from the text itself: every
//! offset is the same in both.

use crate::scan::{Scan, is_blank};

/// Texts with fewer operators are parsed as they are written.
const FEW: usize = 200;

/// The copy; none where the text has few commands or is not understood well enough.
pub(crate) fn with_line_ends(text: &str) -> Option<String> {
    let operators = text.bytes().filter(|byte| matches!(byte, b';' | b'&' | b'|' | b'(')).count();
    if operators < FEW {
        return None;
    }
    let mut scan = Scan::new(text);
    let mut copy = text.as_bytes().to_vec();
    // The last byte that is not blank; a line end counts, since nothing is joined to that.
    let mut before = b'\n';
    while let Some(byte) = scan.peek(0) {
        let start = scan.at;
        // The body of a here-document begins at the line end after it, so none is added before that.
        let is_joined = !scan.awaits_body() && !matches!(before, b'\n' | b';' | b'&' | b'|' | b'(');
        match (byte, scan.peek(1)) {
            (b'&', Some(b'&')) | (b'|', Some(b'|')) => {
                scan.at += 2;
                if is_joined {
                    copy.get_mut(start..start + 2)?.copy_from_slice(b"\n ");
                }
            }
            (b';', Some(b';' | b'&')) => scan.at += 2,
            (b';', _) => {
                scan.at += 1;
                if is_joined {
                    *copy.get_mut(start)? = b'\n';
                }
            }
            (b'\n', _) => scan.line_end(),
            (b'<', Some(b'<')) => scan.here_marker(),
            (b'(', Some(b'(')) => scan.skip_to(b"))")?,
            (b'[', Some(b'[')) if is_blank(scan.previous()) => scan.skip_to(b"]]")?,
            (b'#', _) if is_blank(scan.previous()) => scan.comment(),
            _ => scan.piece()?,
        }
        if !matches!(byte, b' ' | b'\t') {
            before = byte;
        }
    }
    String::from_utf8(copy).ok()
}
