//! The one place where tests touch the API; every other test is data.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use probity_finding::{Applicability, Finding, Span};
use probity_secrets::{Detector, Options};

use crate::{
    BaseConfiguration, BaseImage, BaseImages, BuildUses, ContextFiles, DirectiveOptions,
    FixOptions, ImageAnswer, LintOptions, OptionValue, Pattern, RULES, RuleSet, SecretMount,
    TagNow, WantedImage, engine::rule::Metadata, lint,
};

/// Built once for all tests.
static DETECTOR: LazyLock<Detector> = LazyLock::new(|| Detector::new(&Options::default()).unwrap());

/// What a registry says that exists in tests and pages only: `base` has a user, a shell, a directory, a
/// variable and a health check, `tool:2` exists for one platform, and `tool:2.1` does not exist.
static BASE_IMAGES: LazyLock<BaseImages> = LazyLock::new(|| {
    let (old, new) = ("0".repeat(64), "1".repeat(64));
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let configuration = BaseConfiguration {
        fits_platform: true,
        user: Some("app".to_owned()),
        env: vec![("KNOWN".to_owned(), "1".to_owned())],
        shell: words(&["/bin/bash", "-o", "pipefail", "-c"]),
        working_dir: Some("/srv".to_owned()),
        entrypoint: words(&["/bin/sh", "-c", "serve"]),
        healthcheck: words(&["CMD", "true"]),
        ..BaseConfiguration::default()
    };
    let base = BaseImage {
        digest: format!("sha256:{new}"),
        is_index: true,
        tag: None,
        platforms: words(&["linux/amd64", "linux/arm64"]),
        configuration: Some(configuration),
    };
    let moved = BaseImage {
        digest: format!("sha256:{old}"),
        tag: Some(TagNow::Names(format!("sha256:{new}"))),
        ..base.clone()
    };
    let tool = BaseImage {
        is_index: false,
        platforms: words(&["linux/amd64"]),
        configuration: Some(BaseConfiguration { fits_platform: true, ..Default::default() }),
        ..base.clone()
    };
    let elsewhere = BaseImage { configuration: Some(BaseConfiguration::default()), ..tool.clone() };
    let absent = BaseImage { configuration: None, ..base.clone() };
    let found = |image: BaseImage| ImageAnswer::Found(Box::new(image));
    let mut images = BaseImages::new("linux/amd64".to_owned());
    for (name, platform, answer) in [
        ("base", None, found(base.clone())),
        ("base:1", None, found(base)),
        (&format!("base:1@sha256:{old}"), None, found(moved)),
        ("base:1", Some("linux/s390x"), found(absent)),
        ("tool:2", None, found(tool.clone())),
        ("tool:2", Some("linux/amd64"), found(tool)),
        ("tool:2", Some("linux/arm64"), found(elsewhere)),
        ("tool:2.1", None, ImageAnswer::Missing),
    ] {
        let name = format!("registry.example/{name}");
        images.insert(WantedImage { name, platform: platform.map(str::to_owned) }, answer);
    }
    images
});

/// Findings of one rule alone, directives in force.
pub(crate) fn run(rule: &str, text: &str) -> Vec<Finding> {
    run_with(rule, text, |_| {})
}

fn run_example(rule: &str, text: &str) -> Vec<Finding> {
    run_with(rule, text, as_the_pages_say)
}

