//! The commands of a text without their structure, where it is nested or joined more than the parser
//! takes.
//!
//! The parser gets a copy with one command a line: keywords, parentheses, operators and
//! here-documents become line ends and spaces, so nothing is nested and nothing is joined. Every
//! offset is the same in both. What a command is part of is lost, and so are substitutions within
//! quotes; the words of each command are not.

use crate::scan::{Scan, is_blank};

/// Words that open, close or join commands; another command can follow them.
const BEFORE_COMMANDS: &[&str] = &[
    "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac", "{", "}", "!",
    "time",
];
/// Words before something that is not a command.
const BEFORE_WORDS: &[&str] = &["for", "case", "select", "function"];

/// The copy.
pub(crate) fn flattened(text: &str) -> String {
    let mut scan = Scan::new(text);
    let mut copy = Copy(text.as_bytes().to_vec());
    let mut is_start = true;
    while let Some(byte) = scan.peek(0) {
        let start = scan.at;
        let is_operator = matches!(byte, b';' | b'&' | b'|' | b'(' | b')' | b'`');
        let is_redirection = byte == b'&'
            && (scan.peek(1) == Some(b'>') || matches!(scan.previous(), Some(b'>' | b'<')));
        match (byte, scan.peek(1)) {
            (b'\n', _) => {
                scan.line_end();
                copy.fill(start + 1..scan.at, b' ');
                is_start = true;
            }
            (b' ' | b'\t', _) => scan.at += 1,
            (b'<', Some(b'<')) => {
                scan.here_marker();
                copy.fill(start..scan.at, b' ');
            }
            (b'$', Some(b'(')) => {
                scan.at += 2;
                copy.fill(start..scan.at, b'\n');
                is_start = true;
            }
            _ if is_operator && !is_redirection => {
                scan.at += 1;
                copy.fill(start..scan.at, b'\n');
                is_start = true;
            }
            (b'#', _) if is_blank(scan.previous()) => {
                scan.comment();
                copy.fill(start..scan.at, b' ');
            }
            _ => {
                let word = if is_start { scan.bare_word() } else { "" };
                if BEFORE_COMMANDS.contains(&word) {
                    scan.at += word.len();
                    copy.fill(start..scan.at, b' ');
                    continue;
                }
                is_start = false;
                if BEFORE_WORDS.contains(&word) {
                    scan.at += word.len();
                    copy.fill(start..scan.at, b' ');
                    copy.fill(start..start + 1, b':');
                    continue;
                }
                let is_closed = scan.piece().is_some();
                let piece = text.as_bytes().get(start..scan.at).unwrap_or_default();
                let count =
                    |opening: &[u8]| piece.windows(2).filter(|pair| *pair == opening).count();
                if count(b"${") > 1 || count(b"$(") > 0 || piece.contains(&b'`') {
                    copy.fill(start..scan.at, b'x');
                }
                if !is_closed {
                    copy.fill(start..text.len(), b' ');
                    break;
                }
            }
        }
    }
    // Whole pieces are overwritten, so that no character is cut; if one is, there is no copy.
    String::from_utf8(copy.0).unwrap_or_default()
}

struct Copy(Vec<u8>);

impl Copy {
    /// Overwrites a range; line ends stay where they are, unless they are what is written.
    fn fill(&mut self, range: std::ops::Range<usize>, with: u8) {
        for byte in self.0.get_mut(range).unwrap_or_default() {
            if *byte != b'\n' {
                *byte = with;
            }
        }
    }
}
