//! What fixing leaves of a file that a person has written, over a corpus of files: comments, layout,
//! and the right to be run twice.

use std::{collections::BTreeMap, env, fs, path::Path, sync::LazyLock};

use probity_dockerfile::{Dockerfile, Facts, Keyword, parse};
use probity_finding::{Applicability, Span};

use crate::{
    FixOptions, Pattern, Preset, RULES, Rejection, RuleSet, SkipReason,
    engine::harness::lint_options, fix, text::lines,
};

const LEAST_FILES: usize = 150;

/// Every Dockerfile of the repository's own corpus that may be edited, by its path.
static CORPUS: LazyLock<BTreeMap<String, String>> = LazyLock::new(corpus);

fn corpus() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = BTreeMap::new();
    for part in ["probity/tests/corpus", "probity/tests/it/presets", "../eval", "../examples"] {
        collect(&root.join(part), &mut found);
    }
    found.retain(|_, text| {
        let file = parse(text);
        Rejection::of(&file, &Facts::of(&file)).is_none()
    });
    assert!(found.len() >= LEAST_FILES, "{} files", found.len());
    found
}

/// One of the files that were written for these tests.
pub(super) fn corpus_file(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../probity/tests/corpus/fixable");
    fs::read_to_string(root.join(format!("{name}.Dockerfile"))).unwrap()
}

fn collect(directory: &Path, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap()) {
        let path = entry.path();
        let name = entry.file_name().into_string().unwrap();
        if path.is_dir() {
            collect(&path, found);
        } else if name.contains("Dockerfile") {
            found.insert(path.display().to_string(), fs::read_to_string(path).unwrap());
        }
    }
}

pub(super) fn fixed(text: &str, rules: &RuleSet) -> crate::Fixed {
    let modes = BTreeMap::new();
    let lint = lint_options(rules);
    let ceiling = Applicability::Unsafe;
    fix(text, &FixOptions { lint, ceiling, only: &[], modes: &modes, excluded: &[], known: None })
}

/// What is wrong with the way in which one text became another.
fn complaints(before: &str, after: &str) -> Vec<String> {
    let (old, new) = (parse(before), parse(after));
    let mut found = Vec::new();
    if let Some(rejection) = Rejection::of(&new, &Facts::of(&new)) {
        found.push(format!("is rejected: {}", rejection.reason));
    }
    let mut now = after.lines().map(str::trim);
    let comments = lines::lines(&old);
    let comments = comments.iter().filter(|line| !line.in_heredoc).map(|line| line.text.trim());
    for comment in comments.filter(|text| text.starts_with('#')) {
        if !now.any(|line| line == comment) {
            found.push(format!("the comment is lost or moved: {comment}"));
        }
    }
    let (tabs, spaces) = (indents(&old, '\t'), indents(&old, ' '));
    if tabs != spaces {
        let stranger = if tabs { ' ' } else { '\t' };
        if indents(&new, stranger) {
            found.push(format!("is indented by {stranger:?}"));
        }
    }
    found.extend(stray_backslashes(&new));
    found.extend(lost_blank_lines(&old, &new));
    found.extend(crowded_heredocs(&old, &new));
    found
}

/// Whether a line outside of heredocs is indented by a step of this kind; one space only aligns.
fn indents(file: &Dockerfile<'_>, kind: char) -> bool {
    let step = if kind == ' ' { "  " } else { "\t" };
    let lines = lines::lines(file);
    lines.iter().any(|line| !line.in_heredoc && !line.is_blank() && line.text.starts_with(step))
}

/// Continuations in scripts that nothing continues.
fn stray_backslashes(file: &Dockerfile<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let runs = file.instructions.iter().filter(|instruction| instruction.keyword == Keyword::Run);
    for heredoc in runs.flat_map(|run| run.heredocs()) {
        let body: Vec<&str> = heredoc.body.slice(file.text).unwrap().lines().collect();
        for (at, line) in body.iter().enumerate().filter(|(_, line)| line.ends_with('\\')) {
            let next = body.get(at + 1).map_or("", |line| line.trim());
            if next.is_empty() || next.starts_with('#') || next.starts_with("&&") {
                found.push(format!("a stray backslash: {line}"));
            }
        }
    }
    found
}

fn gap<'t>(file: &Dockerfile<'t>, left: usize) -> &'t str {
    let (before, after) = (&file.instructions[left], &file.instructions[left + 1]);
    let start = lines::whole_lines(file.text, before.span).end;
    Span::new(start, after.span.start.max(start)).slice(file.text).unwrap()
}

fn has_blank_line(gap: &str) -> bool {
    gap.split_inclusive('\n').any(|line| line.ends_with('\n') && line.trim().is_empty())
}

fn is_multi_line(file: &Dockerfile<'_>, index: usize) -> bool {
    file.instructions[index].span.slice(file.text).unwrap().contains('\n')
}

