//! What is said on stderr about the fixes of a run.

use std::{
    collections::BTreeMap,
    io::{self, Write as _},
};

use probity_check::{FixHandling, Fixing, read_in_words};
use probity_lint::{Rejection, SkipReason};
use probity_report::{ai_fix::fix_in_words, counts::plural, stages::tree};

use crate::screen;
use crate::streams;

/// More notes than this help nobody.
const MAX_NOTES: usize = 20;

/// Counts the fixes of all files.
#[derive(Debug, Default)]
pub(super) struct Summary {
    pub(super) changed_files: usize,
    pub(super) failed_files: usize,
    applied: usize,
    skipped: BTreeMap<SkipReason, usize>,
    /// What was fixed, for those who want to hear more.
    done: Vec<String>,
    notes: Vec<String>,
    /// The files that no fix may touch, a line each.
    rejected: Vec<String>,
    /// What the configuration holds back, by rule and reason.
    held_back: BTreeMap<(String, String), usize>,
    ai_lines: Vec<String>,
}

impl Summary {
    /// Takes the fixes of one file in; `mask` hides the secrets in a message that may quote it.
    pub(super) fn add(&mut self, shown: &str, fixing: &Fixing, mask: impl Fn(&str) -> String) {
        if let Some(error) = &fixing.failure {
            tracing::error!("cannot write {shown}: {error}");
            self.failed_files += 1;
            return;
        }
        if let Some(Rejection { line, reason }) = &fixing.rejection {
            let place = line.map_or_else(|| shown.to_owned(), |line| format!("{shown}:{line}"));
            let reason = in_one_line(&mask(reason));
            self.rejected.push(format!("{place}: no fix applied: {reason}"));
        }
        let in_detail = tracing::enabled!(tracing::Level::INFO);
        let mut told = Vec::new();
        for ai_fix in &fixing.ai_fixes {
            let Some(session) = &ai_fix.session else { continue };
            let words = fix_in_words(ai_fix, shown, in_detail);
            self.ai_lines.extend(words.lines().map(str::to_owned));
            let stages = ai_fix.proof.as_ref().and_then(|proof| proof.stages.as_ref());
            if let (Some(stages), true) = (stages, told.is_empty()) {
                self.ai_lines.extend(tree(stages, "  ").lines().map(str::to_owned));
            }
            told.push((ai_fix.rule.as_str(), ai_fix.line));
            if told.len() == 1 {
                let notes = session.notes.iter().map(|note| format!("AI fix of {shown}: {note}"));
                self.ai_lines.extend(notes);
                let denied = session.denied.iter();
                self.ai_lines.extend(
                    denied.map(|what| format!("AI fix of {shown}: the agent was denied: {what}")),
                );
                let reads = session.reads.iter().map(read_in_words);
                self.ai_lines.extend(reads.map(|what| format!("AI fix of {shown}: {what}")));
            }
        }
        if let Some(proof) = &fixing.proof {
            self.ai_lines.push(format!("unsafe fixes of {shown}: {}", mask(&proof.summary)));
        }
        self.changed_files += usize::from(fixing.is_changed);
        self.applied += fixing.applied.len();
        if in_detail {
            self.done.extend(fixing.applied.iter().map(|fix| {
                format!("{} ({shown}:{}): {}", fix.rule, fix.line, in_one_line(&mask(&fix.title)))
            }));
        }
        for skipped in &fixing.skipped {
            *self.skipped.entry(skipped.reason).or_default() += 1;
            // What was asked for needs no comment but the count.
            if matches!(skipped.reason, SkipReason::RuleFilter | SkipReason::Safety) {
                continue;
            }
            if skipped.reason == SkipReason::FixMode {
                let key = (skipped.rule.to_string(), skipped.detail.clone());
                *self.held_back.entry(key).or_default() += 1;
                continue;
            }
            if told.contains(&(skipped.rule.as_ref(), skipped.line)) {
                continue;
            }
            let place = match skipped.line {
                Some(line) => format!("{shown}:{line}"),
                None => shown.to_owned(),
            };
            let what = match skipped.reason {
                SkipReason::ValidationFailed => "reverted",
                _ => "skipped",
            };
            let (rule, reason) = (&skipped.rule, skipped.reason.as_str());
            let detail = in_one_line(&mask(&skipped.detail));
            self.notes.push(format!("{what} fix {rule} ({place}): {reason}: {detail}"));
        }
    }

