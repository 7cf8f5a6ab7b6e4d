//! The bounded loop: ask, read, apply, check, and ask again with what is wrong.
//!
//! One session for all objectives of one file. A proposal is taken when every check passes; else the
//! issues go into the next round, which builds on the proposal if that applied.

mod rounds;
mod session;

use std::time::Duration;

use probity_agent::{Agent, AgentError, Cancel};
use probity_dockerfile::Setting;
use probity_finding::Span;
use probity_lint::FixOptions;

use self::rounds::{FixEnd, Job};
pub(crate) use self::session::{Conversation, SessionTerms, Stop, sendable};
use crate::{
    AgentContext, ContextRead, Expect, Member, Outcome, Reason, Resolution, SecretsPolicy,
    batch::Batch,
    checks::{Issue, View},
    minimal_edits,
    secrets::{Payload, masked},
};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// What is to be fixed, and how.
#[derive(Debug)]
pub struct Request<'a> {
    /// As the agent may know it: relative, or the name alone.
    pub path: &'a str,
    pub text: &'a str,
    pub members: &'a [Member],
    /// The rules and fixes that hold for the file; what the detector of secrets knows is there too.
    pub fix: FixOptions<'a>,
    pub settings: Settings,
    /// What the agent gets to know of the build context.
    pub context: Option<&'a AgentContext>,
}

/// What the configuration of a file says about agents.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub expect: Expect,
    pub secrets: SecretsPolicy,
    /// For the whole session.
    pub timeout: Duration,
    pub max_input_bytes: usize,
    pub max_rounds: u32,
}

/// What happens while a session runs. The texts are as they are on the wire: whoever shows or
/// writes them masks them first.
#[derive(Clone, Copy, Debug)]
pub enum Event<'e> {
    Asking {
        round: u32,
        prompt: &'e str,
    },
    Answered {
        round: u32,
        answer: &'e str,
    },
    /// The agent asked for a file of the build context.
    Read {
        round: u32,
        read: &'e ContextRead,
    },
    Refused {
        round: u32,
        issues: &'e [Issue],
    },
}

/// What an experiment says about a proposal that passed every check of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Nothing speaks against it; no image was compared.
    Accepted,
    /// Both images were built and compared, and the new one does no harm: checks that only suspect
    /// harm then advise.
    Proven,
    /// The issues go back to the agent.
    Refused(Vec<Issue>),
    /// The experiment cannot be made here, and the fix must not be applied without it.
    Unproven(String),
}

/// Makes the experiment: the proposal with its secrets, and the settings that may change.
pub type Proving<'p> = &'p mut dyn FnMut(&str, &[Setting]) -> Proof;

/// Where an agent comes from; asked once, and only when something is to be sent.
pub type Opening<'o> = &'o mut dyn FnMut() -> Result<Box<dyn Agent>, AgentError>;

