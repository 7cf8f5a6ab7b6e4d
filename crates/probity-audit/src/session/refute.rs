//! `--refute`: a new conversation tries to show that a finding is wrong.
//!
//! The model gets the claim and the quotes without the author's reasons, so it has to find its own.
//! The verdict is an annotation: a finding stays where it is. A refutation that
//! quotes no line of the sources decides nothing.

use serde_json::{Map, Value};

use super::{
    Event, Session,
    conversation::{Conversation, Judge, Next},
    ended::SessionEnd,
};
use crate::{
    Finding, Refutation, Skill, TokenUsage, Verdict,
    action::Expected,
    answer::{Refuted, refuted},
    evidence::Evidence,
    prompt,
    provider::Open,
};

impl Session<'_> {
    /// Annotates every finding. Gives what it cost, and whether every conversation came to its end.
    pub(crate) fn refute(
        &self,
        skill: &Skill,
        findings: &mut [Finding],
        open: &Open,
    ) -> (TokenUsage, bool) {
        let mut usage = TokenUsage::default();
        let mut is_whole = true;
        for finding in findings {
            let mut conversation = Conversation::new(self, skill);
            conversation.tell(&Event::Refutes { finding });
            let system = prompt::refuter(crate::language::Language::of_sources(self.sources));
            let opened = self.open(open, &system, Expected::Verdict);
            conversation.coverage.count(&self.inlined.shown);
            let first = prompt::refute(skill, finding, self.sources, self.permission, self.inlined);
            let most = self.most_steps();
            let ended = conversation.converse(opened, first, most, &mut Refuting);
            usage.add(&conversation.usage);
            is_whole &= ended.is_ok();
            finding.refutation = Some(match ended {
                Ok(refuted) => self.weigh(refuted, finding),
                Err(ended) => {
                    let reason = ended.told(skill).1;
                    Refutation { verdict: Verdict::Undecided, reason, evidence: Vec::new() }
                }
            });
        }
        (usage, is_whole)
    }

    /// A refutation counts only if it quotes code that exists, as a finding does.
    fn weigh(&self, refuted: Refuted, finding: &Finding) -> Refutation {
        let Refuted { verdict, reason, evidence, file } = refuted;
        let decided = Refutation { verdict, reason, evidence };
        if verdict != Verdict::Refuted {
            return decided;
        }
        let mut claim = Finding {
            evidence: decided.evidence.clone(),
            file: file.or_else(|| finding.file.clone()),
            line: None,
            ..finding.clone()
        };
        Evidence::new(self.scope, self.sources).check(&mut claim);
        if claim.verified == Some(true) {
            return decided;
        }
        let reason = format!("refuted without a quote from the sources: {}", decided.reason);
        Refutation { verdict: Verdict::Undecided, reason, ..decided }
    }
}

/// Any verdict ends the conversation.
struct Refuting;

impl Judge for Refuting {
    type Answer = Refuted;
    const EXPECTED: Expected = Expected::Verdict;

    fn judge(
        &mut self,
        _: &Conversation<'_>,
        object: &Map<String, Value>,
        _: usize,
    ) -> Result<Next<Refuted>, SessionEnd> {
        Ok(Next::Done(refuted(object)))
    }
}