/// Settings that a page's examples assume and say so.
fn as_the_pages_say(rules: &mut RuleSet) {
    rules.set_option("tally/max-lines", "max", &OptionValue::Integer(2));
    for (code, label) in [
        ("DL3049", "maintainer"),
        ("DL3050", "maintainer"),
        ("DL3051", "maintainer"),
        ("DL3052", "org.opencontainers.image.url"),
        ("DL3053", "org.opencontainers.image.created"),
        ("DL3054", "org.opencontainers.image.licenses"),
        ("DL3055", "org.opencontainers.image.revision"),
        ("DL3056", "org.opencontainers.image.version"),
        ("DL3058", "org.opencontainers.image.authors"),
    ] {
        let labels = OptionValue::TextList(vec![label.to_owned()]);
        rules.set_option(&format!("hadolint/{code}"), "labels", &labels);
    }
    let mounts = OptionValue::SecretMounts(vec![SecretMount {
        program: "pip".to_owned(),
        id: "pipconf".to_owned(),
        target: Some("/etc/pip.conf".to_owned()),
        env: None,
    }]);
    rules.set_option("tally/require-secret-mounts", "commands", &mounts);
    let trusted = OptionValue::TextList(vec!["registry.example.com".to_owned()]);
    rules.set_option("hadolint/DL3026", "trusted-registries", &trusted);
}

/// The same, with the rule's settings changed.
pub(crate) fn run_with(rule: &str, text: &str, change: impl Fn(&mut RuleSet)) -> Vec<Finding> {
    let mut rules = RuleSet::default();
    rules.select(&[Pattern::new(rule)]);
    change(&mut rules);
    lint_with(text, &rules).into_iter().filter(|finding| finding.rule == rule).collect()
}

/// The same, with files of the build context.
pub(crate) fn run_in_context(rule: &str, text: &str, files: &ContextFiles) -> Vec<Finding> {
    let mut rules = RuleSet::default();
    rules.select(&[Pattern::new(rule)]);
    let options = LintOptions { context_files: Some(files), ..lint_options(&rules) };
    lint(text, &options).into_iter().filter(|finding| finding.rule == rule).collect()
}

/// The same, with builds that use the file.
pub(crate) fn run_with_uses(rule: &str, text: &str, uses: &BuildUses) -> Vec<Finding> {
    let mut rules = RuleSet::default();
    rules.select(&[Pattern::new(rule)]);
    let options = LintOptions { uses: Some(uses), ..lint_options(&rules) };
    lint(text, &options).into_iter().filter(|finding| finding.rule == rule).collect()
}

/// The texts that a rule about labels flags where these are listed, with what is said.
pub(crate) fn flagged(rule: &str, text: &str, labels: &[&str]) -> Vec<(String, String)> {
    let labels = OptionValue::TextList(labels.iter().map(|label| (*label).to_owned()).collect());
    let found = run_with(rule, text, |rules| rules.set_option(rule, "labels", &labels));
    let place = |finding: &Finding| finding.span.unwrap().slice(text).unwrap().to_owned();
    found.iter().map(|finding| (place(finding), finding.message.clone())).collect()
}

/// Findings of all rules of a set.
pub(crate) fn lint_with(text: &str, rules: &RuleSet) -> Vec<Finding> {
    lint(text, &lint_options(rules))
}

pub(crate) fn lint_options(rules: &RuleSet) -> LintOptions<'_> {
    LintOptions {
        rules,
        uses: None,
        directives: DirectiveOptions::default(),
        dockerignore: None,
        context_files: None,
        base_images: Some(&*BASE_IMAGES),
        detections: &[],
        secrets: Some(&*DETECTOR),
    }
}

/// The text after the fixes of one rule up to a safety. Fixing must settle, and nothing that was
/// tried may have been taken back.
pub(crate) fn fix_with(
    rule: &str,
    text: &str,
    ceiling: Applicability,
    change: impl Fn(&mut RuleSet),
) -> String {
    let mut rules = RuleSet::default();
    rules.select(&[Pattern::new(rule)]);
    change(&mut rules);
    let lint = lint_options(&rules);
    let modes = BTreeMap::new();
    let options =
        FixOptions { lint, ceiling, only: &[], modes: &modes, excluded: &[], known: None };
    let first = crate::fix(text, &options);
    for skipped in &first.skipped {
        assert_eq!(skipped.reason, crate::SkipReason::Safety, "{rule}: {skipped:?} in\n{text}");
    }
    let second = crate::fix(&first.text, &options);
    assert_eq!((second.text.as_str(), second.rounds), (first.text.as_str(), 0), "{rule}: settles");
    first.text
}

