//! Fixing: apply what may be applied, parse again, and keep only what kept its promise.
//!
//! A round lints the text, chooses fixes and applies those that do not get in each other's way. The
//! result is parsed again; a fix that breaks the file, or a safe one that changes the image, is taken
//! back alone. Rounds go on until nothing changes.
//!
//! **Invariant:** there is no order between named rules. Safe fixes come before the others, so that
//! what they promise is judged without the others' changes; else the earlier in the text wins.

mod choose;
mod outcome;
mod settle;
mod verify;

#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use probity_dockerfile::{Dockerfile, Facts, parse};
use probity_finding::{Applicability, Finding, Fix, LineIndex};

pub use self::outcome::{AppliedFix, Fixed, SkipReason, SkippedFix};
use self::{choose::choose, settle::settle, verify::Snapshot};
use crate::LintOptions;

/// Rounds after which rules that still change the text are given up on.
const MAX_ROUNDS: usize = 10;

/// Which fixes are wanted.
#[derive(Clone, Copy, Debug)]
pub struct FixOptions<'a> {
    pub lint: LintOptions<'a>,
    /// Fixes that are less trustworthy than this are left out.
    pub ceiling: Applicability,
    /// Only the fixes of these rules; of all where it is empty.
    pub only: &'a [String],
    /// What the configuration says about single rules, by full name.
    pub modes: &'a BTreeMap<String, FixMode>,
    /// Rules whose findings do not count in this file, by full name.
    pub excluded: &'a [&'a str],
}

/// When the fixes of one rule may be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixMode {
    Never,
    /// Only when the rule is named by [`FixOptions::only`].
    Explicit,
    Always,
    /// Only when unsafe fixes are wanted.
    UnsafeOnly,
}

/// Fixes what may be fixed and says what became of the rest.
#[must_use]
pub fn fix(text: &str, options: &FixOptions<'_>) -> Fixed {
    run(text, options, &|file, facts| crate::check(file, facts, &options.lint))
}

/// Finds what is wrong with a text; tests put bad fixes in here.
type Check<'c> = dyn Fn(&Dockerfile<'_>, &Facts) -> Vec<Finding> + 'c;

fn run(text: &str, options: &FixOptions<'_>, check: &Check<'_>) -> Fixed {
    let mut progress = Progress { texts: vec![text.to_owned()], ..Progress::default() };
    for _ in 0..MAX_ROUNDS {
        let step = progress.step(options, check);
        match step.next {
            None => return progress.finish(step.findings, step.skipped),
            Some(next) => progress.take(next, step.applied),
        }
    }
    let step = progress.step(options, check);
    let rules = step.applied.into_iter().map(|fix| fix.rule).collect();
    let detail = format!("the text still changed after {MAX_ROUNDS} rounds");
    progress.give_up(&rules, SkipReason::Unsettled, &detail);
    progress.finish(step.findings, step.skipped)
}

/// Where fixing one file has got to.
#[derive(Default)]
struct Progress {
    /// The text that each round began with; the last one is the text as it is.
    texts: Vec<String>,
    applied: Vec<AppliedFix>,
    given_up: Vec<SkippedFix>,
    /// Rules that go round in circles.
    barred: BTreeSet<Cow<'static, str>>,
}

/// What one round found, and what it would do.
struct Step {
    findings: Vec<Finding>,
    skipped: Vec<SkippedFix>,
    applied: Vec<AppliedFix>,
    /// None where nothing is left to apply.
    next: Option<String>,
}

impl Progress {
    fn text(&self) -> &str {
        self.texts.last().map_or("", String::as_str)
    }

    fn step(&self, options: &FixOptions<'_>, check: &Check<'_>) -> Step {
        let text = self.text();
        let file = parse(text);
        let facts = Facts::of(&file);
        let mut findings = check(&file, &facts);
        findings.retain(|finding| !options.excluded.contains(&finding.rule.as_ref()));
        let lines = LineIndex::new(text);
        let (candidates, mut skipped) = choose(&findings, options, &self.barred, &lines);
        let mut applied = Vec::new();
        let mut next = None;
        let (safe, others): (Vec<_>, Vec<_>) =
            candidates.into_iter().partition(|it| it.fix.applicability == Applicability::Safe);
        let mut before = None;
        for group in [safe, others].into_iter().filter(|group| !group.is_empty()) {
            let before = before.get_or_insert_with(|| Snapshot::of(&file, &facts));
            let fixes: Vec<&Fix> = group.iter().map(|candidate| candidate.fix).collect();
            let settled = settle(text, before, &fixes);
            for (index, reason, detail) in settled.skipped {
                let candidate = group.get(index);
                skipped.extend(candidate.map(|it| it.skipped(&lines, reason, detail)));
            }
            let chosen = settled.applied.iter().filter_map(|&index| group.get(index));
            applied.extend(chosen.map(|candidate| candidate.applied(&lines, self.texts.len())));
            if !applied.is_empty() {
                next = Some(settled.text);
                break;
            }
        }
        drop(file);
        Step { findings, skipped, applied, next }
    }

    fn take(&mut self, next: String, applied: Vec<AppliedFix>) {
        self.applied.extend(applied);
        let Some(again) = self.texts.iter().position(|earlier| *earlier == next) else {
            return self.texts.push(next);
        };
        // The text was there before: whatever was applied since then goes in circles.
        self.texts.truncate(again + 1);
        let circle: BTreeSet<_> = self
            .applied
            .iter()
            .filter(|fix| fix.round > again)
            .map(|fix| fix.rule.clone())
            .collect();
        self.applied.retain(|fix| fix.round <= again);
        let names: Vec<&str> = circle.iter().map(Cow::as_ref).collect();
        let detail = match names.as_slice() {
            [one] => format!("{one} undoes its own work"),
            several => format!("{} undo each other's work", several.join(" and ")),
        };
        self.give_up(&circle, SkipReason::Cycle, &detail);
        self.barred.extend(circle);
    }

    fn give_up(&mut self, rules: &BTreeSet<Cow<'static, str>>, reason: SkipReason, detail: &str) {
        self.given_up.extend(rules.iter().map(|rule| SkippedFix {
            rule: rule.clone(),
            title: Cow::Borrowed("all fixes of the rule"),
            line: None,
            reason,
            detail: detail.to_owned(),
        }));
    }

    fn finish(mut self, remaining: Vec<Finding>, skipped: Vec<SkippedFix>) -> Fixed {
        self.given_up.extend(skipped);
        let rounds = self.texts.len().saturating_sub(1);
        Fixed {
            text: self.texts.pop().unwrap_or_default(),
            applied: self.applied,
            skipped: self.given_up,
            rounds,
            remaining,
        }
    }
}
