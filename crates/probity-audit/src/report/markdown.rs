//! The report as markdown.
//!
//! Title, time, and four lines a finding are what other programs read; what we add comes after
//! them.

use std::fmt::Write as _;

use probity_text::{one_line, stripped};

use super::{Ignored, NOBODY_ASKED, Report, Reported, SkillCoverage, summary};
use crate::{FileCoverage, Finding, Rules, text::shown_name};

const MOST_LINE: usize = 4_000;

impl Report {
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut page = String::new();
        if self.is_scaffold && self.rules == Rules::Probity {
            page = format!("> {NOBODY_ASKED}\n\n");
        }
        // Writing to a string cannot fail.
        _ = write!(
            page,
            "# {}\n\n- Generated at: {}\n\n## Findings\n\n",
            self.title, self.generated_at
        );
        page.push_str(&self.list());
        if !self.failed.is_empty() {
            page.push_str("\n## Skills that did not finish\n\n");
            for iteration in &self.failed {
                let why = line(iteration.error.as_deref().unwrap_or_default());
                let status = inert(&iteration.status);
                _ = writeln!(page, "- `{}` ({status}): {why}", iteration.skill_id);
            }
        }
        if self.rules == Rules::Probity && !self.coverage.is_empty() {
            page.push_str("\n## Coverage\n\n");
            self.coverage.iter().for_each(|skill| page.push_str(&covered(skill)));
        }
        if !self.ignored.is_empty() || self.known > 0 {
            page.push_str("\n## Left out\n\n");
            for Ignored { reported, excuse } in &self.ignored {
                let place = location(&reported.finding).unwrap_or_default();
                _ = writeln!(
                    page,
                    "- {} (`{}`) at {}, by the comment on line {}: {}",
                    inert(&reported.finding.title),
                    reported.skill_id,
                    inert(&place),
                    excuse.line,
                    line(&excuse.reason)
                );
            }
            if self.known > 0 {
                _ = writeln!(page, "- {} known from the baseline", self.known);
            }
        }
        if !self.unverified.is_empty() {
            page.push_str(
                "\n## Unverified findings\n\nNo quote of these was found where they say it is; the \
                 model may have made them up.\n\n",
            );
            for reported in &self.unverified {
                page.push_str(&item(reported));
            }
        }
        if let Some(changed) = &self.changed {
            page.push_str("\n## Changed files\n\n");
            if changed.is_empty() {
                page.push_str("No source changed, and no skill was run.\n");
            }
            for file in changed {
                _ = writeln!(page, "- {}", inert(&shown_name(file)));
            }
        }
        if !self.elsewhere.is_empty() {
            page.push_str(
                "\n## Findings outside the changed files\n\nThese are in files that did not change \
                 since the commit of `--changed`; they fail no build.\n\n",
            );
            for reported in &self.elsewhere {
                page.push_str(&item(reported));
            }
        }
        if !self.previous.is_empty() {
            page.push_str(
                "\n## Findings of the previous audit\n\nNo skill reported these again. Each has a \
                 status: open, fixed, accepted or unclear.\n\n",
            );
            for reported in &self.previous {
                page.push_str(&item(reported));
            }
        }
        if !self.cached.is_empty() {
            page.push_str(
                "\n## Cached answers\n\nAn earlier run asked the same model about the same sources; \
                 `--no-cache` asks again.\n\n",
            );
            for skill in &self.cached {
                _ = writeln!(page, "- `{skill}`");
            }
        }
        page.push_str(&self.overview());
        page
    }

    /// Summary, scope and limits, which only our own reports have.
    fn overview(&self) -> String {
        let Some(scope) = &self.scope else { return String::new() };
        let mut text = "\n## Executive summary\n\n".to_owned();
        for sentence in summary::sentences(self) {
            _ = writeln!(text, "{sentence}");
        }
        text.push_str("\n## Scope\n\n");
        for (name, value) in scope.rows() {
            _ = writeln!(text, "- {name}: {}", line(&value));
        }
        for digest in scope.files.iter().chain(&scope.skills) {
            _ = writeln!(text, "- {}: `{}`", inert(&shown_name(&digest.name)), digest.digest);
        }
        text.push_str("\n## Limits of the method\n\n");
        for limit in summary::LIMITS {
            _ = writeln!(text, "- {limit}");
        }
        text
    }

    fn list(&self) -> String {
        if !self.findings.is_empty() {
            return self.findings.iter().map(item).collect();
        }
        if !self.unverified.is_empty() {
            return "No finding was verified.\n".to_owned();
        }
        if self.rules == Rules::Specification || self.is_whole() {
            return "- *(none)*\n".to_owned();
        }
        let done = if self.is_scaffold { 0 } else { self.skills - self.failed.len() };
        format!("- *(none, but only {done} of {} skills finished)*\n", self.skills)
    }
}

