//! A review in every format that people and CI systems read.
//!
//! The fingerprints are the review's own: a report is written from `review.json` alone, when the
//! code may be gone. A review that did not happen is an error in every format, and never a score.

mod github;
mod gitlab;
pub mod html;
mod junit;
mod markdown;
pub mod pull_request;
mod sarif;
mod text;

use std::io;

use probity_review::{
    Dismissed, GuardState, Observation, ProvenIssue, ReviewOutput, Risk, Standing, excerpt,
};
use probity_text::{runner::Syntax, visible};
use serde_json::Value;

use crate::{Screen, counts::plural};

/// The formats, in the order in which help lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewFormat {
    /// For people at a terminal.
    Text,
    /// review.json itself.
    Json,
    /// For a comment or a job summary.
    Markdown,
    /// One page that needs no other file.
    Html,
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
    const ALL: &[Self] = &[
        Self::Text,
        Self::Json,
        Self::Markdown,
        Self::Html,
        Self::Sarif,
        Self::Junit,
        Self::Gitlab,
        Self::GithubActions,
    ];

    /// How a command of a CI runner is broken in it.
    pub fn syntax(self) -> Syntax {
        match self {
            Self::Text | Self::Markdown => Syntax::Text,
            Self::Json | Self::Sarif | Self::Gitlab => Syntax::Json,
            Self::Html | Self::Junit => Syntax::Xml,
            Self::GithubActions => Syntax::Annotations,
        }
    }
}

/// The review for a file.
pub fn render(format: ReviewFormat, review: &ReviewOutput) -> io::Result<String> {
    render_for(Screen::PLAIN, format, review)
}

/// The same for a screen, which only the text format uses.
pub fn render_for(
    screen: Screen,
    format: ReviewFormat,
    review: &ReviewOutput,
) -> io::Result<String> {
    Ok(match format {
        ReviewFormat::Text => text::render(review, screen),
        ReviewFormat::Json => json(review)?,
        ReviewFormat::Markdown => markdown::render(review),
        ReviewFormat::Html => html::render(review),
        ReviewFormat::Sarif => sarif::render(review)?,
        ReviewFormat::Junit => junit::render(review)?,
        ReviewFormat::Gitlab => gitlab::render(review)?,
        ReviewFormat::GithubActions => github::render(review),
    })
}

fn json(review: &ReviewOutput) -> io::Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(review)?))
}

/// The languages and packages of which no test could start, each in a line. Reports begin with them;
/// those that begin with the summary have them there.
fn untested(review: &ReviewOutput) -> impl Iterator<Item = String> {
    review.unstarted.iter().map(|one| visible::line(&one.to_string()).into_owned())
}

/// What is wrong, in one line.
fn headline(issue: &ProvenIssue) -> String {
    format!("{} ({}, {})", issue.title, issue.severity, issue.category)
}

/// The few lines of the test's output that say what is wrong.
fn told_by_test(issue: &ProvenIssue, most: usize) -> String {
    excerpt(&issue.test_output, &issue.file, most)
}

fn last_lines(output: &str, most: usize) -> String {
    let lines: Vec<&str> = output.trim_end().lines().collect();
    lines.get(lines.len().saturating_sub(most)..).unwrap_or_default().join("\n")
}

/// How an issue stands against the history and the change, to follow other words.
fn standing(review: &ReviewOutput, issue: &ProvenIssue) -> String {
    let is_back =
        review.changes.as_ref().is_some_and(|changes| changes.reopened.contains(&issue.id));
    // New is what this change brings; what was there before is older.
    let age = match (issue.introduced, issue.standing) {
        (Some(true), _) => ", new",
        (Some(false), _) => ", older",
        (None, Some(Standing::New)) => ", not reported before",
        (None, _) => "",
    };
    let known = match issue.standing {
        Some(Standing::Known) if is_back => ", known: fixed before, and back again",
        Some(Standing::Known) => ", known",
        Some(Standing::New) | None => "",
    };
    format!("{age}{known}")
}

/// The levels of proof, in words.
const LEVELS: [(&str, &str); 3] = [
    ("P1", "the test fails in every run"),
    ("P2", "the test also passes if the flagged function returns another value"),
    ("P3", "the test passes with a fix that breaks nothing, or before the change"),
];

/// What the levels mean that the issues of a review have.
fn legend(review: &ReviewOutput) -> Vec<(&'static str, &'static str)> {
    let has = |level: &str| {
        let proofs = review.proven_issues.iter().filter_map(|issue| issue.proof.as_ref());
        proofs.into_iter().any(|proof| proof.level == level)
    };
    LEVELS.into_iter().filter(|(level, _)| has(level)).collect()
}

/// What the agent says that it used; empty if it does not say.
fn cost(review: &ReviewOutput) -> String {
    let Some(cost) = &review.cost else { return String::new() };
    let usd = cost.usd.map_or_else(String::new, |usd| format!(", {usd:.2} US dollars"));
    format!("{} input and {} output tokens{usd}", cost.input_tokens, cost.output_tokens)
}

/// Why a dismissed issue costs nothing, in one line.
fn dismissal(dismissed: &Dismissed) -> String {
    format!("{} by {}: {}", dismissed.verdict.word(), dismissed.by, dismissed.reason)
}

/// Why an issue counts, in one line; empty where the review does not say.
fn grounds(issue: &ProvenIssue) -> String {
    match &issue.proof {
        Some(proof) if !proof.level.is_empty() && !proof.reason.is_empty() => {
            format!("{}: {}", proof.level, proof.reason)
        }
        _ => String::new(),
    }
}

/// The first lines of the fix that proves an issue; empty if no fix does. With a wrong expectation
/// this is what a person has to see.
fn proving_fix(issue: &ProvenIssue, lines: usize) -> String {
    let flips = issue.proof.as_ref().is_some_and(|proof| {
        let guard = proof.fix.as_ref().and_then(|fix| fix.guard.as_ref());
        let is_guarded = guard.is_none_or(|guard| guard.state != GuardState::Unguarded);
        proof.flips_with_fix == Some(true) && is_guarded
    });
    let patch = if flips { issue.fix_patch.as_deref().unwrap_or_default().trim_end() } else { "" };
    let count = patch.lines().count();
    let mut shown = patch.lines().take(lines).collect::<Vec<_>>().join("\n");
    if count > lines {
        shown.push_str(&format!("\n… {} in review.json", plural(count - lines, "more line")));
    }
    shown
}

/// With hidden characters made visible in every text but paths and identities.
fn made_visible(value: &mut Value) {
    match value {
        Value::String(text) => *text = visible::block(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(made_visible),
        Value::Object(fields) => {
            let texts = fields.iter_mut().filter(|(name, _)| !IDENTITIES.contains(&name.as_str()));
            texts.for_each(|(_, field)| made_visible(field));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Keys of reports by which other programs find a file or an issue again.
const IDENTITIES: &[&str] = &["uri", "path", "fingerprint", "partialFingerprints"];

fn observed(observation: &Observation) -> String {
    if observation.reason.is_empty() {
        format!("{} (not proven)", observation.title)
    } else {
        format!("{} (not proven: {})", observation.title, observation.reason)
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
