//! ShellCheck's findings as made here, beside those of the program itself.
//!
//! Both get the same texts: written by hand, and generated from a grammar. The codes, the lines and
//! the severities must be the same, or the difference has its reason in `differences`. Of a text that
//! cannot be parsed both must say so; how such a text is described differs.

mod differences;
mod generate;
mod program;

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path, process::Command};

use serde_json::Value;

use self::differences::{DIFFERENCES, Side};
use crate::binary::{probity, tools};

const GENERATED: u64 = 400;

/// Lines of the Dockerfile before those of the text.
const BEFORE: u64 = 5;

/// Lines before those of the text in what ShellCheck gets.
const PRELUDE: u64 = 3;

/// A text and who runs it.
struct Text {
    name: String,
    shell: String,
    text: String,
}

/// The severity by code and line.
type Found = BTreeMap<(String, u64), String>;

#[test]
fn texts_are_judged_as_by_shellcheck() {
    let mut texts: Vec<Text> = include_str!("shellcheck/corpus.txt")
        .split("=== ")
        .skip(1)
        .map(|part| {
            let (head, text) = part.split_once('\n').unwrap();
            let (name, shell) = head.rsplit_once(' ').unwrap();
            Text { name: name.to_owned(), shell: shell.to_owned(), text: text.to_owned() }
        })
        .collect();
    texts.extend((0..GENERATED).map(|number| {
        let (shell, text) = generate::text(number);
        Text { name: number.to_string(), shell: shell.to_owned(), text: text + "\n" }
    }));
    let judged = judge(&texts);
    judged.assert_explained();
    assert!(judged.agreed.len() >= 110, "only these codes agree: {:?}", judged.agreed);
    assert!(judged.agreed.values().sum::<usize>() >= 1400, "{:?}", judged.agreed);
    assert!(judged.unparsed >= 10, "only {} texts that cannot be parsed", judged.unparsed);
    let unused: Vec<String> = DIFFERENCES
        .iter()
        .enumerate()
        .filter(|(index, _)| !judged.known.contains_key(index))
        .map(|(_, it)| format!("{} only {:?}: {}", it.code, it.side, it.reason))
        .collect();
    assert!(unused.is_empty(), "reasons that explain nothing: {unused:#?}");
}

/// What is said of programs, directories and words that somebody had to list.
#[test]
fn lists_are_those_that_shellcheck_shows() {
    let mut texts = Vec::new();
    for line in include_str!("shellcheck/lists.txt").lines() {
        let (code, rest) = line.split_once(' ').unwrap();
        let (pattern, words) = rest.split_once(" : ").unwrap();
        texts.extend(words.split_whitespace().map(|word| Text {
            name: code.to_owned(),
            shell: "bash".to_owned(),
            text: pattern.replace('@', word.trim_matches('.')) + "\n",
        }));
    }
    let dir = tempfile::tempdir().unwrap();
    let (ours, theirs) = (ours(dir.path(), &texts), theirs(dir.path(), &texts));
    let mut agreed = 0;
    for ((text, ours), theirs) in texts.iter().zip(&ours).zip(&theirs) {
        let has = |found: &Found| found.keys().any(|(code, _)| *code == text.name);
        assert_eq!(has(ours), has(theirs), "{}: {}", text.name, text.text);
        agreed += usize::from(has(ours));
    }
    assert!(agreed > 80, "only {agreed} are said by both");
}

#[derive(Default)]
struct Judged {
    agreed: BTreeMap<String, usize>,
    known: BTreeMap<usize, usize>,
    unknown: Vec<String>,
    unparsed: usize,
}

impl Judged {
    fn differs(&mut self, text: &Text, side: Side, code: &str, line: u64) {
        let Text { name, shell, text } = text;
        let number = usize::try_from(line).unwrap().saturating_sub(1);
        let source = text.lines().nth(number).unwrap_or_default();
        let known = DIFFERENCES.iter().position(|difference| {
            difference.code == code && difference.side == side && (difference.holds)(source, text)
        });
        match known {
            Some(index) => *self.known.entry(index).or_default() += 1,
            None => self.unknown.push(format!(
                "{name} ({shell}): {code} only {side:?} in line {line}: {source:?} of\n{text}"
            )),
        }
    }

    #[expect(clippy::print_stdout, reason = "the table is what a reader of the test wants to see")]
    fn assert_explained(&self) {
        let mut table = String::new();
        for (code, count) in &self.agreed {
            writeln!(table, "{count:6} agreed: {code}").unwrap();
        }
        for (index, count) in &self.known {
            let it = &DIFFERENCES[*index];
            writeln!(table, "{count:6} only {:?}: {}: {}", it.side, it.code, it.reason).unwrap();
        }
        println!("{table}");
        let unknown = self.unknown.join("\n");
        assert!(unknown.is_empty(), "differences without a reason:\n{unknown}");
    }
}

