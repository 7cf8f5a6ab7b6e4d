//! The answer to a skill: accepted, or sent back because it is about code that the model has not seen,
//! or because it quotes lines that do not occur.

use serde_json::{Map, Value};

use super::{
    Event, Session,
    conversation::{Conversation, Judge, Next},
    ended::{SessionEnd, gave_up},
};
use crate::{
    Finding, Rules, Skill,
    action::Expected,
    answer::{Answered, answered},
    evidence::Evidence,
    prompt,
};

pub(super) struct Examination<'a> {
    skill: &'a Skill,
    pub(super) evidence: Evidence<'a>,
    /// How many lines had been shown when the model was last told to read.
    told_to_read_at: Option<u64>,
    /// An answer with quotes that do not occur, which the model was asked to correct.
    pub(super) held: Option<Answered>,
}

impl<'a> Examination<'a> {
    pub(super) fn new(session: &'a Session<'a>, skill: &'a Skill) -> Self {
        let evidence = Evidence::new(session.scope, session.sources);
        Self { skill, evidence, told_to_read_at: None, held: None }
    }

    /// "No findings" counts once every line of the sources was shown.
    fn judge_clean(
        &mut self,
        conversation: &Conversation<'_>,
        answered: Answered,
        left: usize,
    ) -> Result<Next<Answered>, SessionEnd> {
        let unread = conversation.coverage.unread();
        if unread.is_empty() {
            return Ok(Next::Done(answered));
        }
        let shown = conversation.coverage.shown_lines();
        // A model that reads on is let go on; one that only repeats itself is not.
        if left == 0 || self.told_to_read_at.is_some_and(|before| before >= shown) {
            return Err(SessionEnd::Unread(unread.len(), conversation.coverage.required()));
        }
        let said = prompt::unread(&unread, left);
        self.told_to_read_at = Some(shown);
        let why = "it reports no findings in code that it has not seen";
        conversation.tell(&Event::Repairs { why });
        Ok(Next::Ask(said))
    }

    /// A second answer corrects quotes. Findings that the first one proved stay.
    fn merge_held(&mut self, answered: &mut Answered) {
        let Some(held) = &self.held else { return };
        for finding in held.findings.iter().filter(|finding| finding.verified == Some(true)) {
            let is_same =
                |other: &Finding| (&other.file, other.line) == (&finding.file, finding.line);
            if !answered.findings.iter().any(is_same) {
                answered.findings.push(finding.clone());
            }
        }
    }
}

impl Judge for Examination<'_> {
    type Answer = Answered;
    const EXPECTED: Expected = Expected::Findings;

    fn judge(
        &mut self,
        conversation: &Conversation<'_>,
        object: &Map<String, Value>,
        left: usize,
    ) -> Result<Next<Answered>, SessionEnd> {
        let mut answered = answered(object, self.skill);
        let rules = conversation.session.rules;
        if rules == Rules::Specification || gave_up(&answered.status).is_some() {
            return Ok(Next::Done(answered));
        }
        self.merge_held(&mut answered);
        if answered.findings.is_empty() {
            return self.judge_clean(conversation, answered, left);
        }
        for finding in &mut answered.findings {
            self.evidence.check(finding);
        }
        let unverified: Vec<&Finding> =
            answered.findings.iter().filter(|finding| finding.verified != Some(true)).collect();
        if unverified.is_empty() || self.held.is_some() || left == 0 {
            return Ok(Next::Done(answered));
        }
        conversation.tell(&Event::Repairs { why: "it quotes lines that do not occur" });
        let said = prompt::unverified(&unverified, left);
        self.held = Some(answered);
        Ok(Next::Ask(said))
    }
}
