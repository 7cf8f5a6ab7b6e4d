//! The rounds of one session, and the judgement of each proposal.

use std::cell::OnceCell;

use super::{
    Proof, Proving, Request,
    session::{Conversation, Stop},
};
use crate::{
    Answer, Expect, Patch, Reason,
    batch::{Batch, Verdict},
    checks::{Change, Issue, Limits, View},
    diff_of,
    prompt::{Objectives, Prompts, RegistryInsights, RuntimeSummary},
    secrets::Payload,
};

/// How a session ended well.
pub(super) enum FixEnd {
    Accepted { text: String, met: Vec<&'static str>, notes: Vec<String> },
    NoChange,
}

/// A proposal that no check refuses for certain.
struct Candidate {
    text: String,
    met: Vec<&'static str>,
    notes: Vec<String>,
    /// What checks suspect.
    suspicions: Vec<Issue>,
}

/// Everything that the rounds of one session share.
pub(super) struct Job<'j> {
    pub(super) request: &'j Request<'j>,
    pub(super) payload: &'j Payload,
    pub(super) batch: &'j Batch<'j>,
    pub(super) before: &'j View<'j>,
    pub(super) limits: &'j Limits,
}

impl Job<'_> {
    pub(super) fn prompts(&self) -> Prompts<'_> {
        let file_name = file_name(self.request.path);
        Prompts {
            file_name,
            expect: self.request.settings.expect,
            objectives: Objectives::of(self.batch, self.before, file_name),
            runtime: RuntimeSummary::of(&self.before.facts.final_runtime(), &self.limits.settings),
            insights: RegistryInsights::of(self.request.fix.lint.base_images, &self.before.facts),
            context: self.request.context,
        }
    }

    pub(super) fn rounds(
        &self,
        conversation: &mut Conversation<'_>,
        prove: Proving<'_>,
    ) -> Result<FixEnd, Stop> {
        let retry = self.batch.retry();
        let rounds = self.request.settings.max_rounds.clamp(1, retry.rounds.max(1));
        let prompts = self.prompts();
        let mut current = self.payload.text.clone();
        let mut refused: Option<Stop> = None;
        let mut issues = Vec::new();
        for round in 1..=rounds {
            let prompt = match round {
                1 => prompts.first(&current),
                _ => prompts.again(&issues, &current),
            };
            let expect = self.request.settings.expect;
            let ask = |conversation: &mut Conversation<'_>, prompt: &str| {
                let answer = conversation.ask(round, prompt, expect);
                answer.map_err(|stop| after_refusal(stop, refused.as_ref()))
            };
            let mut answer = ask(conversation, &prompt)?;
            for _ in 0..retry.malformed {
                let Answer::Malformed(why) = &answer else { break };
                let prompt = prompts.short(&why.to_string(), &current);
                answer = ask(conversation, &prompt)?;
            }
            let block = match answer {
                // An agent that gives up after a refused proposal has not found nothing to do.
                Answer::NoChange => return refused.map_or(Ok(FixEnd::NoChange), Err),
                Answer::Malformed(why) => {
                    let detail = format!("{}: {why}", why.name());
                    let stop = Stop { reason: Reason::MalformedOutput, detail };
                    return Err(after_refusal(stop, refused.as_ref()));
                }
                Answer::Block(block) => block,
            };
            let verdict = match self.applied(&block, &current) {
                Ok((proposal, notes)) => {
                    let verdict = match self.judged(&proposal, notes) {
                        Ok(candidate) => self.proven(conversation, candidate, prove)?,
                        Err(refusal) => Err(refusal),
                    };
                    current = proposal;
                    verdict
                }
                Err(issue) => Err((Reason::PatchRejected, vec![*issue])),
            };
            match verdict {
                Ok(ended) => return Ok(ended),
                Err((reason, found)) => {
                    conversation.refused(round, reason, &found);
                    refused = Some(Stop { reason, detail: in_words(&found) });
                    issues = found;
                }
            }
        }
        let none = Stop { reason: Reason::AgentFailed, detail: "no round was left".to_owned() };
        Err(refused.unwrap_or(none))
    }

    /// The proposal, and what had to be put right to get it.
    fn applied(&self, block: &str, current: &str) -> Result<(String, Vec<String>), Box<Issue>> {
        let patch = match self.request.settings.expect {
            Expect::Patch => Patch::parse(block, self.request.path),
            Expect::Dockerfile => diff_of(current, block),
        };
        let applied = patch.and_then(|patch| patch.apply(current)).map_err(|error| {
            let mut issue =
                Issue::new(error.name(), &error.to_string(), file_name(self.request.path));
            issue.line = error.base_line();
            Box::new(issue)
        })?;
        let mut notes = Vec::new();
        if applied.recounted {
            notes.push("the counts of the patch's hunks were wrong and were counted again".into());
        }
        for moved in &applied.relocated {
            notes.push(format!(
                "hunk {} of the patch belonged to line {} instead of {}",
                moved.hunk, moved.actual_line, moved.stated_line
            ));
        }
        Ok((applied.text, notes))
    }

    fn judged(
        &self,
        proposal: &str,
        mut notes: Vec<String>,
    ) -> Result<Candidate, (Reason, Vec<Issue>)> {
        let file_name = file_name(self.request.path);
        let rejected = |issue: Issue| (Reason::PatchRejected, vec![issue]);
        let text = self.payload.restored(proposal, file_name).map_err(|issue| rejected(*issue))?;
        let patch = diff_of(&self.payload.text, proposal)
            .map_err(|error| rejected(Issue::new(error.name(), &error.to_string(), file_name)))?;
        let after = View::of(proposal);
        let change = Change {
            file_name,
            before: self.before,
            after: &after,
            patch: &patch,
            limits: self.limits,
            fix: &self.request.fix,
            moved: &OnceCell::new(),
        };
        let (met, suspicions) = match self.batch.judge(&change) {
            Verdict::Accepted(met) => (met, Vec::new()),
            Verdict::Suspected(met, issues) => (met, issues),
            Verdict::PatchRejected(issues) => return Err((Reason::PatchRejected, issues)),
            Verdict::Invalid(issues) => return Err((Reason::ValidationFailed, issues)),
        };
        notes.extend(new_images(self.before, &after));
        Ok(Candidate { text, met, notes, suspicions })
    }

    /// What the experiment says, which outranks suspicions where it compared the images.
    fn proven(
        &self,
        conversation: &mut Conversation<'_>,
        candidate: Candidate,
        prove: Proving<'_>,
    ) -> Result<Result<FixEnd, (Reason, Vec<Issue>)>, Stop> {
        let Candidate { text, met, mut notes, mut suspicions } = candidate;
        match conversation.apart(|| prove(&text, &self.limits.settings)) {
            Proof::Accepted if suspicions.is_empty() => {}
            Proof::Accepted => return Ok(Err((Reason::ValidationFailed, suspicions))),
            Proof::Proven => {
                let words = |issue: &Issue| format!("advice: {}: {}", issue.rule, issue.message);
                notes.extend(suspicions.iter().map(words));
            }
            Proof::Refused(issues) => {
                suspicions.extend(issues);
                return Ok(Err((Reason::ValidationFailed, suspicions)));
            }
            Proof::Unproven(detail) if suspicions.is_empty() => {
                return Err(Stop { reason: Reason::Unproven, detail });
            }
            Proof::Unproven(_) => return Ok(Err((Reason::ValidationFailed, suspicions))),
        }
        Ok(Ok(FixEnd::Accepted { text, met, notes }))
    }
}

