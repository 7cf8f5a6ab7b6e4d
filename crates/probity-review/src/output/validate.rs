//! What has to hold of a review before anybody may see it.

use std::collections::HashSet;

use super::{Deduction, MAX_SCORE, ReviewOutput, SCHEMA_VERSION, Status};
use crate::{Bar, Risk, score::rounded};

/// What does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    #[error("{field} is empty")]
    Empty { field: String },
    #[error("{field} is 0, and lines are counted from 1")]
    NoLine { field: String },
    #[error("schema_version is `{0}`, not {SCHEMA_VERSION}")]
    Version(String),
    #[error("two entries have the id {0}")]
    SameId(String),
    #[error("test_summary: {total} tests are not {sum} passing, failing and in error")]
    Tests { total: u64, sum: u64 },
    #[error("score: {0}")]
    Score(String),
    #[error("status is error, and {0}")]
    Failed(&'static str),
}

impl ReviewOutput {
    /// Everything that is promised of a review of our own.
    pub fn validate(&self) -> Result<(), Invalid> {
        if self.schema_version != SCHEMA_VERSION {
            return Err(Invalid::Version(self.schema_version.clone()));
        }
        self.validate_foreign()?;
        for (value, field) in [
            (&self.metadata.repo, "metadata.repo"),
            (&self.metadata.commit, "metadata.commit"),
            (&self.metadata.timestamp, "metadata.timestamp"),
            (&self.metadata.agent_cli, "metadata.agent_cli"),
        ] {
            present(value, field)?;
        }
        let mut ids = HashSet::new();
        let all = self.proven_issues.iter().map(|issue| &issue.id);
        let all = all.chain(self.observations.iter().map(|observation| &observation.id));
        for id in all.chain(self.discarded.iter().map(|discarded| &discarded.id)) {
            if !ids.insert(id) {
                return Err(Invalid::SameId(id.clone()));
            }
        }
        self.arithmetic()?;
        match (self.status, &self.error) {
            (Status::Ok, None) => Ok(()),
            (Status::Ok, Some(_)) => Err(Invalid::Score("an error beside the status ok".into())),
            (Status::Error, None) => Err(Invalid::Failed("there is no error to tell")),
            (Status::Error, Some(_)) if self.score.pass => Err(Invalid::Failed("it passes")),
            (Status::Error, Some(_)) if self.score.value != 0.0 => {
                Err(Invalid::Failed("it has a score"))
            }
            (Status::Error, Some(_)) => Ok(()),
        }
    }

    /// What the schema asks of anybody's review.
    pub(super) fn validate_foreign(&self) -> Result<(), Invalid> {
        present(&self.schema_version, "schema_version")?;
        present(&self.summary, "summary")?;
        for issue in &self.proven_issues {
            for (value, field) in [
                (&issue.id, "id"),
                (&issue.title, "title"),
                (&issue.file, "file"),
                (&issue.test_file, "test_file"),
                (&issue.test_name, "test_name"),
            ] {
                present(value, &format!("{field} of the proven issue {}", issue.id))?;
            }
            line(issue.line, &issue.id)?;
        }
        for observation in &self.observations {
            for (value, field) in [
                (&observation.id, "id"),
                (&observation.title, "title"),
                (&observation.file, "file"),
            ] {
                present(value, &format!("{field} of the observation {}", observation.id))?;
            }
            line(observation.line, &observation.id)?;
        }
        let summary = &self.test_summary;
        if !summary.is_consistent() {
            let sum = summary.passing.saturating_add(summary.failing);
            let sum = sum.saturating_add(summary.error);
            return Err(Invalid::Tests { total: summary.total_generated, sum });
        }
        let score = &self.score;
        for (what, value) in
            [("value", score.value), ("max", score.max), ("threshold", score.threshold)]
        {
            if !value.is_finite() || value < 0.0 {
                return Err(Invalid::Score(format!("{what} is {value}")));
            }
        }
        Ok(())
    }

