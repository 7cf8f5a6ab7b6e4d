//! Commands that a CI runner obeys in the output of a program, broken so that they are text again.
//!
//! The runners read line by line, and a lone `\r` ends a line too. GitHub Actions obeys `::name …::`
//! after blanks at the start of a line, and, as Azure Pipelines does with `##vso[…]`, `##[name …]`
//! anywhere. What comes out of here has neither: the last character of the opening gets a space
//! before it, or an escape where the syntax has one.
//!
//! Only that one character is touched, when it arrives. So nothing is held back, and it does not
//! matter how a text is cut into pieces.

use crate::hidden::{is_control, is_misleading};

/// What the bytes are part of, which decides how a command can be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// For people: a space is inserted.
    Text,
    /// A command can only be inside a string, where an escape leaves the value as it is.
    Json,
    /// Character references leave the text as it is, in elements and attributes.
    Xml,
    /// Text with annotations of our own: `::error`, `::warning` and `::notice` are meant at the
    /// start of a line, and no other command is.
    Annotations,
}

impl Syntax {
    /// What is written for the byte that would complete the opening of a command.
    fn instead_of(self, byte: u8) -> &'static [u8] {
        match (self, byte) {
            (Self::Json, b'[') => b"\\u005b",
            (Self::Xml, b'[') => b"&#91;",
            (Self::Xml, _) => b"&#58;",
            (_, b'[') => b" [",
            (_, _) => b" :",
        }
    }
}

/// Where in a line a stream is, as far as a runner cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPosition {
    start: Start,
    hashes: Hashes,
}

impl LogPosition {
    /// Before the first byte, and after each line end.
    pub const START: Self = Self { start: Start::Blank(Utf8Piece::EMPTY), hashes: Hashes::None };

    /// Hands on the next bytes of the stream, with every command in them broken.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn pass<E>(
        &mut self,
        syntax: Syntax,
        bytes: &[u8],
        mut out: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = bytes;
        while let Some(at) = self.find(syntax, rest) {
            let (before, command) = rest.split_at(at);
            let Some((byte, behind)) = command.split_first() else { break };
            if !before.is_empty() {
                out(before)?;
            }
            out(syntax.instead_of(*byte))?;
            rest = behind;
        }
        if rest.is_empty() { Ok(()) } else { out(rest) }
    }

    /// Reads on, up to a byte that would complete the opening of a command.
    fn find(&mut self, syntax: Syntax, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some((byte, behind)) = bytes.get(at..).and_then(<[u8]>::split_first) {
            let is_idle = self.start == Start::Begun && self.hashes == Hashes::None;
            if is_idle && !matches!(byte, b'#' | b'\n' | b'\r') {
                at += 1 + memchr::memchr3(b'#', b'\n', b'\r', behind)?;
                continue;
            }
            if self.completes_opening(syntax, *byte) {
                return Some(at);
            }
            at += 1;
        }
        None
    }

    fn completes_opening(&mut self, syntax: Syntax, byte: u8) -> bool {
        if matches!(byte, b'\n' | b'\r') {
            *self = Self::START;
            return false;
        }
        let (hashes, is_bracket) = self.hashes.then(byte);
        let (start, is_colon) = self.start.then(syntax, byte);
        *self = Self { start, hashes };
        is_bracket || is_colon
    }
}

/// How much there is of `##[` or `##word[`: TeamCity has such a word too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hashes {
    None,
    One,
    Two,
    Word,
}

impl Hashes {
    fn then(self, byte: u8) -> (Self, bool) {
        let next = match (self, byte) {
            (Self::None | Self::Word, b'#') => Self::One,
            (Self::One | Self::Two, b'#') => Self::Two,
            (Self::Two | Self::Word, b'A'..=b'Z' | b'a'..=b'z') => Self::Word,
            (Self::Two | Self::Word, b'[') => return (Self::None, true),
            _ => Self::None,
        };
        (next, false)
    }
}

/// What a line has begun with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// Nothing but blanks, and perhaps the first bytes of a character.
    Blank(Utf8Piece),
    Colon,
    /// Our own `::` and these letters of a name still to come.
    Annotation(&'static [u8]),
    /// Our own `::`, and nothing of a name.
    OwnColons,
    /// `::` and not the name of an annotation: another `::` would complete it.
    Foreign,
    ForeignColon,
    /// Anything else.
    Begun,
}

