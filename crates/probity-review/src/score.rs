//! From proven issues to a score, and from a score to a verdict. Nothing else enters either.

use serde::{Deserialize, Serialize};

use crate::{
    Risk, Weights,
    output::{Deduction, MAX_SCORE, ProvenIssue, Score},
};

/// What a review has to reach.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bar {
    pub threshold: f64,
    /// Whether one critical issue is enough to fail, whatever the score.
    pub fail_on_critical: bool,
    /// Whether one issue of this severity or above is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_on: Option<Risk>,
}

impl Bar {
    pub const DEFAULT: Self = Self { threshold: 7.0, fail_on_critical: false, fail_on: None };

    /// What a review that is written was held to.
    #[must_use]
    pub fn of(score: &Score) -> Self {
        Self {
            threshold: score.threshold,
            fail_on_critical: score.fail_on_critical,
            fail_on: score.fail_on,
        }
    }

    /// The severity of which one issue is enough to fail.
    #[must_use]
    pub fn fails_from(&self) -> Option<Risk> {
        self.fail_on.or(self.fail_on_critical.then_some(Risk::Critical))
    }

    /// Of these issues those that fail the review, whatever the score.
    #[must_use]
    pub fn failing(&self, issues: &[ProvenIssue]) -> usize {
        let fails =
            |issue: &&ProvenIssue| self.fails_from().is_some_and(|least| issue.severity >= least);
        issues.iter().filter(fails).count()
    }

    #[must_use]
    pub fn is_reached(&self, score: f64, issues: &[ProvenIssue]) -> bool {
        score >= self.threshold && self.failing(issues) == 0
    }
}

/// Ten, minus what each proven issue weighs, and never below nothing.
#[must_use]
pub fn score(issues: &[ProvenIssue], weights: &Weights, bar: &Bar) -> Score {
    let deductions: Vec<Deduction> = issues
        .iter()
        .map(|issue| Deduction {
            issue_id: issue.id.clone(),
            severity: issue.severity,
            points: weights.of(issue.severity),
        })
        .collect();
    let sum: f64 = deductions.iter().map(|deduction| deduction.points).sum();
    let value = rounded((MAX_SCORE - sum).max(0.0));
    Score { value, pass: bar.is_reached(value, issues), deductions, ..Score::failed(bar) }
}

/// Without the dust of binary fractions: ten minus three tenths is 9.7.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
