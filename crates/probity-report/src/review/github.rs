//! Workflow commands: what is proven is an error or a warning, what is observed a notice.

use std::fmt::Write as _;

use probity_review::{ReviewOutput, Status};

use super::{grounds, observed, rank, told_by_test, untested};
use crate::github_actions::{data, property};

/// Of the test's output, in an annotation.
const OUTPUT_LINES: usize = 8;

pub(super) fn render(review: &ReviewOutput) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail, here and below.
    if review.status == Status::Error {
        let message = review.error.as_ref().map_or(review.summary.as_str(), |error| &error.message);
        _ = writeln!(text, "::error title=no review::{}", data(message));
        return text;
    }
    for one in untested(review) {
        _ = writeln!(text, "::warning title=not tested::{}", data(&one));
    }
    for issue in &review.proven_issues {
        let mut message = issue.title.clone();
        let proof = format!("proven by {} in {}", issue.test_name, issue.test_file);
        let output = told_by_test(issue, OUTPUT_LINES);
        for part in [issue.description.as_str(), &grounds(issue), &proof, &output] {
            if !part.is_empty() {
                message.push('\n');
                message.push_str(part);
            }
        }
        _ = writeln!(
            text,
            "::{} file={},line={},endLine={},title={}::{}",
            rank(issue.severity),
            property(&issue.file),
            issue.line,
            issue.end_line.unwrap_or(issue.line),
            property(&format!("{} {} {}", issue.id, issue.severity, issue.category)),
            data(&message)
        );
    }
    for it in &review.observations {
        _ = writeln!(
            text,
            "::notice file={},line={},title={}::{}",
            property(&it.file),
            it.line,
            property(&format!("{} {}", it.id, it.category)),
            data(&observed(it))
        );
    }
    // A line of the log, which must not begin like a command whoever wrote the review.
    _ = writeln!(text, "review: {}", data(&review.summary));
    text
}
