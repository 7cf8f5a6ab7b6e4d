//! The command line of `probity review`.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Subcommand};
use probity_seat::Sandbox;

use crate::{
    cli::{
        agent::{Format, time},
        sandbox,
    },
    report::review::ReviewFormat,
};

pub(crate) const EXAMPLES: &str = "Examples:
  probity review                                    this directory, with claude
  probity review --diff-only --base main            only what this branch changes
  probity review --agent 'cmd:my-agent --json'      any command: prompt in, findings out
  probity review --report-only && probity review gate review/review.json
  probity review history                            what earlier reviews proved

Exit codes: 0 pass, 1 fail, 2 no review.";

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ReviewArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ReviewCommand>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    /// The repository
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) repo: PathBuf,
    /// Where review.json, the tests and the reports go
    #[arg(short, long, value_name = "DIR", default_value = "review")]
    pub(crate) output: PathBuf,
    /// A review.yml; none is read unless it is named here
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// default, security or strict
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) profile: String,
    /// NAME (see `probity agent list`), acp:COMMAND, cmd:COMMAND or replay:FILE, a recording or a
    /// list of findings
    #[arg(long, value_name = "AGENT", default_value = "claude")]
    pub(crate) agent: String,
    /// The model that the agent is told to use; its own choice without it
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The least score that passes
    #[arg(long, value_name = "SCORE", default_value = "7.0", value_parser = threshold)]
    pub(crate) threshold: f64,
    /// Fail if anything critical is proven, whatever the score
    #[arg(long)]
    pub(crate) fail_on_critical: bool,
    /// Review only what these globs match
    #[arg(long, value_name = "GLOBS", value_delimiter = ',')]
    pub(crate) paths: Vec<String>,
    /// Review only what changed since the base
    #[arg(long)]
    pub(crate) diff_only: bool,
    /// What the change is compared with
    #[arg(long, value_name = "REF", default_value = "main")]
    pub(crate) base: String,
    /// Keep the review here (postgres://… or sqlite:FILE) and not in the state directory;
    /// DATABASE_URL says the same
    #[arg(long, value_name = "URL", conflicts_with = "no_history")]
    pub(crate) database_url: Option<String>,
    /// Neither keep the review nor compare it with earlier ones
    #[arg(long)]
    pub(crate) no_history: bool,
    /// Exit with 0 once review.json is written, so that a later gate decides
    #[arg(long)]
    pub(crate) report_only: bool,
    /// The most that the agent may spend, in US dollars, where its command line has a flag for it
    #[arg(long, value_name = "USD", value_parser = budget)]
    pub(crate) budget: Option<f64>,
    /// Findings beyond this are dropped
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) max_findings: usize,
    /// How long the agent may take
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = time)]
    pub(crate) timeout: Duration,
    /// Tests at a time; 0 is one for each processor
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    pub(crate) jobs: usize,
    /// Sandbox for the agent; `auto` continues without one if none is available, and reports it
    #[arg(long, value_name = "KIND", default_value_t, value_parser = sandbox())]
    pub(crate) sandbox: Sandbox,
    /// Pass this variable of yours to the agent; may be repeated
    #[arg(long = "env", value_name = "NAME")]
    pub(crate) variables: Vec<String>,
    /// What standard output gets; in GitHub Actions annotations, else text
    #[arg(short, long)]
    pub(crate) format: Option<ReviewFormat>,
    /// Write the review to this file as well, such as sarif=out.sarif; may be repeated
    #[arg(long = "report", value_name = "FORMAT=FILE", value_parser = report)]
    pub(crate) reports: Vec<(ReviewFormat, PathBuf)>,
}

fn report(text: &str) -> Result<(ReviewFormat, PathBuf), String> {
    let (format, file) = text.split_once('=').ok_or("expected FORMAT=FILE")?;
    let format = <ReviewFormat as clap::ValueEnum>::from_str(format, false).map_err(|_| {
        let names = <ReviewFormat as clap::ValueEnum>::value_variants().iter();
        let names = names
            .filter_map(|it| Some(clap::ValueEnum::to_possible_value(it)?.get_name().to_owned()));
        format!("the formats are {}", names.collect::<Vec<_>>().join(", "))
    })?;
    match file {
        "" => Err("expected FORMAT=FILE".to_owned()),
        file => Ok((format, file.into())),
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReviewCommand {
    /// Judge a review that is written already
    #[command(
        after_help = "Examples:\n  probity review gate review/review.json --threshold 8 --fail-on-critical"
    )]
    Gate(GateArgs),
    /// List earlier reviews, or remove some
    #[command(
        after_help = "Examples:\n  probity review history\n  probity review history --keep 100 --days 365\n  probity review history --delete 12"
    )]
    History(HistoryArgs),
    /// Show an earlier review
    #[command(
        after_help = "Examples:\n  probity review show\n  probity review show 12 --format markdown"
    )]
    Show(ShowArgs),
    /// Write a review in another format
    #[command(
        after_help = "Examples:\n  probity review report review/review.json --format sarif -o review.sarif"
    )]
    Report(ReportArgs),
}

#[derive(Args, Debug)]
pub(crate) struct GateArgs {
    #[arg(value_name = "FILE", default_value = "review/review.json")]
    pub(crate) review: PathBuf,
    /// The least score that passes; else SCORE_THRESHOLD, else that of the review
    #[arg(long, value_name = "SCORE", value_parser = threshold)]
    pub(crate) threshold: Option<f64>,
    /// Fail if anything critical is proven; FAIL_ON_CRITICAL says the same, else what the review did
    #[arg(long)]
    pub(crate) fail_on_critical: bool,
}

#[derive(Args, Debug)]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Reviews of every repository
    #[arg(long)]
    pub(crate) all: bool,
    /// The most that are listed
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: u32,
    /// Remove all but the newest of each repository
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<u32>,
    /// Remove what is older
    #[arg(long, value_name = "DAYS")]
    pub(crate) days: Option<u32>,
    /// Remove this review
    #[arg(long, value_name = "ID", conflicts_with_all = ["keep", "days"])]
    pub(crate) delete: Option<i64>,
    #[arg(short, long, default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// Number or commit; without it the newest
    #[arg(value_name = "REVIEW")]
    pub(crate) which: Option<String>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    #[arg(short, long, default_value = "text")]
    pub(crate) format: ReviewFormat,
}

#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    #[arg(value_name = "FILE", default_value = "review/review.json")]
    pub(crate) review: PathBuf,
    #[arg(short, long, default_value = "markdown")]
    pub(crate) format: ReviewFormat,
    /// Else standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Which history, and of which repository.
#[derive(Args, Debug)]
pub(crate) struct PlaceArgs {
    /// The repository
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) repo: PathBuf,
    /// Else DATABASE_URL, else the state directory
    #[arg(long, value_name = "URL")]
    pub(crate) database_url: Option<String>,
}

/// A score from 0 to 10; 0 is one too.
pub(crate) fn threshold(text: &str) -> Result<f64, String> {
    let value: Option<f64> = text.trim().parse().ok();
    value
        .filter(|value| (0.0..=10.0).contains(value))
        .ok_or_else(|| "expected a score from 0 to 10".to_owned())
}

fn budget(text: &str) -> Result<f64, String> {
    let value: Option<f64> = text.trim().trim_start_matches('$').parse().ok();
    value
        .filter(|value| value.is_finite() && *value > 0.0)
        .ok_or_else(|| "expected an amount in US dollars, such as 2.50".to_owned())
}
