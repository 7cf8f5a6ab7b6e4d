//! A review in one sentence.

use crate::{Bar, Risk, output::ReviewOutput, wording::sentence};

pub(crate) fn in_words(review: &ReviewOutput) -> String {
    let counted = |count: usize, one: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {one}s"),
    };
    let issues = &review.proven_issues;
    let by_risk: Vec<String> = Risk::ALL
        .into_iter()
        .map(|risk| (issues.iter().filter(|issue| issue.severity == risk).count(), risk))
        .filter(|(count, _)| *count > 0)
        .map(|(count, risk)| format!("{count} {risk}"))
        .collect();
    let proven = match issues.len() {
        0 => "nothing proven".to_owned(),
        count => format!("{} ({})", counted(count, "proven issue"), by_risk.join(", ")),
    };
    let dismissed = match review.dismissed.len() {
        0 => String::new(),
        count => format!(", {count} dismissed"),
    };
    let unclear = match review.changes.as_ref().map_or(0, |changes| changes.unclear.len()) {
        0 => String::new(),
        count => format!(", {count} from earlier reviews undecided"),
    };
    let score = &review.score;
    // Silence about a whole language would look like a clean review, so this comes first.
    let unstarted = review.unstarted.iter().map(|one| format!("{} ", sentence(&one.to_string())));
    let unstarted: String = unstarted.collect();
    format!(
        "{unstarted}Score {} of {}: {proven}, {}, {} discarded{dismissed}{unclear}; {} the threshold of {}{}.",
        score.value,
        score.max,
        counted(review.observations.len(), "observation"),
        review.discarded.len(),
        if score.value >= score.threshold { "reaches" } else { "misses" },
        score.threshold,
        failing(review),
    )
}

/// What fails a review that has the score to pass.
fn failing(review: &ReviewOutput) -> String {
    let score = &review.score;
    let bar = Bar::of(score);
    match bar.fails_from() {
        Some(least) if !score.pass && score.value >= score.threshold => {
            let or_above = if least == Risk::Critical { "" } else { " or above" };
            let count = bar.failing(&review.proven_issues);
            let issues = if count == 1 { "issue is" } else { "issues are" };
            format!(", but {count} proven {issues} {least}{or_above}")
        }
        _ => String::new(),
    }
}
