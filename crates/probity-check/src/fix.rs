//! `--fix` and `--diff`: what is asked for, and what becomes of one file.

mod proven;

use std::path::Path;

use probity_finding::Finding;
use probity_lint::{
    AppliedFix, FixOptions, KnownFindings, LintOptions, Parsed, Rejection, SkippedFix,
};

use crate::{
    AiFix, FixHandling, ProofReport, RunOptions, Unwritten, ai, diff,
    job::{Job, Target},
    source::Source,
};

/// What fixing one file came to.
#[derive(Debug)]
pub struct Fixing {
    /// For standard output: the diff, or the text of standard input.
    pub output: Option<String>,
    pub is_changed: bool,
    pub applied: Vec<AppliedFix>,
    pub skipped: Vec<SkippedFix>,
    pub failure: Option<Unwritten>,
    /// Why no fix may touch the file, where that is so.
    pub rejection: Option<Rejection>,
    /// What agents were asked for.
    pub ai_fixes: Vec<AiFix>,
    /// What an experiment with the rules' own unsafe fixes came to.
    pub proof: Option<ProofReport>,
}

/// Fixes one file; gives its text and its findings as they are now. `context` is its build context.
pub(crate) fn fix(
    run: RunOptions,
    job: &Job,
    source: &Source,
    parsed: Parsed<'_>,
    lint: LintOptions<'_>,
    context: Option<&Path>,
) -> (String, Vec<Finding>, Fixing) {
    let known: Option<&dyn KnownFindings> = match job.known() {
        Some(known) => Some(known),
        None => None,
    };
    let options = FixOptions {
        lint,
        ceiling: job.options.fixes.ceiling,
        known,
        only: &job.options.fixes.only,
        modes: &job.rules.modes,
        excluded: &job.rules.excluded_in(&source.shown),
    };
    let fixed = probity_lint::fix_parsed(parsed, &options);
    let (fixed, proof) = proven::proven(job, source, fixed, &options);
    let (fixed, ai_fixes) = ai::improve(run, job, source, fixed, &options, context);
    if (run.is_dry_run && run.fixes == FixHandling::Write) || job.effects.cancel().is_cancelled() {
        return untouched(job, source, &options, ai_fixes);
    }
    let is_changed = fixed.text != source.text;
    let mut fixing = Fixing {
        output: None,
        is_changed,
        applied: fixed.applied,
        skipped: fixed.skipped,
        failure: None,
        rejection: fixed.rejection,
        ai_fixes,
        proof,
    };
    match (run.fixes, &job.target) {
        (FixHandling::Diff, _) => {
            fixing.output =
                is_changed.then(|| diff::unified_diff(&source.shown, &source.text, &fixed.text));
        }
        (_, Target::Stdin(_)) => fixing.output = Some(fixed.text.clone()),
        (_, Target::File(path)) if is_changed => {
            let named_by = job.uses.as_ref().map(|uses| uses.named_by.clone()).unwrap_or_default();
            let replaced = job.effects.replace(path, &named_by, &source.text, &fixed.text);
            fixing.failure = replaced.err();
        }
        _ => {}
    }
    if fixing.failure.is_some() {
        return (source.text.to_string(), as_it_was(source, &options), fixing);
    }
    (fixed.text, fixed.remaining, fixing)
}

/// A dry run shows what would be sent after the other fixes, and applies none of them either; a run
/// that is called off leaves what it has not written.
fn untouched(
    job: &Job,
    source: &Source,
    options: &FixOptions<'_>,
    ai_fixes: Vec<AiFix>,
) -> (String, Vec<Finding>, Fixing) {
    let is_filter = matches!(job.target, Target::Stdin(_));
    let fixing = Fixing {
        output: is_filter.then(|| source.text.to_string()),
        is_changed: false,
        applied: Vec::new(),
        skipped: Vec::new(),
        failure: None,
        rejection: None,
        ai_fixes,
        proof: None,
    };
    (source.text.to_string(), as_it_was(source, options), fixing)
}

/// The file is as it was, and so is what is wrong with it.
fn as_it_was(source: &Source, options: &FixOptions<'_>) -> Vec<Finding> {
    let mut findings = probity_lint::lint(&source.text, &options.lint);
    findings.retain(|finding| !options.excluded.contains(&finding.rule.as_ref()));
    findings
}
