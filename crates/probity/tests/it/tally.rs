//! The rules of tally, beside the program that has them: each rule alone, on files made for it.
//!
//! The question is whether the rule speaks about a file. Both programs read the same directory with
//! the same configuration. If they differ for a reason, the reason is in `differences`.

mod differences;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
    process::Command,
};

use probity_dockerfile::parse;
use probity_lint::RULES;
use serde_json::Value;

use self::differences::ROWS;
use crate::{
    binary::named,
    hadolint::{
        differences::{Seen, Side, guide_table},
        generator::{Case, cases},
    },
    oracle::verdict::program,
    whole_corpus::is_whole,
};

const TEMPLATES: &str = include_str!("tally/cases.txt");

/// Each rule has at least so many cases.
const LEAST_CASES: usize = 20;

/// One of so many cases is compared, unless all are wanted.
const SAMPLE: usize = 24;

/// Rules that need a registry, a file of many lines, or that tally does not have.
const NOT_COMPARED: [&str; 3] =
    ["tally/max-lines", "tally/platform-mismatch", "tally/prefer-slim-base-image"];

/// Rules that tally leaves out if another of its rules speaks about the same line. Each has a process
/// of its own.
const ALONE: [&str; 6] = [
    "tally/ruby/deprecated-bundler-install-flags",
    "tally/ruby/leftover-bundler-cache",
    "tally/ruby/missing-bundle-without-development",
    "tally/ruby/prefer-bundler-cache-mount",
    "tally/ruby/prefer-gemfile-bind-mounts",
    "tally/ruby/prefer-network-none-install",
];

/// Both programs read this.
const CONFIG: &str = "\
[rules.tally.require-secret-mounts.commands.pip]
id = \"p\"
target = \"/etc/pip.conf\"
";

#[test]
fn every_rule_of_tally_has_enough_cases() {
    let mut counts = BTreeMap::new();
    for case in cases(TEMPLATES) {
        *counts.entry(case.rule).or_insert(0_usize) += 1;
    }
    let few: Vec<_> = counts.iter().filter(|(_, count)| **count < LEAST_CASES).collect();
    assert!(few.is_empty(), "{few:?}");
    for metadata in RULES.iter().map(|rule| rule.metadata()) {
        let names = std::iter::once(metadata.name).chain(metadata.equals.iter().copied());
        for name in names.filter(|name| name.starts_with("tally/")) {
            let is_compared = counts.contains_key(name) || NOT_COMPARED.contains(&name);
            assert!(is_compared, "{name} has no cases");
        }
    }
}

#[test]
fn every_rule_is_silent_where_tally_is_silent() {
    let mut counts = BTreeMap::new();
    let sample = cases(TEMPLATES).into_iter().filter(|case| {
        let count = counts.entry(case.rule).or_insert(0_usize);
        *count += 1;
        is_whole() || *count % SAMPLE == 1
    });
    let judged = judge(&sample.collect::<Vec<_>>());
    judged.print();
    assert!(judged.unknown.is_empty(), "without a reason:\n{}", judged.unknown.join("\n"));
    // A sample need not have a case for every reason, nor for both answers of every rule.
    let unused = ROWS.iter().enumerate().filter(|(index, _)| !judged.known.contains_key(index));
    let unused: Vec<&str> = unused.map(|(_, row)| row.reason).collect();
    assert!(!is_whole() || unused.is_empty(), "reasons that explain nothing: {unused:#?}");
    let dull = judged.answers.iter().filter(|(_, (spoken, silent))| *spoken == 0 || *silent == 0);
    let dull: Vec<_> = dull.collect();
    assert!(!is_whole() || dull.is_empty(), "always the same answer: {dull:?}");
}

#[test]
fn the_guide_lists_every_difference() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tally.md");
    let guide = fs::read_to_string(guide).unwrap();
    let (_, rest) = guide.split_once("<!-- differences -->\n").unwrap();
    let (table, _) = rest.split_once("<!-- end of differences -->").unwrap();
    assert_eq!(table.trim(), guide_table(ROWS.iter(), "tally").trim());
}

#[derive(Default)]
struct Judged {
    /// How often both speak, and how often both are silent.
    answers: BTreeMap<&'static str, (usize, usize)>,
    known: BTreeMap<usize, usize>,
    unknown: Vec<String>,
}

