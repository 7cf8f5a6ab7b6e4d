//! Judging a review that is written already.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use probity_review::{Bar, Risk, Status};

use super::{files, settings};
use crate::{config::words::FailRisk, exit::Exit, failure::Failure, streams};

pub(crate) fn run(
    review: &Path,
    threshold: Option<f64>,
    fail_on_critical: bool,
    fail_on: Option<FailRisk>,
) -> anyhow::Result<Exit> {
    judge(review, |mut bar| {
        bar.threshold = threshold.unwrap_or(bar.threshold);
        bar.fail_on_critical |= fail_on_critical;
        bar.fail_on = fail_on.map_or(bar.fail_on, FailRisk::least);
        bar
    })
}

/// Under the name `ci-agent-review`.
pub(crate) fn step(review: Option<PathBuf>) -> anyhow::Result<Exit> {
    let review = review.unwrap_or_else(|| settings::output_directory().join("review.json"));
    judge(&review, |bar| bar)
}

/// What a flag says comes first, then the environment, then what the review was held to.
fn judge(path: &Path, flags: impl Fn(Bar) -> Bar) -> anyhow::Result<Exit> {
    // A variable that cannot be read is said before the file is.
    settings::bar_or(Bar::DEFAULT)?;
    let review = files::read_review(path, files::NAME_REVIEW)?;
    let bar = flags(settings::bar_or(Bar::of(&review.score))?);
    if review.status == Status::Error {
        let why = review.error.map_or_else(|| review.summary.clone(), |error| error.message);
        let way_out = "a gate cannot pass what was not reviewed: run the review again";
        return Err(Failure::new(format!("there was no review: {why}"), way_out).into());
    }
    review.validate_score().with_context(|| {
        let what = format!("{} contradicts itself", path.display());
        Failure::new(what, "run `probity review` again, which writes a new review.json")
    })?;
    let failing = bar.failing(&review.proven_issues);
    let score = review.score.value;
    let passes = bar.is_reached(score, &review.proven_issues);
    let why = if score < bar.threshold {
        format!("{score} is below {}", bar.threshold)
    } else if let Some(least) = bar.fails_from().filter(|_| !passes) {
        let or_above = if least == Risk::Critical { "" } else { " or above" };
        match failing {
            1 => format!("1 proven issue is {least}{or_above}"),
            count => format!("{count} proven issues are {least}{or_above}"),
        }
    } else {
        format!("{score} is at least {}", bar.threshold)
    };
    let word = if passes { "pass" } else { "fail" };
    writeln!(streams::stdout().lock(), "{word}: {why}").context("cannot write the verdict")?;
    Ok(if passes { Exit::Clean } else { Exit::Findings })
}
