//! Talking with the agent, in a copy of its own: first about defects, then about fixes for them.

use std::{path::PathBuf, time::Instant};

use probity_agent::{Agent, Answer, Cause, Limits, StopReason, Turn, Usage};
use probity_proof::{Change, Claim};
use probity_scope::Scope;
use tempfile::TempDir;

use super::{AskOptions, Checkout, Event, Events, Failed, ground::Ground};
use crate::{
    claims::Claims,
    clean::one_line,
    findings::{self, Findings, OfferedFix},
    language::languages,
    output::Cost,
    prompt::{FixRequest, PromptParts, fix_prompt, prompt},
    proved::Proved,
    redact::Redactor,
};

/// An agent, the copy that it looks at, and what was said so far.
pub(super) struct Conversation<'a> {
    options: &'a AskOptions<'a>,
    agent: Box<dyn Agent>,
    copy: TempDir,
    began: Instant,
    cost: Option<Cost>,
    notes: Vec<String>,
}

impl<'a> Conversation<'a> {
    pub(super) fn open(
        checkout: &Checkout,
        options: &'a AskOptions<'a>,
        ground: &Ground,
    ) -> Result<Self, Failed> {
        let copy = tempfile::Builder::new()
            .prefix("probity-review-")
            .tempdir()
            .map_err(|error| Failed::machine(&error))?;
        let workspace: PathBuf = copy.path().join("workspace");
        ground.tree.take(&checkout.repo, &workspace)?;
        let agent = (options.agent.open)(&workspace)?;
        let (began, notes) = (Instant::now(), Vec::new());
        Ok(Self { options, agent, copy, began, cost: None, notes })
    }

    /// Asks for defects, each with a test and a fix.
    pub(super) fn findings(
        &mut self,
        scope: &Scope,
        names: &[String],
        files: &[String],
        change: Option<&Change>,
        events: &Events<'_>,
    ) -> Result<Findings, Failed> {
        let options = self.options;
        let languages = languages(scope, names);
        let parts = PromptParts {
            config: &options.config,
            languages: &languages,
            files,
            change,
            max_findings: options.max_findings,
        };
        events(Event::Step(&format!("{} is looking for defects", options.agent.name)));
        let answer = self.ask(prompt(&parts), None)?;
        Ok(findings::parse(&answer.text)?)
    }

    /// Asks for better fixes of what fails and is not proven. If nothing comes, no round is left.
    pub(super) fn improve(
        &mut self,
        claims: &mut Claims,
        redactor: &Redactor,
        events: &Events<'_>,
    ) {
        if is_spent(self.options.agent.budget, added(claims.cost, self.cost)) {
            let note = "the budget is spent, so the agent was not asked for better fixes";
            self.notes.push(note.to_owned());
            claims.fix_rounds = claims.settings.max_fix_rounds;
            return;
        }
        let unfixed: Vec<(Claim, &str, &Proved)> = claims
            .unfixed()
            .filter_map(|(claimed, proved)| {
                Some((claimed.claim()?, claimed.finding.title.as_str(), proved))
            })
            .collect();
        let requests: Vec<FixRequest<'_>> = unfixed
            .iter()
            .map(|(claim, title, proved)| {
                let (reason, output) = (proved.proof.reason.as_str(), proved.output.as_str());
                FixRequest { claim, title, reason, output }
            })
            .collect();
        let offered = self.fixes(&requests, claims.cost, events);
        let mut is_better = false;
        for OfferedFix { id, fix_patch } in offered {
            is_better |= claims.offer(&id, redactor.without_keys(&fix_patch));
        }
        claims.fix_rounds =
            if is_better { claims.fix_rounds + 1 } else { claims.settings.max_fix_rounds };
    }