fn judge(texts: &[Text]) -> Judged {
    let dir = tempfile::tempdir().unwrap();
    let (ours, theirs) = (ours(dir.path(), texts), theirs(dir.path(), texts));
    let mut judged = Judged::default();
    for ((text, ours), theirs) in texts.iter().zip(&ours).zip(&theirs) {
        let (our_error, their_error) = (cannot_parse(ours), cannot_parse(theirs));
        if our_error || their_error {
            judged.unparsed += usize::from(our_error && their_error);
            match (our_error, their_error) {
                (true, false) => judged.differs(text, Side::Ours, "SC1072", 1),
                (false, true) => judged.differs(text, Side::Theirs, "SC1072", 1),
                _ => {}
            }
            continue;
        }
        for ((code, line), level) in ours {
            match theirs.get(&(code.clone(), *line)) {
                Some(theirs) if level == theirs => {
                    *judged.agreed.entry(code.clone()).or_default() += 1;
                }
                Some(theirs) => {
                    judged.unknown.push(format!("{code} is {level} here and {theirs} there"));
                }
                None => judged.differs(text, Side::Ours, code, *line),
            }
        }
        for (code, line) in theirs.keys().filter(|place| !ours.contains_key(*place)) {
            judged.differs(text, Side::Theirs, code, *line);
        }
    }
    judged
}

/// Whether parsing stopped; what is wrong in one word does not stop it.
fn cannot_parse(found: &Found) -> bool {
    let stops = |code: &str| matches!(code, "SC1070" | "SC1072" | "SC1073" | "SC1089");
    let unfinished = |code: &str| ("SC1040".."SC1065").contains(&code);
    found.iter().any(|((code, _), level)| level == "error" && (stops(code) || unfinished(code)))
}

fn ours(dir: &Path, texts: &[Text]) -> Vec<Found> {
    let mut paths = Vec::new();
    for (number, Text { shell, text, .. }) in texts.iter().enumerate() {
        // What a line can hold is a line, so that continuations are seen too.
        let is_line = text.lines().rev().skip(1).all(|line| line.ends_with('\\'));
        let run =
            if is_line { format!("#\nRUN {text}") } else { format!("RUN <<OUTER\n{text}OUTER\n") };
        let head = format!("FROM a\nARG KNOWN\nENV SET=1\nSHELL [\"/bin/{shell}\", \"-c\"]\n");
        let path = format!("{number:04}.Dockerfile");
        fs::write(dir.join(&path), format!("{head}{run}")).unwrap();
        paths.push(path);
    }
    let args = ["check", "--no-config", "--select", "shellcheck/*", "--format", "json"];
    let output = probity().dir(dir).args(args).args(paths.iter().map(String::as_str)).run();
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    let mut found = vec![Found::new(); texts.len()];
    for file in report["files"].as_array().unwrap() {
        let number: usize = file["file"].as_str().unwrap()[..4].parse().unwrap();
        for item in file["violations"].as_array().unwrap() {
            let code = item["rule"].as_str().unwrap().trim_start_matches("shellcheck/");
            let line = item["location"]["start"]["line"].as_u64().unwrap();
            let level = item["severity"].as_str().unwrap().to_owned();
            found[number].insert((code.to_owned(), line.saturating_sub(BEFORE)), level);
        }
    }
    found
}

fn theirs(dir: &Path, texts: &[Text]) -> Vec<Found> {
    let mut paths = Vec::new();
    for (number, Text { shell, text, .. }) in texts.iter().enumerate() {
        let path = format!("{number:04}");
        let head = format!("#!/bin/{shell}\nexport KNOWN=1\nexport SET=1\n");
        fs::write(dir.join(&path), format!("{head}{text}")).unwrap();
        paths.push(path);
    }
    let output = Command::new(tools().join("python/bin/shellcheck"))
        .current_dir(dir)
        .env("LC_ALL", "C.UTF-8")
        .args(["--norc", "--format", "json1", "--exclude", "SC1090,SC1091,SC2187"])
        .args(&paths)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut found = vec![Found::new(); texts.len()];
    for item in report["comments"].as_array().unwrap() {
        let number: usize = item["file"].as_str().unwrap().parse().unwrap();
        let code = format!("SC{:04}", item["code"].as_u64().unwrap());
        let line = item["line"].as_u64().unwrap();
        let level = item["level"].as_str().unwrap().to_owned();
        found[number].insert((code, line.saturating_sub(PRELUDE)), level);
    }
    found
}