/// Blank lines beside instructions of several lines, which layout must not take away. Where the number
/// of instructions has changed there is nothing to compare.
fn lost_blank_lines(old: &Dockerfile<'_>, new: &Dockerfile<'_>) -> Vec<String> {
    let count = old.instructions.len();
    if count != new.instructions.len() {
        return Vec::new();
    }
    (0..count - 1)
        .filter(|&at| is_multi_line(old, at) || is_multi_line(old, at + 1))
        .filter(|&at| has_blank_line(gap(old, at)) && !has_blank_line(gap(new, at)))
        .map(|at| format!("the blank line behind instruction {at} is lost"))
        .collect()
}

/// Heredocs that a fix has made and that touch the instruction before or behind them.
fn crowded_heredocs(old: &Dockerfile<'_>, new: &Dockerfile<'_>) -> Vec<String> {
    let was_there = |index: usize| {
        let body = new.instructions[index].heredocs()[0].body.slice(new.text).unwrap();
        // What a fix changes in a heredoc leaves most of it as it was.
        let last = body.lines().last().unwrap_or_default();
        let mut bodies = old.instructions.iter().flat_map(|instruction| instruction.heredocs());
        bodies.any(|heredoc| heredoc.body.slice(old.text).unwrap().contains(last))
    };
    let last = new.instructions.len() - 1;
    (0..=last)
        .filter(|&at| !new.instructions[at].heredocs().is_empty() && !was_there(at))
        .filter(|&at| {
            let before = at == 0 || has_blank_line(gap(new, at - 1));
            !(before && (at == last || has_blank_line(gap(new, at))))
        })
        .map(|at| format!("no blank line around the heredoc of instruction {at}"))
        .collect()
}

#[track_caller]
fn check_all(rules: &RuleSet, name: &str, least_changed: usize) {
    check_some(rules, name, least_changed, |_| true);
}

/// The same for the files of these numbers.
#[track_caller]
fn check_some(
    rules: &RuleSet,
    name: &str,
    least_changed: usize,
    is_wanted: impl Fn(usize) -> bool,
) {
    let mut wrong = Vec::new();
    let mut changed = 0;
    for (number, (path, text)) in CORPUS.iter().enumerate() {
        if !is_wanted(number) {
            continue;
        }
        let first = fixed(text, rules);
        let unkept = first.skipped.iter().filter(|fix| {
            matches!(
                fix.reason,
                SkipReason::ValidationFailed | SkipReason::Cycle | SkipReason::Unsettled
            )
        });
        wrong.extend(unkept.map(|fix| format!("{path}: {name}: {fix:?}")));
        if first.rounds == 0 {
            continue;
        }
        changed += 1;
        let second = fixed(&first.text, rules);
        if second.text != first.text {
            wrong.push(format!("{path}: {name}: a second run changes the file"));
        }
        let complaints = complaints(text, &first.text);
        wrong.extend(complaints.iter().map(|complaint| format!("{path}: {name}: {complaint}")));
    }
    assert!(wrong.is_empty(), "{} complaints:\n{}", wrong.len(), wrong.join("\n"));
    assert!(changed >= least_changed, "{name} changes {changed} files");
}

#[test]
fn fixes_of_the_recommended_rules_read_well() {
    check_all(&RuleSet::of(Preset::Recommended), "recommended", 40);
}

#[test]
fn fixes_of_the_strict_rules_read_well() {
    check_all(&RuleSet::of(Preset::Strict), "strict", 70);
}

#[test]
fn fixes_of_all_rules_read_well() {
    check_all(&RuleSet::of(Preset::All), "all", 140);
}

/// One rule after the other, so that none hides behind another; the tests share the work. Each rule has
/// another third of the files by default, and all of them in `script/nightly`.
fn check_each(prefixes: &[&str]) {
    let fixable =
        RULES.iter().map(|rule| rule.metadata()).filter(|metadata| metadata.fixes.is_some());
    let own =
        fixable.filter(|metadata| prefixes.iter().any(|prefix| metadata.name.starts_with(prefix)));
    let mut count = 0;
    for metadata in own {
        let mut rules = RuleSet::default();
        rules.select(&[Pattern::new(metadata.name)]);
        let is_whole = env::var_os("PROBITY_WHOLE_CORPUS").is_some();
        check_some(&rules, metadata.name, 0, |file| is_whole || file % 3 == count % 3);
        count += 1;
    }
    assert!(count > 3, "{count} rules of {prefixes:?}");
}

#[test]
fn each_fix_of_buildkit_and_probity_rules_reads_well() {
    check_each(&["buildkit/", "probity/"]);
}

#[test]
fn each_fix_of_hadolint_rules_reads_well() {
    check_each(&["hadolint/"]);
}

#[test]
fn each_fix_of_tally_rules_reads_well() {
    check_each(&["tally/"]);
}