/// Compares what the fixes of one rule, whatever their safety, make of a text.
#[track_caller]
pub(crate) fn fixed(rule: &str, text: &str, expected: &str) {
    let actual = fix_with(rule, text, Applicability::Unsafe, |_| {});
    assert_eq!(actual, expected, "of\n{text}");
}

/// Compares what the fixes of one rule make of instructions of an image that is well known; the same
/// text twice says that there is no fix.
#[track_caller]
pub(crate) fn fixes(rule: &str, cases: &[(&str, &str)]) {
    for (before, after) in cases {
        fixed(rule, &format!("FROM debian:12\n{before}\n"), &format!("FROM debian:12\n{after}\n"));
    }
}

/// Compares how the fix of a rule puts a flag behind a program, wherever a call can stand.
#[track_caller]
pub(crate) fn adds_flag(rule: &str, program: &str, flag: &str) {
    for (before, after) in [
        ("RUN 'PRG' x", "RUN 'PRG' FLAG x"),
        ("RUN (PRG $X) | a", "RUN (PRG FLAG $X) | a"),
        ("RUN sh -c 'PRG x'", "RUN sh -c 'PRG FLAG x'"),
        ("RUN PRG \\\n  # why\n  x", "RUN PRG FLAG \\\n  # why\n  x"),
        ("RUN <<EOF\nPRG x\nEOF", "RUN <<EOF\nPRG FLAG x\nEOF"),
        (r#"RUN ["PRG", "x"]"#, r#"RUN ["PRG", "FLAG", "x"]"#),
    ] {
        let written = |text: &str| text.replace("PRG", program).replace("FLAG", flag);
        fixes(rule, &[(written(before).as_str(), written(after).as_str())]);
    }
}

/// Lints a fixture with one rule and compares with its `^^^ message` lines, each of which stands
/// under the text that it is about. A line `(file) message` expects a finding of the whole file, and
/// `^^^ likewise` a further place of the finding before.
#[track_caller]
pub(crate) fn check(rule: &str, fixture: &str) {
    let (text, expected) = expectations(fixture);
    let actual: Vec<_> = run(rule, &text)
        .into_iter()
        .flat_map(|found| {
            let place = |span: Span| (span.start, span.end);
            let first = (found.span.map(place), found.message);
            let more = found.also_at.into_iter();
            let more = more.map(move |span| (Some(place(span)), "likewise".to_owned()));
            std::iter::once(first).chain(more)
        })
        .collect();
    assert_eq!(actual, expected, "in\n{text}");
}

type Expected = (Option<(usize, usize)>, String);

fn expectations(fixture: &str) -> (String, Vec<Expected>) {
    let mut text = String::new();
    let mut expected = Vec::new();
    let mut line_start = 0;
    for line in fixture.split_inclusive('\n') {
        let trimmed = line.trim_start();
        if let Some(message) = line.strip_prefix("(file) ") {
            expected.push((None, message.trim_end().to_owned()));
        } else if trimmed.starts_with('^') {
            let start = line_start + (line.len() - trimmed.len());
            let length = trimmed.bytes().take_while(|&byte| byte == b'^').count();
            expected.push((Some((start, start + length)), trimmed[length..].trim().to_owned()));
        } else {
            line_start = text.len();
            text.push_str(line);
        }
    }
    (text, expected)
}

/// The fenced blocks of a manual page, as tag and text. What a page cannot show it says: dots stand
/// for blanks in a block tagged `dots`, and one tagged `no-line-end` has none at its end.
fn examples(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in page.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)) {
        match (line.strip_prefix("```"), open.as_mut()) {
            (Some(_), Some(_)) => blocks.extend(open.take().map(as_meant)),
            (Some(tag), None) => open = Some((tag.to_owned(), String::new())),
            (None, Some((_, text))) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}

fn as_meant((tag, text): (String, String)) -> (String, String) {
    if let Some(tag) = tag.strip_suffix(",dots") {
        return (tag.to_owned(), text.replace('·', " "));
    }
    match tag.strip_suffix(",no-line-end") {
        Some(tag) => (tag.to_owned(), text.trim_end_matches('\n').to_owned()),
        None => (tag, text),
    }
}

fn all() -> impl Iterator<Item = &'static Metadata> {
    RULES.iter().map(|rule| rule.metadata())
}

