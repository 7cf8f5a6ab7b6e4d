//! What an agent was asked to fix, and what became of it, as reports show it.

use probity_autofix::{ContextRead, Issue, ReadOutcome, Refusal, Session};

use crate::{ProofReport, SeatedAgent};

/// One objective of one file. Texts are fit to be shown: bounded, and without secrets.
#[derive(Clone, Debug, Default)]
pub struct AiFix {
    pub rule: String,
    pub title: String,
    /// From one; none for a finding of the whole file.
    pub line: Option<usize>,
    /// `applied`, `no-change` or `skipped`.
    pub outcome: &'static str,
    /// Why it was skipped, and the same in words.
    pub reason: Option<&'static str>,
    pub detail: Option<String>,
    /// Shared by all objectives of one session; none where no agent was asked.
    pub session: Option<AiSession>,
    /// What the experiment with the last proposal came to.
    pub proof: Option<ProofReport>,
}

#[derive(Clone, Debug, Default)]
pub struct AiSession {
    pub agent: String,
    /// What contained the agent.
    pub contained_by: String,
    pub rounds: u32,
    pub prompts: u32,
    pub prompt_bytes: usize,
    pub answer_bytes: usize,
    pub milliseconds: u64,
    pub secrets: usize,
    pub denied: Vec<String>,
    /// The files of the build context that it asked for.
    pub reads: Vec<ContextRead>,
    pub notes: Vec<String>,
    /// Proposals that were not taken, round by round.
    pub refusals: Vec<AiRefusal>,
}

/// A proposal that was not taken, and every reason.
#[derive(Clone, Debug, Default)]
pub struct AiRefusal {
    pub round: u32,
    pub reason: &'static str,
    pub issues: Vec<AiIssue>,
}

#[derive(Clone, Debug, Default)]
pub struct AiIssue {
    pub check: String,
    pub second_name: Option<&'static str>,
    pub message: String,
    pub line: Option<usize>,
}

impl AiRefusal {
    fn of(refusal: &Refusal) -> Self {
        let issue = |issue: &Issue| AiIssue {
            check: issue.rule.clone(),
            second_name: issue.second_name,
            message: issue.message.clone(),
            line: issue.line,
        };
        let issues = refusal.issues.iter().map(issue).collect();
        Self { round: refusal.round, reason: refusal.reason.as_str(), issues }
    }

    fn masked(&self, hide: &impl Fn(&str) -> String) -> Self {
        let masked = |issue: &AiIssue| AiIssue { message: hide(&issue.message), ..issue.clone() };
        Self { issues: self.issues.iter().map(masked).collect(), ..self.clone() }
    }
}

impl AiSession {
    /// What a session came to, if anything was sent.
    pub(crate) fn of(seated: &SeatedAgent, own: &Session) -> Option<Self> {
        (own.prompts > 0).then(|| Self {
            agent: seated.agent.clone(),
            contained_by: seated.contained_by.clone(),
            rounds: own.rounds,
            prompts: own.prompts,
            prompt_bytes: own.prompt_bytes,
            answer_bytes: own.answer_bytes,
            milliseconds: u64::try_from(own.duration.as_millis()).unwrap_or(u64::MAX),
            secrets: own.secrets,
            denied: own.denied.clone(),
            reads: own.reads.clone(),
            notes: own.notes.clone(),
            refusals: own.refusals.iter().map(AiRefusal::of).collect(),
        })
    }

    /// The same without secrets.
    pub(crate) fn masked(self, hide: &impl Fn(&str) -> String) -> Self {
        let hidden = |texts: &[String]| texts.iter().map(|text| hide(text)).collect();
        let (denied, notes) = (hidden(&self.denied), hidden(&self.notes));
        let reads = self.reads.iter().map(|read| masked_read(read, hide)).collect();
        let refusals = self.refusals.iter().map(|refusal| refusal.masked(hide)).collect();
        Self { denied, notes, reads, refusals, ..self }
    }
}

/// A request to read a file, fit to be shown.
pub fn masked_read(read: &ContextRead, hide: &impl Fn(&str) -> String) -> ContextRead {
    let outcome = match &read.outcome {
        ReadOutcome::Served { bytes } => ReadOutcome::Served { bytes: *bytes },
        ReadOutcome::Refused { why } => ReadOutcome::Refused { why: hide(why) },
    };
    ContextRead { path: hide(&read.path), outcome }
}

/// The same in words.
#[must_use]
pub fn read_in_words(read: &ContextRead) -> String {
    match &read.outcome {
        ReadOutcome::Served { bytes } => format!("the agent read {}, {bytes} bytes", read.path),
        ReadOutcome::Refused { why } => format!("the agent was refused {why}"),
    }
}
