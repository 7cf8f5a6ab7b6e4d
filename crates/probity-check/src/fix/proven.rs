//! Unsafe fixes of the rules themselves, proven where the user asks for a proof.

use probity_autofix::Proof;
use probity_dockerfile::{Facts, parse};
use probity_finding::Applicability;
use probity_lint::{FixOptions, Fixed, SkipReason, SkippedFix};

use crate::{ProofReport, job::Job, source::Source};

/// The fixes as they are if the images agree, otherwise the safe ones alone.
pub(super) fn proven(
    job: &Job,
    source: &Source,
    fixed: Fixed,
    options: &FixOptions<'_>,
) -> (Fixed, Option<ProofReport>) {
    let risky = fixed.applied.iter().filter(|fix| fix.applicability != Applicability::Safe);
    let risky: Vec<_> = risky.cloned().collect();
    if !job.options.ai.proves_rules || risky.is_empty() {
        return (fixed, None);
    }
    // A rule changes what it is about; everything else has to stay.
    let runtime = |text: &str| Facts::of(&parse(text)).final_runtime();
    let allowed = runtime(&source.text).differences(&runtime(&fixed.text));
    let mut prover = job.effects.prover(job, source);
    let why = match prover.judge(&source.text, &fixed.text, &allowed) {
        Proof::Accepted | Proof::Proven => None,
        Proof::Refused(issues) => issues.first().map(|issue| issue.message.clone()),
        Proof::Unproven(detail) => Some(detail),
    };
    let report = prover.report(&|text: &str| text.to_owned());
    let Some(why) = why else { return (fixed, report) };
    let safe = FixOptions { ceiling: Applicability::Safe, ..*options };
    let mut fixed = probity_lint::fix(&source.text, &safe);
    let is_reverted = |rule: &str| risky.iter().any(|fix| fix.rule == rule);
    fixed.skipped.retain(|skipped| {
        skipped.reason != SkipReason::Safety || !is_reverted(skipped.rule.as_ref())
    });
    fixed.skipped.extend(risky.into_iter().map(|fix| SkippedFix {
        rule: fix.rule,
        title: fix.title,
        line: Some(fix.line),
        reason: SkipReason::ValidationFailed,
        detail: why.clone(),
    }));
    (fixed, report)
}
