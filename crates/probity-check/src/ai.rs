//! AI fixes: what an agent may be asked for, and what becomes of the answer.
//!
//! Each file is judged by its own configuration. What an agent proposed and the checks accepted is an
//! ordinary unsafe fix, applied by the same loop as all others.

mod detect;

use std::path::Path;

use probity_autofix::{Event, Member, Outcome, Reason, Request, Resolution, preview};
use probity_dockerfile::Setting;
use probity_finding::{Applicability, Finding, Fix, LineIndex};
use probity_lint::{
    AI_DETECTORS, FixOptions, Fixed, SkipReason, SkippedFix, agent_fixes, apply_given, new_findings,
};

pub(crate) use self::detect::detected;
use crate::{
    AiFix, AiSession, AskedFor, Hider, Prover, RunOptions, SessionOf, Subject, job::Job,
    source::Source,
};

/// Takes up where fixing without agents has ended.
pub(crate) fn improve(
    run: RunOptions,
    job: &Job,
    source: &Source,
    mut fixed: Fixed,
    options: &FixOptions<'_>,
    context: Option<&Path>,
) -> (Fixed, Vec<AiFix>) {
    let new = new_findings(options.known, &fixed.text, &fixed.remaining);
    let new: Vec<Finding> = new.into_iter().cloned().collect();
    let wanted: Vec<(Finding, Fix)> = agent_fixes(&new, options, run.admits_ai_fixes)
        .into_iter()
        .map(|(finding, fix)| (finding.clone(), fix.clone()))
        .collect();
    if wanted.is_empty() {
        return (fixed, Vec::new());
    }
    let members: Vec<Member> = wanted
        .iter()
        .filter_map(|(finding, fix)| {
            let (rule, objective) = (finding.rule.to_string(), fix.objective.clone()?);
            Some(Member { rule, priority: fix.priority, objective })
        })
        .collect();
    let text = fixed.text.clone();
    let request = Request {
        path: &source.shown,
        text: &text,
        members: &members,
        fix: FixOptions {
            lint: probity_lint::LintOptions { secrets: Some(job.rules.gate()), ..options.lint },
            ..*options
        },
        settings: job.options.ai.session,
        context: None,
    };
    let mut prover = job.effects.prover(job, source);
    let (mut resolution, session) = resolved(run, job, source, context, &request, &mut *prover);
    forget(&mut fixed.skipped, &wanted);
    if !resolution.edits.is_empty() {
        fixed = taken(fixed, &wanted, &mut resolution, options);
        forget_detections(&mut fixed.remaining, &wanted, &resolution.outcomes);
    }
    let lines = LineIndex::new(&text);
    let outcomes = wanted.iter().zip(&resolution.outcomes);
    let hider = Hider::of(job.rules.gate(), &source.text);
    let hide = |text: &str| hider.message(text);
    let proof = prover.report(&hide);
    let ai_fixes: Vec<AiFix> = outcomes
        .map(|((finding, fix), outcome)| {
            let line = finding.span.map(|span| lines.position(span.start).line + 1);
            let (reason, detail) = match outcome {
                Outcome::Skipped { reason, detail } => (Some(reason), Some(hide(detail))),
                Outcome::Applied | Outcome::NoChange => (None, None),
            };
            if let (Some(reason), Some(detail)) = (reason, &detail) {
                fixed.skipped.push(SkippedFix {
                    rule: finding.rule.clone(),
                    title: fix.title.clone(),
                    line,
                    reason: SkipReason::ResolveError,
                    detail: format!("{}: {detail}", reason.as_str()),
                });
            }
            AiFix {
                rule: finding.rule.to_string(),
                title: hide(&fix.title),
                line,
                outcome: outcome.as_str(),
                reason: reason.map(|reason| reason.as_str()),
                detail,
                session: session.clone().map(|session| session.masked(&hide)),
                proof: proof.clone(),
            }
        })
        .collect();
    (fixed, ai_fixes)
}

