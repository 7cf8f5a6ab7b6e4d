//! Judging a review that is written already.

use std::{io::Write as _, path::PathBuf};

use anyhow::Context as _;
use probity_review::{Bar, Risk, Status};

use super::{files, settings};
use crate::{cli::review::GateArgs, exit::Exit, failure::Failure};

pub(super) fn run(args: &GateArgs) -> anyhow::Result<Exit> {
    let mut bar = settings::bar()?;
    bar.threshold = args.threshold.unwrap_or(bar.threshold);
    bar.fail_on_critical |= args.fail_on_critical;
    judge(&args.review, bar)
}

/// Under the name `ci-agent-review`.
pub(crate) fn step(review: Option<PathBuf>) -> anyhow::Result<Exit> {
    let review = review.unwrap_or_else(|| settings::output_directory().join("review.json"));
    judge(&review, settings::bar()?)
}

fn judge(path: &std::path::Path, bar: Bar) -> anyhow::Result<Exit> {
    let review = files::read_review(path)?;
    if review.status == Status::Error {
        let why = review.error.map_or_else(|| review.summary.clone(), |error| error.message);
        let way_out = "a gate cannot pass what was not reviewed: run the review again";
        return Err(Failure::new(format!("there was no review: {why}"), way_out).into());
    }
    review.validate_score().with_context(|| {
        let what = format!("{} contradicts itself", path.display());
        Failure::new(what, "let the review write it again")
    })?;
    let critical =
        review.proven_issues.iter().filter(|issue| issue.severity == Risk::Critical).count();
    let score = review.score.value;
    let passes = bar.is_reached(score, critical > 0);
    let why = if score < bar.threshold {
        format!("{score} is below {}", bar.threshold)
    } else if !passes {
        format!("{critical} critical issues are proven")
    } else {
        format!("{score} is at least {}", bar.threshold)
    };
    let word = if passes { "pass" } else { "fail" };
    writeln!(std::io::stdout().lock(), "{word}: {why}").context("cannot write the verdict")?;
    Ok(if passes { Exit::Clean } else { Exit::Findings })
}
