//! Fixing: apply what may be applied, parse again, and keep only what kept its promise.
//!
//! A round lints the text, chooses fixes and applies those that do not get in each other's way. The
//! result is parsed again; a fix that breaks the file or one of its shell texts, or a safe one that
//! changes the image, is taken back alone. Rounds go on until nothing changes.
//!
//! **Invariant:** a file that BuildKit would reject, or that is a template, is not edited at all.
//!
//! **Invariant:** there is no order between named rules. Safe fixes come before the others, so that
//! what they promise is judged without the others' changes; else the earlier in the text wins.

mod choose;
mod outcome;
mod settle;
mod verify;

#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use probity_finding::{Applicability, Finding, Fix, LineIndex};

pub use self::choose::agent_fixes;
pub use self::outcome::{AppliedFix, Fixed, SkipReason, SkippedFix};
use self::{choose::choose, settle::settle, verify::Snapshot};
use crate::{Detached, LintOptions, Parsed, Rejection};

/// Rounds after which rules that still change the text are given up on.
const MAX_ROUNDS: usize = 10;

/// Which fixes are wanted.
#[derive(Clone, Copy, Debug)]
pub struct FixOptions<'a> {
    pub lint: LintOptions<'a>,
    /// Fixes that are less trustworthy than this are left out.
    pub ceiling: Applicability,
    /// Only the fixes of these rules; of all where it is empty.
    pub only: &'a [String],
    /// What the configuration says about single rules, by full name.
    pub modes: &'a BTreeMap<String, FixMode>,
    /// Rules whose findings do not count in this file, by full name.
    pub excluded: &'a [&'a str],
    /// Findings that are old, and that no fix is wanted for.
    pub known: Option<&'a dyn KnownFindings>,
}

/// Tells the old findings of a text from the new ones.
pub trait KnownFindings: fmt::Debug + Sync {
    /// For each finding, whether it is old. The text is asked about again after each round of fixes.
    fn are_known(&self, text: &str, findings: &[Finding]) -> Vec<bool>;
}

/// The findings that are not old.
#[must_use]
pub fn new_findings<'f>(
    known: Option<&dyn KnownFindings>,
    text: &str,
    findings: &'f [Finding],
) -> Vec<&'f Finding> {
    let Some(known) = known else { return findings.iter().collect() };
    let answers = known.are_known(text, findings);
    let new = findings.iter().zip(answers).filter(|(_, is_known)| !is_known);
    new.map(|(finding, _)| finding).collect()
}

/// When the fixes of one rule may be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixMode {
    Never,
    /// Only when the rule is named by [`FixOptions::only`].
    Explicit,
    Always,
    /// Only when unsafe fixes are wanted.
    UnsafeOnly,
}

/// Fixes what may be fixed and says what became of the rest.
#[must_use]
pub fn fix(text: &str, options: &FixOptions<'_>) -> Fixed {
    fix_parsed(Parsed::of(text), options)
}

/// The same for a file that is parsed already.
#[must_use]
pub fn fix_parsed(parsed: Parsed<'_>, options: &FixOptions<'_>) -> Fixed {
    run(parsed, options, Comments::Stay, &|parsed| crate::lint_parsed(parsed, &options.lint))
}

/// Applies fixes that come from outside the rules, by the same gate: whole or not at all, none that
/// breaks the file. What the findings are for is theirs to know; nothing is linted.
#[must_use]
pub fn apply_given(text: &str, findings: &[Finding], options: &FixOptions<'_>) -> Fixed {
    let modes = BTreeMap::new();
    let open = FixOptions {
        ceiling: Applicability::Unsafe,
        only: &[],
        modes: &modes,
        excluded: &[],
        known: None,
        ..*options
    };
    // Behind the first round the text is another, which the fixes know nothing about.
    run(Parsed::of(text), &open, Comments::MayGo, &|parsed| {
        if parsed.file.text == text { findings.to_vec() } else { Vec::new() }
    })
}

/// Finds what is wrong with a text; tests put bad fixes in here.
type Check<'c> = dyn Fn(&Parsed<'_>) -> Vec<Finding> + 'c;

/// What a fix that is not safe may do to comments that have a line of their own. An agent that
/// rewrites a file may rewrite them too; a rule may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comments {
    Stay,
    MayGo,
}

fn run(
    parsed: Parsed<'_>,
    options: &FixOptions<'_>,
    comments: Comments,
    check: &Check<'_>,
) -> Fixed {
    let text = parsed.file.text;
    let mut given_up = Vec::new();
    let mut barred = BTreeSet::new();
    let mut parsed = Some(parsed);
    loop {
        let first = parsed.take().unwrap_or_else(|| Parsed::of(text));
        match attempt(first, options, comments, check, &barred) {
            Ok(mut fixed) => {
                fixed.skipped.splice(0..0, given_up);
                return fixed;
            }
            // Whatever such rules did is not worth keeping: the file is fixed anew without them.
            Err(endless) => {
                given_up.extend(endless.skipped());
                barred.extend(endless.rules);
            }
        }
    }
}

