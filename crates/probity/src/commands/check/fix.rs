//! `--fix` and `--diff`: what is asked for, and what becomes of one file.

mod diff;
mod proven;
mod summary;

use std::path::Path;

use probity_check::source::Source;
use probity_finding::{Applicability, Finding};
use probity_lint::{
    AI_DETECTORS, AppliedFix, FixOptions, KnownFindings, LintOptions, Parsed, RULES, Rejection,
    SkippedFix,
};

pub(crate) use self::diff::unified as unified_diff;
pub(super) use self::summary::Summary;
use super::{
    Options,
    ai::AiRun,
    job::{Job, Target},
};
use crate::{
    config::{Origin, Settings, key},
    report::{ai_fix::AiFix, proof::ProofReport},
    write::{self, WriteError},
};

/// What happens to fixes in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// They are shown in reports that can show them.
    Offer,
    /// They are applied, and the files are written.
    Write,
    /// They are shown as a diff.
    Diff,
}

impl Way {
    /// What the flags and variables of the run ask for.
    pub(super) fn of(options: &Options, config: &Settings) -> Self {
        let way = match (options.diff, config.check.fix) {
            (true, _) => Self::Diff,
            (false, true) => Self::Write,
            (false, false) => Self::Offer,
        };
        let is_flag = |key| matches!(config.merged.origin(key), Origin::Flag { .. });
        let unsafe_too = config.check.unsafe_fixes == Some(true);
        let idle = [
            (unsafe_too && is_flag(&key::check::unsafe_fixes.key), "--fix-unsafe"),
            (is_flag(&key::check::fix_rule.key), "--fix-rule"),
            (config.check.fix_level.is_some(), "--fix-level"),
            (options.fix_ai, "--fix-ai"),
        ];
        for (_, flag) in idle.iter().filter(|(given, _)| *given && way == Self::Offer) {
            tracing::warn!("{flag} has no effect without --fix or --diff");
        }
        let idle = [
            (options.ai_dry_run, "--ai-dry-run"),
            (is_flag(&key::ai::context.key), "--ai-allow-fs"),
        ];
        let asks_nobody = way == Self::Offer && !options.ai_detect;
        for (_, flag) in idle.iter().filter(|(given, _)| *given && asks_nobody) {
            tracing::warn!("{flag} has no effect without --fix, --diff or --ai-detect");
        }
        let mut selected = config.check.rules.include.iter();
        let asked = selected.find(|name| {
            name.value.starts_with("ai/") && matches!(name.origin, Origin::Flag { .. })
        });
        if let (Some(name), false) = (asked, options.ai_detect) {
            tracing::warn!("--select {} has no effect without --ai-detect", name.value);
        }
        let known = |name: &String| {
            let pattern = probity_lint::Pattern::new(name.as_str());
            RULES.iter().any(|rule| pattern.matches(rule.metadata().name))
                || AI_DETECTORS.iter().any(|detector| pattern.matches(detector.name))
        };
        for name in config.check.fix_rule.iter().filter(|name| !known(name)) {
            tracing::warn!("--fix-rule {name}: no rule here has that name");
        }
        way
    }

    /// Whether standard output is taken by the fixed text or the diff.
    pub(super) fn takes_stdout(self, jobs: &[Job]) -> bool {
        let mut stdin = jobs.iter().map(|job| matches!(job.target, Target::Stdin(_)));
        self == Self::Diff || (self == Self::Write && stdin.any(|is_stdin| is_stdin))
    }
}

/// What fixing one file came to.
#[derive(Debug)]
pub(super) struct Fixing {
    /// For standard output: the diff, or the text of standard input.
    pub(super) output: Option<String>,
    pub(super) is_changed: bool,
    pub(super) applied: Vec<AppliedFix>,
    pub(super) skipped: Vec<SkippedFix>,
    pub(super) failure: Option<WriteError>,
    /// Why no fix may touch the file, where that is so.
    pub(super) rejection: Option<Rejection>,
    /// What agents were asked for.
    pub(super) ai_fixes: Vec<AiFix>,
    /// What an experiment with the rules' own unsafe fixes came to.
    pub(super) proof: Option<ProofReport>,
}

/// The least safe fixes that a run applies.
fn ceiling(config: &Settings) -> Applicability {
    let by_switch = match config.check.unsafe_fixes {
        Some(true) => Applicability::Unsafe,
        Some(false) | None => Applicability::Safe,
    };
    config.check.fix_level.unwrap_or(by_switch)
}

/// Fixes one file; gives its text and its findings as they are now. `context` is its build context.
pub(super) fn fix(
    way: Way,
    job: &Job,
    source: &Source,
    parsed: Parsed<'_>,
    lint: LintOptions<'_>,
    context: Option<&Path>,
    ai: &AiRun,
) -> (String, Vec<Finding>, Fixing) {
    let known: Option<&dyn KnownFindings> = match job.known() {
        Some(known) => Some(known),
        None => None,
    };
    let options = FixOptions {
        lint,
        ceiling: ceiling(&job.config),
        known,
        only: &job.config.check.fix_rule,
        modes: &job.rules.modes,
        excluded: &job.rules.excluded_in(&source.shown),
    };
    let fixed = probity_lint::fix_parsed(parsed, &options);
    let (fixed, proof) = proven::proven(job, source, fixed, &options, ai);
    let (fixed, ai_fixes) = ai.improve(job, source, fixed, &options, context);
    if (ai.is_dry_run() && way == Way::Write) || ai.called_off().is_some() {
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
    match (way, &job.target) {
        (Way::Diff, _) => {
            fixing.output =
                is_changed.then(|| diff::unified(&source.shown, &source.text, &fixed.text));
        }
        (_, Target::Stdin(_)) => fixing.output = Some(fixed.text.clone()),
        (_, Target::File(path)) if is_changed => {
            let named_by = job.uses.as_ref().map(|uses| uses.named_by.clone()).unwrap_or_default();
            let replaced = write::replace_named_by(path, &named_by, &source.text, &fixed.text);
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
