//! 100 Dockerfiles in the style of official and company images, with the defects that were put in.
//!
//! The half `own` was written beside the rules, the half `blind` by somebody who did not know them. Each
//! row of `expect.tsv` is a file, a line, the rules that may report the defect (`-` for a defect that no
//! rule of the default preset finds) and the author's words. Words that begin with `also:` are findings that are true without
//! being seeded. Whatever else is found is false.

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde_json::Value;

use crate::binary::probity;

/// Rules about layout, taste and pinned versions, which are not judged here.
const NOT_JUDGED: &[&str] = &[
    "hadolint/DL3003",
    "hadolint/DL3008",
    "hadolint/DL3013",
    "hadolint/DL3015",
    "hadolint/DL3016",
    "hadolint/DL3018",
    "hadolint/DL3028",
    "hadolint/DL3033",
    "hadolint/DL3037",
    "hadolint/DL3041",
    "hadolint/DL3047",
    "hadolint/DL3059",
    "hadolint/DL3062",
    "hadolint/DL3066",
    "hadolint/DL3067",
    "hadolint/DL4001",
    "hadolint/DL4006",
    "shellcheck/SC2086",
    "shellcheck/SC2155",
    "tally/copy-after-user-without-chown",
    "tally/newline-between-instructions",
    "tally/newline-per-chained-call",
    "tally/no-multi-spaces",
    "tally/prefer-copy-chmod",
    "tally/prefer-copy-heredoc",
    "tally/prefer-multi-stage-build",
    "tally/prefer-package-cache-mounts",
    "tally/prefer-run-heredoc",
    "tally/prefer-slim-base-image",
    "tally/sort-packages",
];

/// Templates that are not Dockerfiles yet: what they break in the syntax is not judged.
const TEMPLATES: &[&str] = &["31-jinja-template/Dockerfile", "42-percent-template/Dockerfile"];

const MOST_FINDINGS: usize = 8;

struct Row {
    file: String,
    line: u64,
    rules: Vec<String>,
    words: String,
}

struct Found {
    file: String,
    lines: (u64, u64),
    rule: String,
    message: String,
}

impl Row {
    fn is_seeded(&self) -> bool {
        !self.words.starts_with("also:")
    }

    fn explains(&self, found: &Found) -> bool {
        self.file == found.file
            && (found.lines.0..=found.lines.1).contains(&self.line)
            && self.rules.contains(&found.rule)
    }
}

#[test]
fn the_own_half_has_no_false_findings_and_few_misses() {
    judge("own", 55, 2);
}

#[test]
fn the_blind_half_has_no_false_findings_and_few_misses() {
    judge("blind", 76, 8);
}

#[expect(clippy::print_stdout, reason = "the figures are what a reader of the test wants to see")]
fn judge(half: &str, seeded: usize, unknown: usize) {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(half);
    let rows = rows(&fs::read_to_string(root.join("expect.tsv")).unwrap());
    let found = check(&root);
    let seeds: Vec<&Row> = rows.iter().filter(|row| row.is_seeded()).collect();
    let is_found = |row: &&&Row| found.iter().any(|finding| row.explains(finding));
    let missed: Vec<&&Row> = seeds.iter().filter(|row| !is_found(row)).collect();
    let is_false = |finding: &&Found| !rows.iter().any(|row| row.explains(finding));
    let wrong: Vec<&Found> = found.iter().filter(is_false).collect();
    println!(
        "{half}: {} seeded, {} found, {} missed, {} false",
        seeds.len(),
        seeds.len() - missed.len(),
        missed.len(),
        wrong.len()
    );
    let forgotten: Vec<String> = missed
        .iter()
        .filter(|row| row.rules != ["-"])
        .map(|row| format!("{}:{} {}", row.file, row.line, row.words))
        .collect();
    assert!(forgotten.is_empty(), "defects that are no longer found: {forgotten:#?}");
    let wrong: Vec<String> = wrong
        .iter()
        .map(|it| format!("{}:{} {} {}", it.file, it.lines.0, it.rule, it.message))
        .collect();
    assert!(wrong.is_empty(), "false findings: {wrong:#?}");
    assert_eq!((seeds.len(), missed.len()), (seeded, unknown), "seeded and missed");
    let mut counts = BTreeMap::<&str, usize>::new();
    for finding in &found {
        *counts.entry(&finding.file).or_default() += 1;
    }
    counts.retain(|_, count| *count > MOST_FINDINGS);
    assert!(counts.is_empty(), "more than {MOST_FINDINGS} findings: {counts:?}");
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

/// What the default settings report for all files of a half.
fn check(root: &PathBuf) -> Vec<Found> {
    let ignored = NOT_JUDGED.iter().flat_map(|rule| ["--ignore", rule]);
    let args = ["check", "--format", "json", "."].into_iter().chain(ignored);
    let output = probity().dir(root).args(args).run();
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    let files = report["files"].as_array().unwrap();
    assert_eq!(report["files_scanned"], 50, "{}", output.stderr);
    let mut found = Vec::new();
    for (file, violation) in files.iter().flat_map(|file| {
        let violations = file["violations"].as_array().unwrap();
        violations.iter().map(move |violation| (file["file"].as_str().unwrap(), violation))
    }) {
        let rule = violation["rule"].as_str().unwrap();
        let is_syntax = rule.starts_with("tally/") && violation["severity"] == "error"
            || ["buildkit/InvalidDefaultArgInFrom", "probity/not-a-dockerfile"].contains(&rule);
        if TEMPLATES.contains(&file) && is_syntax && rule != "tally/secrets-in-code" {
            continue;
        }
        let line = |end: &str| violation["location"][end]["line"].as_u64().unwrap_or_default();
        found.push(Found {
            file: file.to_owned(),
            lines: (line("start"), line("end")),
            rule: rule.to_owned(),
            message: violation["message"].as_str().unwrap().to_owned(),
        });
    }
    found
}