/// The commands that an annotation may be, with the blank before its properties.
const ANNOTATIONS: [&[u8]; 3] = [b"error ", b"warning ", b"notice "];

impl Start {
    fn then(self, syntax: Syntax, byte: u8) -> (Self, bool) {
        let next = match (self, byte) {
            (Self::Blank(piece), b':') if piece.is_empty() => Self::Colon,
            (Self::Blank(piece), _) => piece.then(byte),
            (Self::Colon, b':') if syntax == Syntax::Annotations => Self::OwnColons,
            (Self::Colon, b':') => return (Self::Begun, true),
            (Self::ForeignColon, b':') => return (Self::ForeignColon, true),
            (Self::OwnColons, _) => {
                match ANNOTATIONS.iter().find(|name| name.first() == Some(&byte)) {
                    Some([_, rest @ ..]) => Self::Annotation(rest),
                    _ => Self::foreign(byte),
                }
            }
            (Self::Annotation([expected, rest @ ..]), _) if *expected == byte => match rest {
                [] => Self::Begun,
                _ => Self::Annotation(rest),
            },
            (Self::Annotation(_) | Self::Foreign | Self::ForeignColon, _) => Self::foreign(byte),
            (Self::Colon | Self::Begun, _) => Self::Begun,
        };
        (next, false)
    }

    fn foreign(byte: u8) -> Self {
        if byte == b':' { Self::ForeignColon } else { Self::Foreign }
    }
}

/// The first bytes of a character that a piece of the stream ended in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Utf8Piece {
    bytes: [u8; 4],
    length: usize,
}

impl Utf8Piece {
    const EMPTY: Self = Self { bytes: [0; 4], length: 0 };

    fn is_empty(self) -> bool {
        self.length == 0
    }

    fn then(mut self, byte: u8) -> Start {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
        match std::str::from_utf8(self.bytes.get(..self.length).unwrap_or_default()) {
            Ok(text) if text.chars().all(is_blank) => Start::Blank(Self::EMPTY),
            Err(error) if error.error_len().is_none() => Start::Blank(self),
            Ok(_) | Err(_) => Start::Begun,
        }
    }
}

