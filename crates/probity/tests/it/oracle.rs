//! Generated Dockerfiles, judged by us and by tally, which embeds BuildKit's parser and its checks.
//!
//! Both must accept the same files and find the same at the same lines. Where they differ for a
//! reason, the reason is in `differences`.

mod differences;
pub(crate) mod generate;
mod grammar;
pub(crate) mod random;
pub(crate) mod verdict;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
};

use probity_dockerfile::{Dockerfile, parse};
use probity_lint::{DirectiveOptions, LintOptions, Pattern, RULES, RuleSet, lint};

use self::{
    differences::{Case, DIFFERENCES, Difference, Side},
    verdict::{Verdict, ours, path, theirs},
};
use crate::whole_corpus::is_whole;

/// So many files are enough for twenty of each finding, and for every known difference.
const FILES: usize = 2000;

/// Of them `script/test` compares one in so many, and `script/nightly` each.
const SAMPLE: usize = 8;

fn file_count() -> usize {
    if is_whole() { FILES } else { FILES / SAMPLE }
}

/// Rules that need more than the file: the build context, or a registry.
const NEED_MORE: [&str; 2] = ["buildkit/CopyIgnoredFile", "buildkit/InvalidBaseImagePlatform"];

#[test]
fn generated_files_are_judged_as_by_buildkit() {
    let dir = tempfile::tempdir().unwrap();
    let count = file_count();
    let texts: Vec<String> = (0..count as u64).map(generate::dockerfile).collect();
    for (number, text) in texts.iter().enumerate() {
        let path = dir.path().join(path(number));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let ours = ours(dir.path(), count);
    let theirs = theirs(dir.path(), &ours);
    let mut seen = Seen::default();
    for (number, text) in texts.iter().enumerate() {
        seen.compare(number, text, &ours[number], &theirs[number]);
    }
    seen.judge();
}

#[test]
fn damaged_files_are_linted_to_the_end() {
    let mut rules = RuleSet::default();
    rules.include(&[Pattern::new("*")]);
    let directives = DirectiveOptions::default();
    let options = LintOptions {
        rules: &rules,
        uses: None,
        directives,
        dockerignore: None,
        context_files: None,
        base_images: None,
        detections: &[],
        secrets: None,
    };
    for number in 0..file_count() as u64 {
        let text = generate::damaged(number);
        for finding in lint(&text, &options) {
            let fits = finding.span.is_none_or(|span| span.slice(&text).is_some());
            assert!(fits, "{finding:?} in file {number}\n{text}");
        }
    }
}

#[derive(Default)]
struct Seen {
    rejected: usize,
    agreements: BTreeMap<String, usize>,
    known: BTreeMap<usize, usize>,
    unknown: Vec<String>,
}

impl Seen {
    fn compare(&mut self, number: usize, text: &str, ours: &Verdict, theirs: &Verdict) {
        let file = parse(text);
        match (ours, theirs) {
            (Verdict::Rejected(_), Verdict::Rejected(_)) => self.rejected += 1,
            (Verdict::Accepted(ours), Verdict::Accepted(theirs)) => {
                let ours: BTreeSet<(String, usize)> =
                    ours.iter().map(|place| as_buildkit(&file, place)).collect();
                for (rule, _) in ours.intersection(theirs) {
                    *self.agreements.entry(rule.clone()).or_default() += 1;
                }
                let mut differ = |place: &(String, usize), side| {
                    let case = Case { file: &file, line: place.1, reason: "" };
                    self.differs(number, &place.0, side, &case);
                };
                ours.difference(theirs).for_each(|place| differ(place, Side::Ours));
                theirs.difference(&ours).for_each(|place| differ(place, Side::Theirs));
            }
            (Verdict::Rejected(reason), _) => {
                let case = Case { file: &file, line: 0, reason };
                self.differs(number, "rejected", Side::Ours, &case);
            }
            (_, Verdict::Rejected(reason)) => {
                let case = Case { file: &file, line: 0, reason };
                self.differs(number, "rejected", Side::Theirs, &case);
            }
            (_, Verdict::Missing) | (Verdict::Missing, _) => {
                self.unknown.push(format!("no verdict on {number}"));
            }
        }
    }

    fn differs(&mut self, number: usize, rule: &str, side: Side, case: &Case<'_>) {
        let known = DIFFERENCES.iter().position(|difference| {
            difference.rule == rule && difference.side == side && (difference.holds)(case)
        });
        match known {
            Some(index) => *self.known.entry(index).or_default() += 1,
            None => self.unknown.push(format!(
                "file {number}: {rule} at line {} only by {side:?} {}\n{}",
                case.line,
                case.reason,
                case.file.text.escape_debug().to_string().replace("\\n", "\\n\n    ")
            )),
        }
    }

    #[expect(clippy::print_stdout, reason = "the table is what a reader of the test wants to see")]
    fn judge(&self) {
        let mut table = format!("{:6} rejected by both\n", self.rejected);
        for (rule, count) in &self.agreements {
            writeln!(table, "{count:6} agreed: {rule}").unwrap();
        }
        let mut unused = Vec::new();
        for (index, difference) in DIFFERENCES.iter().enumerate() {
            let Difference { side, rule, reason, .. } = difference;
            let count = self.known.get(&index).copied().unwrap_or(0);
            writeln!(table, "{count:6} only {side:?}: {rule}: {reason}").unwrap();
            if count == 0 {
                unused.push(reason);
            }
        }
        println!("{table}");
        let unknown = self.unknown.join("\n");
        assert!(unknown.is_empty(), "differences without a reason:\n{unknown}");
        assert!(self.rejected * FILES >= 150 * file_count(), "hardly a broken file among them");
        // A sample need not have a file for every reason and rule.
        if !is_whole() {
            assert!(self.agreements.len() >= 10, "{:?}", self.agreements);
            return;
        }
        assert!(unused.is_empty(), "reasons that explain nothing: {unused:#?}");
        for rule in RULES.iter().map(|rule| rule.metadata().name) {
            let compared = rule.starts_with("buildkit/") && !NEED_MORE.contains(&rule);
            let count = self.agreements.get(rule).copied().unwrap_or(0);
            assert!(!compared || count >= 20, "{rule} was hardly compared");
        }
    }
}

/// Our place as BuildKit would give it: it knows no smaller place than an instruction, and sees a
/// blank line when it has read the instruction up to its heredocs.
fn as_buildkit(file: &Dockerfile<'_>, (rule, line): &(String, usize)) -> (String, usize) {
    let within = |lines: (usize, usize)| lines.0 <= *line && *line <= lines.1;
    let Some(instruction) =
        file.instructions.iter().find(|instruction| within(instruction.lines()))
    else {
        return (rule.clone(), *line);
    };
    let line = match (rule.as_str(), instruction.heredocs().first()) {
        ("buildkit/NoEmptyContinuation", None) => instruction.lines().1,
        ("buildkit/NoEmptyContinuation", Some(heredoc)) => {
            file.text[..heredoc.body.start].matches('\n').count()
        }
        _ => instruction.lines().0,
    };
    (rule.clone(), line)
}
