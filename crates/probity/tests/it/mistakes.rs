//! Mistakes that people make, each with the whole answer: what is wrong, where, why, and what to do.
//!
//! `mistakes/answers.txt` has one entry for each: the directory and the command, the answer on standard
//! error, and the exit code.

use std::fs;

use crate::binary::{directory, probity};

const ANSWERS: &str = include_str!("mistakes/answers.txt");

const DOCKERFILE: &str = "FROM debian:12-slim\nRUN sudo ls\n";

/// Every directory has a Dockerfile too.
const FILES: &[(&str, &str)] = &[
    ("work/empty.json", "{}\n"),
    ("work/text.json", "not json\n"),
    ("work/own.toml", "[check]\npreset = \"strct\"\n"),
    ("work/review.yml", "threshold: [\n"),
    ("work/sources/contract.ak", "validator x {}\n"),
    ("work/skills/bad.md", "no front matter\n"),
    ("typo/probity.toml", "[check]\nprest = \"all\"\n"),
    ("number/probity.toml", "[check]\npreset = 5\n"),
    ("open/probity.toml", "[check\n"),
    ("section/probity.toml", "[chek]\n"),
    ("duration/probity.toml", "[ai]\ntimeout = \"soon\"\n"),
    (
        "expression/probity.toml",
        "[[check.rule]]\nname = \"x\"\nmessage = \"m\"\nwhen = \"instructoin == 1\"\n",
    ),
    ("rule/probity.toml", "[check.rules.hadolint.DL9999]\nseverity = \"off\"\n"),
    ("extends/probity.toml", "extends = \"shared.toml\"\n"),
    ("circle/probity.toml", "extends = \"probity.toml\"\n"),
    ("list/probity.toml", "[check.rules]\nexclude = \"DL3006\"\n"),
    ("compose/compose.yaml", "services:\n  api:\n    build: [\n"),
    ("nowhere/compose.yaml", "services:\n  api:\n    build: ./api\n"),
    ("bake/docker-bake.hcl", "target \"a\" {\n"),
    ("tally/.tally.toml", "[rules.tally.max-lines]\nmax = \"many\"\n"),
    ("hadolint/.hadolint.yaml", "ignored: DL3006\n  - x\n"),
];

/// What a program's error says, and a person should not have to read.
const JARGON: &[&str] = &["invalid digit", "invalid u32", "ParseIntError", "docs/"];

#[test]
fn every_mistake_is_answered_with_what_is_wrong_and_what_to_do() {
    let stage = directory(FILES);
    for (path, _) in FILES {
        let below = path.split('/').next().unwrap();
        fs::write(stage.path().join(below).join("Dockerfile"), DOCKERFILE).unwrap();
    }
    let mut answers = String::new();
    let mut count = 0;
    for line in ANSWERS.lines().filter(|line| line.contains("$ probity")) {
        let (place, command) = line.split_once("$ probity ").unwrap();
        let words = shlex(command);
        let output = probity().dir(stage.path().join(place)).args(&words).run();
        let answer = output.stderr.trim_end();
        let code = output.code.unwrap();
        answers.push_str(&format!("{line}\n{answer}\n[exit {code}]\n\n"));
        count += 1;
        assert!(matches!(code, 1 | 2), "{line}: {code}");
        assert!(answer.starts_with("error: "), "{line}: {answer}");
        let leads_on = ["  help: ", "  tip: ", "Usage: ", "possible values: ", "--help"];
        assert!(leads_on.iter().any(|way| answer.contains(way)), "{line}: {answer}");
        for word in JARGON {
            assert!(!answer.contains(word), "{line}: {answer}");
        }
    }
    assert!(count >= 100, "{count}");
    assert!(answers == ANSWERS, "mistakes/answers.txt should be:\n{answers}");
}

/// Words between blanks, those in single quotes together.
fn shlex(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, piece) in command.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(piece.to_owned());
        } else {
            words.extend(piece.split_whitespace().map(str::to_owned));
        }
    }
    words
}