/// Fixes until nothing changes, without the rules that are barred.
fn attempt(
    parsed: Parsed<'_>,
    options: &FixOptions<'_>,
    comments: Comments,
    check: &Check<'_>,
    barred: &BTreeSet<Cow<'static, str>>,
) -> Result<Fixed, Endless> {
    let texts = vec![parsed.file.text.to_owned()];
    let mut progress = Progress { texts, applied: Vec::new(), comments };
    let mut parsed = parsed.detached();
    loop {
        let step = progress.step(parsed, options, check, barred);
        let Some((next, parsed_next)) = step.next else {
            let rounds = progress.texts.len() - 1;
            return Ok(Fixed {
                text: progress.texts.pop().unwrap_or_default(),
                applied: progress.applied,
                skipped: step.skipped,
                rounds,
                remaining: step.findings,
                rejection: step.rejection,
            });
        };
        if progress.texts.len() > MAX_ROUNDS {
            let rules = step.applied.into_iter().map(|fix| fix.rule).collect();
            return Err(Endless { rules, reason: SkipReason::Unsettled });
        }
        progress.applied.extend(step.applied);
        if let Some(again) = progress.texts.iter().position(|earlier| *earlier == next) {
            // Rounds count from one, and the first one of the circle began with that text.
            let circle = progress.applied.into_iter().filter(|fix| fix.round > again);
            let rules = circle.map(|fix| fix.rule).collect();
            return Err(Endless { rules, reason: SkipReason::Cycle });
        }
        parsed = parsed_next.unwrap_or_else(|| Parsed::of(&next).detached());
        progress.texts.push(next);
    }
}

/// Rules that would go on for ever.
struct Endless {
    rules: BTreeSet<Cow<'static, str>>,
    reason: SkipReason,
}

impl Endless {
    fn skipped(&self) -> Vec<SkippedFix> {
        let names: Vec<&str> = self.rules.iter().map(Cow::as_ref).collect();
        let detail = match (self.reason, names.as_slice()) {
            (SkipReason::Cycle, [one]) => format!("{one} undoes its own work"),
            (SkipReason::Cycle, several) => {
                format!("{} undo each other's work", several.join(" and "))
            }
            _ => format!("the text still changed after {MAX_ROUNDS} rounds"),
        };
        let skipped = |rule: &Cow<'static, str>| SkippedFix {
            rule: rule.clone(),
            title: Cow::Borrowed("all fixes of the rule"),
            line: None,
            reason: self.reason,
            detail: detail.clone(),
        };
        self.rules.iter().map(skipped).collect()
    }
}

/// Where fixing one file has got to.
struct Progress {
    /// The text that each round began with; the last one is the text as it is.
    texts: Vec<String>,
    applied: Vec<AppliedFix>,
    comments: Comments,
}

/// What one round found, and what it would do.
struct Step {
    findings: Vec<Finding>,
    skipped: Vec<SkippedFix>,
    applied: Vec<AppliedFix>,
    /// The text of the next round and what was parsed of it; none where nothing is left to apply.
    next: Option<(String, Option<Detached>)>,
    rejection: Option<Rejection>,
}

impl Progress {
    fn step(
        &self,
        parsed: Detached,
        options: &FixOptions<'_>,
        check: &Check<'_>,
        barred: &BTreeSet<Cow<'static, str>>,
    ) -> Step {
        let text = self.texts.last().map_or("", String::as_str);
        let parsed = parsed.attached(text);
        let mut findings = check(&parsed);
        let Parsed { file, facts } = &parsed;
        let rejection = Rejection::of(file, facts);
        if rejection.is_some() {
            findings.iter_mut().for_each(|finding| finding.fixes.clear());
        }
        findings.retain(|finding| !options.excluded.contains(&finding.rule.as_ref()));
        let lines = LineIndex::new(text);
        let (candidates, mut skipped) =
            choose(new_findings(options.known, text, &findings), options, barred, &lines);
        let mut applied = Vec::new();
        let mut next = None;
        let (safe, others): (Vec<_>, Vec<_>) = candidates
            .into_iter()
            .partition(|candidate| candidate.fix.applicability == Applicability::Safe);
        let mut before = None;
        for group in [safe, others].into_iter().filter(|group| !group.is_empty()) {
            let before = before.get_or_insert_with(|| Snapshot::of(file, facts, self.comments));
            let fixes: Vec<&Fix> = group.iter().map(|candidate| candidate.fix).collect();
            let settled = settle(text, before, &fixes);
            for (index, reason, detail) in settled.skipped {
                let candidate = group.get(index);
                skipped.extend(candidate.map(|it| it.skipped(&lines, reason, detail)));
            }
            let chosen = settled.applied.iter().filter_map(|&index| group.get(index));
            applied.extend(chosen.map(|candidate| candidate.applied(&lines, self.texts.len())));
            if !applied.is_empty() {
                next = Some((settled.text, settled.parsed));
                break;
            }
        }
        Step { findings, skipped, applied, next, rejection }
    }
}
