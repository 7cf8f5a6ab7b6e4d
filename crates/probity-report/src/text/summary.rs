//! The end of a text report: how often each rule was hit, and what can be fixed.

use std::{cmp::Reverse, collections::BTreeMap};

use probity_check::AiFix;
use probity_finding::{Applicability, Finding};
use probity_text::visible;

/// Rules that the summary names; `--statistics` lists all.
const MOST_RULES: usize = 12;

/// How often each rule was hit.
#[derive(Debug, Default)]
pub(super) struct ByRule {
    hits: BTreeMap<String, usize>,
}

impl ByRule {
    pub(super) fn add(&mut self, finding: &Finding) {
        *self.hits.entry(finding.rule.to_string()).or_default() += 1;
    }

    /// The rule that somebody wants to read about first.
    pub(super) fn most_frequent(&self) -> Option<&str> {
        self.rows().first().map(|(rule, _)| rule.as_str())
    }

    fn rows(&self) -> Vec<(&String, &usize)> {
        let mut rows: Vec<(&String, &usize)> = self.hits.iter().collect();
        rows.sort_by_key(|&(rule, count)| (Reverse(*count), rule));
        rows
    }

    pub(super) fn in_words(&self) -> String {
        let rows = self.rows();
        let named = rows.iter().take(MOST_RULES);
        let named: Vec<String> =
            named.map(|(rule, count)| format!("{count} {}", visible::line(rule))).collect();
        let rest = match rows.len().saturating_sub(MOST_RULES) {
            0 => String::new(),
            1 => " and 1 more rule".to_owned(),
            more => format!(" and {more} more rules"),
        };
        format!("By rule: {}{rest}.\n", named.join(", "))
    }
}

/// How many findings a run with `--fix` would see to, by what it takes; each counts once.
#[derive(Debug, Default)]
pub(super) struct Fixable {
    safe: usize,
    risky: usize,
    by_agent: usize,
}

impl Fixable {
    pub(super) fn add(&mut self, finding: &Finding, ai_fixes: &[AiFix]) {
        let was_asked =
            |rule: &str| ai_fixes.iter().any(|fix| fix.session.is_some() && fix.rule == rule);
        let best =
            finding.fixes.iter().map(|fix| (fix.objective.is_some(), fix.applicability)).min();
        match best {
            Some((false, Applicability::Safe)) => self.safe += 1,
            Some((false, _)) => self.risky += 1,
            // Who has been asked already would not know better.
            Some((true, _)) if was_asked(&finding.rule) => {}
            Some((true, _)) => self.by_agent += 1,
            None => {}
        }
    }

    pub(super) fn in_words(&self) -> String {
        let ways = [
            (self.safe, "`--fix`"),
            (self.risky, "`--fix --fix-unsafe`"),
            (self.by_agent, "`--fix --fix-ai` and `--acp-command` or `--ai --ai-provider`"),
        ];
        let ways: Vec<String> = ways
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, flags)| format!("{count} with {flags}"))
            .collect();
        if ways.is_empty() {
            return String::new();
        }
        format!("Fixable: {}.\n", ways.join(", "))
    }
}