    /// Says what was done and what was not, unless only errors are wanted.
    pub(super) fn say(&self, fixes: FixHandling) -> io::Result<()> {
        if !tracing::enabled!(tracing::Level::WARN) {
            return Ok(());
        }
        let mut out = Vec::new();
        if self.applied > 0 {
            let done = if fixes == FixHandling::Diff { "Would fix" } else { "Fixed" };
            let (issues, files) = (self.applied, self.changed_files);
            writeln!(out, "{done} {} in {}", plural(issues, "issue"), plural(files, "file"))?;
            for line in &self.done {
                writeln!(out, "  {line}")?;
            }
            if fixes == FixHandling::Diff {
                writeln!(out, "note: line numbers in the report refer to the file after the diff")?;
            }
        }
        let total: usize = self.skipped.values().sum();
        if total > 0 {
            let reasons = self.skipped.iter();
            let reasons: Vec<String> =
                reasons.map(|(reason, number)| format!("{number} {}", reason.as_str())).collect();
            let fixes = match total {
                1 => "1 fix".to_owned(),
                _ => format!("{total} fixes"),
            };
            writeln!(out, "Skipped {fixes} ({})", reasons.join(", "))?;
        }
        for ((rule, why), number) in &self.held_back {
            let fixes = if *number == 1 { "fix" } else { "fixes" };
            writeln!(out, "note: skipped {number} {fixes} of {rule}: {why}")?;
        }
        for line in self.rejected.iter().take(MAX_NOTES) {
            writeln!(out, "note: {line}")?;
        }
        if let Some(more) = self.rejected.len().checked_sub(MAX_NOTES + 1) {
            writeln!(out, "note: no fix applied to {} either", plural(more + 1, "more file"))?;
        }
        if !self.rejected.is_empty() {
            writeln!(
                out,
                "help: correct this first; probity edits only files that BuildKit accepts"
            )?;
        }
        for line in &self.ai_lines {
            writeln!(out, "note: {}", in_one_line(line))?;
        }
        for note in self.notes.iter().take(MAX_NOTES) {
            writeln!(out, "note: {note}")?;
        }
        if let Some(more) = self.notes.len().checked_sub(MAX_NOTES).filter(|&more| more > 0) {
            writeln!(out, "note: and {more} more")?;
        }
        if self.skipped.contains_key(&SkipReason::Safety) {
            writeln!(out, "help: --fix-unsafe applies suggestions and unsafe fixes too")?;
        }
        let text = screen::stderr().folded(&String::from_utf8_lossy(&out));
        streams::stderr().lock().write_all(text.as_bytes())
    }
}

/// Texts of files come along in details: nothing of them may steer a terminal or flood it.
fn in_one_line(detail: &str) -> String {
    const MOST: usize = 2_000;
    let shown: String =
        detail.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MOST).collect();
    if shown.len() < detail.len() { shown + "…" } else { shown }
}

#[cfg(test)]
mod tests {
    use probity_lint::{SkipReason, SkippedFix};
    use probity_secrets::{Detector, Options};

    use super::*;
    use probity_check::Hider;

    #[test]
    fn notes_are_short_and_quote_no_secret_and_no_escape_sequence() {
        // Put together here, so that nobody takes this file for a leak.
        let secret = ["ghp_", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].concat();
        let text = format!("FROM a\nENV GITHUB_TOKEN={secret}\n");
        let skipped = SkippedFix {
            rule: "x/y".into(),
            title: "t".into(),
            line: Some(2),
            reason: SkipReason::ValidationFailed,
            detail: format!("`ENV GITHUB_TOKEN={secret}`\nis\x1b[31m gone{}", "!".repeat(3000)),
        };
        let fixing = Fixing {
            output: None,
            is_changed: false,
            applied: Vec::new(),
            skipped: vec![skipped],
            failure: None,
            rejection: None,
            ai_fixes: Vec::new(),
            proof: None,
        };
        let detector = Detector::new(&Options::default()).unwrap();
        let mut summary = Summary::default();
        let hider = Hider::of(&detector, &text);
        summary.add("D", &fixing, |message| hider.message(message));
        let note = &summary.notes[0];
        assert!(note.starts_with("reverted fix x/y (D:2): validation-failed: `ENV GITHUB_TOKEN="));
        assert!(note.ends_with("!!!…") && !note.contains(&secret), "{note}");
        assert!(!note.contains(char::is_control), "{note}");
    }
}
