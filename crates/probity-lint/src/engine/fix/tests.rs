//! The loop on fixes that were made up for it: good, bad, quarrelling and endless ones.

mod gates;
mod reading;
mod rounds;
mod sabotage;
mod written;

use std::collections::BTreeMap;

use probity_dockerfile::Dockerfile;
use probity_finding::{Applicability, Edit, Finding, Fix, Severity, Span};

use super::{FixMode, FixOptions, Fixed};
use crate::{DirectiveOptions, LintOptions, Parsed, RuleSet};

/// A rule that replaces the first occurrence of one text by another.
struct Replace {
    rule: &'static str,
    from: &'static str,
    to: &'static str,
    make: fn(Vec<Edit>) -> Fix,
}

fn safe(rule: &'static str, from: &'static str, to: &'static str) -> Replace {
    Replace { rule, from, to, make: |edits| Fix::safe("replace", edits) }
}

fn risky(rule: &'static str, from: &'static str, to: &'static str) -> Replace {
    Replace { rule, from, to, make: |edits| Fix::risky("replace", edits) }
}

impl Replace {
    fn finding(&self, file: &Dockerfile<'_>) -> Option<Finding> {
        let start = file.text.find(self.from)?;
        let span = Span::new(start, start + self.from.len());
        let fix = (self.make)(vec![Edit::replace(span, self.to)]);
        Some(Finding::new(self.rule, Severity::Warning, span, "here").with_fix(fix))
    }
}

/// Fixes a text with made-up rules only.
fn fix_with(text: &str, rules: &[Replace], change: impl Fn(&mut FixOptions<'_>)) -> Fixed {
    let set = RuleSet::default();
    let modes: BTreeMap<String, FixMode> = BTreeMap::new();
    let mut options = FixOptions {
        lint: LintOptions {
            rules: &set,
            uses: None,
            directives: DirectiveOptions::default(),
            dockerignore: None,
            context_files: None,
            base_images: None,
            detections: &[],
            secrets: None,
        },
        ceiling: Applicability::Safe,
        only: &[],
        modes: &modes,
        excluded: &[],
        known: None,
    };
    change(&mut options);
    super::run(Parsed::of(text), &options, super::Comments::Stay, &|parsed| {
        let mut findings: Vec<Finding> =
            rules.iter().filter_map(|rule| rule.finding(&parsed.file)).collect();
        findings.sort_by(Finding::report_order);
        findings
    })
}

/// What was skipped, a line each.
fn skipped(fixed: &Fixed) -> Vec<String> {
    let line = |line: Option<usize>| line.map_or_else(|| "-".to_owned(), |line| line.to_string());
    let told = fixed.skipped.iter();
    told.map(|fix| {
        format!("{} {} {}: {}", line(fix.line), fix.rule, fix.reason.as_str(), fix.detail)
    })
    .collect()
}

fn applied(fixed: &Fixed) -> Vec<String> {
    fixed.applied.iter().map(|fix| format!("{}:{} {}", fix.round, fix.line, fix.rule)).collect()
}