#[test]
fn every_rule_is_named_after_its_file() {
    for metadata in all() {
        let stem = metadata.file.rsplit('/').next().unwrap().trim_end_matches(".rs");
        let flat = |text: &str| text.replace(['_', '-', '/'], "").to_lowercase();
        assert_eq!(flat(metadata.bare_name()), flat(stem));
        assert!(
            metadata.file.contains(&format!("/{}/", metadata.namespace())),
            "{}",
            metadata.file
        );
    }
    let names: BTreeSet<&str> = all().map(|metadata| metadata.name).collect();
    assert_eq!(names.len(), RULES.len(), "two rules share a name");
    let sorted = RULES.windows(2).all(|pair| pair[0].metadata().name < pair[1].metadata().name);
    assert!(sorted, "the registry is in alphabetical order");
}

#[test]
fn every_page_has_its_headings_and_its_examples_run() {
    for metadata in all() {
        let (name, page) = (metadata.name, metadata.page);
        for heading in ["# What it does", "# Why it is bad", "# Examples"] {
            assert!(page.contains(heading), "{name}: missing `{heading}`");
        }
        let blocks = examples(page);
        let tagged = |tag: &'static str| blocks.iter().filter(move |(own, _)| own == tag);
        if !blocks.iter().any(|(tag, _)| tag.starts_with("dockerfile,needs-")) {
            assert!(tagged("dockerfile,bad").count() > 0, "{name}: no bad example");
            assert!(tagged("dockerfile,good").count() > 0, "{name}: no good example");
        }
        for (_, text) in tagged("dockerfile,bad") {
            assert!(!run_example(name, text).is_empty(), "{name}: a bad example passes:\n{text}");
        }
        for (_, text) in tagged("dockerfile,good") {
            assert_eq!(run_example(name, text), [], "{name}: a good example fails:\n{text}");
        }
        assert_eq!(metadata.fixes.is_some(), page.contains("# Fix safety"), "{name}: fix safety");
    }
}

/// A page shows what its fix does: the block behind a bad example is what fixing makes of it.
#[test]
fn every_declared_fix_is_shown_and_does_what_the_page_shows() {
    for metadata in all() {
        let name = metadata.name;
        let blocks = examples(metadata.page);
        for (_, text) in &blocks {
            let offered = run_example(name, text).into_iter().flat_map(|finding| finding.fixes);
            let best = offered.map(|fix| fix.applicability).min();
            let declared = metadata.fixes;
            assert!(best.is_none() || best >= declared, "{name}: a fix better than declared");
            assert!(best.is_none() || declared.is_some(), "{name}: `fixes` is missing");
        }
        let Some(ceiling) = metadata.fixes else { continue };
        let shown = blocks.windows(2).filter(|pair| pair[1].0 == "dockerfile,fixed");
        // What an agent will propose is known to nobody.
        let offered = blocks.iter().flat_map(|(_, text)| run_example(name, text));
        let by_agent = offered.flat_map(|finding| finding.fixes).all(|fix| fix.objective.is_some());
        assert_eq!(metadata.by_agent, by_agent, "{name}: who fixes it");
        assert!(by_agent || shown.clone().count() > 0, "{name}: no fixed example");
        for pair in shown {
            assert_eq!(pair[0].0, "dockerfile,bad", "{name}: a fixed example follows a bad one");
            let actual = fix_with(name, &pair[0].1, ceiling, as_the_pages_say);
            assert_eq!(actual, pair[1].1, "{name}: fixing gives something else");
            let left = run_example(name, &actual);
            assert_eq!(left, [], "{name}: the fixed example is not clean");
        }
    }
}