/// What the agent of the file's configuration makes of it, if it may be asked.
fn resolved(
    run: RunOptions,
    job: &Job,
    source: &Source,
    root: Option<&Path>,
    request: &Request<'_>,
    prover: &mut dyn Prover,
) -> (Resolution, Option<AiSession>) {
    let nothing = |reason: Reason, detail: String| {
        if run.is_dry_run && reason != Reason::AiDisabled {
            tracing::warn!("{}: no agent would be asked: {detail}", source.shown);
        }
        let outcome = Outcome::Skipped { reason, detail };
        let outcomes = vec![outcome; request.members.len()];
        (Resolution { outcomes, ..Resolution::default() }, None)
    };
    let subject = Subject { job, source, root, ignore: request.fix.lint.dockerignore };
    let asked = match job.effects.seat(AskedFor::Fixes, subject) {
        Ok(asked) => asked,
        Err((reason, detail)) => return nothing(reason, detail),
    };
    let request = &Request { context: asked.context.as_ref(), ..*request };
    let (effects, shown) = (&job.effects, source.shown.as_str());
    let hider = Hider::of(job.rules.gate(), &source.text);
    let session_of = SessionOf { shown, agent: &asked.agent, hider };
    if run.is_dry_run {
        effects.preview(&session_of, preview(request), &asked.contained_by);
        return nothing(Reason::AiDisabled, "this is a dry run".to_owned());
    }
    let mut opening = || asked.voice.open(asked.context.as_ref());
    let mut prove = |proposal: &str, allowed: &[Setting]| {
        effects.progress(shown, "proving the fix");
        prover.judge(request.text, proposal, allowed)
    };
    let heard = |event: Event<'_>| effects.hear(&session_of, event);
    let cancel = effects.cancel();
    let resolution = probity_autofix::resolve(request, &mut opening, &cancel, &heard, &mut prove);
    let session = AiSession::of(&asked, &resolution.session);
    (resolution, session)
}

/// Puts the accepted edits into the text, by the loop's own gate, and fixes on from there.
fn taken(
    fixed: Fixed,
    wanted: &[(Finding, Fix)],
    resolution: &mut Resolution,
    options: &FixOptions<'_>,
) -> Fixed {
    let members = || wanted.iter().zip(&resolution.outcomes);
    let given: Vec<Finding> = members()
        .filter(|(_, outcome)| **outcome == Outcome::Applied)
        .map(|((finding, fix), _)| {
            let resolved = Fix {
                applicability: Applicability::Unsafe,
                edits: resolution.edits.clone(),
                objective: None,
                ..fix.clone()
            };
            Finding { fixes: vec![resolved], ..finding.clone() }
        })
        .collect();
    let with = apply_given(&fixed.text, &given, options);
    if with.applied.is_empty() {
        let why = with.skipped.first().map(|skipped| skipped.detail.clone()).unwrap_or_default();
        for outcome in
            resolution.outcomes.iter_mut().filter(|outcome| **outcome == Outcome::Applied)
        {
            let (reason, detail) = (Reason::ValidationFailed, why.clone());
            *outcome = Outcome::Skipped { reason, detail };
        }
        return fixed;
    }
    let mut after = probity_lint::fix(&with.text, options);
    forget(&mut after.skipped, wanted);
    Fixed {
        applied: fixed.applied.into_iter().chain(with.applied).chain(after.applied).collect(),
        rounds: fixed.rounds + with.rounds + after.rounds,
        ..after
    }
}

/// Takes out the detections whose objective is met: the text that they quote may well have stayed.
fn forget_detections(
    remaining: &mut Vec<Finding>,
    wanted: &[(Finding, Fix)],
    outcomes: &[Outcome],
) {
    let met = || wanted.iter().zip(outcomes).filter(|(_, outcome)| **outcome == Outcome::Applied);
    remaining.retain(|finding| {
        let is_met = |met: &Finding| met.rule == finding.rule && met.message == finding.message;
        !AI_DETECTORS.iter().any(|detector| detector.name == finding.rule)
            || !met().any(|((met, _), _)| is_met(met))
    });
}

/// Takes out what is accounted for as an outcome.
fn forget(skipped: &mut Vec<SkippedFix>, wanted: &[(Finding, Fix)]) {
    skipped.retain(|entry| {
        let is_gate = matches!(entry.reason, SkipReason::ResolveError | SkipReason::Safety);
        let is_known = wanted.iter().any(|(finding, _)| finding.rule == entry.rule);
        !(is_gate && is_known)
    });
}
