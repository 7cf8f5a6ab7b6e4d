//! Any text as a configuration file: it is understood, or refused with a place inside the text.

use proptest::prelude::*;

use super::{file, own_file};

/// Files that are right, so that a few edits reach deep into the reader.
const BASES: [&str; 4] = [
    "[check]\npreset = \"strict\"\nignore = [\"DL3008\", 'buildkit/*']\n\n[check.rules.DL4001]\nfix-preference = \"curl\"\n",
    "[ai]\nagent = \"claude\"\ntimeout = \"90s\"\n[containment]\nmemory = \"4g\"\nnetwork = \"none\"\n[[containment.mounts]]\n",
    "[rules]\ninclude = [\"hadolint/*\"]\n[rules.tally.max-lines]\nmax = 50\nskip-comments = false\n[output]\nformat = \"json\"\n",
    "[review]\nthreshold = 7.5\nproof-level = \"P3\"\n[audit]\nskills-dir = [\"a\"]\ninclude = [\"**/*.py\"]\n",
];

const PIECES: [&str; 34] = [
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    ".",
    ",",
    "\"",
    "'",
    "\"\"\"",
    "'''",
    "\\",
    "\\u00e9",
    "\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    "#",
    "true",
    "-1",
    "9223372036854775808",
    "1e400",
    "nan",
    "inf",
    "1979-05-27T07:32:00Z",
    "\u{feff}",
    "\0",
    "é",
    "😀",
    "check.rules",
    "extends = \"x\"",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_understood_or_refused_with_a_place(
        base in 0..BASES.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..PIECES.len() + 2), 0..5),
    ) {
        let mut text = BASES[base].to_owned();
        for (at, edit) in edits {
            let at = text.floor_char_boundary(at.index(text.len() + 1));
            match PIECES.get(edit) {
                Some(piece) => text.insert_str(at, piece),
                None if edit == PIECES.len() => text.truncate(at),
                None => text.drain(..at).for_each(drop),
            }
        }
        let lines = text.split('\n').count();
        for refused in [file(&text).err(), own_file(&text).err()].into_iter().flatten() {
            // Each problem is a line: the file, its line, its column, and what is wrong there.
            let mut fields = refused.splitn(4, ':').skip(1);
            let line = fields.next().and_then(|line| line.parse::<usize>().ok());
            prop_assert!(line.is_some_and(|line| (1..=lines).contains(&line)), "{refused}\n{text:?}");
            let column = fields.next().and_then(|column| column.parse::<usize>().ok());
            prop_assert!(column.is_some_and(|column| column >= 1), "{refused}\n{text:?}");
        }
    }
}
