//! A review in every format that people and CI systems read.
//!
//! The fingerprints are the review's own: a report is written from `review.json` alone, when the
//! code may be gone. A review that did not happen is an error in every format, and never a score.

mod github;
mod gitlab;
mod junit;
mod markdown;
mod sarif;
mod text;

use probity_review::{Observation, ProvenIssue, ReviewOutput, Risk};

/// The formats, in the order in which help lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ReviewFormat {
    /// For people at a terminal.
    Text,
    /// review.json itself.
    Json,
    /// For a comment or a job summary.
    Markdown,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// One test case for each finding; what is proven has failed.
    Junit,
    /// A GitLab code quality report.
    Gitlab,
    /// Workflow commands that GitHub turns into annotations.
    GithubActions,
}

impl ReviewFormat {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 7] = [
        Self::Text,
        Self::Json,
        Self::Markdown,
        Self::Sarif,
        Self::Junit,
        Self::Gitlab,
        Self::GithubActions,
    ];
}

pub(crate) fn render(format: ReviewFormat, review: &ReviewOutput) -> anyhow::Result<String> {
    Ok(match format {
        ReviewFormat::Text => text::render(review),
        ReviewFormat::Json => json(review)?,
        ReviewFormat::Markdown => markdown::render(review),
        ReviewFormat::Sarif => sarif::render(review)?,
        ReviewFormat::Junit => junit::render(review)?,
        ReviewFormat::Gitlab => gitlab::render(review)?,
        ReviewFormat::GithubActions => github::render(review),
    })
}

fn json(review: &ReviewOutput) -> anyhow::Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(review)?))
}

/// What is wrong, in one line.
fn headline(issue: &ProvenIssue) -> String {
    format!("{} ({}, {})", issue.title, issue.severity, issue.category)
}

/// The end of the test's output, which is where a failure says what it is.
/// The end of what a test said, without the frames of a stack, which would push out why it failed.
fn told_by_test(output: &str, most: usize) -> String {
    let is_frame = |line: &&str| line.trim_start().starts_with("at ");
    let lines: Vec<&str> = output.lines().filter(|line| !is_frame(line)).collect();
    last_lines(&lines.join("\n"), most)
}

fn last_lines(output: &str, most: usize) -> String {
    let lines: Vec<&str> = output.trim_end().lines().collect();
    lines.get(lines.len().saturating_sub(most)..).unwrap_or_default().join("\n")
}

fn observed(observation: &Observation) -> String {
    match observation.reason.is_empty() {
        true => format!("{} (not proven)", observation.title),
        false => format!("{} (not proven: {})", observation.title, observation.reason),
    }
}

fn rank(risk: Risk) -> &'static str {
    match risk {
        Risk::Critical | Risk::High => "error",
        Risk::Medium => "warning",
        Risk::Low => "notice",
    }
}

#[cfg(test)]
mod tests;
