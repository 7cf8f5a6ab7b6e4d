//! What a person says about an issue, and what it changes in a review.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{
    Bar, Category,
    claims::hex,
    output::{Dismissed, ProvenIssue, ReviewOutput},
    score::rounded,
    summary::in_words,
};

/// A person's word, which outweighs a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PersonVerdict {
    /// The issue is one.
    Accurate,
    /// The behavior is the one that is wanted.
    FalsePositive,
    /// It is one, and stays.
    WontFix,
}

impl PersonVerdict {
    pub const ALL: [Self; 3] = [Self::Accurate, Self::FalsePositive, Self::WontFix];

    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Accurate => "accurate",
            Self::FalsePositive => "false-positive",
            Self::WontFix => "wont-fix",
        }
    }

    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.word() == word)
    }

    /// Whether an issue with this verdict costs nothing.
    #[must_use]
    pub fn dismisses(self) -> bool {
        match self {
            Self::Accurate => false,
            Self::FalsePositive | Self::WontFix => true,
        }
    }
}

/// A verdict as the history has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictRecord {
    pub repo: String,
    /// The identity of the issue.
    pub issue: String,
    /// Digest of the flagged lines: the verdict is about these and no others.
    pub lines: String,
    pub verdict: PersonVerdict,
    pub by: String,
    pub reason: String,
    pub agent: String,
    pub model: String,
    pub category: Category,
    pub title: String,
    pub file: String,
    /// Given by the history.
    pub created_at: String,
}

impl VerdictRecord {
    #[must_use]
    pub fn new(
        review: &ReviewOutput,
        issue: &ProvenIssue,
        verdict: PersonVerdict,
        by: &str,
        reason: &str,
    ) -> Self {
        let metadata = &review.metadata;
        Self {
            repo: metadata.identity().to_owned(),
            issue: issue.identity(),
            lines: lines_digest(&issue.code),
            verdict,
            by: by.to_owned(),
            reason: reason.to_owned(),
            agent: metadata.agent_cli.clone(),
            model: metadata.agent_model.clone(),
            category: issue.category,
            title: issue.title.clone(),
            file: issue.file.clone(),
            created_at: String::new(),
        }
    }

    fn is_about(&self, issue: &ProvenIssue) -> bool {
        self.issue == issue.identity() && self.lines == lines_digest(&issue.code)
    }

    /// Whether both say the same about the same.
    #[must_use]
    pub fn repeats(&self, other: &Self) -> bool {
        let about = |record: &Self| (record.issue.clone(), record.lines.clone(), record.verdict);
        about(self) == about(other) && self.by == other.by && self.reason == other.reason
    }
}

/// Tells flagged lines from others, without regard to how deep they are indented.
#[must_use]
pub(crate) fn lines_digest(code: &str) -> String {
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    hex(&Sha256::digest(lines.join("\n")))
}

/// The issue with this id, whether it counts or is dismissed.
#[must_use]
pub fn issue_with_id<'a>(review: &'a ReviewOutput, id: &str) -> Option<&'a ProvenIssue> {
    let dismissed = review.dismissed.iter().map(|dismissed| &dismissed.issue);
    let mut all = review.proven_issues.iter().chain(dismissed);
    all.find(|issue| issue.id.eq_ignore_ascii_case(id))
}

/// Applies what people said, the newest word first, to a review of today. A dismissed issue costs
/// nothing.
pub fn apply_verdicts(review: &mut ReviewOutput, verdicts: &[VerdictRecord]) {
    dismiss(review, |issue| {
        let record = verdicts.iter().find(|record| record.is_about(issue))?;
        let VerdictRecord { verdict, by, reason, .. } = record;
        verdict.dismisses().then(|| (*verdict, by.clone(), reason.clone()))
    });
}

/// Applies what people have said since to an earlier review. Issues that a person takes back into the
/// count are open, so their tests run again.
pub fn reconsider(review: &mut ReviewOutput, verdicts: &[VerdictRecord]) {
    apply_verdicts(review, verdicts);
    let (back, stay) = std::mem::take(&mut review.dismissed).into_iter().partition(|dismissed| {
        let record = verdicts.iter().find(|record| record.is_about(&dismissed.issue));
        record.is_some_and(|record| !record.verdict.dismisses())
    });
    let back: Vec<Dismissed> = back;
    review.dismissed = stay;
    if !back.is_empty() {
        let open = &mut review.changes.get_or_insert_default().open;
        open.extend(back.into_iter().map(|dismissed| dismissed.issue));
    }
}

/// Takes issues out of the count, each with the verdict, who gave it, and why.
pub(crate) fn dismiss(
    review: &mut ReviewOutput,
    verdict: impl Fn(&ProvenIssue) -> Option<(PersonVerdict, String, String)>,
) {
    if !review.proven_issues.iter().any(|issue| verdict(issue).is_some()) {
        return;
    }
    let mut kept = Vec::new();
    for issue in std::mem::take(&mut review.proven_issues) {
        let Some((verdict, by, reason)) = verdict(&issue) else {
            kept.push(issue);
            continue;
        };
        let lines = lines_digest(&issue.code);
        review.score.deductions.retain(|deduction| deduction.issue_id != issue.id);
        if let Some(changes) = &mut review.changes {
            for list in [&mut changes.new, &mut changes.known, &mut changes.reopened] {
                list.retain(|id| *id != issue.id);
            }
        }
        // An earlier review may have listed it.
        review.dismissed.retain(|known| known.issue.fingerprint != issue.fingerprint);
        review.dismissed.push(Dismissed { issue, verdict, by, reason, lines });
    }
    review.proven_issues = kept;
    let score = &mut review.score;
    let sum: f64 = score.deductions.iter().map(|deduction| deduction.points).sum();
    score.value = rounded((score.max - sum).max(0.0));
    score.pass = Bar::of(score).is_reached(score.value, &review.proven_issues);
    review.summary = in_words(review);
}
