//! Asking the agent, in a copy of its own.

use std::path::Path;

use probity_agent::{Answer, Limits, StopReason, Turn, Usage};
use probity_scope::Scope;

use super::{Event, Failed, ReviewOptions};
use crate::{
    clean::one_line,
    findings::{self, Findings},
    git::Change,
    language::languages,
    output::Cost,
    prompt::{PromptParts, prompt},
    tree::Tree,
};

/// What the agent said and what it cost.
pub(super) struct Asked {
    pub(super) findings: Findings,
    pub(super) cost: Option<Cost>,
    pub(super) notes: Vec<String>,
}

impl Asked {
    pub(super) fn ask(
        options: &ReviewOptions<'_>,
        tree: &Tree,
        scope: &Scope,
        names: &[String],
        files: &[String],
        change: Option<&Change>,
        events: &(dyn Fn(Event<'_>) + Sync),
    ) -> Result<Self, Failed> {
        let copy = tempfile::Builder::new()
            .prefix("probity-review-")
            .tempdir()
            .map_err(|error| Failed::machine(&error))?;
        let workspace = copy.path().join("workspace");
        std::fs::create_dir(&workspace).map_err(|error| Failed::machine(&error))?;
        tree.copy(&options.repo, &workspace)?;
        let languages = languages(scope, names);
        let parts = PromptParts {
            config: &options.config,
            languages: &languages,
            files,
            change,
            max_findings: options.max_findings,
        };
        events(Event::Step(&format!("{} is looking for defects", options.agent.name)));
        let answer = Self::answer(options, &workspace, prompt(&parts));
        // A copy that cannot be removed is litter, and no reason to lose a review.
        let mut notes = Vec::new();
        if let Err(error) = copy.close() {
            notes.push(format!("the agent's copy was not removed: {error}"));
        }
        let answer = answer?;
        notes.extend(remarks(&answer));
        let cost = answer.usage.map(|usage| cost(&usage, options.agent.budget));
        Ok(Self { findings: findings::parse(&answer.text)?, cost, notes })
    }

    fn answer(
        options: &ReviewOptions<'_>,
        workspace: &Path,
        prompt: String,
    ) -> Result<Answer, Failed> {
        let mut agent = (options.agent.open)(workspace)?;
        let limits = Limits::within(options.agent.timeout);
        Ok(agent.ask(&Turn::new(prompt), &limits, &options.cancel)?)
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
        StopReason::MaxTokens => notes.push("the agent reached its limit of tokens".to_owned()),
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
