//! A review as one page: score, trend, issues with code, test and fix side by side, and the rest.
//!
//! Filters are check boxes that the style sheet reads, so the page has no script.

pub mod chart;
pub mod page;

use std::fmt::Write as _;

use probity_review::{ProvenIssue, ReviewOutput, Risk, Status};

use self::page::{escape, moment, page, path, table};
use super::{dismissal, grounds, legend, proving_fix, standing, told_by_test};

const OUTPUT_LINES: usize = 60;

pub(super) fn render(review: &ReviewOutput) -> String {
    let title = format!("Review of {}", review.metadata.repo);
    page(&title, &filter_style(), &body(review))
}

/// The page without its frame, which a server puts more around.
pub fn body(review: &ReviewOutput) -> String {
    let metadata = &review.metadata;
    let commit: String = metadata.commit.chars().take(12).collect();
    // Writing to a string cannot fail, here and below.
    let mut text = format!("<h1>Review of {}</h1>\n", path(&metadata.repo));
    _ = writeln!(
        text,
        "<p class=\"muted\">Commit <code>{}</code> on {}, {}, reviewed by {} {}</p>",
        escape(&commit),
        escape(&metadata.branch),
        moment(&metadata.timestamp),
        escape(&metadata.agent_cli),
        escape(&metadata.agent_model)
    );
    if review.status == Status::Error {
        let message = review.error.as_ref().map_or(&review.summary, |error| &error.message);
        _ = writeln!(
            text,
            "<p class=\"fail\"><strong>There was no review.</strong> {}</p>",
            escape(message)
        );
        if let Some(error) = review.error.as_ref().filter(|error| !error.help.is_empty()) {
            _ = writeln!(text, "<p>What to do: {}</p>", escape(&error.help));
        }
    } else {
        score(&mut text, review);
        issues(&mut text, review);
    }
    others(&mut text, review);
    cost(&mut text, review);
    text
}

fn score(text: &mut String, review: &ReviewOutput) {
    let score = &review.score;
    let (class, word) = if score.pass { ("pass", "passes") } else { ("fail", "fails") };
    _ = writeln!(
        text,
        "<div class=\"mark\"><strong class=\"{class}\">{}</strong><span>of {}, {word} (threshold {})</span></div>\n<p>{}</p>",
        score.value,
        score.max,
        score.threshold,
        escape(&review.summary)
    );
    if review.trend.len() > 1 {
        text.push_str("<h2>Trend</h2>\n");
        text.push_str(&chart::trend(&review.trend, Some(score.threshold)));
    }
}

fn issues(text: &mut String, review: &ReviewOutput) {
    if review.proven_issues.is_empty() {
        text.push_str("<h2>Proven issues</h2>\n<p>No issue was proven.</p>\n");
        return;
    }
    text.push_str("<h2>Proven issues</h2>\n<fieldset><legend>Show</legend>\n");
    for risk in Risk::ALL {
        let count = review.proven_issues.iter().filter(|issue| issue.severity == risk).count();
        if count > 0 {
            _ = writeln!(
                text,
                "<label><input type=\"checkbox\" id=\"show-{risk}\" checked> {risk} ({count})</label>"
            );
        }
    }
    text.push_str("</fieldset>\n");
    for one in &review.proven_issues {
        issue(text, review, one);
    }
    text.push_str("<h3>Levels</h3>\n<ul>\n");
    for (level, meaning) in legend(review) {
        _ = writeln!(text, "<li><strong>{level}</strong>: {meaning}</li>");
    }
    text.push_str("</ul>\n");
}

fn issue(text: &mut String, review: &ReviewOutput, issue: &ProvenIssue) {
    let (id, severity) = (escape(&issue.id), issue.severity);
    let level = issue.proof.as_ref().map_or("", |proof| proof.level.as_str());
    _ = writeln!(
        text,
        "<article class=\"{severity}\" id=\"{id}\">\n<h3>{id} {}</h3>\n\
         <p class=\"muted\">{severity}, {}{}, {} at <code>{}:{}</code></p>",
        escape(&issue.title),
        issue.category,
        escape(&standing(review, issue)),
        escape(level),
        escape(&issue.file),
        issue.line
    );
    for line in issue.description.lines().filter(|line| !line.trim().is_empty()) {
        _ = writeln!(text, "<p>{}</p>", escape(line));
    }
    _ = writeln!(text, "<p>{}</p>\n<div class=\"sides\">", escape(&grounds(issue)));
    side(text, &issue.id, "Code", &numbered(&issue.code, issue.line));
    side(text, &issue.id, "Failing test", &plain(&issue.test_code));
    side(text, &issue.id, "Proven fix", &colored(&proving_fix(issue, usize::MAX)));
    text.push_str("</div>\n");
    let output = told_by_test(issue, OUTPUT_LINES);
    if !output.is_empty() {
        _ = writeln!(
            text,
            "<details open><summary>Output of {}</summary>",
            escape(&issue.test_name)
        );
        _ = writeln!(text, "<pre tabindex=\"0\">{}</pre></details>", escape(&output));
    }
    let runs = issue.proof.as_ref().map_or(&[][..], |proof| proof.runs.as_slice());
    if !runs.is_empty() {
        let row = |run: &probity_review::ProofRun| {
            vec![escape(&run.outcome), run.milliseconds.to_string()]
        };
        let rows: Vec<Vec<String>> = runs.iter().map(row).collect();
        let noun = if runs.len() == 1 { "run" } else { "runs" };
        _ = writeln!(text, "<details><summary>{} {noun}</summary>", runs.len());
        text.push_str(&table("Runs of the test", &["Outcome", "Milliseconds"], &rows));
        text.push_str("</details>\n");
    }
    text.push_str("</article>\n");
}

