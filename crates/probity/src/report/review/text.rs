//! For people at a terminal.

use std::fmt::Write as _;

use probity_review::{ReviewOutput, Status};
use probity_text::visible;

use super::{
    cost, dismissal, grounds, last_lines, legend, observed, proving_fix, standing, told_by_test,
};

const OUTPUT_LINES: usize = 8;
const FIX_LINES: usize = 24;

pub(super) fn render(review: &ReviewOutput) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail, here and below.
    if review.status == Status::Error {
        let message = review.error.as_ref().map_or(review.summary.as_str(), |it| &it.message);
        _ = writeln!(text, "no review: {}", visible::line(message));
        if let Some(error) = &review.error {
            for line in last_lines(&error.stderr, OUTPUT_LINES).lines() {
                _ = writeln!(text, "    {}", visible::line(line));
            }
            if !error.help.is_empty() {
                _ = writeln!(text, "help: {}", visible::line(&error.help));
            }
        }
        observations(&mut text, review);
        spent(&mut text, review);
        notes(&mut text, review);
        return text;
    }
    for issue in &review.proven_issues {
        let level = issue.proof.as_ref().map_or("", |proof| proof.level.as_str());
        _ = writeln!(
            text,
            "{} {}:{}: {}: {} [{} {level}{}]",
            issue.id,
            visible::line(&issue.file),
            issue.line,
            issue.severity,
            visible::line(&issue.title),
            issue.category,
            standing(review, issue)
        );
        let (file, name) = (visible::line(&issue.test_file), visible::line(&issue.test_name));
        _ = writeln!(text, "    proven by {name} in {file}");
        let grounds = grounds(issue);
        if !grounds.is_empty() {
            _ = writeln!(text, "    {}", visible::line(&grounds));
        }
        for line in told_by_test(issue, OUTPUT_LINES).lines() {
            _ = writeln!(text, "    | {}", visible::line(line));
        }
        for (number, line) in proving_fix(issue, FIX_LINES).lines().enumerate() {
            let start = if number == 0 { "    fix:\n" } else { "" };
            _ = writeln!(text, "{start}    {}", visible::line(line));
        }
    }
    for dismissed in &review.dismissed {
        let (id, title) = (&dismissed.issue.id, visible::line(&dismissed.issue.title));
        let why = dismissal(dismissed);
        _ = writeln!(text, "{id} dismissed: {title}: {}", visible::line(&why));
    }
    observations(&mut text, review);
    for discarded in &review.discarded {
        let (title, reason) = (visible::line(&discarded.title), visible::line(&discarded.reason));
        _ = writeln!(text, "{} discarded: {title}: {reason}", discarded.id);
    }
    if let Some(changes) = &review.changes {
        for gone in &changes.fixed {
            let (title, how) = (visible::line(&gone.title), visible::line(&gone.how));
            _ = writeln!(text, "fixed: {} in {}: {how}", title, visible::line(&gone.file));
        }
        for gone in &changes.unclear {
            let (title, how) = (visible::line(&gone.title), visible::line(&gone.how));
            _ = writeln!(text, "unclear: {} in {}: {how}", title, visible::line(&gone.file));
        }
    }
    for (level, meaning) in legend(review) {
        _ = writeln!(text, "{level}: {meaning}");
    }
    spent(&mut text, review);
    notes(&mut text, review);
    _ = writeln!(text, "{}", visible::line(&review.summary));
    text
}

fn observations(text: &mut String, review: &ReviewOutput) {
    for observation in &review.observations {
        _ = writeln!(
            text,
            "{} {}:{}: {}",
            observation.id,
            visible::line(&observation.file),
            observation.line,
            visible::line(&observed(observation))
        );
    }
}

fn spent(text: &mut String, review: &ReviewOutput) {
    let cost = cost(review);
    if !cost.is_empty() {
        _ = writeln!(text, "cost: {cost}");
    }
}

fn notes(text: &mut String, review: &ReviewOutput) {
    for note in &review.notes {
        _ = writeln!(text, "note: {}", visible::line(note));
    }
}
