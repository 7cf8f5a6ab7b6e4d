//! Both programs on the same files: a corpus with every rule good and bad, and random files.
//!
//! Ours knows smaller places than an instruction, so that what is compared is the code and the line on
//! which the instruction begins. Where they differ for a reason, the reason is in `differences`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
};

use probity_dockerfile::{Dockerfile, parse};
use serde_json::Value;

use super::{
    Case,
    differences::{Difference, Seen, Side, differences},
};
use crate::oracle::generate;

const GENERATED: u64 = 300;

/// Everything on, so that every rule has its say.
const ARGS: [&str; 20] = [
    "-f",
    "json",
    "--no-fail",
    "--strict-labels",
    "--trusted-registry",
    "docker.io",
    "--info",
    "DL3057",
    "--info",
    "DL1001",
    "--require-label",
    "text:text",
    "--require-label",
    "url:url",
    "--require-label",
    "rfc3339:rfc3339",
    "--require-label",
    "spdx:spdx",
    "--require-label",
    "hash:hash",
];

const REST: [&str; 4] = ["--require-label", "semver:semver", "--require-label", "email:email"];

#[test]
fn the_corpus_is_judged_as_by_hadolint() {
    let judged = judge(&corpus());
    judged.assert_explained();
    let codes: BTreeSet<&str> = judged.agreed.keys().map(String::as_str).collect();
    assert!(codes.len() >= 71, "some rules are never agreed on: {codes:?}");
}

/// The files of the corpus with their names.
pub(super) fn corpus() -> Vec<(&'static str, String)> {
    let parts = include_str!("corpus.txt").split("=== ").skip(1);
    let named = parts.map(|part| part.split_once('\n').unwrap());
    named.map(|(name, text)| (name, text.to_owned())).collect()
}

#[test]
fn random_files_are_judged_as_by_hadolint() {
    let files: Vec<(&str, String)> =
        (0..GENERATED).map(|number| ("generated", generate::dockerfile(number))).collect();
    let judged = judge(&files);
    judged.assert_explained();
    assert!(judged.agreed.values().sum::<usize>() >= 600, "{:?}", judged.agreed);
}

#[derive(Default)]
pub(super) struct Judged {
    /// Files that hadolint can parse, and those with the same findings.
    pub(super) compared: usize,
    pub(super) same: usize,
    /// Files, by their position, and the rules that only one program reports in them.
    pub(super) differing: BTreeSet<(usize, String)>,
    agreed: BTreeMap<String, usize>,
    known: BTreeMap<usize, usize>,
    unknown: Vec<String>,
}

impl Judged {
    /// The differences that explained nothing.
    pub(super) fn unused(&self) -> impl Iterator<Item = &'static Difference> {
        let rows = differences().enumerate();
        rows.filter(|(index, _)| !self.known.contains_key(index)).map(|(_, row)| row)
    }

    #[expect(clippy::print_stdout, reason = "the table is what a reader of the test wants to see")]
    pub(super) fn assert_explained(&self) {
        let mut table = String::new();
        for (code, count) in &self.agreed {
            writeln!(table, "{count:6} agreed: {code}").unwrap();
        }
        for (index, difference) in differences().enumerate() {
            let Some(count) = self.known.get(&index) else { continue };
            let (codes, side, reason) = (difference.codes, difference.side, difference.reason);
            writeln!(table, "{count:6} only {side:?}: {codes:?}: {reason}").unwrap();
        }
        println!("{table}");
        let unknown = self.unknown.join("\n");
        assert!(unknown.is_empty(), "differences without a reason:\n{unknown}");
    }
}

pub(super) fn judge(files: &[(&str, String)]) -> Judged {
    let dir = tempfile::tempdir().unwrap();
    let paths: Vec<String> = (0..files.len()).map(|number| format!("{number:05}")).collect();
    for (path, (_, text)) in paths.iter().zip(files) {
        fs::write(dir.path().join(path), text).unwrap();
    }
    let args: Vec<&str> =
        ARGS.into_iter().chain(REST).chain(paths.iter().map(String::as_str)).collect();
    let case = Case { args: &args, ..Case::default() };
    let (ours, theirs) = (case.ours(dir.path()).code(0), case.theirs(dir.path()).code(0));
    let (ours, theirs) = (by_file(&ours.stdout), by_file(&theirs.stdout));
    let mut judged = Judged::default();
    let none = BTreeSet::new();
    for (index, (path, (name, text))) in paths.iter().zip(files).enumerate() {
        let theirs = theirs.get(path).unwrap_or(&none);
        // What it cannot parse it has nothing to say about.
        if theirs.iter().any(|(code, _)| code == "DL1000") {
            continue;
        }
        let file = parse(text);
        let ours: BTreeSet<(String, usize)> = ours
            .get(path)
            .unwrap_or(&none)
            .iter()
            .filter(|(code, _)| code != "DL1000")
            .map(|(code, line)| (code.clone(), first_line(&file, *line)))
            .collect();
        for (code, _) in ours.intersection(theirs) {
            *judged.agreed.entry(code.clone()).or_default() += 1;
        }
        judged.compared += 1;
        judged.same += usize::from(ours == *theirs);
        let only = ours.symmetric_difference(theirs).map(|(code, _)| (index, code.clone()));
        judged.differing.extend(only);
        let mut differs = |(code, line): &(String, usize), side| {
            let seen = Seen { file: &file, line: *line };
            let known = differences().position(|row| row.explains(code, side, &seen));
            match known {
                Some(index) => *judged.known.entry(index).or_default() += 1,
                None => judged.unknown.push(format!(
                    "{name}: {code} at line {line} only by {side:?}: {:?}",
                    seen.source()
                )),
            }
        };
        ours.difference(theirs).for_each(|place| differs(place, Side::Ours));
        theirs.difference(&ours).for_each(|place| differs(place, Side::Theirs));
    }
    judged
}

/// Codes and lines, by file, without ShellCheck's.
fn by_file(json: &str) -> BTreeMap<String, BTreeSet<(String, usize)>> {
    let items: Vec<Value> = serde_json::from_str(json).unwrap();
    let mut all = BTreeMap::<String, BTreeSet<_>>::new();
    for item in items {
        let code = item["code"].as_str().unwrap().to_owned();
        let line = usize::try_from(item["line"].as_u64().unwrap()).unwrap();
        let file = item["file"].as_str().unwrap().to_owned();
        if code.starts_with("DL") {
            all.entry(file).or_default().insert((code, line));
        }
    }
    all
}

fn first_line(file: &Dockerfile<'_>, line: usize) -> usize {
    let within = |lines: (usize, usize)| lines.0 <= line && line <= lines.1;
    file.instructions
        .iter()
        .find(|instruction| within(instruction.lines()))
        .map_or(line, |instruction| instruction.lines().0)
}
