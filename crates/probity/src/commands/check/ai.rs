//! AI fixes: what an agent may be asked for, whom to ask, and what becomes of the answer.
//!
//! Each file is judged by its own configuration. What an agent proposed and the checks accepted is an
//! ordinary unsafe fix, applied by the same loop as all others.

mod agent;
mod asked;
mod chat;
mod context;
mod detect;
mod trace;
mod watch;

use std::path::Path;

use anyhow::Context as _;
use probity_agent::Cancel;
use probity_autofix::{
    Event, Member, Outcome, Proof, Reason, Request, Resolution, Settings, preview,
};
use probity_check::source::Source;
use probity_dockerfile::Setting;
use probity_finding::{Applicability, Finding, Fix, LineIndex};
use probity_lint::{
    AI_DETECTORS, FixOptions, Fixed, SkipReason, SkippedFix, agent_fixes, apply_given, new_findings,
};
use probity_seat::{Caller, Seats, Terms};

use self::{agent::chosen, asked::shown, watch::Watch};
pub(super) use self::{asked::Subject, trace::Trace};
use super::{
    Options,
    job::Job,
    mask::Hider,
    proof::{Prover, Standing},
};
use crate::{
    commands::stop::Stop,
    config::table::ai::Ai,
    exit::Exit,
    report::ai_fix::{AiFix, AiSession},
    seats::seats,
};

/// What all files of a run share.
pub(super) struct AiRun {
    /// `--fix-ai`: agents' fixes are within the ceiling, whatever it is.
    admit: bool,
    dry_run: bool,
    /// `--ai-detect`.
    detects: bool,
    seats: Seats,
    terms: Terms,
    trace: Option<Trace>,
    /// Only where somebody may be asked: else a signal ends us at once, as it always did.
    stop: Option<Stop>,
    /// Who hears how the agent gets on.
    progress: Option<Progress>,
}

/// Hears in words how an agent gets on, and with which file.
pub(super) type Progress = Box<dyn Fn(&str, &str) + Send + Sync>;

impl AiRun {
    pub(super) fn new(
        options: &Options,
        trace: Option<Trace>,
        may_ask: bool,
        progress: Progress,
    ) -> anyhow::Result<Self> {
        let (admit, dry_run, detects) = (options.fix_ai, options.ai_dry_run, options.ai_detect);
        let stop = (may_ask && !dry_run).then(Stop::listen);
        // What is wrong with the user's configuration concerns only those who ask an agent.
        let (seats, terms) = if may_ask {
            seats(Caller::Fix).context("no agent can be asked")?
        } else {
            (Seats::default(), Terms::default())
        };
        Ok(Self { admit, dry_run, detects, seats, terms, trace, stop, progress: Some(progress) })
    }

    /// For runs in which nobody is asked.
    pub(super) fn idle() -> Self {
        Self {
            admit: false,
            dry_run: false,
            detects: false,
            seats: Seats::default(),
            terms: Terms::default(),
            trace: None,
            stop: None,
            progress: None,
        }
    }

    /// For one question of an editor, which calls it off by `cancel`.
    pub(super) fn for_editor(cancel: Cancel, progress: Progress) -> anyhow::Result<Self> {
        let (seats, terms) = seats(Caller::Fix).context("AI fixes cannot be asked for")?;
        let (stop, progress) = (Some(Stop::by(cancel)), Some(progress));
        Ok(Self { admit: true, seats, terms, stop, progress, ..Self::idle() })
    }

    /// How to end where a signal has called the run off: from then on nothing is written.
    pub(super) fn called_off(&self) -> Option<Exit> {
        self.stop.as_ref()?.called_off()
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.cancel.is_cancelled())
    }

    pub(super) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Takes up where fixing without agents has ended.
    pub(super) fn improve(
        &self,
        job: &Job,
        source: &Source,
        mut fixed: Fixed,
        options: &FixOptions<'_>,
        context: Option<&Path>,
    ) -> (Fixed, Vec<AiFix>) {
        let new = new_findings(options.known, &fixed.text, &fixed.remaining);
        let new: Vec<Finding> = new.into_iter().cloned().collect();
        let wanted: Vec<(Finding, Fix)> = agent_fixes(&new, options, self.admit)
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
            settings: settings(&job.config.ai),
            context: None,
        };
        let is_cancelled = || self.is_cancelled();
        let mut prover = Prover::new(job, source, &is_cancelled);
        let (mut resolution, session) = self.resolved(job, source, context, &request, &mut prover);
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
                    session: session.clone().map(|session| shown(session, &hide)),
                    proof: proof.clone(),
                }
            })
            .collect();
        (fixed, ai_fixes)
    }

    /// What the agent of the file's configuration makes of it, if it may be asked.
    fn resolved(
        &self,
        job: &Job,
        source: &Source,
        root: Option<&Path>,
        request: &Request<'_>,
        prover: &mut Prover<'_>,
    ) -> (Resolution, Option<AiSession>) {
        let nothing = |reason: Reason, detail: String| {
            if self.dry_run && reason != Reason::AiDisabled {
                tracing::warn!("{}: no agent would be asked: {detail}", source.shown);
            }
            let outcome = Outcome::Skipped { reason, detail };
            let outcomes = vec![outcome; request.members.len()];
            (Resolution { outcomes, ..Resolution::default() }, None)
        };
        let subject = Subject { job, source, root, ignore: request.fix.lint.dockerignore };
        let asked = chosen(&job.config).and_then(|chosen| self.asked(subject, chosen));
        let asked = match asked {
            Ok(asked) => asked,
            Err((reason, detail)) => return nothing(reason, detail),
        };
        let request = &Request { context: asked.context.as_ref(), ..*request };
        let watch = Watch {
            shown: &source.shown,
            agent: &asked.agent,
            hider: Hider::of(job.rules.gate(), &source.text),
            trace: self.trace.as_ref(),
            heard: self.progress.as_ref(),
        };
        if self.dry_run {
            watch.preview(preview(request), &asked.contained_by);
            return nothing(Reason::AiDisabled, "this is a dry run".to_owned());
        }
        let mut opening = || asked.open();
        let cancel = self.stop.as_ref().map_or_else(Cancel::new, |stop| stop.cancel.clone());
        let mut prove = |proposal: &str, allowed: &[Setting]| {
            watch.progress("proving the fix");
            match prover.judge(request.text, proposal, allowed) {
                Standing::Accepted => Proof::Accepted,
                Standing::Proven => Proof::Proven,
                Standing::Refused(issues) => Proof::Refused(issues),
                Standing::Unproven(detail) => Proof::Unproven(detail),
            }
        };
        let heard = |event: Event<'_>| watch.event(event);
        let resolution =
            probity_autofix::resolve(request, &mut opening, &cancel, &heard, &mut prove);
        let session = asked.session(&resolution.session);
        (resolution, session)
    }
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

fn settings(ai: &Ai) -> Settings {
    Settings {
        expect: ai.autofix_output,
        secrets: ai.secrets_policy,
        timeout: ai.timeout,
        max_input_bytes: ai.max_input_bytes,
        max_rounds: ai.max_rounds,
    }
}