impl Judged {
    #[expect(clippy::print_stdout, reason = "the table is what a reader of the test wants to see")]
    fn print(&self) {
        let mut table = String::new();
        for (rule, (spoken, silent)) in &self.answers {
            writeln!(table, "{spoken:6} spoken {silent:6} silent: {rule}").unwrap();
        }
        for (index, count) in &self.known {
            let row = &ROWS[*index];
            writeln!(table, "{count:6} only {:?}: {:?}: {}", row.side, row.codes, row.reason)
                .unwrap();
        }
        println!("{table}");
    }
}

fn judge(cases: &[Case]) -> Judged {
    let dir = tempfile::tempdir().unwrap();
    let rules: BTreeSet<&'static str> = cases.iter().map(|case| case.rule).collect();
    let folder = |rule: &str| rule.replace('/', "-");
    for (number, case) in cases.iter().enumerate() {
        let file = dir.path().join(folder(case.rule)).join(format!("{number:05}/Dockerfile"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, &case.text).unwrap();
    }
    fs::write(dir.path().join(".tally.toml"), CONFIG).unwrap();
    let (mut ours, mut theirs) = (BTreeSet::new(), BTreeSet::new());
    let (alone, together): (Vec<&str>, Vec<&str>) =
        rules.into_iter().partition(|rule| ALONE.contains(rule));
    let groups = std::iter::once(together).chain(alone.into_iter().map(|rule| vec![rule]));
    for group in groups {
        let mut args =
            ["lint", "--config", ".tally.toml", "--slow-checks=off"].map(str::to_owned).to_vec();
        args.extend(["--format", "json", "--ignore", "*"].map(str::to_owned));
        args.extend(group.iter().map(|rule| format!("--select={rule}")));
        args.extend(group.iter().map(|rule| folder(rule)));
        theirs.extend(spoken(&tally(dir.path(), &args), cases));
        "check".clone_into(&mut args[0]);
        let output = named("tally").dir(dir.path()).args(&args).run();
        assert!(matches!(output.code, Some(0 | 1)), "{}", output.stderr);
        ours.extend(spoken(&output.stdout, cases));
    }
    compare(cases, &ours, &theirs)
}

fn tally(dir: &Path, args: &[String]) -> String {
    let output = Command::new(program())
        .current_dir(dir)
        .env_clear()
        .envs([("HOME", "/nowhere"), ("GOGC", "400")])
        .args(args)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// The cases that a report has a finding of their own rule about.
fn spoken(json: &str, cases: &[Case]) -> BTreeSet<usize> {
    let report: Value = serde_json::from_str(json).unwrap();
    let mut found = BTreeSet::new();
    for file in report["files"].as_array().unwrap() {
        let path = file["file"].as_str().unwrap();
        let number: usize = path.rsplit('/').nth(1).unwrap().parse().unwrap();
        let mut violations = file["violations"].as_array().unwrap().iter();
        let is_own =
            |violation: &Value| is_called(violation["rule"].as_str().unwrap(), cases[number].rule);
        if violations.any(is_own) {
            found.insert(number);
        }
    }
    found
}

/// Whether a finding of one rule is a finding of the other, which may be its name elsewhere.
fn is_called(rule: &str, name: &str) -> bool {
    let known =
        RULES.iter().map(|candidate| candidate.metadata()).find(|metadata| metadata.name == rule);
    rule == name || known.is_some_and(|metadata| metadata.is_called(name))
}

fn compare(cases: &[Case], ours: &BTreeSet<usize>, theirs: &BTreeSet<usize>) -> Judged {
    let mut judged = Judged::default();
    for (number, Case { rule, text }) in cases.iter().enumerate() {
        let (spoken, silent) = judged.answers.entry(rule).or_default();
        let side = match (ours.contains(&number), theirs.contains(&number)) {
            (true, true) => {
                *spoken += 1;
                continue;
            }
            (false, false) => {
                *silent += 1;
                continue;
            }
            (true, false) => Side::Ours,
            (false, true) => Side::Theirs,
        };
        let file = parse(text);
        let seen = Seen { file: &file, line: 1 };
        match ROWS.iter().position(|row| row.explains(rule, side, &seen)) {
            Some(index) => *judged.known.entry(index).or_default() += 1,
            None => judged.unknown.push(format!("{rule} only by {side:?}: {text:?}")),
        }
    }
    judged
}
