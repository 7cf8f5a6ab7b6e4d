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
}

impl Bar {
    pub const DEFAULT: Self = Self { threshold: 7.0, fail_on_critical: false };

    #[must_use]
    pub fn is_reached(&self, score: f64, has_critical: bool) -> bool {
        score >= self.threshold && !(self.fail_on_critical && has_critical)
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
    let critical = issues.iter().any(|issue| issue.severity == Risk::Critical);
    Score {
        value,
        max: MAX_SCORE,
        pass: bar.is_reached(value, critical),
        threshold: bar.threshold,
        fail_on_critical: bar.fail_on_critical,
        deductions,
    }
}

/// Without the dust of binary fractions: ten minus three tenths is 9.7.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