    /// What has to hold of anybody's score before it may open a gate.
    pub fn validate_score(&self) -> Result<(), Invalid> {
        let wrong = |why: String| Err(Invalid::Score(why));
        let score = &self.score;
        if score.max != MAX_SCORE {
            return wrong(format!("max is {}, not {MAX_SCORE}", score.max));
        }
        if score.value > score.max {
            return wrong(format!("{} is more than {}", score.value, score.max));
        }
        if score
            .deductions
            .iter()
            .any(|deduction| !deduction.points.is_finite() || deduction.points < 0.0)
        {
            return wrong("a deduction is not a number of points".to_owned());
        }
        for issue in &self.proven_issues {
            let is_of_issue =
                |it: &Deduction| (&it.issue_id, it.severity) == (&issue.id, issue.severity);
            if score.deductions.iter().filter(|deduction| is_of_issue(deduction)).count() != 1 {
                let severity = issue.severity;
                return wrong(format!(
                    "the proven issue {} ({severity}) does not have exactly one deduction",
                    issue.id
                ));
            }
        }
        if score.deductions.len() != self.proven_issues.len() {
            return wrong("a deduction belongs to no proven issue".to_owned());
        }
        // The sum of nothing is -0.
        let sum = score.deductions.iter().map(|deduction| deduction.points).sum::<f64>() + 0.0;
        if (score.value - (score.max - sum).max(0.0)).abs() > 0.01 {
            return wrong(format!("{} is not {} minus {sum}", score.value, score.max));
        }
        let bar = Bar::of(score);
        let may_pass = bar.is_reached(score.value, &self.proven_issues);
        let critical = self.proven_issues.iter().any(|issue| issue.severity == Risk::Critical);
        // Without a word about critical issues a review may have failed for one.
        let may_fail = !may_pass || critical;
        if (score.pass && !may_pass) || (!score.pass && !may_fail) {
            return wrong(format!("pass is {}, which its value contradicts", score.pass));
        }
        Ok(())
    }

    /// One deduction for each proven issue, and their sum is what is missing from ten.
    fn arithmetic(&self) -> Result<(), Invalid> {
        let wrong = |why: String| Err(Invalid::Score(why));
        let score = &self.score;
        if score.max != MAX_SCORE {
            return wrong(format!("max is {}", score.max));
        }
        if self.status == Status::Error {
            let clean = score.deductions.is_empty() && self.proven_issues.is_empty();
            return if clean { Ok(()) } else { Err(Invalid::Failed("something was proven")) };
        }
        let deducted: Vec<(&str, Risk)> = score
            .deductions
            .iter()
            .map(|deduction| (deduction.issue_id.as_str(), deduction.severity))
            .collect();
        let proven: Vec<(&str, Risk)> =
            self.proven_issues.iter().map(|issue| (issue.id.as_str(), issue.severity)).collect();
        if deducted != proven {
            return wrong("the deductions are not those of the proven issues".to_owned());
        }
        // The sum of nothing is -0.
        let sum = score.deductions.iter().map(|deduction| deduction.points).sum::<f64>() + 0.0;
        let expected = rounded((MAX_SCORE - sum).max(0.0));
        if score.value != expected
            || score.deductions.iter().any(|deduction| deduction.points < 0.0)
        {
            return wrong(format!("{} is not {MAX_SCORE} minus {sum}", score.value));
        }
        let pass = Bar::of(score).is_reached(score.value, &self.proven_issues);
        if score.pass != pass {
            return wrong(format!("pass is {}, and should be {pass}", score.pass));
        }
        Ok(())
    }
}

fn present(value: &str, field: &str) -> Result<(), Invalid> {
    if value.trim().is_empty() { Err(Invalid::Empty { field: field.to_owned() }) } else { Ok(()) }
}

fn line(line: u64, id: &str) -> Result<(), Invalid> {
    if line == 0 { Err(Invalid::NoLine { field: format!("line of {id}") }) } else { Ok(()) }
}
