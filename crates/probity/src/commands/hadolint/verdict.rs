//! What hadolint would say about one file.

use std::{cell::LazyCell, io, path::Path};

use probity_check::{
    Hider,
    source::{self, Limits, Read},
};
use probity_finding::{Finding, LineIndex, Severity};
use probity_lint::{
    DirectiveOptions, LintOptions, OptionValue, Pattern, RuleSet, is_syntax_rule, lint,
};
use probity_report::place::{LineRange, Unit};
use probity_secrets::Detector;

use super::{codes, settings::Settings};

/// One thing that is reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) code: String,
    pub(super) severity: Severity,
    pub(super) message: String,
    pub(super) place: LineRange,
}

impl Verdict {
    /// Whether the file cannot be built here, which the formats show in another way.
    pub(super) fn is_syntax(&self) -> bool {
        self.code == codes::SYNTAX
    }
}

/// What became of one file.
pub(super) enum Examined {
    Read(Vec<Verdict>),
    Unread(String),
}

/// The rules that a run needs: those that hadolint has and that nobody has switched off.
pub(super) fn rules(settings: &Settings) -> RuleSet {
    let mut rules = RuleSet::of_hadolint();
    let is_wanted = |code: &&str| settings.severity(code, Severity::Error).is_some();
    let wanted =
        codes::all().filter(is_wanted).map(|code| Pattern::new(format!("hadolint/{code}")));
    let mut wanted: Vec<Pattern> = wanted.collect();
    wanted.push(Pattern::new("shellcheck/*"));
    rules.select(&wanted);
    let mut set = |rule: &str, option: &str, names: Vec<String>| {
        rules.set_option(rule, option, &OptionValue::TextList(names));
    };
    set("hadolint/DL3026", "trusted-registries", settings.registries.clone());
    let all: Vec<String> = settings.labels.keys().cloned().collect();
    if settings.strict_labels {
        // With nothing allowed every label is too much; an empty list would mean that nobody asks.
        let none = || vec![String::new()];
        set("hadolint/DL3050", "labels", if all.is_empty() { none() } else { all.clone() });
    }
    for kind in settings.labels.values() {
        let same = settings.labels.iter().filter(|(_, other)| *other == kind);
        if let Some(rule) = kind.rule() {
            set(rule, "labels", same.map(|(name, _)| name.clone()).collect());
        }
    }
    set("hadolint/DL3051", "labels", all.clone());
    set("hadolint/DL3049", "labels", all);
    rules
}

pub(super) fn examine(
    file: &Path,
    directory: &Path,
    settings: &Settings,
    rules: &RuleSet,
    detector: &Detector,
) -> Examined {
    let limits = Limits::new(0).with_any_bytes();
    let read = if file.as_os_str() == "-" {
        source::read_stdin(io::stdin().lock(), None, directory, limits)
    } else {
        source::read(&directory.join(file), directory, limits)
    };
    let source = match read {
        Read::Text(source) => source,
        Read::Problem(unread) => return Examined::Unread(unread.finding.message),
    };
    let directives =
        DirectiveOptions { enabled: !settings.disable_ignore_pragma, ..Default::default() };
    let options = LintOptions {
        rules,
        uses: None,
        directives,
        dockerignore: None,
        context_files: None,
        base_images: None,
        detections: &[],
        secrets: Some(detector),
    };
    let findings = lint(&source.text, &options);
    let lines = LineIndex::new(&source.text);
    let mut verdicts: Vec<Verdict> = Vec::new();
    // A file without instructions is fine there.
    let is_empty =
        LazyCell::new(|| probity_dockerfile::parse(&source.text).instructions.is_empty());
    let hider = LazyCell::new(|| Hider::of(detector, &source.text));
    for finding in findings.iter().filter(|finding| !is_syntax_rule(&finding.rule) || !*is_empty) {
        let Some(mut verdict) = verdict(finding, settings, &lines) else { continue };
        if !codes::is_fixed(&verdict.code) {
            verdict.message = hider.message(&verdict.message);
        }
        // Where columns are not shown, the second of two packages in a line is the first once more.
        let is_same = |other: &Verdict| {
            other.place.line == verdict.place.line
                && other.code == verdict.code
                && other.message == verdict.message
        };
        if !verdicts
            .iter()
            .rev()
            .take_while(|earlier| earlier.place.line == verdict.place.line)
            .any(is_same)
        {
            verdicts.push(verdict);
        }
    }
    verdicts.sort_by(|a, b| {
        let order = |verdict: &Verdict| (verdict.place.line, verdict.place.column);
        order(a).cmp(&order(b)).then_with(|| a.code.cmp(&b.code))
    });
    Examined::Read(verdicts)
}

/// The finding as hadolint would report it, if it would.
fn verdict<'a>(
    finding: &'a Finding,
    settings: &Settings,
    lines: &LineIndex<'_>,
) -> Option<Verdict> {
    let code =
        |name: &'a str| name.strip_prefix("hadolint/").or_else(|| name.strip_prefix("shellcheck/"));
    let code = code(&finding.rule).or_else(|| code(finding.alias?));
    let (code, own, message) = match code {
        Some(code) => match codes::find(code) {
            Some(known) => (code, known.severity, codes::message(known, &finding.message)),
            None => (code, finding.severity, finding.message.clone()),
        },
        None if is_syntax_rule(&finding.rule) => {
            (codes::SYNTAX, Severity::Error, finding.message.clone())
        }
        None => return None,
    };
    // What cannot be built is reported whatever is ignored.
    let severity =
        if code == codes::SYNTAX { Severity::Error } else { settings.severity(code, own)? };
    let start = LineRange { line: 1, column: 1, end_line: 1, end_column: 1 };
    let place = finding.span.map_or(start, |span| LineRange::shown(lines, span, Unit::Utf16));
    Some(Verdict { code: code.to_owned(), severity, message, place })
}
