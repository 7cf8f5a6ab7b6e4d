//! Which fixes may be applied at all: the rule asked for, the safety, the configuration.

use std::{borrow::Cow, collections::BTreeSet};

use probity_finding::{Applicability, Finding, Fix, LineIndex};

use super::{AppliedFix, FixMode, FixOptions, SkipReason, SkippedFix};
use crate::engine::ruleset::same_rule;

/// A fix that may be applied, and what it is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'f> {
    finding: &'f Finding,
    pub(super) fix: &'f Fix,
}

/// At most one fix for each finding: the first that is within the ceiling.
pub(super) fn choose<'f>(
    findings: Vec<&'f Finding>,
    options: &FixOptions<'_>,
    barred: &BTreeSet<Cow<'static, str>>,
    lines: &LineIndex<'_>,
) -> (Vec<Candidate<'f>>, Vec<SkippedFix>) {
    let mut candidates = Vec::new();
    let mut skipped = Vec::new();
    for finding in findings {
        // What was given up on has been reported for the rule as a whole.
        if barred.contains(&finding.rule) {
            continue;
        }
        let Some(preferred) = finding.fixes.first() else { continue };
        match pick(finding, options) {
            Ok(fix) => candidates.push(Candidate { finding, fix }),
            Err((reason, detail)) => {
                let candidate = Candidate { finding, fix: preferred };
                skipped.push(candidate.skipped(lines, reason, detail));
            }
        }
    }
    (candidates, skipped)
}

/// The fixes that an agent may be asked for: what [`fix`](super::fix) has left over, by the same
/// gates. With `admit` unsafe fixes of agents are within the ceiling, and no others.
#[must_use]
pub fn agent_fixes<'f>(
    findings: &'f [Finding],
    options: &FixOptions<'_>,
    admit: bool,
) -> Vec<(&'f Finding, &'f Fix)> {
    let wanted =
        findings.iter().filter(|finding| !options.excluded.contains(&finding.rule.as_ref()));
    let asked = wanted.filter_map(|finding| {
        let fix = finding.fixes.iter().find(|fix| fix.objective.is_some())?;
        let has_other = pick(finding, options).is_ok();
        let unsafe_too = FixOptions { ceiling: Applicability::Unsafe, ..*options };
        let options = if admit { &unsafe_too } else { options };
        let refused = pick_only(finding, options).is_err();
        (!has_other && !refused).then_some((finding, fix))
    });
    asked.collect()
}

fn pick<'f>(
    finding: &'f Finding,
    options: &FixOptions<'_>,
) -> Result<&'f Fix, (SkipReason, String)> {
    let mut within = pick_only(finding, options)?.into_iter();
    let ready = within.find(|fix| fix.objective.is_none());
    ready.ok_or_else(|| (SkipReason::ResolveError, "an agent has to propose it".to_owned()))
}

/// The fixes of a finding that nothing holds back.
fn pick_only<'f>(
    finding: &'f Finding,
    options: &FixOptions<'_>,
) -> Result<Vec<&'f Fix>, (SkipReason, String)> {
    let rule = finding.rule.as_ref();
    let named = options.only.iter().any(|name| same_rule(name, rule));
    if !options.only.is_empty() && !named {
        return Err((SkipReason::RuleFilter, "other rules were asked for".to_owned()));
    }
    let unsafe_wanted = options.ceiling == Applicability::Unsafe;
    // The mode comes first: asking for more would not help where it holds the fix back.
    let held_back = match options.modes.get(rule).copied().unwrap_or(FixMode::Always) {
        FixMode::Never => Some(("never", "set `fix = \"always\"` to allow it".to_owned())),
        FixMode::Explicit if !named => Some(("explicit", format!("pass `--fix-rule {rule}`"))),
        FixMode::UnsafeOnly if !unsafe_wanted => {
            Some(("unsafe-only", "pass `--fix-unsafe`".to_owned()))
        }
        FixMode::Explicit | FixMode::UnsafeOnly | FixMode::Always => None,
    };
    if let Some((mode, way_out)) = held_back {
        let detail = format!("the configuration says `fix = \"{mode}\"`; {way_out}");
        return Err((SkipReason::FixMode, detail));
    }
    let within = || finding.fixes.iter().filter(|fix| fix.applicability <= options.ceiling);
    if within().next().is_none() {
        return Err((SkipReason::Safety, safety_detail(finding, options.ceiling)));
    }
    Ok(within().collect())
}

fn safety_detail(finding: &Finding, ceiling: Applicability) -> String {
    let best = finding.fixes.iter().map(|fix| fix.applicability).min();
    let best = best.unwrap_or(Applicability::Unsafe).as_str();
    format!("it is {best}, and you asked for fixes up to {}", ceiling.as_str())
}

impl Candidate<'_> {
    pub(super) fn applied(&self, lines: &LineIndex<'_>, round: usize) -> AppliedFix {
        AppliedFix {
            rule: self.finding.rule.clone(),
            title: self.fix.title.clone(),
            applicability: self.fix.applicability,
            line: self.line(lines).unwrap_or(1),
            round,
        }
    }

    pub(super) fn skipped(
        &self,
        lines: &LineIndex<'_>,
        reason: SkipReason,
        detail: String,
    ) -> SkippedFix {
        SkippedFix {
            rule: self.finding.rule.clone(),
            title: self.fix.title.clone(),
            line: self.line(lines),
            reason,
            detail,
        }
    }

    fn line(&self, lines: &LineIndex<'_>) -> Option<usize> {
        let edit = || self.fix.edits.iter().map(|edit| edit.span.start).min();
        let place = self.finding.span.map(|span| span.start).or_else(edit)?;
        Some(lines.position(place).line + 1)
    }
}
