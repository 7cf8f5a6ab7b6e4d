//! A review as comments of a pull request.
//!
//! Forges read commands, mentions and references out of comments, and act on them with the rights of
//! our token. What agents wrote is quoted in a way that means nothing to them.

use std::fmt::Write as _;

use probity_review::{ProvenIssue, ReviewOutput, Status};

use super::{dismissal, grounds, markdown::fenced, proving_fix, standing, told_by_test};
use crate::markdown::{code, escape};

const OUTPUT_LINES: usize = 20;
/// Forges refuse comments above 65,536 characters.
const MOST_CHARS: usize = 60_000;
/// Of a test or a fix in a comment.
const CODE_CHARS: usize = 12_000;

/// Lines that a forge can put in the place of those that a comment is about.
#[derive(Debug)]
pub enum Offer {
    Github {
        lines: Vec<String>,
    },
    /// GitLab counts from the line of the comment upwards.
    Gitlab {
        lines: Vec<String>,
        above: u64,
    },
}

/// The comment of one issue.
pub fn issue(review: &ReviewOutput, issue: &ProvenIssue, offer: Option<&Offer>) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail, here and below.
    _ = writeln!(
        text,
        "**{}** {} {}{}, {}\n",
        issue.severity,
        code(&issue.id),
        issue.category,
        standing(review, issue),
        spoken(&issue.title)
    );
    details(&mut text, issue, offer);
    _ = writeln!(
        text,
        "To dismiss this issue, reply `/probity false-positive REASON` or `/probity wont-fix REASON`."
    );
    bounded(text)
}

/// The one comment about the whole review. Issues with a thread are only named.
pub fn summary(review: &ReviewOutput, with_thread: &[String]) -> String {
    let mut text = String::new();
    if review.status == Status::Error {
        let message = review.error.as_ref().map_or(&review.summary, |error| &error.message);
        _ = writeln!(text, "## probity review: there was no review\n\n{}", spoken(message));
        return bounded(text);
    }
    let score = &review.score;
    let verdict = if score.pass { "passes" } else { "fails" };
    _ = writeln!(text, "## probity review: {} of {}, {verdict}\n", score.value, score.max);
    _ = writeln!(text, "{}\n", spoken(&review.summary));
    if !review.proven_issues.is_empty() {
        text.push_str("| Issue | Severity | Where | What |\n| --- | --- | --- | --- |\n");
        for issue in &review.proven_issues {
            let place = code(&format!("{}:{}", issue.file, issue.line)).replace('|', "\\|");
            let title = spoken(&issue.title);
            let (id, severity) = (code(&issue.id), issue.severity);
            _ = writeln!(text, "| {id} | {severity} | {place} | {title} |");
        }
        text.push('\n');
    }
    let is_elsewhere = |issue: &&ProvenIssue| !with_thread.contains(&issue.identity());
    for issue in review.proven_issues.iter().filter(is_elsewhere) {
        let place = code(&format!("{}:{}", issue.file, issue.line));
        _ = writeln!(text, "### {} {}\n\n{place}\n", code(&issue.id), spoken(&issue.title));
        details(&mut text, issue, None);
    }
    if let Some(changes) = &review.changes {
        for gone in &changes.fixed {
            _ = writeln!(text, "- Fixed: {} in {}", spoken(&gone.title), code(&gone.file));
        }
    }
    for dismissed in &review.dismissed {
        let (id, title) = (code(&dismissed.issue.id), spoken(&dismissed.issue.title));
        _ = writeln!(text, "- Dismissed: {id} {title}: {}", spoken(&dismissal(dismissed)));
    }
    let observed = review.observations.len();
    if observed > 0 {
        let word = if observed == 1 { "observation" } else { "observations" };
        _ = writeln!(text, "\n<details><summary>{observed} {word}, not proven</summary>\n");
        for it in &review.observations {
            let place = code(&format!("{}:{}", it.file, it.line));
            _ = writeln!(text, "- {place} {}: {}", spoken(&it.title), spoken(&it.reason));
        }
        text.push_str("\n</details>\n");
    }
    for note in &review.notes {
        _ = writeln!(text, "\n> {}", spoken(note));
    }
    let commit: String = review.metadata.commit.chars().take(12).collect();
    let agent = &review.metadata.agent_cli;
    _ = writeln!(text, "\nReviewed {} with {}.", code(&commit), code(agent));
    bounded(text)
}

/// What is below the headline of an issue.
fn details(text: &mut String, issue: &ProvenIssue, offer: Option<&Offer>) {
    for line in issue.description.lines().filter(|line| !line.trim().is_empty()) {
        _ = writeln!(text, "> {}", spoken(line));
    }
    text.push('\n');
    let grounds = grounds(issue);
    if !grounds.is_empty() {
        _ = writeln!(text, "{}\n", spoken(&grounds));
    }
    match offer {
        Some(Offer::Github { lines }) => suggested(text, "suggestion", lines),
        Some(Offer::Gitlab { lines, above }) => {
            suggested(text, &format!("suggestion:-{above}+0"), lines);
        }
        None => folded(text, "Proven fix", "diff", &proving_fix(issue, usize::MAX)),
    }
    folded(text, "Failing test", "", &issue.test_code);
    folded(text, "Output of the test", "text", &told_by_test(issue, OUTPUT_LINES));
}

/// To the letter: the forge writes these lines into the file. No line at all removes the others.
fn suggested(text: &mut String, language: &str, lines: &[String]) {
    let longest = lines.iter().flat_map(|line| line.split(|char| char != '`')).map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    _ = writeln!(text, "{fence}{language}");
    for line in lines {
        _ = writeln!(text, "{line}");
    }
    _ = writeln!(text, "{fence}\n");
}

fn folded(text: &mut String, title: &str, language: &str, content: &str) {
    if content.trim().is_empty() {
        return;
    }
    if content.chars().count() > CODE_CHARS {
        _ = writeln!(text, "{title}: too long for a comment, see review.json.\n");
        return;
    }
    _ = writeln!(text, "<details><summary>{title}</summary>\n");
    fenced(text, language, content.trim_end());
    text.push_str("</details>\n\n");
}

/// Words of a stranger on one line: no markup, no link, no mention, no command.
pub fn spoken(text: &str) -> String {
    let text = escape(text);
    match text.split_at_checked(1) {
        Some(("/", rest)) => format!("&#47;{rest}"),
        // Below another line, dashes would make a heading of it.
        Some(("-", rest)) => format!("\\-{rest}"),
        _ => text,
    }
}

/// A comment that a forge takes. It ends before the first part that is too much, and says so.
fn bounded(text: String) -> String {
    if text.chars().count() <= MOST_CHARS {
        return text;
    }
    let mut kept = String::new();
    let mut count = 0;
    for block in text.split_inclusive("\n\n") {
        count += block.chars().count();
        if count > MOST_CHARS {
            break;
        }
        kept.push_str(block);
    }
    // What was cut may have been inside of a fold or a fence.
    let fences = kept.lines().filter(|line| line.starts_with("```")).count();
    if fences % 2 == 1 {
        kept.push_str("\n```\n");
    }
    if kept.matches("<details>").count() > kept.matches("</details>").count() {
        kept.push_str("\n</details>\n");
    }
    kept.push_str("\nThe rest is too long for a comment; see review.json.\n");
    kept
}
