//! The name `ci-agent-review`: a CI step that is told everything by its environment, and its gate.

use std::{ffi::OsString, path::PathBuf};

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::{
    cli::parse,
    commands::review,
    exit::Exit,
    logging::{self, Loudness},
};

/// Review a repository with an agent; only what a failing test proves counts
///
/// This is probity under the name ci-agent-review. It takes no flags: AGENT_CLI, AGENT_MODEL,
/// REVIEW_PROFILE, REVIEW_CONFIG, SCORE_THRESHOLD, FAIL_ON_CRITICAL, REVIEW_PATHS, REVIEW_DIFF_ONLY,
/// BASE_REF, DATABASE_URL, REPO_DIR, OUTPUT_DIR, REVIEW_REPORT_ONLY and REVIEW_SANDBOX say what
/// to do.
#[derive(Debug, Parser)]
#[command(
    name = "ci-agent-review",
    version = env!("CARGO_PKG_VERSION"),
    after_help = "Examples:\n  REPO_DIR=. OUTPUT_DIR=review ci-agent-review\n  ci-agent-review gate review/review.json"
)]
struct CiAgentReview {
    #[command(subcommand)]
    command: Option<ReviewCommand>,
}

#[derive(Debug, Subcommand)]
enum ReviewCommand {
    /// Judge a review by SCORE_THRESHOLD and FAIL_ON_CRITICAL
    Gate {
        /// Else review.json in OUTPUT_DIR
        #[arg(value_name = "FILE")]
        review: Option<PathBuf>,
    },
}

pub(crate) fn run(args: impl Iterator<Item = OsString>) -> anyhow::Result<Exit> {
    logging::start(Loudness::default());
    match parse::<CiAgentReview>(CiAgentReview::command(), args)?.command {
        Some(ReviewCommand::Gate { review }) => review::gate_step(review),
        None => review::step(),
    }
}