/// How much one skill's model was shown, and of which files it was not shown everything.
fn covered(skill: &SkillCoverage) -> String {
    let count = |count: fn(&FileCoverage) -> u64| skill.files.iter().map(count).sum::<u64>();
    let (shown, all) = (count(FileCoverage::shown_lines), count(|file| file.lines));
    let files = skill.files.len();
    let noun = if files == 1 { "file" } else { "files" };
    let mut text = format!("- `{}`: {shown} of {all} lines in {files} {noun}\n", skill.skill_id);
    for file in skill.files.iter().filter(|file| !file.is_whole()) {
        let name = inert(&shown_name(&file.file));
        // Writing to a string cannot fail.
        _ = writeln!(text, "  - {name}: {} of {} lines", file.shown_lines(), file.lines);
    }
    text
}

fn item(reported: &Reported) -> String {
    let Finding { title, severity, summary, recommendation, evidence, .. } = &reported.finding;
    let mut item = format!("- **{}** (`{severity}`)\n", inert(title));
    _ = writeln!(item, "  - Summary: {}", line(summary));
    _ = writeln!(item, "  - Recommendation: {}", line(recommendation));
    if let Some(location) = location(&reported.finding) {
        _ = writeln!(item, "  - Location: {}", inert(&location));
    }
    for quote in evidence {
        _ = writeln!(item, "  - Evidence: {}", code(&one_line(quote, MOST_LINE)));
    }
    if let Some(refutation) = &reported.finding.refutation {
        let (verdict, reason) = (refutation.verdict.as_str(), line(&refutation.reason));
        _ = writeln!(item, "  - Refutation: {verdict}. {reason}");
        for quote in &refutation.evidence {
            _ = writeln!(item, "    - Evidence: {}", code(&one_line(quote, MOST_LINE)));
        }
    }
    let skills: Vec<String> = std::iter::once(&reported.skill_id)
        .chain(&reported.also_found_by)
        .map(|skill| format!("`{skill}`"))
        .collect();
    _ = writeln!(item, "  - Found by: {}", skills.join(", "));
    item.push_str(&proof(reported));
    item
}

/// What shows the vulnerability, if somebody tried to exploit it or looked again.
fn proof(reported: &Reported) -> String {
    let finding = &reported.finding;
    let mut text = String::new();
    if let Some(reason) = &reported.status_reason {
        _ = writeln!(text, "  - Status: {}. {}", reported.status.as_str(), line(reason));
    }
    let Some(exploit) = &finding.exploit else { return text };
    _ = writeln!(text, "  - Id: {}", finding.id());
    if let Some(impact) = &finding.impact {
        _ = writeln!(text, "  - Impact: {}", line(impact));
    }
    if let Some(likelihood) = finding.likelihood {
        _ = writeln!(text, "  - Likelihood: {likelihood}");
    }
    _ = writeln!(
        text,
        "  - Level: {}. {}",
        summary::level_words(exploit.level),
        line(&exploit.reason)
    );
    for tried in &exploit.tried {
        _ = writeln!(text, "  - Tried before: {}", line(tried));
    }
    if !exploit.test_code.is_empty() {
        let (attack, control) = (code(&exploit.test_name), code(&exploit.control_name));
        _ = writeln!(text, "  - Exploit {attack} and control {control}:\n");
        text.push_str(&fenced(&exploit.test_code, ""));
    }
    if !exploit.output.trim().is_empty() {
        _ = writeln!(text, "  - Output of the exploit:\n");
        text.push_str(&fenced(&exploit.output, "text"));
    }
    if let Some(patch) = &exploit.fix_patch {
        _ = writeln!(text, "  - Fix:\n");
        text.push_str(&fenced(patch, "diff"));
    }
    text
}

/// A block of code inside of a list's item, whatever backquotes it holds.
fn fenced(text: &str, language: &str) -> String {
    let text = stripped(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let mut block = format!("    {fence}{language}\n");
    for line in text.lines() {
        _ = writeln!(block, "    {line}");
    }
    _ = writeln!(block, "    {fence}\n");
    block
}

fn location(finding: &Finding) -> Option<String> {
    match (&finding.file, finding.line) {
        (Some(file), Some(line)) => Some(format!("{file}:{line}")),
        (Some(file), None) => Some(file.clone()),
        (None, Some(line)) => Some(format!("line {line}")),
        (None, None) => None,
    }
}

/// Code that may hold backquotes itself, as many in a row as it likes.
fn code(text: &str) -> String {
    if !text.contains('`') {
        return format!("`{text}`");
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    format!("{fence} {text} {fence}")
}

fn line(text: &str) -> String {
    inert(&one_line(text, MOST_LINE))
}

/// A text of the model's in which nothing opens a tag or a comment: what comes after it would not be
/// shown. Code between single backquotes is safe as it is.
fn inert(text: &str) -> String {
    let has_plain_code = !text.contains("``") && text.matches('`').count().is_multiple_of(2);
    let mut is_code = false;
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        is_code ^= c == '`' && has_plain_code;
        let opens = |next: &char| next.is_ascii_alphabetic() || matches!(next, '!' | '/' | '?');
        if c == '<' && !is_code && rest.peek().is_some_and(opens) {
            shown.push('\\');
        }
        shown.push(c);
    }
    shown
}