/// What a runner skips at the start of a line: .NET trims all white space and drops a byte order
/// mark. The other characters that show nothing are counted as blanks too, to be safe.
fn is_blank(character: char) -> bool {
    character.is_whitespace() || is_control(character) || is_misleading(character)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    const ALL: [Syntax; 4] = [Syntax::Text, Syntax::Json, Syntax::Xml, Syntax::Annotations];

    /// The pieces as they come out, one after the other.
    fn passed<'a>(syntax: Syntax, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
        let (mut position, mut text) = (LogPosition::START, Vec::new());
        for piece in pieces {
            let Ok(()) = position.pass::<Infallible>(syntax, piece, |bytes| {
                text.extend_from_slice(bytes);
                Ok(())
            });
        }
        text
    }

    fn broken(syntax: Syntax, text: &str) -> String {
        String::from_utf8(passed(syntax, [text.as_bytes()])).unwrap()
    }

    /// The first `::name` that GitHub's runner would look up in a line, whether it exists or not.
    fn name_at_start(line: &str) -> Option<&str> {
        let trimmed = line.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        let (info, _) = trimmed.strip_prefix("::")?.split_once("::")?;
        info.split(' ').next()
    }

    /// Whether any runner would look for a command in any line, other than for an annotation of ours.
    fn has_command(syntax: Syntax, text: &str) -> bool {
        let is_own = |name: &str| {
            syntax == Syntax::Annotations && matches!(name, "error" | "warning" | "notice")
        };
        text.split(['\n', '\r']).any(|line| {
            let lower = line.to_ascii_lowercase();
            ["##[", "##vso[", "##teamcity["].iter().any(|opening| lower.contains(opening))
                || name_at_start(line).is_some_and(|name| !is_own(name))
        })
    }

    #[test]
    fn commands_are_broken_and_the_rest_stays() {
        for (text, expected) in [
            ("##[error]x", "## [error]x"),
            ("a ##vso[task.setvariable variable=x]y", "a ##vso [task.setvariable variable=x]y"),
            ("###[group]####VSO[", "### [group]####VSO ["),
            ("##teamcity[x]", "##teamcity [x]"),
            ("##[##[", "## [## ["),
            ("::error::x\n \t::add-mask::y", ": :error::x\n \t: :add-mask::y"),
            ("progress\r::stop-commands::x", "progress\r: :stop-commands::x"),
            ("\u{feff}\u{a0}\u{2003}\u{3000}::x::", "\u{feff}\u{a0}\u{2003}\u{3000}: :x::"),
            ("\x0b\x1b\0::x::", "\x0b\x1b\0: :x::"),
            // None of these is a command.
            (
                "# [x] ## heading ##x (##vso) #[derive] a::b ü::c",
                "# [x] ## heading ##x (##vso) #[derive] a::b ü::c",
            ),
            (": :x::\nstd::io::\n##\n[x]\n:\n:", ": :x::\nstd::io::\n##\n[x]\n:\n:"),
        ] {
            assert_eq!(broken(Syntax::Text, text), expected);
        }
        assert_eq!(broken(Syntax::Json, "\"##[x]\""), "\"##\\u005bx]\"");
        assert_eq!(broken(Syntax::Xml, "##vso[x]\n::y::"), "##vso&#91;x]\n:&#58;y::");
    }

    #[test]
    fn annotations_are_kept_and_nothing_else_passes_for_one() {
        for (text, expected) in [
            ("::error file=a::m ##[x]\n", "::error file=a::m ## [x]\n"),
            (
                "::warning file=a::m\n::notice file=b::m::n",
                "::warning file=a::m\n::notice file=b::m::n",
            ),
            ("::set-env name=x::y", "::set-env name=x: :y"),
            ("::errors::y::z", "::errors: :y: :z"),
            ("::error::x", "::error: :x"),
            ("::ERROR x::y", "::ERROR x: :y"),
            (":::::x", "::: : :x"),
        ] {
            assert_eq!(broken(Syntax::Annotations, text), expected);
        }
    }

    /// Texts that are dense with what openings are made of.
    fn text() -> impl Strategy<Value = String> {
        let part = prop::sample::select(vec![
            "#", "#", "[", ":", ":", "::", "##", "vso", "a", " ", "\n", "\r", "]", "error ",
            "set-env ", "\u{a0}", "\u{feff}", "\u{3000}", "ü", "\x1b",
        ]);
        prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn no_command_comes_out(text in text()) {
            for syntax in ALL {
                let out = broken(syntax, &text);
                prop_assert!(!has_command(syntax, &out), "{syntax:?}: {out:?}");
                prop_assert_eq!(&broken(syntax, &out), &out);
            }
        }

        #[test]
        fn what_has_no_opening_stays(text in text()) {
            let opens = |line: &str| {
                let start = line.trim_start_matches(is_blank);
                let word = |rest: &str| rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).starts_with('[');
                start.starts_with("::") || line.match_indices("##").any(|(at, _)| word(&line[at + 2..]))
            };
            if !text.split(['\n', '\r']).any(opens) && !text.contains("###") {
                for syntax in ALL {
                    prop_assert_eq!(&broken(syntax, &text), &text);
                }
            }
        }

        #[test]
        fn the_cuts_between_pieces_do_not_matter(text in text(), size in 1_usize..7) {
            for syntax in ALL {
                let pieces = passed(syntax, text.as_bytes().chunks(size));
                prop_assert_eq!(pieces, broken(syntax, &text).into_bytes());
            }
        }

        #[test]
        fn escapes_leave_the_value_as_it_is(text in text()) {
            let xml = broken(Syntax::Xml, &text);
            prop_assert_eq!(xml.replace("&#91;", "[").replace("&#58;", ":"), text.as_str());
            // No line of a JSON document begins with colons.
            let json = text.replace("::", ":a");
            prop_assert_eq!(broken(Syntax::Json, &json).replace("\\u005b", "["), json);
        }

        #[test]
        fn bytes_that_are_no_text_pass(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let out = passed(Syntax::Text, [bytes.as_slice()]);
            let kept: Vec<u8> = out.iter().copied().filter(|byte| *byte != b' ').collect();
            let expected: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != b' ').collect();
            prop_assert_eq!(kept, expected);
        }
    }
}
