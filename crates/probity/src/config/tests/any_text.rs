//! Any text as a configuration file: it is understood, or refused with a place inside the text.

use std::path::Path;

use proptest::prelude::*;

use super::{file, own_file};
use crate::config::{ConfigError, hadolint};

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

const YAML_BASES: [&str; 2] = [
    "failure-threshold: warning\nignored: [DL3006, SC2086]\noverride:\n  error:\n    - DL3008\n  style: [DL3015]\n",
    "no-fail: false\nlabel-schema:\n  author: text\n  built: rfc3339\ntrustedRegistries: &r\n  - docker.io\n  - \"*.gcr.io\"\n",
];

const YAML_PIECES: [&str; 26] = [
    ":", ": ", "- ", "-", "?", "? ", "&r", "*r", "<<: *r", "!!int", "!", "|", ">-", "{", "}", "[",
    "]", ",", "\"", "'", "\n", "\r", "  ", "\t", "---\n", "\u{85}",
];

/// `script/nightly` asks for more cases.
fn cases() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases.max(1_500), failure_persistence: None, ..usual }
}

/// Where to change a text, and which piece goes there; beyond the pieces, an end is cut off.
type Edit = (prop::sample::Index, usize);

fn edits(pieces: &[&str]) -> impl Strategy<Value = Vec<Edit>> {
    prop::collection::vec((any::<prop::sample::Index>(), 0..pieces.len() + 2), 0..5)
}

fn edited(base: &str, pieces: &[&str], edits: Vec<Edit>) -> String {
    let mut text = base.to_owned();
    for (at, edit) in edits {
        let at = text.floor_char_boundary(at.index(text.len() + 1));
        match pieces.get(edit) {
            Some(piece) => text.insert_str(at, piece),
            None if edit == pieces.len() => text.truncate(at),
            None => text.drain(..at).for_each(drop),
        }
    }
    text
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn any_text_is_understood_or_refused_with_a_place(
        base in 0..BASES.len(),
        edits in edits(&PIECES),
    ) {
        let text = edited(BASES[base], &PIECES, edits);
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

    #[test]
    fn any_hadolint_file_is_understood_or_refused_with_a_place(
        base in 0..YAML_BASES.len(),
        edits in edits(&YAML_PIECES),
    ) {
        let text = edited(YAML_BASES[base], &YAML_PIECES, edits);
        let problems = match hadolint::read(Path::new(".hadolint.yaml"), &text) {
            Ok((_, warnings)) => warnings,
            Err(ConfigError::Invalid { problems }) => problems,
            Err(other) => return Err(TestCaseError::fail(format!("{other}\n{text:?}"))),
        };
        // YAML ends lines at more characters than one.
        let lines = text.split(['\n', '\r', '\u{85}']).count();
        for problem in problems {
            let is_inside = (1..=lines).contains(&problem.line) && problem.column >= 1;
            prop_assert!(is_inside, "{problem}\n{text:?}");
        }
    }
}
