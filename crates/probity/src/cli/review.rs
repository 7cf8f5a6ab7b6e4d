//! The command line of `probity review`.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, Subcommand};

use super::{flags, words};
use crate::{
    commands::{
        ListFormat,
        review::{self, HistoryOptions, Options, Place},
    },
    config::{
        Kind,
        key::Key,
        setting::Setting as _,
        word::{Word as _, unknown_word},
    },
    exit::Exit,
    name::Name,
    report::review::ReviewFormat,
};

pub(super) const EXAMPLES: &str = "Examples:
  probity review                                    this directory, with claude
  probity review --diff-only --base main            only what this branch changes
  probity review --agent 'cmd:my-agent --json'      any command: prompt in, findings out
  probity review --report-only && probity review gate review/review.json
  probity review history                            what earlier reviews proved

Exit codes: 0 pass, 1 fail, 2 no review.";

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct ReviewArgs {
    #[command(subcommand)]
    command: Option<ReviewCommand>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Args, Debug)]
struct RunArgs {
    /// Repository to review
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    /// Also write the review to this file, such as sarif=out.sarif; may be repeated
    #[arg(long = "report", value_name = "FORMAT=FILE", value_parser = report)]
    reports: Vec<(ReviewFormat, PathBuf)>,
}

fn report(text: &str) -> Result<(ReviewFormat, PathBuf), String> {
    let expected = || "expected FORMAT=FILE".to_owned();
    let (format, file) = text.split_once('=').ok_or_else(expected)?;
    let format =
        ReviewFormat::from_word(format).ok_or_else(|| unknown_word(format, ReviewFormat::NAMES))?;
    if file.is_empty() { Err(expected()) } else { Ok((format, file.into())) }
}

#[derive(Debug, Subcommand)]
enum ReviewCommand {
    /// Decide whether a written review passes
    #[command(
        after_help = "Examples:\n  probity review gate review/review.json --threshold 8 --fail-on-critical"
    )]
    Gate(GateArgs),
    /// List or delete earlier reviews
    #[command(
        after_help = "Examples:\n  probity review history\n  probity review history --keep 100 --days 365\n  probity review history --delete 12"
    )]
    History(HistoryArgs),
    /// Show an earlier review
    #[command(
        after_help = "Examples:\n  probity review show\n  probity review show 12 --format markdown"
    )]
    Show(ShowArgs),
    /// Convert a review to another format
    #[command(
        after_help = "Examples:\n  probity review report review/review.json --format sarif -o review.sarif"
    )]
    Report(ReportArgs),
}

#[derive(Args, Debug)]
struct GateArgs {
    #[arg(value_name = "FILE", default_value = "review/review.json")]
    review: PathBuf,
    /// Lowest score that passes [default: SCORE_THRESHOLD, otherwise the threshold of the review]
    #[arg(long, value_name = "SCORE", value_parser = threshold)]
    threshold: Option<f64>,
    /// Fail if a critical issue is proven [default: FAIL_ON_CRITICAL, otherwise as in the review]
    #[arg(long)]
    fail_on_critical: bool,
}

#[derive(Args, Debug)]
struct HistoryArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// List the reviews of every repository
    #[arg(long)]
    all: bool,
    /// Maximum number of reviews to list
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: u32,
    /// Delete all but the newest N reviews of each repository
    #[arg(long, value_name = "N")]
    keep: Option<u32>,
    /// Delete reviews older than this many days
    #[arg(long, value_name = "DAYS")]
    days: Option<u32>,
    /// Delete this review
    #[arg(long, value_name = "ID", conflicts_with_all = ["keep", "days"])]
    delete: Option<i64>,
    #[arg(short, long, default_value = "text", value_parser = words::<ListFormat>())]
    format: ListFormat,
}

#[derive(Args, Debug)]
struct ShowArgs {
    /// Number or commit of the review [default: the newest]
    #[arg(value_name = "REVIEW")]
    which: Option<String>,
    #[command(flatten)]
    place: PlaceArgs,
    #[arg(short, long, default_value = "text", value_parser = words::<ReviewFormat>())]
    format: ReviewFormat,
}

#[derive(Args, Debug)]
struct ReportArgs {
    #[arg(value_name = "FILE", default_value = "review/review.json")]
    review: PathBuf,
    #[arg(short, long, default_value = "markdown", value_parser = words::<ReviewFormat>())]
    format: ReviewFormat,
    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Which history, and of which repository.
#[derive(Args, Debug)]
struct PlaceArgs {
    /// Repository whose reviews to read
    #[arg(long, value_name = "DIR", default_value = ".")]
    repo: PathBuf,
    /// Database of the history [default: DATABASE_URL, otherwise a file in the state directory]
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
}

/// A score from 0 to 10; 0 is one too.
fn threshold(text: &str) -> Result<f64, String> {
    let value = Kind::Score.parse(text)?;
    f64::from_value(&value).ok_or_else(|| format!("`{text}` is not {}", Kind::Score.expected()))
}

/// Adds the flags of settings.
pub(super) fn with_flags(command: Command) -> Command {
    flags::with_flags(command, Name::Probity, is_of_review)
        .mut_arg("no-history", |argument| argument.conflicts_with("review.database-url"))
}

fn is_of_review(key: &Key) -> bool {
    key.section() == "review"
}

pub(super) fn run(args: ReviewArgs, matches: &ArgMatches, quiet: bool) -> anyhow::Result<Exit> {
    match args.command {
        None => {
            let RunArgs { repo, reports } = args.run;
            let flags = flags::layer(matches, is_of_review)?;
            review::run(Options { repo, reports, quiet, flags })
        }
        Some(ReviewCommand::Gate(GateArgs { review: file, threshold, fail_on_critical })) => {
            review::gate(&file, threshold, fail_on_critical)
        }
        Some(ReviewCommand::History(args)) => review::history(&HistoryOptions {
            place: args.place.into(),
            all: args.all,
            limit: args.limit,
            keep: args.keep,
            days: args.days,
            delete: args.delete,
            format: args.format,
        }),
        Some(ReviewCommand::Show(ShowArgs { which, place, format })) => {
            review::show(which.as_deref(), &place.into(), format)
        }
        Some(ReviewCommand::Report(ReportArgs { review: file, format, output })) => {
            review::report(&file, format, output.as_deref())
        }
    }
}

impl From<PlaceArgs> for Place {
    fn from(PlaceArgs { repo, database_url }: PlaceArgs) -> Self {
        Self { repo, database_url }
    }
}