/// How a later round ended says nothing about why there was one.
fn after_refusal(stop: Stop, refused: Option<&Stop>) -> Stop {
    let Some(refused) = refused else { return stop };
    let detail = format!(
        "{}; the proposal before was refused: {}: {}",
        stop.detail,
        refused.reason.as_str(),
        refused.detail
    );
    Stop { detail, ..stop }
}

/// Images that the file did not name before; whoever reads the report should see them.
fn new_images(before: &View<'_>, after: &View<'_>) -> Vec<String> {
    let names = |view: &View<'_>| -> Vec<String> {
        view.facts.stages().iter().map(|stage| stage.image.pattern().to_owned()).collect()
    };
    let known = names(before);
    let is_stage =
        |name: &String| after.facts.stages().iter().any(|stage| stage.name.as_ref() == Some(name));
    let new = names(after).into_iter().filter(|name| !known.contains(name) && !is_stage(name));
    new.map(|name| format!("new image: {name}")).collect()
}

fn in_words(issues: &[Issue]) -> String {
    let words = issues.iter().take(3).map(|issue| format!("{}: {}", issue.rule, issue.message));
    let mut words = words.collect::<Vec<_>>().join("; ");
    if issues.len() > 3 {
        words.push_str(&format!("; and {} more", issues.len() - 3));
    }
    words
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
