//! What an agent was asked to fix, and what became of it, as reports show it.

use probity_autofix::{ContextRead, Issue, ReadOutcome, Refusal};
use serde_json::{Value, json};

use super::proof::ProofReport;

/// One objective of one file. Texts are fit to be shown: bounded, and without secrets.
#[derive(Clone, Debug, Default)]
pub(crate) struct AiFix {
    pub(crate) rule: String,
    pub(crate) title: String,
    /// From one; none for a finding of the whole file.
    pub(crate) line: Option<usize>,
    /// `applied`, `no-change` or `skipped`.
    pub(crate) outcome: &'static str,
    /// Why it was skipped, and the same in words.
    pub(crate) reason: Option<&'static str>,
    pub(crate) detail: Option<String>,
    /// Shared by all objectives of one session; none where no agent was asked.
    pub(crate) session: Option<AiSession>,
    /// What the experiment with the last proposal came to.
    pub(crate) proof: Option<ProofReport>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct AiSession {
    pub(crate) agent: String,
    /// What contained the agent.
    pub(crate) contained_by: String,
    pub(crate) rounds: u32,
    pub(crate) prompts: u32,
    pub(crate) prompt_bytes: usize,
    pub(crate) answer_bytes: usize,
    pub(crate) milliseconds: u64,
    pub(crate) secrets: usize,
    pub(crate) denied: Vec<String>,
    /// The files of the build context that it asked for.
    pub(crate) reads: Vec<ContextRead>,
    pub(crate) notes: Vec<String>,
    /// Proposals that were not taken, round by round.
    pub(crate) refusals: Vec<AiRefusal>,
}

/// A proposal that was not taken, and every reason.
#[derive(Clone, Debug, Default)]
pub(crate) struct AiRefusal {
    pub(crate) round: u32,
    pub(crate) reason: &'static str,
    pub(crate) issues: Vec<AiIssue>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct AiIssue {
    pub(crate) check: String,
    pub(crate) second_name: Option<&'static str>,
    pub(crate) message: String,
    pub(crate) line: Option<usize>,
}

impl AiRefusal {
    pub(crate) fn of(refusal: &Refusal) -> Self {
        let issue = |issue: &Issue| AiIssue {
            check: issue.rule.clone(),
            second_name: issue.second_name,
            message: issue.message.clone(),
            line: issue.line,
        };
        let issues = refusal.issues.iter().map(issue).collect();
        Self { round: refusal.round, reason: refusal.reason.as_str(), issues }
    }

    pub(crate) fn masked(&self, hide: &impl Fn(&str) -> String) -> Self {
        let masked = |issue: &AiIssue| AiIssue { message: hide(&issue.message), ..issue.clone() };
        Self { issues: self.issues.iter().map(masked).collect(), ..self.clone() }
    }

    fn to_json(&self) -> Value {
        let issue = |issue: &AiIssue| {
            let mut value = json!({ "check": issue.check, "message": issue.message });
            if let Some(members) = value.as_object_mut() {
                let second = issue.second_name.map(|name| ("alsoCalled".to_owned(), name.into()));
                let line = issue.line.map(|line| ("line".to_owned(), line.into()));
                members.extend(second.into_iter().chain(line));
            }
            value
        };
        let issues: Vec<Value> = self.issues.iter().map(issue).collect();
        json!({ "round": self.round, "reason": self.reason, "issues": issues })
    }

    /// One line for each reason.
    fn in_words(&self) -> String {
        let line = |issue: &AiIssue| {
            let (check, message) = (&issue.check, in_one_line(&issue.message));
            format!("\n  round {}, {}: {check}: {message}", self.round, self.reason)
        };
        self.issues.iter().map(line).collect()
    }
}

/// A message quotes lines of files, and a line of ours must stay one.
fn in_one_line(message: &str) -> String {
    message.replace(char::is_control, " ")
}

impl AiFix {
    pub(super) fn to_json(&self, file: &str) -> Value {
        let mut value = json!({
            "file": file,
            "rule": self.rule,
            "description": self.title,
            "line": self.line,
            "outcome": self.outcome,
        });
        let Some(members) = value.as_object_mut() else { return value };
        if let (Some(reason), Some(detail)) = (self.reason, &self.detail) {
            members.insert("reason".to_owned(), reason.into());
            members.insert("detail".to_owned(), detail.as_str().into());
        }
        if let Some(session) = &self.session {
            members.insert("session".to_owned(), session.to_json());
        }
        if let Some(proof) = &self.proof {
            members.insert("proof".to_owned(), proof.to_json());
        }
        value
    }

    /// One line about what became of it and who was asked, then one for each refusal.
    pub(crate) fn in_words(&self, shown: &str, in_detail: bool) -> String {
        let place = self.line.map_or_else(|| shown.to_owned(), |line| format!("{shown}:{line}"));
        let outcome = match self.reason {
            Some(reason) => format!("{} ({reason})", self.outcome),
            None => self.outcome.to_owned(),
        };
        let mut line = format!("AI fix {} ({place}): {outcome}", self.rule);
        if let Some(session) = &self.session {
            let (agent, contained_by) = (&session.agent, &session.contained_by);
            line.push_str(&format!("; asked {agent}, sandbox: {contained_by}"));
            if in_detail {
                line.push_str(&session.in_figures());
            }
        }
        if let Some(proof) = &self.proof {
            line.push_str(&format!("; proof: {}", proof.summary));
        }
        if let Some(detail) = &self.detail {
            line.push_str(&format!(": {}", in_one_line(detail)));
        }
        // The last round's reasons are the detail, unless there were several rounds.
        let refusals = self.session.as_ref().map(|it| it.refusals.as_slice()).unwrap_or_default();
        if refusals.len() > 1 || in_detail {
            line.extend(refusals.iter().map(AiRefusal::in_words));
        }
        line
    }
}

impl AiSession {
    pub(super) fn to_json(&self) -> Value {
        json!({
            "agent": self.agent,
            "containedBy": self.contained_by,
            "rounds": self.rounds,
            "prompts": self.prompts,
            "promptBytes": self.prompt_bytes,
            "answerBytes": self.answer_bytes,
            "milliseconds": self.milliseconds,
            "secrets": self.secrets,
            "denied": self.denied,
            "reads": self.reads.iter().map(read_to_json).collect::<Vec<_>>(),
            "notes": self.notes,
            "refused": self.refusals.iter().map(AiRefusal::to_json).collect::<Vec<_>>(),
        })
    }

    fn in_figures(&self) -> String {
        let rounds = if self.rounds == 1 { "1 round" } else { &format!("{} rounds", self.rounds) };
        format!(
            "; {rounds}, {} bytes sent, {} received, {} ms, {} secrets",
            self.prompt_bytes, self.answer_bytes, self.milliseconds, self.secrets
        )
    }
}

/// A request to read a file: with its size, or with the reason why it was refused.
pub(crate) fn read_to_json(read: &ContextRead) -> Value {
    match &read.outcome {
        ReadOutcome::Served { bytes } => json!({"path": read.path, "bytes": bytes}),
        ReadOutcome::Refused { why } => json!({"path": read.path, "refused": why}),
    }
}

/// The same for people.
pub(crate) fn read_in_words(read: &ContextRead) -> String {
    match &read.outcome {
        ReadOutcome::Served { bytes } => format!("the agent read {}, {bytes} bytes", read.path),
        ReadOutcome::Refused { why } => format!("the agent was refused {why}"),
    }
}
