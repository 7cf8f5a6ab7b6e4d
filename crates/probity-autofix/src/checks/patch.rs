//! How much may change, and what has to be added.

use probity_dockerfile::Keyword;
use probity_finding::LineIndex;
use probity_text::is_hidden;

use super::{Change, Check, Issue, View, steps::written};

/// A proposal this much larger than the file is no fix of it.
const GROWTH: usize = 4;
const GROWTH_ALLOWANCE: usize = 16 << 10;

/// So many changed lines are few in any file, whatever their share.
const FEW_LINES: usize = 4;

pub(crate) const SIZE: Check = Check::new("patch/size", size);
pub(crate) const MAX_CHURN: Check =
    Check::new("patch/limit-churn", max_churn).once_called("patch/max-churn");
pub(crate) const CHARACTERS: Check = Check::new("patch/characters", characters);
pub(crate) const MUST_ADD_FROM: Check = Check::new("patch/must-add-from", must_add_from);
pub(crate) const MUST_ADD_HEALTHCHECK: Check =
    Check::new("patch/must-add-healthcheck", must_add_healthcheck);

fn size(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let most = change.before.text.len() * GROWTH + GROWTH_ALLOWANCE;
    let bytes = change.after.text.len();
    if bytes <= most {
        return Vec::new();
    }
    let message = format!("the file would have {bytes} bytes, and {most} are the most");
    vec![change.issue(check, &message)]
}

fn max_churn(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let Some(percent) = change.limits.churn else { return Vec::new() };
    // A long instruction is one change, on however many lines it is written.
    let starts = |lines: Vec<&str>| {
        let firsts = std::iter::once("").chain(lines.iter().copied());
        firsts.zip(&lines).filter(|(before, _)| !before.trim_end().ends_with('\\')).count()
    };
    let added = starts(change.patch.added().collect());
    let changed = added.max(starts(change.patch.removed().collect()));
    let lines = LineIndex::new(change.before.text).line_count().max(1);
    let share = changed.saturating_mul(100) / lines;
    if changed <= FEW_LINES || share <= usize::try_from(percent).unwrap_or(usize::MAX) {
        return Vec::new();
    }
    let message = format!(
        "the patch changes {changed} lines, {share} % of the file, and {percent} % are the most; \
         change only what the objective needs"
    );
    vec![change.issue(check, &message)]
}

/// What a terminal or an editor does not show as it is could hide what a line does.
fn characters(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let added = change.patch.added().filter(|line| line.contains(is_hidden));
    let new = added.filter(|line| change.before.text.lines().all(|old| old != *line));
    new.map(|line| {
        let visible = line.escape_debug().to_string();
        let message =
            "control characters and those that turn the direction of text must not be added";
        change.issue(check, message).quoting(&visible)
    })
    .collect()
}

/// A FROM that the original does not have; whether it makes another stage is looked at afterwards.
fn must_add_from(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let known = all(change.before, Keyword::From);
    let now = all(change.after, Keyword::From);
    if now.len() > known.len() || now.iter().any(|text| !known.contains(text)) {
        return Vec::new();
    }
    vec![change.issue(check, "the patch does not add a FROM instruction")]
}

fn must_add_healthcheck(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let known = all(change.before, Keyword::Healthcheck);
    if all(change.after, Keyword::Healthcheck).iter().any(|text| !known.contains(text)) {
        return Vec::new();
    }
    vec![change.issue(check, "the patch does not add a HEALTHCHECK instruction")]
}

/// The instructions of one kind, however their lines are broken.
pub(crate) fn all(view: &View<'_>, keyword: Keyword) -> Vec<String> {
    let found = view.file.instructions.iter().filter(|instruction| instruction.keyword == keyword);
    found.map(|instruction| written(view, instruction)).collect()
}
