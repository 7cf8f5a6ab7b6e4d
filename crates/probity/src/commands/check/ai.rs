//! AI fixes: what an agent may be asked for, whom to ask, and what becomes of the answer.
//!
//! Each file is judged by its own configuration. What an agent proposed and the checks accepted is an
//! ordinary unsafe fix, applied by the same loop as all others.

mod agent;
mod chat;
mod trace;
mod watch;

use std::path::Path;

use anyhow::Context as _;
use probity_agent::{Agent, AgentError, Cancel, CommandOptions};
use probity_autofix::{Event, Member, Outcome, Proof, Reason, Request, Resolution, Settings};
use probity_dockerfile::Setting;
use probity_finding::{Applicability, Finding, Fix, LineIndex};
use probity_lint::{FixOptions, Fixed, SkipReason, SkippedFix, agent_fixes, apply_given};
use probity_seat::{Caller, Occupant, Request as SeatRequest, Seats, Terms, Unseated};

pub(super) use self::trace::Trace;
use self::{
    agent::{Chosen, chosen},
    chat::Chat,
    watch::Watch,
};
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
    failure::Failure,
    report::ai_fix::{AiFix, AiRefusal, AiSession},
    seats::seats,
    source::Source,
};

/// What all files of a run share.
pub(super) struct AiRun {
    /// `--fix-ai`: agents' fixes are within the ceiling, whatever it is.
    admit: bool,
    dry_run: bool,
    seats: Seats,
    terms: Terms,
    trace: Option<Trace>,
    /// Only where somebody may be asked: else a signal ends us at once, as it always did.
    stop: Option<Stop>,
    /// Who hears how the agent gets on, beside a terminal.
    progress: Option<Progress>,
}

/// Hears in words how an agent gets on.
pub(super) type Progress = Box<dyn Fn(&str) + Send + Sync>;

impl AiRun {
    pub(super) fn new(
        options: &Options,
        trace: Option<Trace>,
        may_ask: bool,
    ) -> anyhow::Result<Self> {
        let (admit, dry_run) = (options.fix_ai, options.ai_dry_run);
        let stop = (may_ask && !dry_run).then(Stop::listen);
        // What is wrong with the user's configuration concerns only those who ask an agent.
        let (seats, terms) = if may_ask {
            seats(Caller::Fix).context("AI fixes cannot be asked for")?
        } else {
            (Seats::default(), Terms::default())
        };
        Ok(Self { admit, dry_run, seats, terms, trace, stop, progress: None })
    }