/// Asks an agent to meet the objectives of one file.
///
/// A byte order mark is not shown to the agent, which would not put it into its patch, and stays.
#[must_use]
pub fn resolve(
    request: &Request<'_>,
    open: Opening<'_>,
    cancel: &Cancel,
    watch: &dyn Fn(Event<'_>),
    prove: Proving<'_>,
) -> Resolution {
    let text = request.text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(request.text);
    let mark = request.text.len() - text.len();
    let mut resolution =
        resolve_unmarked(&Request { text, ..*request }, open, cancel, watch, prove);
    for edit in &mut resolution.edits {
        edit.span = Span::new(edit.span.start + mark, edit.span.end + mark);
    }
    resolution
}

fn resolve_unmarked(
    request: &Request<'_>,
    open: Opening<'_>,
    cancel: &Cancel,
    watch: &dyn Fn(Event<'_>),
    prove: Proving<'_>,
) -> Resolution {
    let payload =
        match Payload::of(request.text, request.settings.secrets, request.fix.lint.secrets) {
            Ok(payload) => payload,
            Err((reason, detail)) => return skipped(request, reason, &detail),
        };
    let members = members_of(request, &payload);
    let batch = Batch::of(&members);
    if batch.groups.is_empty() {
        return skipped(request, Reason::NotConfigured, "no agent is asked for this");
    }
    let before = View::of(&payload.text);
    let limits = batch.limits();
    let job = Job { request, payload: &payload, batch: &batch, before: &before, limits: &limits };
    let mut conversation = Conversation::new(terms_of(request), &payload, open, cancel, watch);
    let ended = job.rounds(&mut conversation, prove);
    let mut resolution = Resolution { session: conversation.finish(), ..Resolution::default() };
    resolution.session.secrets = payload.secrets;
    match ended {
        Ok(FixEnd::Accepted { text, met, notes }) => {
            resolution.edits = minimal_edits(request.text, &text);
            resolution.session.notes.extend(notes);
            let outcome = |member: &Member| {
                if met.contains(&member.objective.kind) {
                    Outcome::Applied
                } else {
                    Outcome::NoChange
                }
            };
            resolution.outcomes = request.members.iter().map(outcome).collect();
        }
        Ok(FixEnd::NoChange) => {
            resolution.outcomes = vec![Outcome::NoChange; request.members.len()];
        }
        Err(Stop { reason, detail }) => {
            let detail = masked(request.fix.lint.secrets, &detail);
            resolution.outcomes = failed(request, reason, &detail);
        }
    }
    resolution
}

/// The first prompt that would be sent, or why none would be.
///
/// # Errors
///
/// When nothing may be sent.
pub fn preview(request: &Request<'_>) -> Result<String, Outcome> {
    let text = request.text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(request.text);
    let request = &Request { text, ..*request };
    let skip = |(reason, detail): (Reason, String)| Outcome::skipped(reason, detail);
    let (secrets, detector) = (request.settings.secrets, request.fix.lint.secrets);
    let payload = Payload::of(request.text, secrets, detector).map_err(skip)?;
    let members = members_of(request, &payload);
    let (batch, before) = (Batch::of(&members), View::of(&payload.text));
    let limits = batch.limits();
    let job = Job { request, payload: &payload, batch: &batch, before: &before, limits: &limits };
    let prompt = job.prompts().first(&payload.text);
    sendable(&prompt, &payload, terms_of(request))
        .map_err(|stop| Outcome::skipped(stop.reason, stop.detail))?;
    Ok(prompt)
}

fn terms_of<'a>(request: &Request<'a>) -> SessionTerms<'a> {
    SessionTerms {
        settings: request.settings,
        detector: request.fix.lint.secrets,
        context: request.context,
    }
}

/// The members with evidence that may be sent: where secrets became tokens, the evidence is found
/// again in the text that has them.
fn members_of(request: &Request<'_>, payload: &Payload) -> Vec<Member> {
    let mut members = request.members.to_vec();
    if payload.text == request.text {
        return members;
    }
    let findings = probity_lint::lint(&payload.text, &request.fix.lint);
    let mut found: Vec<_> = findings
        .iter()
        .filter_map(|finding| {
            let objective = finding.fixes.iter().find_map(|fix| fix.objective.as_ref())?;
            Some((finding.rule.as_ref(), objective))
        })
        .collect();
    for member in &mut members {
        let same = found.iter().position(|(rule, _)| *rule == member.rule);
        match same.map(|index| found.remove(index)) {
            Some((_, objective)) => member.objective.signals.clone_from(&objective.signals),
            None => member.objective.signals.clear(),
        }
    }
    members
}

fn skipped(request: &Request<'_>, reason: Reason, detail: &str) -> Resolution {
    Resolution { outcomes: failed(request, reason, detail), ..Resolution::default() }
}

/// The first member gets the reason, the others are told whose it is.
fn failed(request: &Request<'_>, reason: Reason, detail: &str) -> Vec<Outcome> {
    let lead = request.members.iter().min_by_key(|member| (member.priority, &member.rule));
    let lead_rule = lead.map(|member| member.rule.as_str()).unwrap_or_default();
    let mut is_led = false;
    let outcomes = request.members.iter().map(|member| {
        if !is_led && member.rule == lead_rule {
            is_led = true;
            return Outcome::skipped(reason, detail);
        }
        let detail = format!("it went with {lead_rule}: {}", reason.as_str());
        Outcome::skipped(Reason::Batched, detail)
    });
    outcomes.collect()
}
