//! Dockerfiles in the style of official and company images, with the defects that were put in.
//!
//! The part `own` was written beside the rules, the parts `blind` and `unseen` by people who did not
//! know them. Each row of `expect.tsv` is a file, a line, the rules that may report the defect (`-` for
//! a defect that no rule knows) and the author's words. A rule that only the preset `strict` runs is
//! written `strict:RULE`. Words that begin with `also:` are findings that are true without being seeded.
//! Whatever else is found is false.
//!
//! Before any rule was changed for it, the part `unseen` had 90 defects, of which 64 were found.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::binary::probity;

const PARTS: [&str; 3] = ["own", "blind", "unseen"];

const MOST_FINDINGS: usize = 8;

struct Row {
    file: String,
    line: u64,
    rules: Vec<String>,
    words: String,
}

struct SeenFinding {
    file: String,
    lines: (u64, u64),
    rule: String,
    message: String,
}

impl Row {
    fn is_seeded(&self) -> bool {
        !self.words.starts_with("also:")
    }

    fn explains(&self, found: &SeenFinding) -> bool {
        self.is_at(found) && self.rules.contains(&found.rule)
    }

    /// Whether only the preset `strict` finds the defect, and this is how.
    fn explains_in_strict(&self, found: &SeenFinding) -> bool {
        let is_meant = |rule: &str| rule.strip_prefix("strict:") == Some(&found.rule);
        self.is_at(found) && self.rules.iter().any(|rule| is_meant(rule))
    }

    fn is_at(&self, found: &SeenFinding) -> bool {
        self.file == found.file && (found.lines.0..=found.lines.1).contains(&self.line)
    }
}

#[test]
fn every_defect_of_the_own_part_is_found_and_nothing_else() {
    judge("own", 53, 0);
}

#[test]
fn every_defect_of_the_blind_part_is_found_and_nothing_else() {
    judge("blind", 76, 0);
}

#[test]
fn nearly_every_defect_of_the_unseen_part_is_found_and_nothing_else() {
    judge("unseen", 90, 6);
}

#[expect(clippy::print_stdout, reason = "the figures are what a reader of the test wants to see")]
fn judge(part: &str, seeded: usize, unknown: usize) {
    let root = root(part);
    let rows = rows(&fs::read_to_string(root.join("expect.tsv")).unwrap());
    let found = check(&root, "recommended");
    let strict = check(&root, "strict");
    let seeds: Vec<&Row> = rows.iter().filter(|row| row.is_seeded()).collect();
    let is_found = |row: &Row| {
        found.iter().any(|finding| row.explains(finding))
            || strict.iter().any(|finding| row.explains_in_strict(finding))
    };
    let is_unknown = |row: &Row| row.rules == ["-"];
    let missed: Vec<String> = seeds
        .iter()
        .filter(|row| !is_found(row) && !is_unknown(row))
        .map(|row| format!("{}:{} {}", row.file, row.line, row.words))
        .collect();
    let wrong: Vec<String> = found
        .iter()
        .filter(|finding| !rows.iter().any(|row| row.explains(finding)))
        .map(|finding| {
            format!("{}:{} {} {}", finding.file, finding.lines.0, finding.rule, finding.message)
        })
        .collect();
    let mut counts = BTreeMap::<&str, usize>::new();
    for finding in &found {
        *counts.entry(&finding.file).or_default() += 1;
    }
    println!(
        "{part}: {} seeded, {} found, {} false, at most {} findings in a file",
        seeds.len(),
        seeds.iter().filter(|row| is_found(row)).count(),
        wrong.len(),
        counts.values().max().unwrap_or(&0)
    );
    assert!(missed.is_empty() && wrong.is_empty(), "missed: {missed:#?}\nfalse: {wrong:#?}");
    let left = seeds.iter().filter(|row| is_unknown(row)).count();
    assert_eq!((seeds.len(), left), (seeded, unknown), "seeded, and known to no rule");
    counts.retain(|_, count| *count > MOST_FINDINGS);
    assert!(counts.is_empty(), "more than {MOST_FINDINGS} findings: {counts:?}");
    let idle: Vec<&str> = rows
        .iter()
        .filter(|row| !row.is_seeded() && !is_found(row))
        .map(|row| row.words.as_str())
        .collect();
    assert!(idle.is_empty(), "rows that excuse nothing: {idle:#?}");
}

/// What a maintainer reads.
#[test]
fn the_text_reports_read_as_a_reviewer_would_write_them() {
    for part in PARTS {
        let output = probity().dir(root(part)).args(["check", "."]).run();
        insta::with_settings!({ snapshot_path => "../corpus", prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(part, output.stdout);
        });
    }
}

/// An ordinary file of 60 lines gives at most 40 lines of text.
#[test]
fn text_reports_are_short() {
    const MOST_LINES: usize = 40;
    for part in PARTS {
        let root = root(part);
        for entry in fs::read_dir(&root).unwrap() {
            let file = entry.unwrap().path().join("Dockerfile");
            if !file.is_file() {
                continue;
            }
            let output = probity().dir(&root).args([OsStr::new("check"), file.as_os_str()]).run();
            let lines = output.stdout.lines().count();
            assert!(lines <= MOST_LINES, "{lines} lines:\n{}", output.stdout);
        }
    }
}

fn root(part: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(part)
}

fn rows(text: &str) -> Vec<Row> {
    let row = |line: &str| {
        let [file, line, rules, words] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        Row {
            file: file.to_owned(),
            line: line.parse().unwrap(),
            rules: rules.split(',').map(str::to_owned).collect(),
            words: words.to_owned(),
        }
    };
    text.lines().map(row).collect()
}

/// What a preset reports for all files of a part. A finding of a whole file is on line 0.
fn check(root: &Path, preset: &str) -> Vec<SeenFinding> {
    let args = ["check", "--preset", preset, "--format", "json", "."];
    let output = probity().dir(root).args(args).run();
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(report["files_scanned"], 50, "{}", output.stderr);
    let mut found = Vec::new();
    for file in report["files"].as_array().unwrap() {
        for violation in file["violations"].as_array().unwrap() {
            let line = |end: &str| violation["location"][end]["line"].as_u64().unwrap_or_default();
            found.push(SeenFinding {
                file: file["file"].as_str().unwrap().to_owned(),
                lines: (line("start"), line("end")),
                rule: violation["rule"].as_str().unwrap().to_owned(),
                message: violation["message"].as_str().unwrap().to_owned(),
            });
        }
    }
    found
}