    /// For runs in which nobody is asked.
    pub(super) fn idle() -> Self {
        Self {
            admit: false,
            dry_run: false,
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
    ) -> (Fixed, Vec<AiFix>) {
        let wanted: Vec<(Finding, Fix)> = agent_fixes(&fixed.remaining, options, self.admit)
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
        };
        let is_cancelled = || self.is_cancelled();
        let mut prover = Prover::new(job, source, &is_cancelled);
        let (mut resolution, session) = self.resolved(job, source, &request, &mut prover);
        forget(&mut fixed.skipped, &wanted);
        if !resolution.edits.is_empty() {
            fixed = taken(fixed, &wanted, &mut resolution, options);
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

    /// Whom the file's configuration asks: a model behind an API, or an agent in its place.
    fn asked(&self, job: &Job, source: &Source) -> Result<Asked, (Reason, String)> {
        let (reference, named_by) = match chosen(&job.config)? {
            Chosen::Agent(reference, named_by) => (reference, named_by),
            Chosen::Chat(kind) => {
                let chat = Chat::new(kind, &job.config.ai)?;
                let (agent, contained_by) = (chat.label.clone(), "its API".to_owned());
                return Ok(Asked { agent, contained_by, open: Box::new(move || Ok(chat.open())) });
            }
        };
        let seated = self.seats.seat(&SeatRequest {
            caller: Caller::Fix,
            occupant: Occupant::Agent(&reference),
            named_by,
            form: None,
            sandbox: job.config.ai.sandbox,
            directory: source.path.parent().unwrap_or(Path::new(".")),
            directories: &[],
            variables: &[],
            terms: &self.terms,
        });
        let seated = seated.map_err(|unseated| (reason_of(&unseated), in_words(unseated)))?;
        let (agent, contained_by) = (reference.label(), seated.contained.to_string());
        let open = Box::new(move || seated.open(CommandOptions::default(), None));
        Ok(Asked { agent, contained_by, open })
    }

    /// What the agent of the file's configuration makes of it, if it may be asked.
    fn resolved(
        &self,
        job: &Job,
        source: &Source,
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
        let asked = match self.asked(job, source) {
            Ok(asked) => asked,
            Err((reason, detail)) => return nothing(reason, detail),
        };
        let Asked { agent, contained_by, mut open } = asked;
        let watch = Watch {
            shown: &source.shown,
            agent: &agent,
            hider: Hider::of(job.rules.gate(), &source.text),
            trace: self.trace.as_ref(),
            heard: self.progress.as_ref(),
        };
        if self.dry_run {
            watch.preview(request, &contained_by);
            return nothing(Reason::AiDisabled, "this is a dry run".to_owned());
        }
        let cancel = self.stop.as_ref().map_or_else(Cancel::new, |stop| stop.cancel.clone());
        let mut prove = |proposal: &str, allowed: &[Setting]| match prover.judge(
            request.text,
            proposal,
            allowed,
        ) {
            Standing::Accepted => Proof::Accepted,
            Standing::Proven => Proof::Proven,
            Standing::Refused(issues) => Proof::Refused(issues),
            Standing::Unproven(detail) => Proof::Unproven(detail),
        };
        let heard = |event: Event<'_>| watch.event(event);
        let resolution = probity_autofix::resolve(request, &mut *open, &cancel, &heard, &mut prove);
        watch.end();
        let own = &resolution.session;
        let session = (own.prompts > 0).then(|| AiSession {
            agent: agent.clone(),
            contained_by: contained_by.clone(),
            rounds: own.rounds,
            prompts: own.prompts,
            prompt_bytes: own.prompt_bytes,
            answer_bytes: own.answer_bytes,
            milliseconds: u64::try_from(own.duration.as_millis()).unwrap_or(u64::MAX),
            secrets: own.secrets,
            denied: own.denied.clone(),
            notes: own.notes.clone(),
            refusals: own.refusals.iter().map(AiRefusal::of).collect(),
        });
        (resolution, session)
    }
}

/// Somebody who can be asked.
struct Asked {
    agent: String,
    contained_by: String,
    open: Box<dyn FnMut() -> Result<Box<dyn Agent>, AgentError>>,
}

fn reason_of(unseated: &Unseated) -> Reason {
    match unseated {
        Unseated::Unknown { .. } => Reason::NotConfigured,
        _ => Reason::AgentFailed,
    }
}

/// The reason and the way out, in one line.
fn in_words(unseated: Unseated) -> String {
    let failure = Failure::from(unseated);
    let what = failure.to_string();
    format!("{}; {}", what.lines().collect::<Vec<_>>().join("; "), failure.way_out())
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
        for outcome in resolution.outcomes.iter_mut().filter(|it| **it == Outcome::Applied) {
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

/// Takes out what is accounted for as an outcome.
fn forget(skipped: &mut Vec<SkippedFix>, wanted: &[(Finding, Fix)]) {
    skipped.retain(|entry| {
        let is_gate = matches!(entry.reason, SkipReason::ResolveError | SkipReason::Safety);
        let is_known = wanted.iter().any(|(finding, _)| finding.rule == entry.rule);
        !(is_gate && is_known)
    });
}

fn shown(session: AiSession, hide: &impl Fn(&str) -> String) -> AiSession {
    let hidden = |texts: &[String]| texts.iter().map(|text| hide(text)).collect();
    let refusals = session.refusals.iter().map(|refusal| refusal.masked(hide)).collect();
    let (denied, notes) = (hidden(&session.denied), hidden(&session.notes));
    AiSession { denied, notes, refusals, ..session }
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
