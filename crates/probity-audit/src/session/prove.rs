//! `--prove`: a conversation in which a model writes an exploit, and gets back what running it showed.
//!
//! Attempts are bounded, like steps, tokens and time. The attempt that shows most is kept; a finding
//! that nobody could exploit stays quoted, with what was tried.

use probity_proof::ExploitLevel;
use serde_json::{Map, Value};

use super::{
    Event, Session,
    conversation::{Conversation, Judge, Next},
    ended::SessionEnd,
};
use crate::{
    Exploitation, Finding, Proving, Skill, TokenUsage, action::Expected, audit::is_open,
    exploit::Attempt, language::Language, prompt::exploit as prompt, provider::Open, text::bounded,
};

/// Characters of a model's reason for giving up.
const MOST_REASON: usize = 1_000;

impl Session<'_> {
    /// Tries to exploit a verified finding, unless somebody has, and gives what that cost.
    pub(crate) fn prove(
        &self,
        skill: &Skill,
        finding: &mut Finding,
        open: &Open,
        proving: Proving<'_>,
    ) -> TokenUsage {
        if !is_open(finding) {
            return TokenUsage::default();
        }
        let vulnerability = self.vulnerabilities.meant_by(&skill.id, finding);
        let mut result = vulnerability.result();
        if self.cancel.is_cancelled() {
            return TokenUsage::default();
        }
        if let Some(known) = &*result {
            self.observer.event(skill, &Event::HasExploit { finding, level: known.level });
            finding.exploit = Some(known.clone());
            return TokenUsage::default();
        }
        let (exploitation, usage) = self.exploit(skill, finding, open, proving);
        // A run that was called off has not tried anything to its end.
        if !self.cancel.is_cancelled() {
            *result = Some(exploitation.clone());
            finding.exploit = Some(exploitation);
        }
        usage
    }

    /// The attempts on one finding, and what they cost.
    fn exploit(
        &self,
        skill: &Skill,
        finding: &Finding,
        open: &Open,
        proving: Proving<'_>,
    ) -> (Exploitation, TokenUsage) {
        let mut conversation = Conversation::new(self, skill);
        conversation.tell(&Event::Exploits { finding });
        let mut exploiting = Exploiting::new(proving, finding);
        let mut first = self.first_exploit_prompt(skill, finding, proving);
        if let Some(attempt) = &finding.offered {
            // One that came with the finding leaves the model at least one attempt.
            exploiting.left = exploiting.left.max(2);
            if let Some(said) = exploiting.attempt(&conversation, attempt) {
                first = format!("{first}\n{said}");
            }
        }
        let mut ended = Ok(());
        if exploiting.wants_more() {
            let system = prompt::system(Language::of_sources(self.sources));
            let opened = self.open(open, &system, Expected::Exploit);
            conversation.coverage.count(&self.inlined.shown);
            let most = self.most_steps();
            ended = conversation.converse(opened, first, most, &mut exploiting);
        }
        let why = ended.err().map(|ended| ended.told(skill).1);
        (exploiting.result(why), conversation.usage)
    }

    fn first_exploit_prompt(
        &self,
        skill: &Skill,
        finding: &Finding,
        proving: Proving<'_>,
    ) -> String {
        let about = crate::prompt::claim(skill, finding, self.sources, self.permission);
        let tools = proving.workshop.test_tools();
        format!(
            "{about}{}{}{}",
            prompt::tools(&tools),
            self.inlined.text,
            self.inlined.first_question()
        )
    }
}

/// The attempts on one finding.
struct Exploiting<'a> {
    proving: Proving<'a>,
    finding: Finding,
    best: Option<Exploitation>,
    tried: Vec<String>,
    left: usize,
    /// Why the model gave up.
    gave_up: Option<String>,
}

impl<'a> Exploiting<'a> {
    fn new(proving: Proving<'a>, finding: &Finding) -> Self {
        let left = proving.rounds.max(1);
        Self {
            proving,
            finding: finding.clone(),
            best: None,
            tried: Vec::new(),
            left,
            gave_up: None,
        }
    }

    fn level(&self) -> ExploitLevel {
        self.best.as_ref().map_or(ExploitLevel::Quoted, |best| best.level)
    }

    fn wants_more(&self) -> bool {
        self.left > 0 && self.level() < ExploitLevel::ExploitedAndFixed
    }

    /// Runs an attempt, and gives the next prompt if the model may try again.
    fn attempt(&mut self, conversation: &Conversation<'_>, attempt: &Attempt) -> Option<String> {
        self.left = self.left.saturating_sub(1);
        let verdict = self.proving.workshop.exploit(&attempt.exploit(&self.finding));
        let result = Exploitation::new(attempt, &verdict);
        conversation.tell(&Event::Tried { level: result.level, reason: &result.reason });
        let secrets = conversation.session.secrets;
        let output = if verdict.control_output.is_empty() {
            &result.output
        } else {
            &verdict.control_output
        };
        let said = prompt::tried(&secrets.mask(&result.reason), &secrets.mask(output), self.left);
        self.tried.push(result.reason.clone());
        if self.best.is_none() || result.level >= self.level() {
            self.best = Some(result);
        }
        self.wants_more().then_some(said)
    }

    /// The attempt that showed most, and what became of the others.
    fn result(self, ended: Option<String>) -> Exploitation {
        let Self { best, mut tried, gave_up, .. } = self;
        let end = gave_up.map(|why| format!("The agent gave up: {why}"));
        let end = end.or(ended.map(|why| format!("The agent wrote no further exploit: {why}")));
        let Some(best) = best else {
            let reason = end.unwrap_or_else(|| "The agent wrote no exploit.".to_owned());
            return Exploitation::none(reason, tried);
        };
        tried.retain(|reason| *reason != best.reason);
        tried.extend(end);
        Exploitation { tried, ..best }
    }
}

impl Judge for Exploiting<'_> {
    type Answer = ();
    const EXPECTED: Expected = Expected::Exploit;

    fn judge(
        &mut self,
        conversation: &Conversation<'_>,
        object: &Map<String, Value>,
        left: usize,
    ) -> Result<Next<()>, SessionEnd> {
        let Some(attempt) = Attempt::read(object) else {
            let reason = object.get("reason").and_then(Value::as_str).unwrap_or_default();
            self.gave_up = Some(bounded(reason.trim(), MOST_REASON));
            return Ok(Next::Done(()));
        };
        match self.attempt(conversation, &attempt) {
            Some(said) if left > 0 => Ok(Next::Ask(said)),
            _ => Ok(Next::Done(())),
        }
    }
}
