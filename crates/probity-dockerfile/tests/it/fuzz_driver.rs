//! The fuzz target without the fuzzer: the same corpus mutated in the same way on every machine.

use std::{fs, path::Path};

use crate::invariants::check;

const ITERATIONS: usize = 6_000;

/// Longer texts find nothing that shorter ones do not, and take the time of many.
const LONGEST: usize = 2_000;

/// What the grammar turns on.
const PIECES: [&str; 44] = [
    "\\",
    "\\\n",
    "`",
    "\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    "\"",
    "'",
    "$",
    "${",
    "}",
    ":-",
    ":?",
    "#",
    "##",
    "%",
    "/",
    "=",
    ",",
    "<<",
    "<<-",
    "EOF",
    "3<<",
    "[",
    "]",
    "[\"",
    "--",
    "--mount=",
    "--from=",
    "FROM ",
    "ONBUILD ",
    "RUN ",
    "ENV ",
    "ARG ",
    "HEALTHCHECK ",
    "# escape=`\n",
    "\u{feff}",
    "é",
    "\u{2028}",
    "\0",
    "😀",
    "WORKDIR ",
];

#[test]
fn mutated_files_keep_every_invariant() {
    let corpus = corpus();
    let mut random = Random(7);
    let mut text = String::new();
    for _ in 0..ITERATIONS {
        // A mutant is mutated further until it is replaced, so that damage adds up.
        if text.is_empty() || text.len() > LONGEST || random.below(8) == 0 {
            text.clone_from(&corpus[random.below(corpus.len())]);
        }
        mutate(&mut text, &corpus, &mut random);
        check(&text);
    }
}

fn corpus() -> Vec<String> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases");
    let mut paths: Vec<_> =
        fs::read_dir(cases).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.retain(|path| path.extension().is_none());
    assert_eq!(paths.len(), 19);
    let mut corpus: Vec<String> =
        paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    corpus.extend(
        [
            "ARG A=1\nFROM a:${A:-b} AS c\nFROM c\nCOPY --from=c --chmod=1 a b\nWORKDIR x/$A\n",
            "FROM a\nONBUILD RUN <<E\nE\nENV a=1 b=\"$a\" c='d'\nSHELL [\"a\"]\nEXPOSE 80/TCP 1-3\n",
            "# syntax=a\n# check=skip=all\nFROM --platform=$B a\nHEALTHCHECK --interval=5s CMD a\n",
        ]
        .map(str::to_owned),
    );
    corpus
}

fn mutate(text: &mut String, corpus: &[String], random: &mut Random) {
    let (from, to) = (place(text, random), place(text, random));
    let range = from.min(to)..from.max(to).min(from.min(to) + 40);
    let range = range.start..boundary(text, range.end);
    match random.below(5) {
        0 => text.insert_str(from, PIECES[random.below(PIECES.len())]),
        1 => text.replace_range(range, ""),
        2 => text.replace_range(range, PIECES[random.below(PIECES.len())]),
        3 => {
            let copied = text[range].to_owned();
            text.insert_str(to, &copied);
        }
        _ => {
            let other = &corpus[random.below(corpus.len())];
            let cut = place(other, random);
            text.truncate(from);
            text.push_str(&other[cut..]);
        }
    }
}

fn place(text: &str, random: &mut Random) -> usize {
    boundary(text, random.below(text.len() + 1))
}

/// The place itself, or the next one before it that does not cut a character.
fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) >> 1).unwrap() % end
    }
}