/// `content` is markup already.
fn side(text: &mut String, id: &str, title: &str, content: &str) {
    if content.is_empty() {
        return;
    }
    let label = format!("{title} of {}", escape(id));
    _ = writeln!(
        text,
        "<figure><figcaption>{title}</figcaption><pre tabindex=\"0\" role=\"region\" aria-label=\"{label}\">{content}</pre></figure>"
    );
}

fn plain(code: &str) -> String {
    escape(code.trim_end())
}

fn numbered(code: &str, from: u64) -> String {
    let lines = (from..).zip(code.lines());
    let lines: Vec<String> =
        lines.map(|(number, line)| format!("{number:>5}  {}", escape(line))).collect();
    lines.join("\n")
}

fn colored(patch: &str) -> String {
    let line = |line: &str| {
        let class = match line.as_bytes().first() {
            _ if line.starts_with("+++ ") || line.starts_with("--- ") => " class=\"muted\"",
            Some(b'+') => " class=\"added\"",
            Some(b'-') => " class=\"removed\"",
            _ => "",
        };
        format!("<span{class}>{}</span>", escape(line))
    };
    patch.lines().map(line).collect()
}

/// What does not count.
fn others(text: &mut String, review: &ReviewOutput) {
    let place = |file: &str, line: u64| format!("<code>{}:{line}</code>", escape(file));
    if !review.dismissed.is_empty() {
        let rows: Vec<Vec<String>> = review
            .dismissed
            .iter()
            .map(|dismissed| {
                let where_ = place(&dismissed.issue.file, dismissed.issue.line);
                vec![
                    escape(&dismissed.issue.id),
                    where_,
                    escape(&dismissed.issue.title),
                    escape(&dismissal(dismissed)),
                ]
            })
            .collect();
        text.push_str("<h2>Dismissed</h2>\n");
        text.push_str(&table(
            "Proven, and out of the count",
            &["Issue", "Where", "What", "Why"],
            &rows,
        ));
    }
    if !review.observations.is_empty() {
        let rows: Vec<Vec<String>> = review
            .observations
            .iter()
            .map(|observation| {
                vec![
                    escape(&observation.id),
                    place(&observation.file, observation.line),
                    escape(&observation.title),
                    escape(&observation.reason),
                ]
            })
            .collect();
        text.push_str("<h2>Observations</h2>\n");
        text.push_str(&table(
            "Not proven, and without weight",
            &["", "Where", "What", "Why not proven"],
            &rows,
        ));
    }
    if let Some(changes) = &review.changes {
        let gone = changes.fixed.iter().map(|gone| ("fixed", gone));
        let gone = gone.chain(changes.unclear.iter().map(|gone| ("unclear", gone)));
        let rows: Vec<Vec<String>> = gone
            .map(|(word, gone)| {
                vec![word.to_owned(), escape(&gone.file), escape(&gone.title), escape(&gone.how)]
            })
            .collect();
        if !rows.is_empty() {
            text.push_str("<h2>Since the last review</h2>\n");
            text.push_str(&table("Issues of earlier reviews", &["", "File", "What", "How"], &rows));
        }
    }
    for note in &review.notes {
        _ = writeln!(text, "<p class=\"muted\">Note: {}</p>", escape(note));
    }
}

fn cost(text: &mut String, review: &ReviewOutput) {
    let words = super::cost(review);
    if !words.is_empty() {
        _ = writeln!(text, "<h2>Cost</h2>\n<p>{words}</p>");
    }
}

/// What the check boxes hide.
pub fn filter_style() -> String {
    let rule = |risk: Risk| {
        format!("body:has(#show-{risk}:not(:checked)) article.{risk} {{ display: none; }}\n")
    };
    Risk::ALL.map(rule).concat()
}
