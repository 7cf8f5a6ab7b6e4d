//! For a comment on a change, or the page of a job.

use std::fmt::Write as _;

use probity_review::{ReviewOutput, Status};
use probity_text::visible;

use super::{dismissal, grounds, legend, proving_fix, standing, told_by_test};
use crate::markdown::{code, escape};

const OUTPUT_LINES: usize = 20;

pub(super) fn render(review: &ReviewOutput) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail, here and below.
    if review.status == Status::Error {
        let error = review.error.as_ref();
        let message = error.map_or(review.summary.as_str(), |error| &error.message);
        _ = writeln!(text, "## Review: there was none\n\n{}\n", escape(message));
        if let Some(error) = error.filter(|error| !error.help.is_empty()) {
            _ = writeln!(text, "{}\n", escape(&error.help));
        }
        observations(&mut text, review);
        notes(&mut text, review);
        return text;
    }
    let score = &review.score;
    let verdict = if score.pass { "passes" } else { "fails" };
    _ = writeln!(text, "## Review: {} of {}, {verdict}\n", score.value, score.max);
    _ = writeln!(text, "{}\n", escape(&review.summary));
    for issue in &review.proven_issues {
        let level = issue.proof.as_ref().map_or("", |proof| proof.level.as_str());
        _ = writeln!(text, "### {} {}\n", escape(&issue.id), escape(&issue.title));
        _ = writeln!(
            text,
            "**{}**, {}{}, at {}, proven ({level}) by {} in {}\n",
            issue.severity,
            issue.category,
            standing(review, issue),
            code(&format!("{}:{}", issue.file, issue.line)),
            code(&issue.test_name),
            code(&issue.test_file)
        );
        let grounds = grounds(issue);
        if !grounds.is_empty() {
            _ = writeln!(text, "{}\n", escape(&grounds));
        }
        if !issue.description.is_empty() {
            for line in issue.description.lines() {
                _ = writeln!(text, "{}", escape(line));
            }
            text.push('\n');
        }
        fenced(&mut text, "text", &told_by_test(issue, OUTPUT_LINES));
        fenced(&mut text, "diff", &proving_fix(issue, usize::MAX));
    }
    for (level, meaning) in legend(review) {
        _ = writeln!(text, "- {}: {}", code(level), escape(meaning));
    }
    if !review.proven_issues.is_empty() {
        text.push('\n');
    }
    for dismissed in &review.dismissed {
        let (id, title) = (escape(&dismissed.issue.id), escape(&dismissed.issue.title));
        _ = writeln!(text, "- Dismissed: {id} {title}: {}", escape(&dismissal(dismissed)));
    }
    if !review.dismissed.is_empty() {
        text.push('\n');
    }
    observations(&mut text, review);
    if !review.discarded.is_empty() {
        _ = writeln!(text, "<details><summary>{} discarded</summary>\n", review.discarded.len());
        for discarded in &review.discarded {
            let (title, reason) = (escape(&discarded.title), escape(&discarded.reason));
            _ = writeln!(text, "- {} {title}: {reason}", discarded.id);
        }
        text.push_str("\n</details>\n\n");
    }
    if let Some(changes) = &review.changes {
        for (word, list) in [("Fixed", &changes.fixed), ("Unclear", &changes.unclear)] {
            for gone in list {
                let (title, how) = (escape(&gone.title), escape(&gone.how));
                _ = writeln!(text, "- {word}: {title} in {}: {how}", code(&gone.file));
            }
        }
        text.push('\n');
    }
    notes(&mut text, review);
    text
}

fn observations(text: &mut String, review: &ReviewOutput) {
    if review.observations.is_empty() {
        return;
    }
    text.push_str("### Observations\n\nNot proven, and without any weight.\n\n");
    text.push_str("| | Where | What | Why not proven |\n| --- | --- | --- | --- |\n");
    for it in &review.observations {
        let place = code(&format!("{}:{}", it.file, it.line)).replace('|', "\\|");
        let (title, reason) = (escape(&it.title), escape(&it.reason));
        _ = writeln!(text, "| {} | {place} | {title} | {reason} |", it.id);
    }
    text.push('\n');
}

fn notes(text: &mut String, review: &ReviewOutput) {
    for note in &review.notes {
        _ = writeln!(text, "> {}\n", escape(note));
    }
}

/// The output as it is, behind a fence that is longer than any in it.
pub(super) fn fenced(text: &mut String, language: &str, output: &str) {
    if output.is_empty() {
        return;
    }
    let output = visible::block(output);
    let longest = output.split(|char| char != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    _ = writeln!(text, "{fence}{language}\n{output}\n{fence}\n");
}