    /// An agent that has no more to say is no reason to lose a review.
    fn fixes(
        &mut self,
        requests: &[FixRequest<'_>],
        before: Option<Cost>,
        events: &Events<'_>,
    ) -> Vec<OfferedFix> {
        let name = &self.options.agent.name;
        let step = match requests.len() {
            1 => format!("{name} is asked for 1 fix"),
            count => format!("{name} is asked for {count} fixes"),
        };
        events(Event::Step(&step));
        let answer = self.ask(fix_prompt(requests), before).map_err(Failed::into_message);
        let fixes = answer.and_then(|answer| {
            findings::parse_fixes(&answer.text).map_err(|error| error.to_string())
        });
        fixes.unwrap_or_else(|why| {
            self.notes.push(format!("the agent offered no further fixes: {}", one_line(&why, 200)));
            Vec::new()
        })
    }

    /// Asks within what is left of the time and the budget. `before` is what other conversations cost.
    fn ask(&mut self, prompt: String, before: Option<Cost>) -> Result<Answer, Failed> {
        let left = self.options.agent.timeout.saturating_sub(self.began.elapsed());
        let budget = self.options.agent.budget;
        let spent = added(before, self.cost).and_then(|cost| cost.usd).unwrap_or_default();
        let dollars = budget.map(|budget| (budget - spent).max(0.0));
        let limits = Limits { dollars, ..Limits::within(left) };
        let answer = self.agent.ask(&Turn::new(prompt), &limits, &self.options.cancel);
        let answer = answer.inspect_err(|error| {
            if let Cause::OverBudget { spent } = error.cause {
                let usage = Usage { cost: Some(spent), ..Usage::default() };
                self.cost = added(self.cost, Some(cost(&usage, budget)));
            }
        })?;
        self.notes.extend(remarks(&answer));
        let said = answer.usage.map(|usage| cost(&usage, budget));
        self.cost = added(self.cost, said);
        let is_unknown = self.cost.is_none_or(|cost| cost.usd.is_none());
        if budget.is_some() && is_unknown {
            let note = "the agent does not tell its cost, so the budget could not be checked";
            if !self.notes.iter().any(|known| known == note) {
                self.notes.push(note.to_owned());
            }
        }
        Ok(answer)
    }

    /// What was spent, even if nothing came of it.
    pub(super) fn cost(&self) -> Option<Cost> {
        self.cost
    }

    /// Ends the agent and removes its copy. What it cost and what is to be said of it goes with the
    /// claims.
    pub(super) fn close(self, claims: &mut Claims) {
        let Self { agent, copy, cost, mut notes, .. } = self;
        drop(agent);
        // A copy that cannot be removed is litter, and no reason to lose a review.
        if let Err(error) = copy.close() {
            notes.push(format!("the agent's copy was not removed: {error}"));
        }
        claims.notes.extend(notes);
        claims.cost = added(claims.cost, cost);
    }
}

fn remarks(answer: &Answer) -> Vec<String> {
    let mut notes: Vec<String> = answer
        .denied
        .iter()
        .take(20)
        .map(|denied| format!("the agent was denied: {}", one_line(denied, 200)))
        .collect();
    match &answer.stop {
        StopReason::EndTurn => {}
        StopReason::MaxTokens => notes.push("the agent reached its token limit".to_owned()),
        StopReason::Refusal => notes.push("the agent says that it refused".to_owned()),
        StopReason::Cancelled => notes.push("the agent says that it was cancelled".to_owned()),
        StopReason::Other(why) => {
            notes.push(format!("the agent stopped for another reason: {}", one_line(why, 100)));
        }
    }
    notes
}

fn cost(usage: &Usage, budget: Option<f64>) -> Cost {
    Cost {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cached_input_tokens: usage.cached_input_tokens,
        usd: usage.cost.filter(|cost| cost.is_finite()),
        budget_usd: budget,
    }
}

/// Whether the agent has cost what it may. One that does not tell its cost has cost nothing so far.
fn is_spent(budget: Option<f64>, cost: Option<Cost>) -> bool {
    let spent = cost.and_then(|cost| cost.usd);
    budget.zip(spent).is_some_and(|(budget, spent)| spent >= budget)
}

fn added(before: Option<Cost>, now: Option<Cost>) -> Option<Cost> {
    match (before, now) {
        (Some(before), Some(now)) => Some(sum(before, now)),
        (before, now) => now.or(before),
    }
}

fn sum(before: Cost, now: Cost) -> Cost {
    Cost {
        input_tokens: before.input_tokens.saturating_add(now.input_tokens),
        output_tokens: before.output_tokens.saturating_add(now.output_tokens),
        cached_input_tokens: before.cached_input_tokens.saturating_add(now.cached_input_tokens),
        usd: match (before.usd, now.usd) {
            (Some(before), Some(now)) => Some(before + now),
            (before, now) => before.or(now),
        },
        budget_usd: now.budget_usd,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_spent_by_all_turns_together() {
        let cost = |usd| Some(Cost { usd, ..Cost::default() });
        for (budget, before, now, expected) in [
            (Some(1.0), cost(Some(0.5)), cost(Some(0.5)), true),
            (Some(1.0), None, cost(Some(0.9)), false),
            (Some(0.0), None, cost(Some(0.0)), true),
            (Some(1.0), None, cost(None), false),
            (Some(1.0), None, None, false),
            (None, None, cost(Some(9.0)), false),
        ] {
            assert_eq!(
                is_spent(budget, added(before, now)),
                expected,
                "{budget:?} {before:?} {now:?}"
            );
        }
    }
}
