//! Dockerfiles by the hundred, made by rule and not by chance, and everything that a fix promises.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::Path,
};

use probity_dockerfile::{ErrorKind, Facts, ImageContract, TokenKind, parse};
use probity_finding::{Applicability, Finding, Severity};
use probity_lint::{
    DirectiveOptions, FixOptions, Fixed, LintOptions, RuleSet, SkipReason, SkippedFix, fix, lint,
};

use super::{
    foreign::{PROGRAMS, apply},
    generator::dockerfile,
};
use crate::{binary::probity, whole_corpus::is_whole};

const FILES: u64 = 500;

/// One file of twelve by default; `script/nightly` tries all. Each file is drawn by
/// its number alone, so any part of them is a sample.
fn numbers() -> Vec<u64> {
    (0..FILES).filter(|number| is_whole() || number % 12 == 0).collect()
}

/// Whether so many of the files are more than four fifths of them.
fn are_most(count: usize) -> bool {
    count * 5 > numbers().len() * 4
}

/// What must be the same before and after.
fn meaning(text: &str) -> (HashMap<ErrorKind, usize>, ImageContract, Vec<String>) {
    let file = parse(text);
    let mut errors = HashMap::new();
    for error in &file.errors {
        *errors.entry(error.code).or_default() += 1;
    }
    let is_comment = |kind| matches!(kind, TokenKind::Comment | TokenKind::Directive);
    let comments = file.tokens.iter().filter(|token| is_comment(token.kind));
    let comments =
        comments.map(|token| token.span.slice(text).unwrap().trim().to_owned()).collect();
    (errors, Facts::of(&file).contract().clone(), comments)
}

fn options(rules: &RuleSet) -> LintOptions<'_> {
    LintOptions {
        rules,
        uses: None,
        directives: DirectiveOptions::default(),
        dockerignore: None,
        context_files: None,
        base_images: None,
        detections: &[],
        secrets: None,
    }
}

fn linted(text: &str) -> Vec<Finding> {
    lint(text, &options(&RuleSet::default()))
}

fn fixed(text: &str, ceiling: Applicability) -> Fixed {
    let rules = RuleSet::default();
    let modes = BTreeMap::new();
    let lint = options(&rules);
    fix(text, &FixOptions { lint, ceiling, only: &[], modes: &modes, excluded: &[], known: None })
}

/// How many errors each rule finds; a fix may move them, but not add to them.
fn errors_by_rule(findings: &[Finding]) -> BTreeMap<String, usize> {
    let mut count = BTreeMap::new();
    for finding in findings.iter().filter(|finding| finding.severity == Severity::Error) {
        *count.entry(finding.rule.to_string()).or_default() += 1;
    }
    count
}

/// Fixes that broke a promise, or quarrelled; those that only an agent can make are none of them.
fn broken(skipped: &[SkippedFix]) -> Vec<&SkippedFix> {
    let is_fine = |reason| matches!(reason, SkipReason::Safety | SkipReason::ResolveError);
    skipped.iter().filter(|fix| !is_fine(fix.reason)).collect()
}

#[test]
fn safe_fixes_keep_the_image_the_comments_and_the_line_ends_of_every_file() {
    let mut changed = 0;
    let mut valid = 0;
    let mut rounds = 0;
    let mut applied: BTreeMap<String, usize> = BTreeMap::new();
    for number in numbers() {
        let text = dockerfile(number);
        let first = fixed(&text, Applicability::Safe);
        assert_eq!(broken(&first.skipped), [] as [&SkippedFix; 0], "file {number}:\n{text}");
        let (before, after) = (meaning(&text), meaning(&first.text));
        assert_eq!(before.1.differences(&after.1), [""; 0], "file {number}:\n{text}");
        assert_eq!(before, after, "file {number}:\n{text}\nbecame\n{}", first.text);
        let again = fixed(&first.text, Applicability::Safe);
        assert_eq!((again.text.as_str(), again.rounds), (first.text.as_str(), 0), "file {number}");
        assert_eq!(again.remaining, first.remaining, "file {number}: places are fresh");
        let bare = |text: &str| text.replace("\r\n", "").contains('\n');
        assert_eq!(bare(&text), bare(&first.text), "file {number}: line ends");
        assert_eq!(text.starts_with('\u{feff}'), first.text.starts_with('\u{feff}'));
        changed += usize::from(first.text != text);
        valid += usize::from(before.0.is_empty());
        rounds = rounds.max(first.rounds);
        for fix in &first.applied {
            *applied.entry(fix.rule.to_string()).or_default() += 1;
        }
    }
    println!(
        "{changed} of {} files ({valid} of them valid) changed, in {rounds} rounds at most: {applied:#?}",
        numbers().len()
    );
    // Files that BuildKit rejects are left alone, and a fifth of these is.
    assert!(are_most(changed) && are_most(valid), "{changed} files, {valid} valid");
    assert!(applied.len() >= 12, "{applied:#?}");
}

#[test]
fn all_fixes_together_break_no_file_and_settle() {
    let mut changed = 0;
    for number in numbers() {
        let text = dockerfile(number);
        let first = fixed(&text, Applicability::Unsafe);
        assert_eq!(broken(&first.skipped), [] as [&SkippedFix; 0], "file {number}:\n{text}");
        let (before, after) = (meaning(&text).0, meaning(&first.text).0);
        for (kind, count) in &after {
            assert!(before.get(kind) >= Some(count), "file {number}: {kind:?}\n{}", first.text);
        }
        let (before, after) = (errors_by_rule(&linted(&text)), errors_by_rule(&first.remaining));
        for (rule, count) in &after {
            assert!(before.get(rule) >= Some(count), "file {number}: {rule}\n{}", first.text);
        }
        let again = fixed(&first.text, Applicability::Unsafe);
        assert_eq!((again.text.as_str(), again.rounds), (first.text.as_str(), 0), "file {number}");
        changed += usize::from(first.text != text);
    }
    println!("{changed} of {} files changed", numbers().len());
    assert!(are_most(changed), "{changed}");
}

/// Writes all files into a directory of its own.
fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for number in numbers() {
        fs::write(dir.path().join(format!("Dockerfile.{number:03}")), dockerfile(number)).unwrap();
    }
    dir
}

fn texts(dir: &Path) -> Vec<Vec<u8>> {
    let path = |number| dir.join(format!("Dockerfile.{number:03}"));
    numbers().into_iter().map(|number| fs::read(path(number)).unwrap()).collect()
}

#[test]
fn the_diff_of_all_files_is_what_is_written_to_them() {
    let written = tree();
    probity().dir(&written).args(["check", "--fix", "--format", "gnu"]).run().code(1);
    let again = probity().dir(&written).args(["check", "--fix", "--diff"]).run();
    assert_eq!(again.stdout, "", "a second run changes nothing");
    let dir = tree();
    let diff = probity().dir(&dir).args(["check", "--diff"]).run().code(1).stdout;
    assert_eq!(texts(dir.path()), texts(tree().path()), "nothing was written");
    let expected = texts(written.path());
    for program in PROGRAMS {
        let dir = tree();
        apply(dir.path(), program, &diff);
        for (number, (applied, expected)) in texts(dir.path()).iter().zip(&expected).enumerate() {
            assert_eq!(applied, expected, "{program:?}: file {number}");
        }
    }
    println!("{} hunks", diff.matches("\n@@ ").count());
}
