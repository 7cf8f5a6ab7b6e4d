//! How much may change, and what has to be added.

use probity_finding::LineIndex;

use super::{Change, Check, Issue};

/// A proposal this much larger than the file is no fix of it.
const GROWTH: usize = 4;
const GROWTH_ALLOWANCE: usize = 16 << 10;

/// So many changed lines are few in any file, whatever their share.
const FEW_LINES: usize = 4;

pub(crate) const SIZE: Check = Check { name: "patch/size", run: size };
pub(crate) const MAX_CHURN: Check = Check { name: "patch/max-churn", run: max_churn };
pub(crate) const MUST_ADD_FROM: Check = Check { name: "patch/must-add-from", run: must_add_from };
pub(crate) const MUST_ADD_HEALTHCHECK: Check =
    Check { name: "patch/must-add-healthcheck", run: must_add_healthcheck };

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
    let changed = change.patch.added().count().max(change.patch.removed().count());
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

/// One FROM more than before: changing the one that is there makes no stage.
fn must_add_from(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let count = |keyword| move |line: &&str| begins_with(line, keyword);
    let added = change.patch.added().filter(count("FROM")).count();
    let removed = change.patch.removed().filter(count("FROM")).count();
    if added > removed {
        return Vec::new();
    }
    vec![change.issue(check, "the patch does not add a FROM instruction")]
}

fn must_add_healthcheck(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    if change.patch.added().any(|line| begins_with(line, "HEALTHCHECK")) {
        return Vec::new();
    }
    vec![change.issue(check, "the patch does not add a HEALTHCHECK instruction")]
}

fn begins_with(line: &str, keyword: &str) -> bool {
    line.split_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case(keyword))
}
