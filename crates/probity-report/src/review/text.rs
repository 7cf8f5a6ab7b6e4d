//! For people at a terminal.

use std::fmt::Write as _;

use probity_review::{ProvenIssue, ReviewOutput, Status};
use probity_text::visible;

use super::{
    cost, dismissal, grounds, last_lines, legend, observed, proving_fix, standing, told_by_test,
    untested,
};
use crate::{Paint, Screen};

const OUTPUT_LINES: usize = 8;
const FIX_LINES: usize = 24;

pub(super) fn render(review: &ReviewOutput, screen: Screen) -> String {
    let mut report = Report { text: String::new(), screen };
    if review.status == Status::Error {
        report.failure(review);
        return report.text;
    }
    for one in untested(review) {
        let words = screen.painted(Paint::Bad, "not tested");
        report.line(&format!("{words}: {one}"));
    }
    for issue in &review.proven_issues {
        report.issue(review, issue);
    }
    for dismissed in &review.dismissed {
        let (id, title) = (&dismissed.issue.id, visible::line(&dismissed.issue.title));
        let why = dismissal(dismissed);
        report.line(&format!("{id} dismissed: {title}: {}", visible::line(&why)));
    }
    report.observations(review);
    for discarded in &review.discarded {
        let (title, reason) = (visible::line(&discarded.title), visible::line(&discarded.reason));
        report.faint(&format!("{} discarded: {title}: {reason}", discarded.id));
    }
    if let Some(changes) = &review.changes {
        let fixed = changes.fixed.iter().map(|gone| ("fixed", Paint::Good, gone));
        let unclear = changes.unclear.iter().map(|gone| ("unclear", Paint::Doubtful, gone));
        for (word, paint, gone) in fixed.chain(unclear) {
            let (title, how) = (visible::line(&gone.title), visible::line(&gone.how));
            let (word, file) = (screen.painted(paint, word), visible::line(&gone.file));
            report.line(&format!("{word}: {title} in {file}: {how}"));
        }
    }
    for (level, meaning) in legend(review) {
        report.faint(&format!("{level}: {meaning}"));
    }
    report.spent(review);
    report.notes(review);
    let paint = if review.score.pass { Paint::Good } else { Paint::Bad };
    report.line(&screen.painted(paint, &visible::line(&review.summary)));
    report.text
}

/// A text that grows, for one screen.
struct Report {
    text: String,
    screen: Screen,
}

impl Report {
    /// Lines for people are folded between words.
    fn line(&mut self, line: &str) {
        self.text.push_str(&self.screen.folded(line));
        self.text.push('\n');
    }

    fn faint(&mut self, line: &str) {
        let line = self.screen.painted(Paint::Faint, line);
        self.line(&line);
    }

    fn failure(&mut self, review: &ReviewOutput) {
        let message = review.error.as_ref().map_or(review.summary.as_str(), |error| &error.message);
        let word = self.screen.painted(Paint::Bad, "no review");
        self.line(&format!("{word}: {}", visible::line(message)));
        if let Some(error) = &review.error {
            for line in last_lines(&error.stderr, OUTPUT_LINES).lines() {
                self.line(&format!("    {}", visible::line(line)));
            }
            if !error.help.is_empty() {
                let word = self.screen.painted(Paint::Strong, "help");
                self.line(&format!("{word}: {}", visible::line(&error.help)));
            }
        }
        self.observations(review);
        self.spent(review);
        self.notes(review);
    }

    fn spent(&mut self, review: &ReviewOutput) {
        let cost = cost(review);
        if !cost.is_empty() {
            self.faint(&format!("cost: {cost}"));
        }
    }

    fn issue(&mut self, review: &ReviewOutput, issue: &ProvenIssue) {
        let screen = self.screen;
        let level = issue.proof.as_ref().map_or("", |proof| proof.level.as_str());
        let place = format!("{} {}:{}:", issue.id, visible::line(&issue.file), issue.line);
        self.line(&format!(
            "{} {}: {} [{} {level}{}]",
            screen.painted(Paint::Strong, &place),
            screen.painted(Paint::Bad, &issue.severity.to_string()),
            visible::line(&issue.title),
            issue.category,
            standing(review, issue)
        ));
        let (file, name) = (visible::line(&issue.test_file), visible::line(&issue.test_name));
        self.line(&format!("    proven by {name} in {file}"));
        let grounds = grounds(issue);
        if !grounds.is_empty() {
            self.line(&format!("    {}", visible::line(&grounds)));
        }
        // What the test printed and what the fix changes are lines of programs, which stay whole.
        for line in told_by_test(issue, OUTPUT_LINES).lines() {
            // Writing to a string cannot fail, here and below.
            _ = writeln!(self.text, "    | {}", visible::line(line));
        }
        let fix: Vec<String> =
            proving_fix(issue, FIX_LINES).lines().map(|line| visible::line(line).into()).collect();
        if !fix.is_empty() {
            self.text.push_str("    fix:\n");
            for line in screen.painted_diff(&fix.join("\n")).lines() {
                _ = writeln!(self.text, "    {line}");
            }
        }
    }

    fn observations(&mut self, review: &ReviewOutput) {
        for observation in &review.observations {
            let place = format!(
                "{} {}:{}:",
                observation.id,
                visible::line(&observation.file),
                observation.line
            );
            let place = self.screen.painted(Paint::Strong, &place);
            self.line(&format!("{place} {}", visible::line(&observed(observation))));
        }
    }

    fn notes(&mut self, review: &ReviewOutput) {
        for note in &review.notes {
            self.line(&format!("note: {}", visible::line(note)));
        }
    }
}
