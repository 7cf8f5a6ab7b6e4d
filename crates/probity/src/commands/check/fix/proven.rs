//! Unsafe fixes of the rules themselves, proven where the user asks for a proof.
//!
//! `auto` proves what agents propose; the fixes of rules are proven only on request, because most
//! runs of `--fix-unsafe` should not build an image.

use probity_check::source::Source;
use probity_dockerfile::{Facts, parse};
use probity_finding::Applicability;
use probity_lint::{FixOptions, Fixed, SkipReason, SkippedFix};

use crate::{
    commands::check::{
        ai::AiRun,
        job::Job,
        proof::{Prover, Standing},
    },
    config::{Origin, key, words::Proof},
    report::proof::ProofReport,
};

/// The fixes as they are if the images agree, otherwise the safe ones alone.
pub(super) fn proven(
    job: &Job,
    source: &Source,
    fixed: Fixed,
    options: &FixOptions<'_>,
    ai: &AiRun,
) -> (Fixed, Option<ProofReport>) {
    let origin = job.config.merged.origin(&key::ai::proof.key);
    let is_asked_for = *origin != Origin::Default && job.config.ai.proof != Proof::Static;
    let risky = fixed.applied.iter().filter(|fix| fix.applicability != Applicability::Safe);
    let risky: Vec<_> = risky.cloned().collect();
    if !is_asked_for || risky.is_empty() {
        return (fixed, None);
    }
    // A rule changes what it is about; everything else has to stay.
    let runtime = |text: &str| Facts::of(&parse(text)).final_runtime();
    let allowed = runtime(&source.text).differences(&runtime(&fixed.text));
    let is_cancelled = || ai.is_cancelled();
    let mut prover = Prover::new(job, source, &is_cancelled);
    let why = match prover.judge(&source.text, &fixed.text, &allowed) {
        Standing::Accepted | Standing::Proven => None,
        Standing::Refused(issues) => issues.first().map(|issue| issue.message.clone()),
        Standing::Unproven(detail) => Some(detail),
    };
    let report = prover.verdict().map(ProofReport::of);
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
